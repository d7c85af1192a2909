"""Counters of threads that are not done: who finds the counter at its start knows that all are.

    main:    for (...) { lock; alive++; unlock; create(worker); }
             lock; while (alive) wait; unlock;   ... = data;
    worker:  data = ...;   lock; alive--; unlock;

Each thread has a *balance* for a guarded cell: by how much it has changed it; a creation moves 1
from the creator to a thread that writes the cell. So the cell is always its first value plus all
balances. If threads begin with 1 and only ever go down to 0, and `main` finds that the cell is its
first value plus the balance of `main`, then all others are at 0: they are done. It stays so until
`main` creates another thread, if nobody else creates any. (The sum is right as long as there are
not as many threads as the cell has values; cells of less than 4 bytes don't count.)

A balance, and whether `main` has found all done, are kept like the contents of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.engines.bounded.pairs.state import Cell, LockName, State
from raceproof.engines.bounded.pairs.values import Value
from raceproof.engines.bounded.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.bounded.pairs.locking import Locking


def balance_of(cell: Cell) -> Cell:
    return Cell(("balance", *cell.key, cell.offset), 0, cell.size)


def done_of(cell: Cell) -> Cell:
    return Cell(("all done", *cell.key, cell.offset), 0, 1)


class Counts:
    def __init__(self, locking: Locking) -> None:
        self.locking = locking
        self.ledger = locking.ledger
        self.world = locking.world
        self.terms = locking.terms

    def start(self, state: State, call: int) -> None:
        """Of a thread that was created by the call; -1: `main`."""
        for cell, counter in self.world.counters.items():
            share = 1 if call in counter.calls else 0
            state.memory[balance_of(cell)] = Value(self.terms.const(share, cell.size * 8))
            state.memory[done_of(cell)] = Value(self.terms.const(0, 8))

    def _balance(self, state: State, cell: Cell) -> Term:
        return self.locking.view(state, balance_of(cell)).bits

    def created(self, state: State, call: int) -> None:
        terms = self.terms
        for cell, counter in self.world.counters.items():
            if call in counter.calls:
                less = terms.binary(
                    "sub", self._balance(state, cell), terms.const(1, cell.size * 8)
                )
                state.memory[balance_of(cell)] = Value(less)
            state.memory[done_of(cell)] = Value(terms.const(0, 8))

    def writes(self, state: State, cell: Cell, new: Term) -> None:
        """The thread is about to write the cell."""
        counter = self.world.counters.get(cell)
        if counter is None:
            return
        terms = self.terms
        change = terms.binary("sub", new, self.locking.view(state, cell).bits)
        balance = terms.binary("add", self._balance(state, cell), change)
        known = self.locking.is_known(state, cell)
        is_right = [known]
        if not self.ledger.is_main:
            zero, one = terms.const(0, new.width), terms.const(1, new.width)
            is_right.append(terms.compare("sle", change, zero))
            is_right.append(terms.compare("sge", change, terms.const(-1, new.width)))
            is_right.append(terms.compare("sge", balance, zero))
            is_right.append(terms.compare("sle", balance, one))
        self.ledger.owe(self.world.is_counter(cell), state, terms.not_(terms.all(is_right)))
        state.memory[balance_of(cell)] = Value(balance)

    def clobbered(self, state: State, cell: Cell, condition: Term) -> None:
        """Nobody knows what the thread may have written to the cell."""
        if cell in self.world.counters:
            self.ledger.owe(self.world.is_counter(cell), state, condition)

    def look(self, state: State, lock: LockName, condition: Term) -> None:
        """If the condition holds, a section ends in which `main` has seen the cell."""
        if not self.ledger.is_main:
            return
        terms = self.terms
        for cell in self.world.guarded.get(lock, ()):
            counter = self.world.counters.get(cell)
            if counter is None:
                continue
            now = self.locking.view(state, cell).bits
            others = terms.binary("sub", now, terms.const(counter.first, now.width))
            is_zero = terms.eq(others, self._balance(state, cell))
            found = terms.all([condition, self.world.is_guarded(cell, lock), is_zero])
            before = self.locking.view(state, done_of(cell)).bits
            done = terms.ite(found, terms.const(1, 8), before)
            state.memory[done_of(cell)] = Value(done)

    def known(self, state: State) -> dict[Cell, tuple[Term, Term]]:
        """The balances, and whether all others are done."""
        return {
            cell: (self._balance(state, cell), self.locking.view(state, done_of(cell)).bits)
            for cell in self.world.counters
        }
