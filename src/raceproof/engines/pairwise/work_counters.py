"""Counters of threads that are at work: who has seen all begin and then none left knows all done.

    main:    for (...) { create(worker); total++; }
             lock; while (working != total) wait; unlock;   stop = 1;
             lock; while (working) wait; unlock;            ... = data;
    worker:  lock; working++; unlock;   while (!stop) data = ...;   lock; working--; unlock;

Each thread has a *part* of a guarded cell: by how much it has changed it. So the cell is always its
first value plus all parts. If a thread's part is 0 or 1 and becomes 1 only once, then at a moment
when `main` finds that all parts but its own add up to the number of threads that it has created,
each of them is 1: all have begun. That remains true. If later all parts but its own add up to 0,
each is 0: all have begun and ended their work, and none begins again. Both remain true until `main`
creates another thread, if no other thread creates any. (The sum is right as long as fewer threads
are created than the cell has values; cells of less than 4 bytes don't count.)

Parts, the number of created threads and what `main` has found are kept like the contents of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raceproof.engines.pairwise.state import LockName, PairState, SharedCell
from raceproof.engines.pairwise.values import PairValue
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.pairwise.locking import Locking

CREATED = "created"
"""First part of the keys of cells that count creations."""


@dataclass(frozen=True, slots=True)
class Attendance:
    """What is known of one cell at an access: of the thread itself and, if it is `main`, of all."""

    part: Term
    has_begun: Term
    all_begun: Term
    all_ended: Term


class WorkCounters:
    def __init__(self, locking: Locking) -> None:
        self.locking = locking
        self.log = locking.log
        self.world = locking.world
        self.terms = locking.terms
        self._one = self.terms.const(1, 8)

    def start(self, state: PairState, call: int) -> None:
        for cell in self.world.counters:
            for what, size in (("part", cell.size), (CREATED, cell.size)):
                state.memory[_ghost(what, cell, size)] = PairValue(self.terms.const(0, size * 8))
            for what in ("begun", "all begun", "all ended"):
                state.memory[_ghost(what, cell)] = PairValue(self.terms.const(0, 8))

    def _get(self, state: PairState, what: str, cell: SharedCell, size: int = 1) -> Term:
        return self.locking.view(state, _ghost(what, cell, size)).bits

    def _flag(self, state: PairState, what: str, cell: SharedCell) -> Term:
        return self.terms.eq(self._get(state, what, cell), self._one)

    def _set(self, state: PairState, what: str, cell: SharedCell, condition: Term) -> None:
        old = self._get(state, what, cell)
        state.memory[_ghost(what, cell)] = PairValue(self.terms.ite(condition, self._one, old))

    def created(self, state: PairState, call: int) -> None:
        terms = self.terms
        for cell, counter in self.world.counters.items():
            if call in counter.calls:
                number = self._get(state, CREATED, cell, cell.size)
                more = terms.binary("add", number, terms.const(1, number.width))
                state.memory[_ghost(CREATED, cell, cell.size)] = PairValue(more)
            for what in ("all begun", "all ended"):
                state.memory[_ghost(what, cell)] = PairValue(terms.const(0, 8))

    def writes(self, state: PairState, cell: SharedCell, new: Term) -> None:
        """The thread is about to write the cell."""
        if cell not in self.world.counters:
            return
        terms = self.terms
        change = terms.binary("sub", new, self.locking.view(state, cell).bits)
        part = terms.binary("add", self._get(state, "part", cell, cell.size), change)
        is_right = [self.locking.is_known(state, cell)]
        if not self.log.is_main:
            one = terms.const(1, new.width)
            begins = terms.eq(change, one)
            ends = terms.eq(change, terms.const(-1, new.width))
            stays = terms.eq(change, terms.const(0, new.width))
            is_first = terms.not_(self._flag(state, "begun", cell))
            is_right.append(terms.any([terms.and_(begins, is_first), ends, stays]))
            is_right.append(terms.compare("ule", part, one))
            self._set(state, "begun", cell, begins)
        self.log.oblige(self.world.is_work_counter(cell), state, terms.not_(terms.all(is_right)))
        state.memory[_ghost("part", cell, cell.size)] = PairValue(part)

    def clobbered(self, state: PairState, cell: SharedCell, condition: Term) -> None:
        if cell in self.world.counters:
            self.log.oblige(self.world.is_work_counter(cell), state, condition)

    def look(self, state: PairState, lock: LockName, condition: Term) -> None:
        """If the condition holds, a section ends in which `main` has seen the cell."""
        if not self.log.is_main:
            return
        terms = self.terms
        for cell in self.world.guarded.get(lock, ()):
            counter = self.world.counters.get(cell)
            if counter is None:
                continue
            now = self.locking.view(state, cell).bits
            change = terms.binary("sub", now, terms.const(counter.first, now.width))
            others = terms.binary("sub", change, self._get(state, "part", cell, cell.size))
            seen = terms.and_(condition, self.world.is_guarded(cell, lock))
            number = self._get(state, CREATED, cell, cell.size)
            self._set(state, "all begun", cell, terms.and_(seen, terms.eq(others, number)))
            none = terms.eq(others, terms.const(0, now.width))
            ended = terms.all([seen, none, self._flag(state, "all begun", cell)])
            self._set(state, "all ended", cell, ended)

    def known(self, state: PairState) -> dict[SharedCell, Attendance]:
        return {
            cell: Attendance(
                self._get(state, "part", cell, cell.size),
                self._flag(state, "begun", cell),
                self._flag(state, "all begun", cell),
                self._flag(state, "all ended", cell),
            )
            for cell in self.world.counters
        }


def _ghost(what: str, cell: SharedCell, size: int = 1) -> SharedCell:
    return SharedCell((what, *cell.key, cell.offset), 0, size)
