"""Asks one layer after the other, and adds up what they say."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from raceproof.analysis.facts import ProgramFacts
from raceproof.concurrency import Models
from raceproof.engines.question import Question
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.options import Options
from raceproof.pipeline.evidence import EvidenceLog
from raceproof.pipeline.plan import (
    LARGE_MEMORY,
    Layer,
    layers,
    seconds_for,
    side_by_side,
)
from raceproof.pipeline.unseen import unseen_code
from raceproof.pipeline.worker import Fate, Worker, WorkerReport, ready
from raceproof.verdict import NOT_SEEN, Answer, Confidence, EngineRun, Finding, Outcome, Verdict

Progress = Callable[[str, float], None]
"""Told the engine at work and its seconds so far, a few times a second."""

_TICK = 0.2
_INTERNAL_ERROR = "internal error"
_INTERRUPTED = "interrupted: this is the best answer so far"


def check(program: Program, options: Options, progress: Progress | None = None) -> Verdict:
    """One program, one verdict."""
    conductor = _Conductor(program, options, progress)
    return conductor.verdict(layers(options, conductor.is_large))


def refine(
    program: Program,
    engine: str,
    named: Answer,
    options: Options,
    progress: Progress | None = None,
) -> Verdict:
    """What those that decide candidates make of the findings and candidates that `engine` named."""
    conductor = _Conductor(program, options, progress)
    conductor.take_over(engine, named)
    plan = layers(options, conductor.is_large)
    return conductor.verdict(tuple(layer for layer in plan if layer.decides))


def has_failed(verdict: Verdict) -> bool:
    """Whether this is no answer: two engines contradict each other, or none has said anything,
    since they crashed or there was no time for them."""
    if any(notice.startswith(_INTERNAL_ERROR) for notice in verdict.notices):
        return True
    failures = [fate.value for fate in Fate]
    is_silent = all(run.answer in failures for run in verdict.engines)
    return is_silent and verdict.outcome is Outcome.UNKNOWN and not verdict.findings


def was_interrupted(verdict: Verdict) -> bool:
    """Whether the user did not want to wait any longer."""
    return _INTERRUPTED in verdict.notices


class _Conductor:
    def __init__(self, program: Program, options: Options, progress: Progress | None) -> None:
        self._program = program
        self._options = options
        self._progress = progress
        self._evidence = EvidenceLog()
        self._runs: list[EngineRun] = []
        self._notices: list[str] = []
        self._turns = 0
        """Groups asked so far: each starts its random choices elsewhere."""
        self._started = time.monotonic()
        self._facts = ProgramFacts(program, Models.load(options.models))
        self.is_large = options.engine == "auto" and not self._facts.is_small
        seconds = seconds_for(options, self._facts.weight, self.is_large)
        self._deadline = self._started + seconds
        self._memory = options.memory
        if self._memory is None and self.is_large:
            self._memory = LARGE_MEMORY

    def take_over(self, engine: str, answer: Answer) -> None:
        """Starts with what was said before."""
        self._evidence.take(engine, answer, None)

    def verdict(self, plan: tuple[Layer, ...]) -> Verdict:
        if not plan:
            self._notices.append("no engine is installed")
        for group in side_by_side(plan, self._options.jobs or 1):
            if not self._go_on(group):
                break
        evidence = self._evidence
        if evidence.is_contradicted:
            self._notices.append(
                f"{_INTERNAL_ERROR}: {evidence.proved_by} proved the program race-free, but "
                f"{evidence.confirmed_by} replayed a race; please report this as a bug"
            )
        outcome = evidence.outcome()
        unseen: tuple[str, ...] = ()
        if outcome is Outcome.RACE_FREE:
            unseen = unseen_code(self._program, Models.load(self._options.models))
        origin = self._program.origin
        analysed = len(self._program.files)
        return Verdict(
            outcome=Outcome.UNKNOWN if unseen else outcome,
            findings=evidence.all_findings(),
            protections=evidence.protections,
            assumptions=(
                *self._program.assumptions,
                *evidence.assumptions,
                *(f"{NOT_SEEN}: {code}" for code in unseen),
            ),
            engines=tuple(self._runs),
            threads=evidence.threads,
            shared=evidence.shared,
            seconds=time.monotonic() - self._started,
            notices=(*origin.notices, *self._notices),
            files=(analysed, analysed + origin.failed),
        )

    def _go_on(self, group: tuple[Layer, ...]) -> bool:
        """Run the layers of a group at once; returns whether the next group is to be asked."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            names = " and ".join(layer.engine for layer in group)
            self._notices.append(f"no time left for {names}")
            return False
        asked = self._evidence.candidates()
        if all(layer.names_candidates for layer in group) and asked is not None:
            return True
        if asked is not None and not asked and not self._options.cross_check:
            return False
        if self._evidence.has_confirmed and not self._options.cross_check:
            group = tuple(layer for layer in group if not layer.only_proves)
            if not group:
                return True
        question = Question(
            options=replace(self._options, seed=self._options.seed + self._turns),
            candidates=None if self._options.cross_check else asked,
            lost=self._evidence.lost,
            deadline=time.monotonic() + max(min(left * layer.share, layer.most) for layer in group),
            facts=self._facts,
        )
        if self._wants_facts(group) and not self._prepare(question):
            return False
        self._turns += 1
        workers = {
            Worker(layer.engine, self._program, question, self._memory): layer for layer in group
        }
        is_interrupted = False
        try:
            for worker, report in self._reports(list(workers)):
                self._note(report)
                self._take(workers.pop(worker), report, question)
                if self._is_decided() and not self._options.cross_check:
                    break
        except KeyboardInterrupt:
            self._notices.append(_INTERRUPTED)
            is_interrupted = True
        for worker in workers:
            self._note(worker.stop(Fate.STOPPED))
        if is_interrupted:
            return False
        return self._options.cross_check or not self._is_decided()

    def _wants_facts(self, group: tuple[Layer, ...]) -> bool:
        """Most small programs are decided by the first engine, without points-to sets."""
        if not self._turns and not self.is_large:
            return False
        return any(layer.engine != "summary" for layer in group)

    def _prepare(self, question: Question) -> bool:
        """Before the engines are forked: the facts that several of them will ask for. False if the
        user does not want to wait for them."""
        from raceproof.analysis.alias.solver import OutOfTime

        deadline = question.deadline
        half = None if deadline is None else (time.monotonic() + deadline) / 2
        if self._progress is not None:
            self._progress("points-to sets", 0.0)
        try:
            self._facts.points_to(half)
        except (OutOfTime, MemoryError):
            return True
        except KeyboardInterrupt:
            self._notices.append(_INTERRUPTED)
            return False
        return True

    def _take(self, layer: Layer, report: WorkerReport, question: Question) -> None:
        if report.answer is None:
            return
        answer = report.answer
        if layer.names_candidates:
            answer = replace(answer, findings=_as_candidates(answer.findings))
        self._evidence.take(layer.engine, answer, question.candidates)

    def _is_decided(self) -> bool:
        if self._evidence.proved_by:
            return True
        if not self._evidence.has_confirmed:
            return False
        return self._options.stop_at_first or not self._evidence.candidates()

    def _reports(self, workers: list[Worker]) -> Iterator[tuple[Worker, WorkerReport]]:
        """Each worker with its report, as they come."""
        started = time.monotonic()
        while workers:
            for worker in ready(workers, _TICK):
                workers.remove(worker)
                yield worker, worker.collect()
            for worker in [worker for worker in workers if worker.is_overdue]:
                workers.remove(worker)
                yield worker, worker.stop(Fate.TIMEOUT)
            if workers and self._progress is not None:
                names = " and ".join(worker.name for worker in workers)
                self._progress(names, time.monotonic() - started)

    def _note(self, report: WorkerReport) -> None:
        """Write down who said what; what went wrong also as a notice."""
        if report.fate is Fate.MISUSED:
            raise UserError(report.detail)
        if report.answer is not None:
            said, detail = _summary(report.answer), report.answer.detail
            self._notices += [f"engine {report.engine}: {n}" for n in report.answer.notices]
        else:
            said, detail = report.fate.value, report.detail
            if report.fate is not Fate.STOPPED:
                because = f": {detail}" if detail else ""
                self._notices.append(f"engine {report.engine} gave no answer: {said}{because}")
        rows = report.answer.layers if report.answer is not None else ()
        self._runs.append(EngineRun(report.engine, said, report.seconds, detail, rows))


def _as_candidates(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What an engine without a proof behind its `likely` says, in a verdict on a whole program."""
    return tuple(
        replace(f, confidence=Confidence.POSSIBLE) if f.confidence is Confidence.LIKELY else f
        for f in findings
    )


def _summary(answer: Answer) -> str:
    """`race (1 confirmed, 2 possible; 3 open)`."""
    counts = {
        confidence: sum(1 for f in answer.findings if f.confidence is confidence)
        for confidence in sorted(Confidence, reverse=True)
    }
    words = [f"{count} {confidence}" for confidence, count in counts.items() if count]
    if answer.outcome is not Outcome.RACE_FREE and answer.open:
        words.append(f"{len(answer.open)} open")
    return f"{answer.outcome} ({', '.join(words)})" if words else str(answer.outcome)
