"""Cells found to be 0 in the atomic section that the thread is in: half of an acquisition.

    atomic { assume(busy == 0); busy = 1; }

`spin_locks` takes the variable for acquired when the section sets it to another value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Facet, Release
from raceproof.analysis.locks import ATOMIC

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets

Cells = frozenset[tuple[int, int, int]]
"""Base, offset, size."""


class ZeroCells(Facet[Cells]):
    initial = frozenset()

    def join(self, a: Cells, b: Cells, left: Facets, right: Facets) -> Cells:
        return a & b

    def release(self, value: Cells, event: Release, before: Facets) -> Cells:
        return frozenset() if event.key == ATOMIC else value

    def recur(self, value: Cells, is_entry: bool, before: Facets) -> Cells:
        return frozenset() if is_entry else value

    def return_again(self, value: Cells, children: int, before: Facets) -> Cells:
        return frozenset()
