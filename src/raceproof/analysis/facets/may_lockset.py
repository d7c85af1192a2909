"""The may-lockset: locks that the thread may hold.

It excludes no pair. A race is called likely only if the two accesses cannot have a lock in common,
whichever ways led to them: a lock of one may-lockset may not be in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Acquire, Facet, InAccess, Release
from raceproof.analysis.locks import ANYWHERE, Held, LockKey, may_share_lock

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess

Locks = frozenset[LockKey]


def no_common_lock(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    if a.relative or b.relative:
        return False
    return not may_share_lock(a.facets.may_lockset, b.facets.may_lockset)


class MayLockset(Facet[Locks]):
    initial = frozenset()
    in_access = InAccess.JOINED
    is_relational = True
    conditions = (("they have no lock in common, whichever way was taken", no_common_lock),)

    def join(self, a: Locks, b: Locks, left: Facets, right: Facets) -> Locks:
        both = a if b <= a else a | b
        if left.must_lockset != right.must_lockset:
            both = _with_lost_counts(both, left.must_lockset, right.must_lockset)
        return both

    def acquire(self, value: Locks, event: Acquire, before: Facets) -> Locks:
        if event.is_count_lost and event.key is not None:
            value |= {LockKey(event.key.base, ANYWHERE)}
        return value | event.possible if event.possible else value

    def release(self, value: Locks, event: Release, before: Facets) -> Locks:
        return value - {event.key} if event.is_possible and event.key is not None else value


def _with_lost_counts(locks: Locks, a: frozenset[Held], b: frozenset[Held]) -> Locks:
    """A recursive lock that is held a different number of times may be held although it was given
    back as often as is known for sure."""
    for held in (*a, *b):
        if held.times > 1 and not (held in a and held in b):
            lost = LockKey(held.lock.base, ANYWHERE)
            locks = locks if lost in locks else locks | {lost}
    return locks
