"""Which objects of a thread other threads can get hold of."""

from __future__ import annotations

from raceproof.analysis.backend import Analysed
from raceproof.verdict import BaseKind


def escaped_bases(analysis: Analysed) -> set[int]:
    """Bases that can be reached from globals, or from what threads were given or returned."""
    work = list(analysis.handed_over)
    for base in list(analysis.stored):
        if analysis.objects[base].kind in (BaseKind.GLOBAL, BaseKind.EXTERNAL, BaseKind.STRING):
            work.append(base)
    found: set[int] = set()
    while work:
        base = work.pop()
        if base not in found:
            found.add(base)
            work.extend(analysis.stored.get(base, ()))
    return found
