"""Locks that are held for sure and known only by their address as a sum over registers.

    lock(&node->lock);  node->count++;              lock 8 bytes before the accessed ones
    lock(&m[i]);        a[i] = 0;                   lock m[i] for the element a[i]

An access records those whose place follows from the accessed address (`symbols.relative_locks`).
Both accesses of one byte then hold the same lock, whichever it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Acquire, Facet, Reason, Release
from raceproof.analysis.locks import LockKey, SymbolicLock
from raceproof.analysis.names import Token

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess

Locks = frozenset[SymbolicLock]


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    for lock in a.relative:
        *key, is_write = lock
        if lock in b.relative and is_write:
            return _same_start(a, b)
        if (*key, not is_write) in b.relative:
            return _same_start(a, b)
    return (_holds_it(a, b) or _holds_it(b, a)) and _same_start(a, b)


def _holds_it(a: RawAccess, b: RawAccess) -> bool:
    """Does `b`, at an exact index, hold the very lock that `a` holds for that index?"""
    start = b.offsets.signed_constant
    if start is None or not b.facets.must_lockset:
        return False
    modes = {held.lock: held.is_write for held in b.facets.must_lockset}
    for kind, *rest in a.relative:
        if kind != "indexed":
            continue
        base, constant, scale, _, first, stride, is_write = rest
        if stride == 0 or (start - first) % stride:
            continue
        other = modes.get(LockKey(base, constant + (start - first) // stride * scale))
        if other is not None and (other or is_write):
            return True
    return False


def _same_start(a: RawAccess, b: RawAccess) -> bool:
    """The lock's place is told from the start of the access: equal starts, or no overlap at all."""
    if a.size is None or b.size is None:
        return False
    if a.size == b.size and _aligned(a, a.size) and _aligned(b, b.size):
        return True
    low, high = a.offsets.signed_constant, b.offsets.signed_constant
    return low is not None and low == high


def _aligned(access: RawAccess, size: int) -> bool:
    start, _, stride = access.offsets.progression()
    return start % size == 0 and stride % size == 0


class SymbolicLocks(Facet[Locks]):
    initial = frozenset()
    splits_exits = True
    reason = Reason(
        "relative-lock",
        excludes,
        of_pair="a lock beside the accessed bytes, held in both",
        of_location="protected by the lock beside each element",
    )

    def join(self, a: Locks, b: Locks, left: Facets, right: Facets) -> Locks:
        return a & b

    def acquire(self, value: Locks, event: Acquire, before: Facets) -> Locks:
        if event.key is not None or event.symbol is None:
            return value
        return value | {SymbolicLock(event.symbol, event.is_write)}

    def release(self, value: Locks, event: Release, before: Facets) -> Locks:
        may_be = event.may_be_symbol
        if may_be is None or not value:
            return value
        return frozenset(lock for lock in value if not may_be(lock.symbol))

    def assign(self, value: Locks, token: Token, before: Facets) -> Locks:
        return frozenset(s for s in value if not s.symbol.mentions(token)) if value else value

    def leave(self, value: Locks, context: int, before: Facets) -> Locks:
        return frozenset(s for s in value if not s.symbol.is_of(context)) if value else value

    def recur(self, value: Locks, is_entry: bool, before: Facets) -> Locks:
        return frozenset()

    def return_again(self, value: Locks, children: int, before: Facets) -> Locks:
        return frozenset()
