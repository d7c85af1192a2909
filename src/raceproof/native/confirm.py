"""Findings tried on the real program, one after the other, and what came of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from raceproof.machine.machine import Machine
from raceproof.machine.recording import record
from raceproof.native.build import Builder
from raceproof.native.execution import Limits, Run, execute
from raceproof.native.plan import Plan, is_visible, noise_plan, schedule_plan
from raceproof.native.points import Point, by_line
from raceproof.native.sanitizer import SeenRace, is_about
from raceproof.verdict import Finding, NativeRun, Verdict

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    runs: int = 5
    """Of noise, for each finding."""
    seed: int = 0
    most: int = 20
    """Findings to try, from the top of the list."""
    limits: Limits = field(default_factory=Limits)


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
        """Build once, then try the findings."""
        tried = [f for f in verdict.findings if f.excuse is None][: self._settings.most]
        recorded = {id(f): self._recorded(f) for f in tried if f.schedule is not None}
        numbers = frozenset(
            {step for steps in recorded.values() for step in steps}
            | {a.instruction for f in tried for pair in (f.accesses, *f.others) for a in pair}
        )
        points = self._builder.points(numbers)
        self._progress("building the program with ThreadSanitizer")
        binary = self._builder.build(points)
        results = {id(f): self._try(f, binary, points) for f in tried}
        findings = tuple(
            replace(f, native=results[id(f)]) if id(f) in results else f for f in verdict.findings
        )
        if not tried:
            self._run(binary, None)
        return Confirmed(replace(verdict, findings=findings), self._others(tried), binary)

    def _recorded(self, finding: Finding) -> frozenset[int]:
        """The instructions at which the finding's schedule makes a step."""
        assert finding.schedule is not None
        recording = record(self._machine(), finding.schedule)
        steps = {step.instruction for step in recording.steps if is_visible(step)}
        return frozenset(steps | set(finding.schedule.instructions))

    def _try(self, finding: Finding, binary: Path, points: dict[int, Point]) -> NativeRun:
        known = by_line(points)
        start = time.monotonic()
        runs = 0
        detail = "the accesses cannot be told in the built program"
        schedule = finding.schedule
        name = finding.location.name
        if schedule is not None:
            plan = schedule_plan(schedule, record(self._machine(), schedule), known)
            if plan is not None:
                self._progress(f"{name}: following the schedule")
                runs += 1
                run = self._run(binary, plan)
                found = self._shown(run, finding)
                if found is not None:
                    return _confirmed(plan.way, runs, start, found)
                detail = _how_far(run, plan)
        for round_ in range(self._settings.runs):
            plan = noise_plan([finding], known, self._settings.seed + round_)
            if plan is None:
                break
            self._progress(f"{name}: run {round_ + 1} of {self._settings.runs} with noise")
            runs += 1
            run = self._run(binary, plan)
            found = self._shown(run, finding)
            if found is not None:
                return _confirmed(plan.way, runs, start, found)
            if schedule is None:
                detail = _how_far(run, plan)
        way = "noise" if schedule is None else "scheduled"
        return NativeRun(False, way, runs, time.monotonic() - start, detail)

    def _run(self, binary: Path, plan: Plan | None) -> Run:
        self._count += 1
        command = self._command(binary)
        limits = self._settings.limits
        run = execute(command, plan, self._folder, self._cwd, limits, f"run-{self._count}")
        self._seen += run.races
        return run

    def _shown(self, run: Run, finding: Finding) -> SeenRace | None:
        return next((race for race in run.races if is_about(race, finding)), None)

    def _others(self, findings: Sequence[Finding]) -> tuple[SeenRace, ...]:
        """What ThreadSanitizer saw and no finding is about, each once."""
        others = [race for race in self._seen if not any(is_about(race, f) for f in findings)]
        return tuple({(race.kind, frozenset(race.places)): race for race in others}.values())


def _confirmed(way: str, runs: int, start: float, race: SeenRace) -> NativeRun:
    return NativeRun(True, way, runs, time.monotonic() - start, "", race.text)


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
    return "the accesses never met"
