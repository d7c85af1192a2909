"""The engine: unfolds, asks, replays, proves; bounds grow while there is time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from raceproof.engines.bounded.events import UnfoldEvent, Unfolding
from raceproof.engines.bounded.monitor import Monitor
from raceproof.engines.bounded.movers import Pairs
from raceproof.engines.bounded.objects import TooBig
from raceproof.engines.bounded.order import OrderEncoding, TooManyEvents
from raceproof.engines.bounded.plan import Stage, can_go_on, longer, stages
from raceproof.engines.bounded.progress import Progress
from raceproof.engines.bounded.rounds import RoundsEncoding
from raceproof.engines.bounded.schedule import EndsUndefined, NoReplay, confirmed_schedule
from raceproof.engines.bounded.unfold import Unfolder, UnfoldingTimeout, UnfoldLimits
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.machine import Machine
from raceproof.machine.findings import Race, outcome_of, replayed_finding
from raceproof.machine.replay import replay
from raceproof.smt.solver import Solver, SolverResult, TermTranslation
from raceproof.smt.terms import Term
from raceproof.verdict import Answer, Candidate, Finding, Outcome, Schedule

_RECURSION = 12_000
_STAGE_SHARE, _PROOF_SHARE, _LONGER_SHARE = 0.4, 0.4, 0.25
"""Of the time that is left, for one question about races, for one proof, and for trying again with
long loops unrolled further."""
_MARGIN, _MARGIN_SHARE = 0.4, 0.02
"""Seconds, and the share of the time, that are kept for what cannot be interrupted."""
_MOST_PAIRS = 200
"""Of events, to be tried for one pair of instructions that reads without order lead to."""
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


@dataclass(slots=True)
class _Session:
    """One unfolding, for all that is asked about it.

    Each number of rounds, and the proof, has a solver of its own: a formula that can grow (with the
    values of reads left open for the rounds to come) was measured to cost the solver more than it
    saves. What is kept is the unfolding and all that was translated. All questions about one
    formula (a race, a cut, a write that should not be seen) are assumptions in the same solver.

    A deeper unfolding goes on with the objects, the terms and the tables of the one before, which
    halves the passes that it needs. It gets solvers of its own, too: `benchmarks/README.md` has the
    numbers, against one formula for all unwindings with the depth as an assumption, and against one
    solver that forgets the shallower formula and keeps what it learned.
    """

    unfolder: Unfolder
    unfolding: Unfolding
    translation: TermTranslation = field(default_factory=TermTranslation)


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
        self.facts = question.facts_of(program)
        self.models = self.facts.models
        self.deadline = float("inf")
        if question.deadline is not None:
            given = question.deadline - time.monotonic()
            self.deadline = question.deadline - _MARGIN - _MARGIN_SHARE * given
        self.statistics = Statistics()
        self.progress = Progress(self.options)
        self.problem = ""
        self.detail = ""
        self.findings: list[Finding] = []
        asked = question.candidates
        self.open = None if asked is None else dict.fromkeys(asked)
        self.assumptions: dict[str, None] = {}
        self.disputed: list[str] = []
        self.sessions: dict[UnfoldLimits, _Session] = {}
        self.unfolders: list[Unfolder] = []
        """All that came to an end."""
        self.hides = True
        """Waiting loops are taken to write what no thread sees, unless that was seen to be
        wrong."""

    @property
    def pairs(self) -> Pairs | None:
        """The instructions of the candidates that are still open; None: all there are."""
        if self.open is None:
            return None
        return frozenset(frozenset((c.first.instruction, c.second.instruction)) for c in self.open)

    @property
    def is_enough(self) -> bool:
        if self.open is None or self.options.stop_at_first:
            return bool(self.findings)
        return not self.open

    def answer(self) -> Answer:
        has_time = self.question.deadline is not None
        with self.progress:
            plan = list(stages(self.options, has_time=has_time))
            for number, stage in enumerate(plan):
                self._forget_sessions(plan[number:])
                if time.monotonic() > self.deadline:
                    break
                try:
                    self._stage(stage)
                except _Proved:
                    if not self.findings:
                        return self._race_free(stage)
                    break
                except (UnfoldingTimeout, TooBig, TooManyEvents) as stopped:
                    self.problem = _STOPPED[type(stopped)]
                if self.is_enough:
                    break
        if not self.findings:
            return self._unknown()
        return self._answer(outcome_of(self.findings), self.detail)

    def _until(self, share: float) -> float:
        """When a share of the time that is left is over."""
        now = time.monotonic()
        return now + share * (self.deadline - now)

    def _take(self, finding: Finding, stage: Stage) -> None:
        """Enters a race; its location, and others with the same instructions, need no more."""
        if not self.findings:
            self.detail = f"race within {stage}"
        self.findings.append(finding)
        if self.open is None:
            return
        pair = frozenset(access.instruction for access in finding.accesses)
        for candidate in list(self.open):
            same = frozenset((candidate.first.instruction, candidate.second.instruction)) == pair
            if same or candidate.location == finding.location:
                del self.open[candidate]

    # --- one stage ------------------------------------------------------------

    def _stage(self, stage: Stage) -> None:
        session = self._session(replace(stage.limits, hides=self.hides))
        can_prove = stage.proves
        for rounds in stage.rounds:
            self.progress.show(f"unwind {stage.limits.unwind}: round {rounds}")
            is_cut = self._rounds(stage, session, rounds)
            if self.is_enough:
                return
            can_prove = can_prove and not is_cut
            if can_prove:
                self.progress.show(f"unwind {stage.limits.unwind}: all schedules")
                self._prove(stage, session)
                can_prove = False
        if session.unfolder.limits.hides and not self.hides:
            self._stage(stage)
            return
        if can_go_on(stage, session.unfolding):
            self._stage_within(longer(stage), self._until(_LONGER_SHARE))
        self.statistics.done.append(str(stage))

    def _stage_within(self, stage: Stage, deadline: float) -> None:
        """A stage that leaves time for others."""
        before, self.deadline = self.deadline, deadline
        try:
            self._stage(stage)
        finally:
            self.deadline = before

    def _session(self, limits: UnfoldLimits) -> _Session:
        """Unfolds the program, unless that has been done within the same bounds."""
        found = self.sessions.get(limits)
        if found is not None:
            return found
        start = time.perf_counter()
        self.progress.show(f"unwind {limits.unwind}: unfolding")
        session = self._unfolded(limits, self._until(_STAGE_SHARE))
        unfolder, unfolding = session.unfolder, session.unfolding
        unfolder.deadline = self.deadline
        self.statistics.building += time.perf_counter() - start
        self.statistics.terms = len(unfolder.terms)
        self.statistics.passes = unfolding.passes
        self.statistics.events = sum(len(t.events) for t in unfolding.threads)
        self.assumptions.update(dict.fromkeys(unfolding.assumptions))
        self.sessions[limits] = session
        return session

    def _unfolded(self, limits: UnfoldLimits, deadline: float) -> _Session:
        """Goes on from the last unfolding within tighter bounds, if there is one."""
        known = (u for u in reversed(self.unfolders) if u.limits.is_within(limits))
        unfolder = Unfolder(
            self.program, self.models, limits, deadline, next(known, None), self.facts.events
        )
        session = _Session(unfolder, unfolder.run())
        self.unfolders.append(unfolder)
        return session

    def _forget_sessions(self, plan: list[Stage]) -> None:
        """Keeps only what a later stage comes back to."""
        wanted = {replace(stage.limits, hides=self.hides) for stage in plan}
        self.sessions = {k: session for k, session in self.sessions.items() if k in wanted}

    def _rounds(self, stage: Stage, session: _Session, rounds: int) -> bool:
        """Looks for races; whether some cut was seen to be reached."""
        deadline = self._until(_STAGE_SHARE)
        while True:
            known = len(self.findings)
            encoding, solver = self._encoded(session, rounds)
            self._search(stage, session.unfolder, session.unfolding, encoding, solver, deadline)
            if not self.open or len(self.findings) == known or self.is_enough:
                break
        cut = encoding.cut_reached()
        is_known = cut is session.unfolder.terms.false
        if self.is_enough or rounds > 1 or not stage.proves or is_known:
            return False
        return self._check(solver, cut, deadline=deadline) is SolverResult.SAT

    def _encoded(self, session: _Session, rounds: int) -> tuple[RoundsEncoding, Solver]:
        """The formula for so many rounds and a solver that knows it."""
        start = time.perf_counter()
        unfolder = session.unfolder
        encoding = RoundsEncoding(
            unfolder.terms,
            session.unfolding,
            unfolder.initial_value,
            rounds,
            unfolder.check_time,
            self.pairs,
        )
        return encoding, self._asserted(session, encoding.assertions, start)

    def _asserted(self, session: _Session, assertions: Sequence[Term], start: float) -> Solver:
        """A solver that takes these for granted; we have been building since `start`."""
        unfolder = session.unfolder
        solver = Solver(unfolder.terms, session.translation, unfolder.check_time)
        for assertion in assertions:
            solver.add(assertion)
        self.statistics.translating += solver.seconds_translating
        self.statistics.building += time.perf_counter() - start - solver.seconds_translating
        return solver

    def _check(self, solver: Solver, *questions: Term, deadline: float) -> SolverResult:
        """Asks, and notes the time."""
        seconds, translating = solver.seconds, solver.seconds_translating
        try:
            return solver.check(*questions, deadline=deadline)
        finally:
            self.statistics.solving += solver.seconds - seconds
            self.statistics.translating += solver.seconds_translating - translating

    def _search(
        self,
        stage: Stage,
        unfolder: Unfolder,
        unfolding: Unfolding,
        encoding: RoundsEncoding | OrderEncoding,
        solver: Solver,
        deadline: float,
    ) -> None:
        """Takes races until there is none, or enough of them."""
        terms = unfolder.terms
        others, failures = terms.true, 0
        while not self.is_enough and failures < _ATTEMPTS:
            monitor = Monitor(
                terms, encoding.unfolding, encoding.cells, encoding.stands_before, self.pairs
            )
            race = terms.and_(monitor.race(), others)
            if race is terms.false:
                return
            result = self._check(solver, race, deadline=deadline)
            if result is SolverResult.UNKNOWN:
                raise UnfoldingTimeout
            if result is SolverResult.UNSAT:
                return
            model = solver.model()
            pair = monitor.pair(model)
            assert pair is not None
            machine = Machine(self.program, self.models, mutex_rules=self.options.mutex_rules)
            try:
                schedule = confirmed_schedule(
                    machine, unfolding, model, encoding.execution(model), (pair.first, pair.second)
                )
                self._take(self._finding(machine, schedule), stage)
            except NoReplay as reason:
                failures += 1
                if unfolding.is_exact and not isinstance(reason, EndsUndefined):
                    where = f"{pair.first.position} and {pair.second.position}"
                    self.disputed.append(f"no replay of a race at {where}: {reason}")
            others = terms.and_(others, monitor.other_than(pair))
            if self.open is not None:
                return  # What moves depends on the candidates that are left.

    def _search_past(
        self, stage: Stage, session: _Session, instructions: tuple[int, int], deadline: float
    ) -> None:
        """Reads without order lead to a race of these two. Looks for an execution (without such
        reads, as those are no executions) that does one of them and comes to the other; whether
        happens-before orders them, the machine tells."""
        start = time.perf_counter()
        unfolder, unfolding = session.unfolder, session.unfolding
        terms = unfolder.terms
        encoding = OrderEncoding(
            terms, unfolding, unfolder.initial_value, unfolder.check_time, self.pairs
        )
        solver = self._asserted(session, encoding.assertions, start)
        machine = Machine(self.program, self.models, mutex_rules=self.options.mutex_rules)
        for first, second in _event_pairs(unfolding, instructions):
            done = terms.and_(encoding.passed(first.thread, first.index), first.guard)
            question = terms.and_(done, encoding.stands_before(second))
            if question is terms.false:
                continue
            if self._check(solver, question, deadline=deadline) is not SolverResult.SAT:
                continue
            model = solver.model()
            execution = encoding.execution(model)
            try:
                schedule = confirmed_schedule(
                    machine, unfolding, model, execution, (first, second), is_past=True
                )
            except NoReplay:
                continue
            self._take(self._finding(machine, schedule), stage)
            return

    def _finding(self, machine: Machine, schedule: Schedule) -> Finding:
        outcome = replay(machine, schedule)
        assert outcome.reached
        if outcome.race is not None:
            past, access = outcome.race
            return self._confirmed(machine, Race(schedule, (past.access, access)))
        first = machine.threads[schedule.first].pending
        second = machine.threads[schedule.second].pending
        assert first is not None and second is not None
        accesses = first.conflict(second)
        assert accesses is not None
        return self._confirmed(machine, Race(schedule, accesses))

    def _confirmed(self, machine: Machine, found: Race) -> Finding:
        finding = replayed_finding(machine, found, self._candidate(found))
        return replace(finding, engine="bounded")

    def _candidate(self, race: Race) -> Candidate | None:
        for candidate in self.question.candidates or ():
            if frozenset((candidate.first.instruction, candidate.second.instruction)) == race.pair:
                return candidate
        return None

    # --- proofs ------------------------------------------------------------

    def _prove(self, stage: Stage, session: _Session) -> None:
        """Raises `_Proved` if no schedule at all has a race or leaves the bounds."""
        deadline = self._until(_PROOF_SHARE)
        plain = session
        if session.unfolder.has_choices:
            limits = replace(session.unfolder.limits, cautious=True)
            session = self._unfolded(limits, deadline)
        start = time.perf_counter()
        unfolder, unfolding = session.unfolder, session.unfolding
        terms = unfolder.terms
        unfolder.deadline = deadline
        encoding = OrderEncoding(
            terms, unfolding, unfolder.initial_value, unfolder.check_time, self.pairs
        )
        unfolder.deadline = self.deadline
        monitor = Monitor(terms, unfolding, encoding.cells, encoding.stands_before, self.pairs)
        cut, race, seen = encoding.cut_reached(), monitor.race(), encoding.hidden_seen()
        questions = (race, cut, seen) if self.program.unordered else (cut, race, seen)
        wrong = [question for question in questions if question is not terms.false]
        solver = self._asserted(session, encoding.assertions if wrong else (), start)
        for question in wrong:
            result = self._check(solver, question, deadline=deadline)
            if result is SolverResult.SAT and question is race and not unfolder.limits.cautious:
                self._search(stage, unfolder, unfolding, encoding, solver, deadline)
            if result is SolverResult.SAT and question is race and self.program.unordered:
                pair = monitor.pair(solver.model())
                assert pair is not None
                numbers = (pair.first.instruction, pair.second.instruction)
                self._search_past(stage, plain, numbers, deadline)
            if question is seen and result is SolverResult.SAT:
                self.hides = False
            if result is not SolverResult.UNSAT:
                return
        if not self.disputed:
            raise _Proved

    # --- answers ------------------------------------------------------------

    def _race_free(self, stage: Stage) -> Answer:
        detail = (
            f"no schedule has a race, and none exceeds {stage}"
            if self.question.candidates is None
            else f"no schedule reaches one of the candidates, and none exceeds {stage}"
        )
        return self._answer(Outcome.RACE_FREE, detail)

    def _unknown(self) -> Answer:
        if self.statistics.done:
            detail = f"no race within {self.statistics.done[-1]}"
        else:
            detail = f"nothing decided: {self.problem or 'no time'}"
        if self.disputed:
            detail = f"internal error: {self.disputed[0]}; {detail}"
        return self._answer(Outcome.UNKNOWN, detail)

    def _answer(self, outcome: Outcome, detail: str) -> Answer:
        s = self.statistics
        return Answer(
            outcome,
            tuple(self.findings),
            open=() if outcome is Outcome.RACE_FREE else tuple(self.open or ()),
            assumptions=tuple(self.assumptions),
            detail=detail,
            statistics=(
                ("seconds building formulas", round(s.building, 3)),
                ("seconds translating formulas", round(s.translating, 3)),
                ("seconds in the solver", round(s.solving, 3)),
                ("terms", s.terms),
                ("events", s.events),
                ("passes", s.passes),
            ),
        )


def _event_pairs(
    unfolding: Unfolding, instructions: tuple[int, int]
) -> Iterator[tuple[UnfoldEvent, UnfoldEvent]]:
    """The events of two instructions in different threads, the earlier ones first."""
    found = [
        event
        for thread in unfolding.threads
        for event in thread.events
        if event.instruction in instructions and event.accesses
    ]
    for first, second in sorted(
        product(found, found), key=lambda pair: (pair[0].index + pair[1].index, pair[0].thread)
    )[:_MOST_PAIRS]:
        is_wanted = {first.instruction, second.instruction} == set(instructions)
        if first.thread != second.thread and is_wanted:
            yield first, second


_STOPPED: dict[type, str] = {
    UnfoldingTimeout: "no time left",
    TooBig: "the unfolded program is too large",
    TooManyEvents: "too many events for one formula",
}
ENGINE = BoundedEngine()
