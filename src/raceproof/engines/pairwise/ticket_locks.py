"""TicketLocks: a variable that says whose ticket is served is a lock.

    mine = tickets++;   while (serving != mine) ;   ...   serving++;

A thread *has the turn* when it has found the variable equal to a ticket of its own, and until it
writes it itself. At most one has, provided that only who has the turn writes the variable while
others run, and that no two threads ever find their turn by equal tickets: as long as one has the
turn, the variable stays equal to its ticket. A ticket is what a thread found in a guarded cell in a
section in which it changed it. That two of them differ is asked for each two places where a thread
looks (`prover`), by the order of the sections in which they were taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.engines.pairwise.state import LockName, PairState, SharedCell
from raceproof.engines.pairwise.values import PairValue
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.pairwise.locking import Locking


class TicketLocks:
    def __init__(self, locking: Locking) -> None:
        self.locking = locking
        self.log = locking.log
        self.world = locking.world
        self.terms = locking.terms

    def look(self, state: PairState, lock: LockName, condition: Term) -> None:
        """If the condition holds, a section ends in which the variables it guards were seen."""
        terms = self.terms
        for cell in self.world.guarded.get(lock, ()):
            turn = self.world.ticket_locks.get(cell)
            if turn is None:
                continue
            now = self.locking.view(state, cell).bits
            is_mine = self._is_own_ticket(state, cell, now)
            known = [condition, self.world.is_guarded(cell, lock), self.world.is_ticket_lock(cell)]
            taken = terms.all([is_mine, *known])
            if terms.and_(state.guard, taken) is terms.false:
                continue
            self.log.takings.setdefault(cell, []).append(
                self.log.record(-1, state, taken, PairValue(now))
            )
            self.locking.acquire(state, turn, taken, terms.true)

    def _is_own_ticket(self, state: PairState, cell: SharedCell, number: Term) -> Term:
        terms = self.terms
        return terms.any(
            terms.all(
                [
                    passed.condition,
                    self.world.is_guarded(other, passed.lock),
                    terms.eq(number, found),
                    terms.not_(terms.eq(found, left)),
                ]
            )
            for passed in state.passed
            for other, found, left in passed.values
            if other != cell and found is not left and found.width == number.width
        )

    def end(self, state: PairState, cell: SharedCell) -> None:
        """The thread is about to write the variable."""
        turn = self.world.ticket_locks.get(cell)
        if turn is None:
            return
        terms = self.terms
        held = self.locking.holds(state, turn)
        wrong = terms.and_(terms.not_(state.alone), terms.not_(held))
        self.log.oblige(self.world.is_ticket_lock(cell), state, wrong)
        self.locking.release(state, turn, held)
