"""Threads that run beside this one: may-happen-in-parallel, and must.

    x = 0;  create(child);  x = 1;  join(child);  x = 2;

`MayParallel` has the threads that may be running; accesses of two threads can race only if each may
run beside the other. `MustParallel` has those created and not joined on every way here; a race is
likely only if both threads surely run. Both are bit sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Creation, Facet, InAccess, Reason

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """Never at the same time: before the other thread is created, after it is joined, or both by
    the same single thread."""
    return not (a.facets.may_parallel >> b.thread & 1 and b.facets.may_parallel >> a.thread & 1)


class MayParallel(Facet[int]):
    initial = 0
    in_access = InAccess.APART
    splits_blocks = True
    splits_exits = True
    reason = Reason(
        "thread-order",
        excludes,
        of_pair="they never happen at the same time",
        of_location="never accessed by two threads at the same time",
    )

    def join(self, a: int, b: int, left: Facets, right: Facets) -> int:
        return a | b

    def create(self, value: int, event: Creation, before: Facets) -> int:
        return value | event.family

    def ended(self, value: int, gone: int, before: Facets) -> int:
        return value & ~gone

    def return_again(self, value: int, children: int, before: Facets) -> int:
        return value | children


def surely_parallel(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    first, second = facts.threads[a.thread], facts.threads[b.thread]
    if second.parent == first.index:
        return bool(a.facets.must_parallel & second.bit)
    if first.parent == second.index:
        return bool(b.facets.must_parallel & first.bit)
    return bool(first.surely_beside & second.bit)


class MustParallel(Facet[int]):
    initial = 0
    in_access = InAccess.JOINED
    conditions = (("both threads surely run by then", surely_parallel),)

    def join(self, a: int, b: int, left: Facets, right: Facets) -> int:
        return a & b

    def create(self, value: int, event: Creation, before: Facets) -> int:
        return value | 1 << event.thread if event.is_sure else value

    def ended(self, value: int, gone: int, before: Facets) -> int:
        return value & ~gone

    def may_have_ended(self, value: int, threads: int, before: Facets) -> int:
        return value & ~threads
