"""The engine: unfolds, asks, replays, proves; bounds grow while there is time."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace

from raceproof.concurrency import Models
from raceproof.engines.bounded.events import Unfolding
from raceproof.engines.bounded.monitor import Monitor
from raceproof.engines.bounded.objects import TooBig
from raceproof.engines.bounded.order import OrderEncoding, TooManyEvents
from raceproof.engines.bounded.plan import Stage, stages
from raceproof.engines.bounded.progress import Progress
from raceproof.engines.bounded.rounds import RoundsEncoding
from raceproof.engines.bounded.schedule import NoReplay, confirmed_schedule
from raceproof.engines.bounded.solver import Result, Solver
from raceproof.engines.bounded.terms import Term
from raceproof.engines.bounded.unfold import OutOfTime, Unfolder
from raceproof.engines.interleave.execution import Race
from raceproof.engines.interleave.findings import confirmed_finding
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.machine import Machine
from raceproof.machine.replay import replay
from raceproof.verdict import Answer, Candidate, Finding, Outcome, Schedule

_RECURSION = 12_000
_ATTEMPTS = 3
"""Models tried before a schedule that does not replay is called an internal error."""


@dataclass(slots=True)
class Statistics:
    """Where the time went."""

    building: float = 0.0
    solving: float = 0.0
    translating: float = 0.0
    terms: int = 0
    events: int = 0
    passes: int = 0
    done: list[str] = field(default_factory=list)
    """The stages without a race."""


class _Proved(Exception):
    pass


class BoundedEngine:
    """See the package's docstring."""

    name = "bounded"

    def run(self, program: Program, question: Question) -> Answer:
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(max(old, _RECURSION))
        try:
            return _Run(program, question).answer()
        finally:
            sys.setrecursionlimit(old)


