"""Accesses that share no byte of an object: other members, other elements.

Of a base that stands for many objects, two equal offsets may still be of different objects; that
they are the same one is what has to be assumed.
"""

from raceproof.analysis.facets.facet import Reason
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess
from raceproof.domains import refinement
from raceproof.domains.integers import Integers

_MOST = 64


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    if a.offsets is b.offsets or a.size is None or b.size is None:
        return False
    return not may_overlap(a.offsets, a.size, b.offsets, b.size)


def may_overlap(a: Integers, a_size: int, b: Integers, b_size: int) -> bool:
    """May `a_size` bytes at one of `a` and `b_size` bytes at one of `b` share one?"""
    first, last = a.signed_range()
    start, end = b.signed_range()
    if last + a_size <= start or end + b_size <= first:
        return False
    numbers, others = a.signed_numbers(_MOST), b.signed_numbers(_MOST)
    if numbers is not None and others is not None:
        return any(n < m + b_size and m < n + a_size for n in numbers for m in others)
    return (
        any(
            refinement.compare("eq", _moved(a, shift), b) is not False
            for shift in range(1 - b_size, a_size)
        )
        if a_size + b_size <= 64
        else True
    )


def _moved(offsets: Integers, distance: int) -> Integers:
    from raceproof.domains import integers as ints
    from raceproof.domains.integer_operations import add

    return add(offsets, ints.constant(distance, offsets.width)) if distance else offsets


REASON = Reason(
    "disjoint",
    excludes,
    of_pair="they access different bytes",
    of_location="threads access different bytes",
)
