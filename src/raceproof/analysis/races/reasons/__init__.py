"""Why two accesses to the same base cannot race: one module a reason, one question each.

`REASONS` are asked in order; the first that excludes a pair is its protection in the report.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.races.reasons import (
    atomic,
    barriers,
    disjoint,
    gates,
    locks,
    own_argument,
    reading,
    relative_locks,
    thread_local,
    thread_order,
)
from raceproof.analysis.records import RawAccess

Reason = Callable[[RawAccess, RawAccess, Facts], bool]

REASONS: tuple[tuple[str, Reason], ...] = (
    ("read-only", reading.excludes),
    ("atomic", atomic.excludes),
    ("disjoint", disjoint.excludes),
    ("thread-local", thread_local.excludes),
    ("thread-order", thread_order.excludes),
    ("barrier", barriers.excludes),
    ("gate", gates.excludes),
    ("own-argument", own_argument.excludes),
    ("lock", locks.excludes),
    ("relative-lock", relative_locks.excludes),
)


def reason_against(a: RawAccess, b: RawAccess, facts: Facts) -> str | None:
    """The key of the first reason why the two cannot race; None if they may."""
    for key, excludes in REASONS:
        if excludes(a, b, facts):
            return key
    return None
