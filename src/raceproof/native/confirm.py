"""Findings tried on the real program, one after the other, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from raceproof.machine.machine import Machine
from raceproof.machine.recording import Recording, record
from raceproof.native.build import Builder
from raceproof.native.execution import Limits, Run, execute
from raceproof.native.plan import Plan, is_visible, noise_plan, schedule_plan
from raceproof.native.points import PointTable
from raceproof.native.sanitizer import SeenRace, is_about
from raceproof.verdict import Finding, NativeRun, Verdict

Progress = Callable[[str], None]
NEVER_MET = "the accesses never met"
_UNTOLD = "the accesses cannot be told in the built program"


@dataclass(frozen=True, slots=True)
class Settings:
    runs: int = 5
    """Of noise, for each finding."""
    seed: int = 0
    most: int = 20
    """Findings to try, from the top of the list."""
    limits: Limits = field(default_factory=Limits)
    link_args: tuple[str, ...] = ()
    sanitizer_cc: str | None = None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The verdict with what came of its findings, and the races that only ThreadSanitizer saw."""

    verdict: Verdict
    unknown: tuple[SeenRace, ...]
    binary: Path


class Confirmation:
    """`command` makes a command line out of the path of the built program."""

    def __init__(
        self,
        builder: Builder,
        machine: Callable[[], Machine],
        folder: Path,
        cwd: Path,
        command: Callable[[Path], Sequence[str]],
        settings: Settings,
        progress: Progress = lambda _: None,
    ) -> None:
        self._builder = builder
        self._machine = machine
        self._folder = folder
        self._cwd = cwd
        self._command = command
        self._settings = settings
        self._progress = progress
        self._count = 0
        self._seen: list[SeenRace] = []

    def confirm(self, verdict: Verdict) -> Confirmed:
        """Build once, then try the findings: schedules one by one, then all others at once."""
        tried = [f for f in verdict.findings if f.suppressed_by is None][: self._settings.most]
        recordings = {
            number: record(self._machine(), finding.schedule)
            for number, finding in enumerate(tried)
            if finding.schedule is not None
        }
        accesses = [a for f in tried for pair in (f.accesses, *f.others) for a in pair]
        steps = [s for one in recordings.values() for s in (*one.steps, *one.race)]
        numbers = {step.instruction for step in steps if is_visible(step)}
        table = self._builder.points(
            frozenset(numbers | {access.instruction for access in accesses}), accesses
        )
        self._progress("building the program with ThreadSanitizer")
        binary = self._builder.build(table.points)
        results: dict[int, NativeRun] = {}
        for number, recording in recordings.items():
            results[number] = self._by_schedule(tried[number], recording, binary, table)
        self._by_noise(tried, results, binary, table)
        if not tried:
            self._run(binary, None)
        native = {id(tried[number]): result for number, result in results.items()}
        findings = tuple(replace(f, native=native.get(id(f))) for f in verdict.findings)
        return Confirmed(replace(verdict, findings=findings), unmatched(self._seen, tried), binary)

    def _by_schedule(
        self, finding: Finding, recording: Recording, binary: Path, table: PointTable
    ) -> NativeRun:
        assert finding.schedule is not None
        plan = schedule_plan(finding.schedule, recording, table.by_instruction)
        if plan is None:
            return NativeRun(False, "scheduled", 0, 0.0, _UNTOLD)
        self._progress(f"{finding.location.name}: following the schedule")
        run = self._run(binary, plan)
        found = _shown(run, finding)
        if found is not None:
            return NativeRun(True, plan.way, 1, run.seconds, "", found.text)
        return NativeRun(False, plan.way, 1, run.seconds, _how_far(run, plan))

    def _by_noise(
        self,
        tried: Sequence[Finding],
        results: dict[int, NativeRun],
        binary: Path,
        table: PointTable,
    ) -> None:
        """Rounds in which all that is not confirmed yet is tried at once."""
        for round_ in range(self._settings.runs):
            left = [
                number
                for number in range(len(tried))
                if number not in results or not results[number].is_confirmed
            ]
            plan = noise_plan((tried[n] for n in left), table, self._settings.seed + round_)
            if plan is None:
                break
            what = f"{len(left)} finding{'' if len(left) == 1 else 's'} left"
            self._progress(f"run {round_ + 1} of {self._settings.runs} with noise, {what}")
            run = self._run(binary, plan)
            for number in left:
                results[number] = told_of(results.get(number), run, plan, tried[number])
        for number in range(len(tried)):
            results.setdefault(number, NativeRun(False, "noise", 0, 0.0, _UNTOLD))

    def _run(self, binary: Path, plan: Plan | None) -> Run:
        self._count += 1
        command = self._command(binary)
        limits = self._settings.limits
        run = execute(command, plan, self._folder, self._cwd, limits, f"run-{self._count}")
        self._seen += run.races
        return run


def unmatched(seen: Sequence[SeenRace], findings: Sequence[Finding]) -> tuple[SeenRace, ...]:
    """What ThreadSanitizer saw and no finding is about, each once."""
    others = [race for race in seen if not any(is_about(race, f) for f in findings)]
    return tuple({(race.kind, frozenset(race.places)): race for race in others}.values())


def told_of(before: NativeRun | None, run: Run, plan: Plan | None, finding: Finding) -> NativeRun:
    """What is known of a finding after one more run with noise."""
    before = before or NativeRun(False, "noise", 0, 0.0)
    found = _shown(run, finding)
    if found is None:
        is_better = before.detail in ("", NEVER_MET) and plan is not None
        return replace(
            before,
            runs=before.runs + 1,
            seconds=before.seconds + run.seconds,
            detail=_how_far(run, plan) if is_better and plan else before.detail or _UNTOLD,
        )
    return NativeRun(True, "noise", before.runs + 1, before.seconds + run.seconds, "", found.text)


def _shown(run: Run, finding: Finding) -> SeenRace | None:
    return next((race for race in run.races if is_about(race, finding)), None)


def _how_far(run: Run, plan: Plan) -> str:
    """Why a run did not show the race, in the user's words."""
    words = {line.split(" ")[0]: line.split(" ")[-1] for line in run.said}
    if run.ending:
        return (
            f"the program was {run.ending}"
            if run.ending.startswith("killed")
            else (f"the program {run.ending}")
        )
    if "reached" in words:
        return "both accesses were reached, and ThreadSanitizer reported nothing"
    if "stuck" in words or "alone" in words:
        return f"the program left the schedule after {words.get('stuck') or words['alone']} steps"
    if "met" in words:
        return "both accesses were about to happen at once, and ThreadSanitizer reported nothing"
    if plan.way == "scheduled":
        return "the program ended before the schedule did"
    return NEVER_MET
