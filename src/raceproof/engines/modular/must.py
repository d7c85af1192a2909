"""When a pair that may race is called *likely*: the must-conditions (RacerF, section 7).

A pair of accesses that no reason excludes may still be an artefact of the abstraction: two elements
of an array that look like one, two objects of one allocation site, a lock whose name got lost. The
paper's eight conditions rule that out, under the paper's numbers. Those about the accesses stand
here, those about the state of the threads (4, 5, 9, 10) in the files of their facets:

1. one of them writes, and not both are atomic;
2. they are by different threads, or by two instances of one;
3. they surely share a byte: both at exact offsets that overlap;
4. no lock that one of them may hold is a lock that the other may hold;
5. both threads surely run when either access is made: created, and not joined, on every way there;
6. the object is one object (not weak: then it may be two);
7. each stays inside of the object, with an exact size;
8. each accesses this object and no other.

What the paper's benchmark does not punish, but other programs do, needs three more:

9.  the ways to them do not depend on other threads (what those wrote, a wait, a lock handed on);
10. the other thread was not created under a lock that is still held:

        lock(&m); create(child); x = 1; unlock(&m);      // child: lock(&m); unlock(&m); x = 2;

11. neither gives memory back (`free` of what another thread frees is more often unreachable).
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.analysis.facets import FACETS
from raceproof.analysis.facets.facet import Condition
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess


def writes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return (a.is_write or b.is_write) and not (a.is_atomic and b.is_atomic)


def different_threads(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return a.thread != b.thread or not facts.threads[a.thread].is_unique


def overlap_surely(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    start, other = a.offsets.signed_constant, b.offsets.signed_constant
    if start is None or other is None or a.size is None or b.size is None:
        return False
    return start < other + b.size and other < start + a.size


def one_object(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return a.base == b.base and not facts.objects.is_weak(a.base)


def inside_of_it(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return all(_is_inside(access, facts) for access in (a, b))


def _is_inside(access: RawAccess, facts: Facts) -> bool:
    start = access.offsets.signed_constant
    if start is None or access.size is None or start < 0:
        return False
    end = facts.objects[access.base].size
    return end is None or start + access.size <= end


def no_other_object(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return a.is_only and b.is_only


def not_freed(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return not (a.is_free or b.is_free)


CONDITIONS: tuple[tuple[str, Condition], ...] = (
    ("one of them writes, not both are atomic", writes),
    ("they are by different threads", different_threads),
    ("they share a byte for sure", overlap_surely),
    ("the object is a single one", one_object),
    ("they stay inside of the object", inside_of_it),
    ("they access no other object", no_other_object),
    ("neither frees the object", not_freed),
    *(condition for facet in FACETS for condition in facet.conditions),
)


def lacking(a: RawAccess, b: RawAccess, facts: Facts) -> Iterator[str]:
    """The conditions that do not hold; none if the race is sure."""
    return (name for name, holds in CONDITIONS if not holds(a, b, facts))


def is_sure(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return next(lacking(a, b, facts), None) is None
