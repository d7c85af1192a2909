"""Counters of threads that are not done: who finds the counter at its start knows that all are.

    main:    for (...) { lock; alive++; unlock; create(worker); }
             lock; while (alive) wait; unlock;   ... = data;
    worker:  data = ...;   lock; alive--; unlock;

Each thread has a *balance* for a guarded cell: by how much it has changed it; a creation moves 1
from the creator to a thread that counts. So the cell is always its first value plus all balances.
If balances of threads are never negative and threads only ever make the cell smaller, and `main`
finds that the cell is its first value plus the balance of `main`, then all others are at 0: they
are done. It stays so until `main` creates another thread, if no other thread creates any. (The sum
is right as long as there are not as many threads as the cell has values; cells of less than 4 bytes
don't count.)

The 1 may be handed on, in an element of an array that has a lock for each of its elements:

    worker i:   data = ...;   lock(m[i]); flag[i] = 1; unlock(m[i]);
    collector:  lock(m[i]); if (flag[i]) { flag[i] = 0; alive--; } unlock(m[i]);

An element that is not 0 counts as 1. Who takes its lock has it in its balance, who gives the lock
back puts it back. So the cell is its first value plus all balances plus all elements whose locks
are free; these are never negative either, and none of that changes the sum. (`main` takes no such
lock, see `elements`.)

A balance, and whether `main` has found all done, are kept like the contents of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raceproof.engines.pairwise.arrays import GuardedArray
from raceproof.engines.pairwise.state import LockName, PairState, SharedCell
from raceproof.engines.pairwise.values import PairValue
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.pairwise.locking import Locking

_LARGEST = 4
"""Balance of a thread: far from where sums of many wrap around."""


@dataclass(frozen=True, slots=True)
class Account:
    """A cell with its first value, the calls that create threads which start with 1, and the array
    through which it may be handed on."""

    cell: SharedCell
    first: int
    calls: frozenset[int]
    array: GuardedArray | None = None


class ThreadCounters:
    def __init__(self, locking: Locking) -> None:
        self.locking = locking
        self.log = locking.log
        self.world = locking.world
        self.terms = locking.terms

    def start(self, state: PairState, call: int) -> None:
        """Of a thread that was created by the call; -1: `main`."""
        for account in self.world.accounts:
            share = 1 if call in account.calls else 0
            start = self.terms.const(share, account.cell.size * 8)
            state.memory[_balance_of(account)] = PairValue(start)
            state.memory[_done_of(account)] = PairValue(self.terms.const(0, 8))

    def _balance(self, state: PairState, account: Account) -> Term:
        return self.locking.view(state, _balance_of(account)).bits

    def created(self, state: PairState, call: int) -> None:
        for account in self.world.accounts:
            if call in account.calls:
                self._add(state, account, self.terms.const(-1, account.cell.size * 8))
            state.memory[_done_of(account)] = PairValue(self.terms.const(0, 8))

    def _add(self, state: PairState, account: Account, change: Term) -> None:
        """Changes the balance; that of a thread must stay small and not be negative."""
        terms = self.terms
        balance = terms.binary("add", self._balance(state, account), change)
        state.memory[_balance_of(account)] = PairValue(balance)
        if not self.log.is_main:
            most = terms.const(_LARGEST, balance.width)
            self._owe(state, account, terms.compare("ugt", balance, most))

    def _owe(self, state: PairState, account: Account, wrong: Term) -> None:
        self.log.oblige(self.world.is_counter(account), state, wrong)

    def writes(self, state: PairState, cell: SharedCell, new: Term) -> None:
        """The thread is about to write the cell."""
        terms = self.terms
        change = terms.binary("sub", new, self.locking.view(state, cell).bits)
        for account in self.world.accounts:
            if account.cell != cell:
                continue
            self._owe(state, account, terms.not_(self.locking.is_known(state, cell)))
            if not self.log.is_main:
                zero, less = (terms.const(number, new.width) for number in (0, -1))
                is_right = terms.or_(terms.eq(change, zero), terms.eq(change, less))
                self._owe(state, account, terms.not_(is_right))
            self._add(state, account, change)

    def clobbered(self, state: PairState, cell: SharedCell, condition: Term) -> None:
        """It is unknown what the thread may have written to the cell."""
        for account in self.world.accounts:
            if account.cell == cell:
                self._owe(state, account, condition)

    def took(self, state: PairState, array: GuardedArray, is_set: Term) -> None:
        """The lock of an element is taken."""
        self._move(state, array, is_set, 1)

    def gave(self, state: PairState, array: GuardedArray, is_set: Term) -> None:
        """The lock of an element is given back."""
        self._move(state, array, is_set, -1)

    def _move(self, state: PairState, array: GuardedArray, is_set: Term, number: int) -> None:
        terms = self.terms
        for account in self.world.accounts:
            if account.array == array:
                width = account.cell.size * 8
                change = terms.ite(is_set, terms.const(number, width), terms.const(0, width))
                self._add(state, account, change)

    def look(self, state: PairState, lock: LockName, condition: Term) -> None:
        """If the condition holds, a section ends in which `main` has seen the cell."""
        if not self.log.is_main:
            return
        terms = self.terms
        cells = self.world.guarded.get(lock, ())
        for account in self.world.accounts:
            cell = account.cell
            if cell not in cells:
                continue
            now = self.locking.view(state, cell).bits
            others = terms.binary("sub", now, terms.const(account.first, now.width))
            is_zero = terms.eq(others, self._balance(state, account))
            found = terms.all([condition, self.world.is_guarded(cell, lock), is_zero])
            before = self.locking.view(state, _done_of(account)).bits
            done = terms.ite(found, terms.const(1, 8), before)
            state.memory[_done_of(account)] = PairValue(done)

    def known(self, state: PairState) -> dict[Account, tuple[Term, Term]]:
        """The balances, and whether all others are done."""
        return {
            account: (
                self._balance(state, account),
                self.locking.view(state, _done_of(account)).bits,
            )
            for account in self.world.accounts
        }


def _balance_of(account: Account) -> SharedCell:
    return SharedCell(("balance", account), 0, account.cell.size)


def _done_of(account: Account) -> SharedCell:
    return SharedCell(("all done", account), 0, 1)
