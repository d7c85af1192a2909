"""Lazy sequentialization: the threads take turns, in a fixed order, for a number of rounds.

The paper turns the program into a sequential one in which a thread's code stands once for each
round, and jumps over what is not to be executed in that round. We keep its schedules and drop the
copies. For each thread, round and label there is one boolean,

    passed[r][i]   the thread has executed its event i by the end of round r

monotone in r and i: together they are the paper's guessed context switches (`cs`), in unary.
UnfoldEvent i is executed in round r if `passed[r][i]` and not `passed[r-1][i]`. What a thread
computes between two events depends only on what its events read, so each read has one variable,
whose value is that of its cell in the round in which the read takes place, and all local
computation stands in the formula once. Only shared memory is followed through the rounds: the cells
start with what `main` left there, and each event that writes makes a new value `executed ? new :
old`, in the order of the simulated execution.

A thread goes through its plain accesses without a pause (`movers`), so these need no label in each
round. A step that cannot take place (a taken lock) is assumed not to be executed; an atomic section
is one step (`sections`).
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.engines.bounded.cells import Cell, UnfoldCells
from raceproof.engines.bounded.events import Read, ThreadBody, UnfoldEvent, Unfolding, Write
from raceproof.engines.bounded.movers import Movers, Pairs
from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.engines.bounded.sections import merge_sections
from raceproof.smt.solver import Model
from raceproof.smt.terms import Term, Terms

InitialValue = Callable[[UnfoldObject, int, int], Term]


class RoundsEncoding:
    """The formula for a number of rounds."""

    def __init__(
        self,
        terms: Terms,
        unfolding: Unfolding,
        initial: InitialValue,
        rounds: int,
        check_time: Callable[[], None] = lambda: None,
        pairs: Pairs | None = None,
    ) -> None:
        self.terms = terms
        self.unfolding = unfolding = merge_sections(unfolding, terms)
        self.rounds = rounds
        self.cells = UnfoldCells(unfolding, terms)
        self.assertions: list[Term] = []
        self._initial = initial
        self._check_time = check_time
        self._memory: dict[Cell, Term] = {}
        self._movers = Movers(unfolding, self.cells, pairs)
        self._passed: list[list[list[Term]]] = [
            [self._labels(thread, r) for thread in unfolding.threads] for r in range(rounds)
        ]
        self._choices: dict[int, list[tuple[Term, Term]]] = {}
        self._variables: dict[int, Term] = {}
        self._order()
        for r in range(rounds):
            for t in range(len(unfolding.threads)):
                self._run_context(r, t)
        self._final: dict[int, Term] = {}
        for thread in unfolding.threads:
            for event in thread.events:
                if event.parts:
                    self._try_section(event)
        self._define_reads()
        self._assumptions()

    def _labels(self, thread: ThreadBody, round_: int) -> list[Term]:
        """Whether each event of a thread has been executed by the end of a round."""
        terms = self.terms
        labels: list[Term] = []
        for i, event in enumerate(thread.events):
            if self._movers.follows(event):
                goes_on = terms.var(f"goes on {thread.number}.{i}", 1)
                labels.append(terms.and_(labels[-1], goes_on))
            else:
                labels.append(terms.var(f"passed {round_}.{thread.number}.{i}", 1))
        return labels

    # --- the schedule ------------------------------------------------------------

    def passed(self, thread: int, index: int, round_: int = -1) -> Term:
        """Whether an event has been executed by the end of a round (the last if not said)."""
        if index < 0:
            return self.terms.true
        return self._passed[round_][thread][index]

    def executed(self, thread: int, index: int, round_: int) -> Term:
        now = self._passed[round_][thread][index]
        if round_ == 0:
            return now
        return self.terms.and_(now, self.terms.not_(self._passed[round_ - 1][thread][index]))

    def stands_before(self, event: UnfoldEvent) -> Term:
        """At the end the thread stands just before the event."""
        return self.terms.all(
            (
                self.passed(event.thread, event.index - 1),
                self.terms.not_(self.passed(event.thread, event.index)),
                event.guard,
            )
        )

    def _order(self) -> None:
        terms, add = self.terms, self.assertions.append
        for t, thread in enumerate(self.unfolding.threads):
            for i in range(len(thread.events)):
                for r in range(self.rounds):
                    now = self._passed[r][t][i]
                    if r:
                        add(terms.implies(self._passed[r - 1][t][i], now))
                    if i:
                        before = self._passed[r][t][i - 1]
                        add(terms.implies(now, before))

    # --- memory ------------------------------------------------------------

    def _value(self, cell: Cell) -> Term:
        found = self._memory.get(cell)
        if found is None:
            number, start, end = cell
            found = self._initial(self.cells.objects[number], start, end - start)
            self._memory[cell] = found
        return found

    def _run_context(self, r: int, t: int) -> None:
        terms = self.terms
        for event in self.unfolding.threads[t].events:
            if not event.operations:
                continue
            self._check_time()
            when = self.executed(t, event.index, r)
            for operation in event.operations:
                if isinstance(operation, Read):
                    value = self._read(operation)
                    self._choices.setdefault(operation.variable.number, []).append(
                        (self._passed[r][t][event.index], value)
                    )
                    self._variables[operation.variable.number] = operation.variable
                else:
                    self._write(operation, terms.and_(when, event.guard))

    def _try_section(self, event: UnfoldEvent) -> None:
        """What an atomic section would read if it ran at the end, for races inside it."""
        if not any(part.accesses for part, _ in event.parts):
            return
        before = self._memory
        self._memory = dict(before)
        for operation in event.operations:
            if isinstance(operation, Read):
                self._final[operation.variable.number] = self._read(operation)
            else:
                self._write(operation, self.terms.true)
        self._memory = before

    def _read(self, read: Read) -> Term:
        result: Term | None = None
        for place in reversed(read.places):
            value = self.cells.join([self._value(c) for c in self.cells.of(place, read.size)])
            if result is None:
                result = value
            else:
                result = self.terms.ite(self._is_at(read.address, place), value, result)
        assert result is not None
        return result

    def _is_at(self, address: Term, place: tuple[UnfoldObject, int]) -> Term:
        target = self.terms.const(place[0].address + place[1], address.width)
        return self.terms.eq(address, target)

    def _write(self, write: Write, when: Term) -> None:
        terms = self.terms
        when = terms.and_(when, write.condition)
        for place in write.places:
            here = terms.and_(when, self._is_at(write.address, place))
            if here is terms.false:
                continue
            for cell in self.cells.of(place, write.size):
                new = self.cells.part(write.value, place, cell)
                self._memory[cell] = terms.ite(here, new, self._value(cell))

    def _define_reads(self) -> None:
        """Each read gives what its cell holds in the round in which it takes place."""
        terms = self.terms
        for number, choices in self._choices.items():
            result = self._final.get(number)
            if result is None:
                result = choices[-1][1]
                choices = choices[:-1]
            for passed, value in reversed(choices):
                result = terms.ite(passed, value, result)
            self.assertions.append(terms.eq(self._variables[number], result))

    def _assumptions(self) -> None:
        terms = self.terms
        for t, thread in enumerate(self.unfolding.threads):
            for event in thread.events:
                if event.assume is not terms.true:
                    happens = terms.and_(self.passed(t, event.index), event.guard)
                    self.assertions.append(terms.implies(happens, event.assume))
            for constraint in thread.constraints:
                reached = terms.and_(self.passed(t, constraint.index - 1), constraint.guard)
                self.assertions.append(terms.implies(reached, constraint.condition))

    def cut_reached(self) -> Term:
        """Some thread comes to a place where the unfolding was cut."""
        return self.terms.any(
            self.terms.and_(self.passed(t, cut.index - 1), cut.guard)
            for t, thread in enumerate(self.unfolding.threads)
            for cut in thread.cuts
        )

    # --- models ------------------------------------------------------------

    def execution(self, model: Model) -> list[UnfoldEvent]:
        """The events of a satisfying schedule, in their order."""
        order: list[UnfoldEvent] = []
        for r in range(self.rounds):
            for t, thread in enumerate(self.unfolding.threads):
                for event in thread.events:
                    when = self.terms.and_(self.executed(t, event.index, r), event.guard)
                    if model.holds(when):
                        parts = [part for part, _ in event.parts] or [event]
                        order += (part for part in parts if model.holds(part.guard))
        return order
