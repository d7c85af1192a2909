"""What facets keep for a whole program beside the states of its threads.

A barrier orders accesses only if it is initialised once: no single state says so. A facet notes
what it sees at events in an object of its own, one for each analysis, which may only grow; what it
concludes from it is asked for when the analysis has come to its end.
"""

from __future__ import annotations

from typing import TypeVar, cast

N = TypeVar("N")


class Notes:
    def __init__(self) -> None:
        self._kept: dict[type, object] = {}

    def of(self, kind: type[N]) -> N:
        """The object of a kind."""
        found = self._kept.get(kind)
        if found is None:
            found = self._kept[kind] = kind()
        return cast("N", found)
