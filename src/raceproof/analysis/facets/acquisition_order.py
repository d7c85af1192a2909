"""The locks held, in the order of their acquisition, where it is clear.

Locks given back in another order than taken may hand threads on, one after the other; then a pair
without a common lock need not meet (`depends_on_others`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Acquire, Facet, Release
from raceproof.analysis.locks import Held, LockKey, common_locks, holding

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets

Order = tuple[LockKey, ...]


def common_order(a: Order, b: Order, held: frozenset[Held]) -> Order:
    """The order in which locks that are held on both ways were taken, if it is the same."""
    if a == b:
        return a
    kept = {one.lock for one in held}
    left, right = (tuple(lock for lock in order if lock in kept) for order in (a, b))
    return left if left == right else ()


class AcquisitionOrder(Facet[Order]):
    initial = ()

    def join(self, a: Order, b: Order, left: Facets, right: Facets) -> Order:
        return common_order(a, b, common_locks(left.must_lockset, right.must_lockset))

    def acquire(self, value: Order, event: Acquire, before: Facets) -> Order:
        if event.key is None or holding(before.must_lockset, event.key) is not None:
            return value
        return (*value, event.key)

    def release(self, value: Order, event: Release, before: Facets) -> Order:
        if event.key is None:
            return value
        held = holding(before.must_lockset, event.key)
        if held is None or (held.times > 1 and not event.drops_all):
            return value
        return tuple(lock for lock in value if lock != event.key)
