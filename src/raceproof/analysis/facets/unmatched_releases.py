"""Locks given back that were not held for sure since the function was entered.

A recursive function that gives back only what it took leaves the locks of its caller alone
(`recursion`); this facet has what else it gave back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Facet, Release
from raceproof.analysis.locks import UNCLEAR, LockKey, holding

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets

Locks = frozenset[LockKey]


class UnmatchedReleases(Facet[Locks]):
    initial = frozenset()

    def join(self, a: Locks, b: Locks, left: Facets, right: Facets) -> Locks:
        return a if b <= a else a | b

    def release(self, value: Locks, event: Release, before: Facets) -> Locks:
        if event.key is None:
            return value | {UNCLEAR}
        return value if holding(before.must_lockset, event.key) is not None else value | {event.key}

    def recur(self, value: Locks, is_entry: bool, before: Facets) -> Locks:
        return frozenset() if is_entry else value
