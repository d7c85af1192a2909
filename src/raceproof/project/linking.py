"""Translation units to programs.

A project with one `main` is one program. With several it is several: each takes the units of its
own build targets and those that belong to no program, as libraries do; what is defined twice is
taken from the program's own units first. A project without `main` is a library: every function
that is visible outside may be called by any thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from raceproof.engines.summary.unit import Unit
from raceproof.errors import UserError

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Linked:
    """A program: its units, each function in one of them only; no entry: a library."""

    name: str
    units: tuple[Unit, ...]
    entry: str | None


def link(
    units: Sequence[Unit], targets: Sequence[frozenset[str]], entry: str | None
) -> list[Linked]:
    """The programs of the project, in the order of the files that hold their entries."""
    wanted = entry or MAIN
    starts = [n for n, unit in enumerate(units) if _defines(unit, wanted)]
    if not starts:
        if entry is not None:
            raise UserError(f"--entry {entry}: no file of the project defines such a function")
        return [Linked("", _resolved(units), None)]
    if len(starts) == 1:
        return [Linked(units[starts[0]].file, _resolved(units), wanted)]
    owned = {name for n in starts for name in _targets(targets, n)}
    programs = []
    for start in starts:
        mine = _targets(targets, start)
        own = [start]
        shared = []
        for n in range(len(units)):
            if n in starts:
                continue
            if mine & _targets(targets, n):
                own.append(n)
            elif not owned & _targets(targets, n):
                shared.append(n)
        chosen = [units[n] for n in (*own, *shared)]
        programs.append(Linked(units[start].file, _resolved(chosen), wanted))
    return programs


def _targets(targets: Sequence[frozenset[str]], number: int) -> frozenset[str]:
    return targets[number] if targets else frozenset()


def _defines(unit: Unit, name: str) -> bool:
    outline = unit.outlines.get(name)
    return outline is not None and outline.is_external


def _resolved(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """The first definition of each function is the one; C++ headers define many of them often."""
    seen: set[str] = set()
    found = []
    for unit in units:
        if seen.isdisjoint(unit.outlines):
            found.append(unit)
        else:
            kept = {name: o for name, o in unit.outlines.items() if name not in seen}
            found.append(replace(unit, outlines=kept))
        seen.update(unit.outlines)
    return tuple(found)
