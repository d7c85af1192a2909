"""All schedules at once: every event has a time, no rounds.

For proofs. The rounds encoding asks about schedules with few context switches; here the order of
the events of different threads is left to the solver altogether. Each event has a clock, growing
along each thread (the thread's number as its lowest bits keeps clocks of different threads apart),
and a read gives the value of the last write before it:

    before(w, r)   w is executed, to the cell that r reads, with a smaller clock
    value(r) = value(w) for that w with before(w, r) that has the greatest clock

The events of an atomic section share their clock, and so do plain accesses with the step before
them (`movers`). Any other sequentially consistent execution of the unfolded program, and any
beginning of one, is a model. So if no model has a race and none comes to
a place where the unfolding was cut, the program has no race: the number of rounds, which the
sequentialization would have to bound by the number of visible statements, does not come up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from raceproof.engines.bounded.cells import Cell, UnfoldCells
from raceproof.engines.bounded.events import Place, Read, ThreadBody, UnfoldEvent, Unfolding, Write
from raceproof.engines.bounded.influence import Influence
from raceproof.engines.bounded.movers import Movers, Pairs
from raceproof.engines.bounded.rounds import InitialValue
from raceproof.smt.solver import Model
from raceproof.smt.terms import Term, Terms


@dataclass(frozen=True, slots=True, eq=False)
class _CellWrite:
    event: UnfoldEvent
    position: int
    """Among the event's operations."""
    when: Term
    """It is executed and goes to the cell."""
    value: Term
    is_hidden: Term
    """No other thread may see it."""
    is_whole: bool
    """It writes this cell and no other."""


@dataclass(frozen=True, slots=True, eq=False)
class _Last:
    """The last of some writes before a read, if there is one."""

    exists: Term
    clock: Term
    value: Term
    is_hidden: Term


class TooManyEvents(Exception):
    """The formula would be too large."""


