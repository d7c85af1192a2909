"""Locks that programs make for themselves out of an atomic variable.

    while (!cas(&busy, 0, 1)) ;   ...   busy = 0;
    while (exchange(&busy, 1)) ;  ...   busy = 0;
    atomic { assume(busy == 0); busy = 1; }   ...   atomic { busy = 0; }

A thread *acquires* the variable when it finds 0 and sets another value in one atomic step, and
holds it until it sets 0 itself. At most one thread holds it, provided that whoever sets 0 while
others run is holding it: then the variable is not 0 as long as it is held, and no other thread can
find 0 there. A variable that is ever written otherwise (a value that may be 0, other bytes, through
a pointer that may point elsewhere) is *broken*: it protects nothing, and everything is interpreted
again without it. Values other than 0 may be set by any thread, they let none in.

A lock also orders: what was done while it was held happens before what its next holder does. So
who finds 0 must acquire, and who sets 0 must release; a variable that is found 0 by a read that is
unordered for 0 (`ir.memory_order`) is not acquired. That is all that memory orders are to this
analysis: it follows executions of the program as they are, and the other reasons for which two
accesses do not race (locks, creation, join, barriers) are happens-before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Acquire, Release
from raceproof.analysis.locks import LockKey
from raceproof.analysis.state import ThreadState
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue

if TYPE_CHECKING:
    from raceproof.analysis.thread_modular import Analysis

_FAR = 1 << 40
"""Added to the offset of a variable, so that it is not confused with a lock at its address."""


class SpinLocks:
    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._cells: dict[int, dict[tuple[int, int], bool]] = {}
        """Base -> (offset, size) -> is it unbroken?"""

    def acquire(self, state: ThreadState, address: AbstractValue, size: int) -> None:
        """The variable was found 0 and set to something else, atomically."""
        place = address.only_address
        if place is None or self.analysis.objects.is_weak(place[0]):
            return
        base, offset = place
        cells = self._cells.setdefault(base, {})
        if (offset, size) not in cells:
            cells[(offset, size)] = True
            self.analysis.threads.version += 1
        if cells[(offset, size)]:
            state.facets = state.facets.acquire(Acquire(_key(base, offset), is_counted=False))

    def written(
        self,
        state: ThreadState,
        base: int,
        offsets: Integers,
        size: int | None,
        value: AbstractValue | None,
        is_exact: bool,
    ) -> None:
        """Something is stored in an object (None: we don't know what, or how much)."""
        cells = self._cells.get(base)
        if not cells:
            return
        for (offset, length), is_whole in cells.items():
            if not is_whole:
                continue
            low, high = offsets.signed_range()
            if size is not None and (high + size <= offset or offset + length <= low):
                continue
            same = is_exact and size == length and offsets.signed_constant == offset
            if not same or value is None:
                self._break(state, base, offset, length)
            elif value.constant == 0:
                self._release(state, base, offset, length)
            elif not _is_set(value):
                self._break(state, base, offset, length)

    def _release(self, state: ThreadState, base: int, offset: int, size: int) -> None:
        key = _key(base, offset)
        if any(held.lock == key for held in state.facets.must_lockset):
            state.facets = state.facets.release(Release(key))
        else:
            self._break(state, base, offset, size)

    def _break(self, state: ThreadState, base: int, offset: int, size: int) -> None:
        key = _key(base, offset)
        state.facets = state.facets.release(Release(None, lambda lock: lock == key))
        if state.facets.may_parallel:
            self._cells[base][(offset, size)] = False
            self.analysis.threads.version += 1

    # --- checks inside of atomic sections -------------------------------------------------------

    def found_zero(self, state: ThreadState, base: int, offset: int, size: int) -> None:
        """In this atomic section the variable is 0."""
        if state.facets.holds_atomic:
            state.facets = state.facets._replace(
                zero_cells=state.facets.zero_cells | {(base, offset, size)}
            )

    def stored(
        self, state: ThreadState, address: AbstractValue, size: int, value: AbstractValue
    ) -> None:
        """A store to one place is about to happen: the second half of an atomic acquisition?"""
        place = address.only_address
        if place is None or (*place, size) not in state.facets.zero_cells:
            return
        state.facets = state.facets._replace(zero_cells=state.facets.zero_cells - {(*place, size)})
        if state.facets.holds_atomic and _is_set(value):
            self.acquire(state, address, size)


def is_spin_lock(key: LockKey) -> bool:
    return key.offset >= _FAR


def variable_of(key: LockKey) -> int:
    """The offset of the variable."""
    return key.offset - _FAR


def _key(base: int, offset: int) -> LockKey:
    return LockKey(base, offset + _FAR)


def _is_set(value: AbstractValue) -> bool:
    """Is it sure not to be 0?"""
    if not value.is_integer or value.integers is None:
        return False
    return not value.integers.contains(0)
