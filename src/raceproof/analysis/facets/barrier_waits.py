"""How often the thread has waited at each barrier.

    a:  x = 1;  pthread_barrier_wait(&b);          // 0 waits before the write
    c:          pthread_barrier_wait(&b);  x = 2;  // 1 wait before this one

An access with at most r - 1 waits before it comes before an access of another thread with at least
r, if the barrier is one that orders accesses for sure (`barriers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raceproof.analysis.facets.facet import Facet, InAccess, Reason
from raceproof.analysis.locks import LockKey

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess


class Phase(NamedTuple):
    """The thread has waited at a barrier `least` times, and at most `most`."""

    barrier: LockKey
    least: int
    most: int


Phases = tuple[Phase, ...] | None
"""Sorted; a barrier that is not there was not waited at. None: unknown."""

_MOST_WAITS = 8
_ENDLESS = 1 << 30
"""So many waits stand for any number above."""


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """One is before a wait at a barrier, the other after."""
    return a.thread != b.thread and (_is_before(a, b, facts) or _is_before(b, a, facts))


def _is_before(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """Does the thread of `a` wait at a barrier after it that the one of `b` is past?"""
    for phase in b.facets.barrier_waits or ():
        waiters = facts.barriers.get(phase.barrier, 0)
        if waiters >> a.thread & 1 and waiters >> b.thread & 1:
            most = _waits(a.facets.barrier_waits, phase)
            if most is not None and most < phase.least:
                return True
    return False


def _waits(phases: Phases, at: Phase) -> int | None:
    """At most so many waits at the same barrier; None if that is unknown."""
    if phases is None:
        return None
    return next((phase.most for phase in phases if phase.barrier == at.barrier), 0)


class BarrierWaits(Facet[Phases]):
    initial = ()
    in_access = InAccess.APART
    reason = Reason(
        "barrier",
        excludes,
        of_pair="a barrier lies between them",
        of_location="a barrier lies between the accesses",
    )

    def join(self, a: Phases, b: Phases, left: Facets, right: Facets) -> Phases:
        if a is None or b is None:
            return None
        found = []
        mine, theirs = ({phase.barrier: phase for phase in phases} for phases in (a, b))
        for key in sorted({*mine, *theirs}):
            one, other = mine.get(key), theirs.get(key)
            least = 0 if one is None or other is None else min(one.least, other.least)
            most = max(one.most if one else 0, other.most if other else 0)
            found.append(Phase(key, least, most))
        return tuple(found)

    def wait_at_barrier(self, value: Phases, barrier: LockKey, before: Facets) -> Phases:
        if value is None:
            return None
        old = next((phase for phase in value if phase.barrier == barrier), Phase(barrier, 0, 0))
        most = old.most + 1 if old.most < _MOST_WAITS else _ENDLESS
        new = Phase(barrier, min(old.least + 1, _MOST_WAITS), most)
        return tuple(sorted({*value} - {old} | {new}))

    def return_again(self, value: Phases, children: int, before: Facets) -> Phases:
        return None
