"""Which functions a program can reach at all, and whether any of them creates a thread.

Cheap, by the names in the bodies and in the initializers of globals; what cannot be reached from
the entry need not be composed, and a program that creates no thread need not be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from raceproof.engines.summary.outline import Outline
from raceproof.engines.summary.terms import is_function
from raceproof.engines.summary.unit import Unit


def reachable(units: Sequence[Unit], entry: str | None) -> dict[str, Outline]:
    """The outlines that matter, in their order; all of them for a library."""
    outlines = {name: outline for unit in units for name, outline in unit.outlines.items()}
    if entry is None:
        return outlines
    stack = [entry]
    for unit in units:
        stack.extend(unit.constructors)
        stack.extend(value[0][1] for _, value in unit.stores if is_function(value))
    seen: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in seen and name in outlines:
            seen.add(name)
            stack.extend(outlines[name].mentions)
    return {name: outline for name, outline in outlines.items() if name in seen}


def creates_threads(outlines: Iterable[Outline]) -> bool:
    return any(
        event[0] == "create"
        for outline in outlines
        for events, _ in outline.blocks
        for event in events
    )
