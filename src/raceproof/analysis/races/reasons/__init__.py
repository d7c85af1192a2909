"""Why two accesses to the same base cannot race: one module a reason, one question each.

`REASONS` are asked in order; the first that excludes a pair is its protection in the report. Those
that follow from a facet of the threads' states stand in its file (`analysis.facets`), the others,
which follow from the accesses themselves, here.
"""

from __future__ import annotations

from raceproof.analysis.facets import FACET_REASONS
from raceproof.analysis.facets.facet import Reason
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.races.reasons import atomic, disjoint, own_argument, reading, thread_local
from raceproof.analysis.records import RawAccess

REASONS: tuple[Reason, ...] = (
    reading.REASON,
    atomic.REASON,
    disjoint.REASON,
    thread_local.REASON,
    *FACET_REASONS,
    own_argument.REASON,
)
BY_KEY: dict[str, Reason] = {reason.key: reason for reason in REASONS}


def reason_against(a: RawAccess, b: RawAccess, facts: Facts) -> Reason | None:
    """The first reason why the two cannot race; None if they may."""
    for reason in REASONS:
        if reason.excludes(a, b, facts):
            return reason
    return None