class OrderEncoding:
    """The formula for all schedules of an unfolding."""

    def __init__(
        self,
        terms: Terms,
        unfolding: Unfolding,
        initial: InitialValue,
        check_time: Callable[[], None] = lambda: None,
        pairs: Pairs | None = None,
        limit: int = 3_000_000,
    ) -> None:
        self.terms = terms
        self.unfolding = unfolding
        self.cells = UnfoldCells(unfolding, terms)
        self.assertions: list[Term] = []
        self._initial = initial
        self._check_time = check_time
        self._limit = limit
        self._size = 0
        self._passed = [
            [terms.var(f"done {thread.number}.{i}", 1) for i in range(len(thread.events))]
            for thread in unfolding.threads
        ]
        total = sum(len(thread.events) for thread in unfolding.threads) + 1
        self._clock_bits = max(total.bit_length(), 2)
        self._thread_bits = max((len(unfolding.threads) - 1).bit_length(), 2)
        self._movers = Movers(unfolding, self.cells, pairs)
        self._clocks = [self._thread_clocks(t) for t in range(len(unfolding.threads))]
        self._writes: dict[Cell, list[_CellWrite]] = {}
        self._seen: list[Term] = []
        self._collect_writes()
        self._order()
        influence = Influence(unfolding, self.cells)
        for thread in unfolding.threads:
            for event in thread.events:
                for position, operation in enumerate(event.operations):
                    if isinstance(operation, Read) and influence.matters(operation):
                        self._define(event, position, operation)
        self._assumptions()

    # --- time ------------------------------------------------------------

    def _thread_clocks(self, t: int) -> list[Term]:
        terms = self.terms
        clocks: list[Term] = []
        for i, event in enumerate(self.unfolding.threads[t].events):
            if clocks and self._is_at_once(event):
                clocks.append(clocks[-1])
            else:
                time = terms.var(f"time {t}.{i}", self._clock_bits)
                clocks.append(terms.concat(time, terms.const(t, self._thread_bits)))
        return clocks

    def _is_at_once(self, event: UnfoldEvent) -> bool:
        return event.is_inner or self._movers.follows(event)

    def passed(self, thread: int, index: int) -> Term:
        return self.terms.true if index < 0 else self._passed[thread][index]

    def stands_before(self, event: UnfoldEvent) -> Term:
        """The thread has come to the event and not executed it."""
        terms = self.terms
        stands = terms.all(
            (
                self.passed(event.thread, event.index - 1),
                terms.not_(self.passed(event.thread, event.index)),
                event.guard,
            )
        )
        for constraint in self.unfolding.threads[event.thread].constraints:
            if constraint.index == event.index:
                stands = terms.and_(stands, terms.implies(constraint.guard, constraint.condition))
        return stands

    def earlier(self, a: UnfoldEvent, b: UnfoldEvent) -> Term:
        """Event `a` comes before event `b`, if both are executed."""
        if a.thread == b.thread:
            return self.terms.truth(a.index < b.index)
        self._size += 1
        if self._size > self._limit:
            raise TooManyEvents
        return self.terms.compare(
            "ult", self._clocks[a.thread][a.index], self._clocks[b.thread][b.index]
        )

    def _order(self) -> None:
        terms, add = self.terms, self.assertions.append
        for t, thread in enumerate(self.unfolding.threads):
            for i, event in enumerate(thread.events):
                if not i:
                    continue
                add(terms.implies(self._passed[t][i], self._passed[t][i - 1]))
                if event.is_inner:
                    self._stop_inside(event)
                elif not self._is_at_once(event):
                    add(terms.compare("ult", self._clocks[t][i - 1], self._clocks[t][i]))

    def _stop_inside(self, event: UnfoldEvent) -> None:
        """A thread may end up inside an atomic section if no thread runs after it."""
        terms = self.terms
        stops = terms.and_(
            self.passed(event.thread, event.index - 1),
            terms.not_(self.passed(event.thread, event.index)),
        )
        for t, thread in enumerate(self.unfolding.threads):
            if t == event.thread:
                continue
            for other in thread.events:
                if not other.is_inner:
                    self.assertions.append(
                        terms.implies(
                            terms.and_(stops, self.passed(t, other.index)),
                            self.earlier(other, event),
                        )
                    )

    # --- memory ------------------------------------------------------------

    def _is_at(self, address: Term, place: Place) -> Term:
        target = self.terms.const(place[0].address + place[1], address.width)
        return self.terms.eq(address, target)

    def _hidden(self, thread: ThreadBody) -> dict[tuple[int, int], Term]:
        """When no thread may see a write: for (event, operation)."""
        terms = self.terms
        found: dict[tuple[int, int], Term] = {}
        for hiding in thread.hidings:
            when = terms.and_(self.passed(thread.number, hiding.end - 1), hiding.guard)
            for write in hiding.writes:
                key = (write.event.index, write.position)
                found[key] = terms.or_(found.get(key, terms.false), when)
        return found

    def _collect_writes(self) -> None:
        terms = self.terms
        for t, thread in enumerate(self.unfolding.threads):
            hidden = self._hidden(thread)
            for event in thread.events:
                for position, operation in enumerate(event.operations):
                    if not isinstance(operation, Write):
                        continue
                    done = terms.all(
                        (self.passed(t, event.index), event.guard, operation.condition)
                    )
                    is_hidden = hidden.get((event.index, position), terms.false)
                    for place in operation.places:
                        when = terms.and_(done, self._is_at(operation.address, place))
                        if when is terms.false:
                            continue
                        cells = self.cells.of(place, operation.size)
                        for cell in cells:
                            value = self.cells.part(operation.value, place, cell)
                            self._writes.setdefault(cell, []).append(
                                _CellWrite(event, position, when, value, is_hidden, len(cells) == 1)
                            )

    def _define(self, event: UnfoldEvent, position: int, read: Read) -> None:
        terms = self.terms
        done = terms.and_(self.passed(event.thread, event.index), event.guard)
        ways: list[tuple[Term, Cell, Term]] = []
        is_whole = True
        for place in read.places:
            here = terms.and_(done, self._is_at(read.address, place))
            if here is terms.false:
                continue
            cells = self.cells.of(place, read.size)
            is_whole = is_whole and len(cells) == 1
            ways += ((here, cell, self.cells.part(read.variable, place, cell)) for cell in cells)
        if is_whole and all(w.is_whole for _, cell, _ in ways for w in self._writes.get(cell, ())):
            self._define_value(event, position, read.variable, [(h, c) for h, c, _ in ways])
            return
        for here, cell, value in ways:
            self._define_value(event, position, value, [(here, cell)])

    def _define_value(
        self, event: UnfoldEvent, position: int, value: Term, ways: list[tuple[Term, Cell]]
    ) -> None:
        """A value that is read from one of some cells: the last write of each thread before it to
        the cell that it is read from, and of these the one with the greatest clock."""
        terms = self.terms
        lasts: dict[int, _Last] = {}
        for write, meets in self._met(event, ways):
            self._check_time()
            if write.event is event:
                is_before = terms.truth(write.position < position)
            else:
                is_before = self.earlier(write.event, event)
            before = terms.and_(meets, is_before)
            if before is terms.false:
                continue
            clock = self._clocks[write.event.thread][write.event.index]
            is_hidden = write.is_hidden
            if write.event.thread == event.thread:
                is_hidden = terms.false
            new = _Last(before, clock, write.value, is_hidden)
            old = lasts.get(write.event.thread)
            if old is not None:
                new = self._choose(before, new, old)
            lasts[write.event.thread] = new
        initial = self._initial_of(ways)
        result = _Last(terms.false, terms.false, initial, terms.false)
        for last in lasts.values():
            if result.exists is terms.false:
                is_newer = last.exists
                value_now = terms.ite(is_newer, last.value, initial)
                is_hidden = terms.and_(is_newer, last.is_hidden)
                result = _Last(last.exists, last.clock, value_now, is_hidden)
                continue
            is_newer = terms.and_(
                last.exists,
                terms.or_(
                    terms.not_(result.exists), terms.compare("ult", result.clock, last.clock)
                ),
            )
            result = self._choose(is_newer, last, result)
        here = terms.any(here for here, _ in ways)
        self.assertions.append(terms.implies(here, terms.eq(value, result.value)))
        if result.is_hidden is not terms.false:
            self._seen.append(terms.and_(here, result.is_hidden))

    def _met(
        self, event: UnfoldEvent, ways: list[tuple[Term, Cell]]
    ) -> Iterator[tuple[_CellWrite, Term]]:
        """The writes to the cells of a read, in the order of each thread, and when both go to the
        same cell."""
        terms = self.terms
        if len(ways) == 1:
            for write in self._writes.get(ways[0][1], ()):
                yield write, write.when
            return
        found: dict[tuple[int, int, int], tuple[_CellWrite, list[Term]]] = {}
        for here, cell in ways:
            for write in self._writes.get(cell, ()):
                key = (write.event.thread, write.event.index, write.position)
                _, when = found.setdefault(key, (write, []))
                when.append(terms.and_(here, write.when))
        for key in sorted(found):
            write, when = found[key]
            yield write, terms.any(when)

    def _initial_of(self, ways: list[tuple[Term, Cell]]) -> Term:
        result: Term | None = None
        for here, (number, start, end) in ways:
            value = self._initial(self.cells.objects[number], start, end - start)
            result = value if result is None else self.terms.ite(here, value, result)
        assert result is not None
        return result

    def _choose(self, condition: Term, a: _Last, b: _Last) -> _Last:
        terms = self.terms
        return _Last(
            terms.or_(a.exists, b.exists),
            terms.ite(condition, a.clock, b.clock),
            terms.ite(condition, a.value, b.value),
            terms.ite(condition, a.is_hidden, b.is_hidden),
        )

    def _assumptions(self) -> None:
        terms = self.terms
        for t, thread in enumerate(self.unfolding.threads):
            for event in thread.events:
                if event.assume is not terms.true:
                    happens = terms.and_(self.passed(t, event.index), event.guard)
                    self.assertions.append(terms.implies(happens, event.assume))
            for constraint in thread.constraints:
                if constraint.index < len(thread.events):
                    gone_on = terms.and_(self.passed(t, constraint.index), constraint.guard)
                    self.assertions.append(terms.implies(gone_on, constraint.condition))

    # --- answers ------------------------------------------------------------

    def cut_reached(self) -> Term:
        """Some thread comes to a place where the unfolding was cut."""
        terms = self.terms
        return terms.any(
            terms.all(
                [
                    self.passed(t, cut.index - 1),
                    cut.guard,
                    *(
                        terms.implies(c.guard, c.condition)
                        for c in thread.constraints[: cut.constraints]
                        if c.index == cut.index
                    ),
                ]
            )
            for t, thread in enumerate(self.unfolding.threads)
            for cut in thread.cuts
        )

    def hidden_seen(self) -> Term:
        """Some thread reads what another has written while waiting, and should not be seen."""
        return self.terms.any(self._seen)

    def execution(self, model: Model) -> list[UnfoldEvent]:
        """The events of a satisfying schedule, in their order."""
        done = [
            event
            for t, thread in enumerate(self.unfolding.threads)
            for event in thread.events
            if model.holds(self.terms.and_(self.passed(t, event.index), event.guard))
        ]
        return sorted(
            done, key=lambda e: (model.value(self._clocks[e.thread][e.index]), e.thread, e.index)
        )
