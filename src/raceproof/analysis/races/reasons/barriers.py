"""One is before a wait at a barrier, the other after: see `analysis.barriers`."""

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess
from raceproof.analysis.state import Phase, Phases


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return a.thread != b.thread and (_is_before(a, b, facts) or _is_before(b, a, facts))


def _is_before(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """Does the thread of `a` wait at a barrier after it that the one of `b` is past?"""
    for phase in b.phases or ():
        waiters = facts.barriers.get(phase.barrier, 0)
        if waiters >> a.thread & 1 and waiters >> b.thread & 1:
            most = _waits(a.phases, phase)
            if most is not None and most < phase.least:
                return True
    return False


def _waits(phases: Phases, at: Phase) -> int | None:
    """At most so many waits at the same barrier; None if nobody knows."""
    if phases is None:
        return None
    return next((phase.most for phase in phases if phase.barrier == at.barrier), 0)