class _Run:
    """One question about one program."""

    def __init__(self, program: Program, question: Question) -> None:
        self.program = program
        self.question = question
        self.options = question.options
        self.models = Models.load(self.options.models)
        self.deadline = float("inf") if question.deadline is None else question.deadline - 0.5
        self.statistics = Statistics()
        self.progress = Progress(self.options)
        self.problem = ""
        self.assumptions: dict[str, None] = {}
        self.disputed: list[str] = []

    @property
    def pairs(self) -> list[tuple[int, int]] | None:
        candidates = self.question.candidates
        if candidates is None:
            return None
        return [(c.first.instruction, c.second.instruction) for c in candidates]

    def answer(self) -> Answer:
        has_time = self.question.deadline is not None
        with self.progress:
            for stage in stages(self.options, has_time=has_time):
                if time.monotonic() > self.deadline:
                    break
                try:
                    finding = self._stage(stage)
                except _Proved:
                    return self._race_free(stage)
                except (OutOfTime, TooBig, TooManyEvents) as stopped:
                    self.problem = _STOPPED[type(stopped)]
                    continue
                if finding is not None:
                    return self._answer(Outcome.RACE, (finding,), f"race within {stage}")
        return self._unknown()

    # --- one stage ------------------------------------------------------------

    def _stage(self, stage: Stage) -> Finding | None:
        start = time.perf_counter()
        self.progress.show(f"unwind {stage.limits.unwind}: unfolding")
        unfolder = Unfolder(self.program, self.models, stage.limits, self.deadline)
        unfolding = unfolder.run()
        self.statistics.building += time.perf_counter() - start
        self.statistics.terms = len(unfolder.terms)
        self.statistics.passes = unfolding.passes
        self.statistics.events = sum(len(t.events) for t in unfolding.threads)
        self.assumptions.update(dict.fromkeys(unfolding.assumptions))
        can_prove = stage.proves
        for rounds in stage.rounds:
            self.progress.show(f"unwind {stage.limits.unwind}: round {rounds}")
            finding, is_cut = self._rounds(stage, unfolder, unfolding, rounds)
            if finding is not None:
                return finding
            can_prove = can_prove and not is_cut
            if can_prove:
                self.progress.show(f"unwind {stage.limits.unwind}: all schedules")
                finding = self._prove(stage, unfolder, unfolding)
                if finding is not None:
                    return finding
                can_prove = False
        self.statistics.done.append(str(stage))
        return None

    def _rounds(
        self, stage: Stage, unfolder: Unfolder, unfolding: Unfolding, rounds: int
    ) -> tuple[Finding | None, bool]:
        """A race, and whether some cut was seen to be reached."""
        start = time.perf_counter()
        encoding = RoundsEncoding(
            unfolder.terms, unfolding, unfolder.initial_value, rounds, unfolder.check_time
        )
        monitor = Monitor(
            unfolder.terms, unfolding, encoding.cells, encoding.stands_before, self.pairs
        )
        race = monitor.race()
        solver = Solver(unfolder.terms)
        for assertion in encoding.assertions:
            solver.add(assertion)
        self.statistics.building += time.perf_counter() - start - solver.seconds_translating
        finding = self._search(unfolder, unfolding, encoding, monitor, solver, race)
        is_cut = False
        if finding is None and stage.proves and rounds == 1:
            cut = encoding.cut_reached()
            if cut is not unfolder.terms.false:
                is_cut = solver.check(cut, deadline=self.deadline) is Result.SAT
        self._account(solver)
        return finding, is_cut

    def _account(self, solver: Solver) -> None:
        self.statistics.solving += solver.seconds
        self.statistics.translating += solver.seconds_translating

    def _search(
        self,
        unfolder: Unfolder,
        unfolding: Unfolding,
        encoding: RoundsEncoding | OrderEncoding,
        monitor: Monitor,
        solver: Solver,
        race: Term,
    ) -> Finding | None:
        if race is unfolder.terms.false:
            return None
        for _ in range(_ATTEMPTS):
            result = solver.check(race, deadline=self.deadline)
            if result is Result.UNKNOWN:
                raise OutOfTime
            if result is Result.UNSAT:
                return None
            model = solver.model()
            pair = monitor.pair(model)
            assert pair is not None
            machine = Machine(self.program, self.models, mutex_rules=self.options.mutex_rules)
            try:
                schedule = confirmed_schedule(
                    machine, unfolding, model, encoding.execution(model), pair
                )
                return self._finding(machine, schedule)
            except NoReplay as reason:
                if unfolding.is_exact:
                    where = f"{pair.first.position} and {pair.second.position}"
                    self.disputed.append(f"no replay of a race at {where}: {reason}")
                race = unfolder.terms.and_(race, monitor.other_than(pair))
        return None

    def _finding(self, machine: Machine, schedule: Schedule) -> Finding:
        outcome = replay(machine, schedule)
        assert outcome.reached
        first = machine.threads[schedule.first].pending
        second = machine.threads[schedule.second].pending
        assert first is not None and second is not None
        accesses = first.conflict(second)
        assert accesses is not None
        found = Race(schedule, accesses)
        finding = confirmed_finding(machine, found, self._candidate(found))
        return replace(finding, engine="bounded")

    def _candidate(self, race: Race) -> Candidate | None:
        for candidate in self.question.candidates or ():
            if frozenset((candidate.first.instruction, candidate.second.instruction)) == race.pair:
                return candidate
        return None

    # --- proofs ------------------------------------------------------------

    def _prove(self, stage: Stage, unfolder: Unfolder, unfolding: Unfolding) -> Finding | None:
        """Raises `_Proved` if no schedule at all has a race or leaves the bounds."""
        if unfolder.has_choices and not stage.limits.cautious:
            limits = replace(stage.limits, cautious=True)
            unfolder = Unfolder(self.program, self.models, limits, self.deadline)
            unfolding = unfolder.run()
        start = time.perf_counter()
        encoding = OrderEncoding(
            unfolder.terms, unfolding, unfolder.initial_value, unfolder.check_time
        )
        monitor = Monitor(
            unfolder.terms, unfolding, encoding.cells, encoding.stands_before, self.pairs
        )
        race, cut = monitor.race(), encoding.cut_reached()
        solver = Solver(unfolder.terms)
        if race is not unfolder.terms.false or cut is not unfolder.terms.false:
            for assertion in encoding.assertions:
                solver.add(assertion)
        self.statistics.building += time.perf_counter() - start - solver.seconds_translating
        try:
            if cut is not unfolder.terms.false:
                if solver.check(cut, deadline=self.deadline) is not Result.UNSAT:
                    return None
            if race is not unfolder.terms.false:
                result = solver.check(race, deadline=self.deadline)
                if result is Result.SAT and not unfolder.limits.cautious:
                    return self._search(unfolder, unfolding, encoding, monitor, solver, race)
                if result is not Result.UNSAT:
                    return None
        finally:
            self._account(solver)
        if self.disputed:
            return None
        raise _Proved

    # --- answers ------------------------------------------------------------

    def _race_free(self, stage: Stage) -> Answer:
        detail = (
            f"no schedule has a race, and none exceeds {stage}"
            if self.question.candidates is None
            else "no schedule reaches one of the candidates"
        )
        return self._answer(Outcome.RACE_FREE, (), detail)

    def _unknown(self) -> Answer:
        if self.statistics.done:
            detail = f"no race within {self.statistics.done[-1]}"
        else:
            detail = f"nothing decided: {self.problem or 'no time'}"
        if self.disputed:
            detail = f"internal error: {self.disputed[0]}; {detail}"
        return self._answer(Outcome.UNKNOWN, (), detail)

    def _answer(self, outcome: Outcome, findings: tuple[Finding, ...], detail: str) -> Answer:
        s = self.statistics
        candidates = self.question.candidates or ()
        return Answer(
            outcome,
            findings,
            open=candidates if outcome is Outcome.UNKNOWN else (),
            assumptions=tuple(self.assumptions),
            detail=detail,
            statistics=(
                ("seconds building formulas", round(s.building + s.translating, 3)),
                ("seconds in the solver", round(s.solving, 3)),
                ("terms", s.terms),
                ("events", s.events),
                ("passes", s.passes),
            ),
        )


_STOPPED: dict[type, str] = {
    OutOfTime: "no time left",
    TooBig: "the unfolded program is too large",
    TooManyEvents: "too many events for one formula",
}
ENGINE = BoundedEngine()
