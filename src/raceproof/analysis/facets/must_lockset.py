"""The must-lockset: locks that the thread holds for sure.

    lock(&m);  x++;  unlock(&m);

Two accesses that hold a lock in common, at least one of them for writing, never race. At joins only
what is held on all ways stays, in the same mode, as often as on the way with fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Acquire, Facet, InAccess, Reason, Release
from raceproof.analysis.locks import (
    ATOMIC,
    MOST_COUNTED,
    NO_LOCKS,
    Held,
    LockKey,
    common_locks,
    holding,
)

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess

Lockset = frozenset[Held]


def common_lock(a: RawAccess, b: RawAccess, facts: Facts) -> LockKey | None:
    """A lock that both surely hold, at least one of them for writing."""
    mine, theirs = a.facets.must_lockset, b.facets.must_lockset
    if not mine or not theirs:
        return None
    modes = {held.lock: held.is_write for held in theirs}
    for held in sorted(mine):
        other = modes.get(held.lock)
        if other is not None and (other or held.is_write) and held.lock not in facts.reset:
            return held.lock
    return None


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return common_lock(a, b, facts) is not None


def released(lockset: Lockset, event: Release) -> Lockset:
    """What is still held for sure."""
    if event.key is not None:
        held = holding(lockset, event.key)
        if held is None:
            return lockset
        rest = lockset - {held}
        if held.times > 1 and not event.drops_all:
            return rest | {held._replace(times=held.times - 1)}
        return rest
    if event.may_be is None:
        return lockset
    return frozenset(h for h in lockset if h.lock == ATOMIC or not event.may_be(h.lock))


class MustLockset(Facet[Lockset]):
    initial = NO_LOCKS
    in_access = InAccess.APART
    splits_blocks = True
    splits_exits = True
    reason = Reason("lock", excludes, of_pair="a lock held in both", of_location="a common lock")

    def join(self, a: Lockset, b: Lockset, left: Facets, right: Facets) -> Lockset:
        return common_locks(a, b)

    def acquire(self, value: Lockset, event: Acquire, before: Facets) -> Lockset:
        if event.key is None:
            return value
        held = holding(value, event.key)
        if held is None:
            return value | {Held(event.key, event.is_write)}
        times = min(held.times + 1, MOST_COUNTED) if event.is_counted else held.times
        return (value - {held}) | {Held(event.key, held.is_write or event.is_write, times)}

    def release(self, value: Lockset, event: Release, before: Facets) -> Lockset:
        return released(value, event)

    def return_again(self, value: Lockset, children: int, before: Facets) -> Lockset:
        return NO_LOCKS
