"""Translation units to programs.

Where the build says what it links, each of its programs is one, with the units of all libraries of
the project that it links; libraries that no program holds, and shared ones, are looked at by
themselves. Where nothing says, a project with one `main` is one program. With several it is
several: each takes the units of its own folder of objects and those that belong to no program,
nearest first; what is defined twice is taken from there. A project without `main` is a library:
every function that its public headers declare may be called by any thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from raceproof.engines.summary.unit import Unit
from raceproof.errors import UserError
from raceproof.frontend.builds.links import LinkKind
from raceproof.project.sources import ProjectTarget

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Linked:
    """A program: its units, each function in one of them only; no entry: a library."""

    name: str
    units: tuple[Unit, ...]
    entry: str | None
    notices: tuple[str, ...] = ()


def link(
    units: Sequence[Unit],
    targets: Sequence[ProjectTarget],
    entry: str | None,
    is_linked: bool = False,
    entries_of: Callable[[Iterable[int]], set[str]] = lambda numbers: set(),
) -> list[Linked]:
    """The programs and libraries of the project; `entries_of` tells by which functions the library
    that these units make is entered (none: by all)."""
    wanted = entry or MAIN
    if entry is not None and not any(_defines(unit, wanted) for unit in units):
        raise UserError(f"--entry {entry}: no file of the project defines such a function")
    if is_linked and targets:
        found = list(_by_target(units, targets, wanted, entries_of))
        if found:
            return found
    return _by_entry(units, targets, wanted, entries_of)


def _by_target(
    units: Sequence[Unit],
    targets: Sequence[ProjectTarget],
    wanted: str,
    entries_of: Callable[[Iterable[int]], set[str]],
) -> Iterator[Linked]:
    """Each program once: one of the same files with other flags is no other."""
    seen: set[frozenset[str]] = set()
    held: set[str] = set()
    for target in targets:
        files = frozenset(units[number].file for number in target.units)
        if target.kind is not LinkKind.PROGRAM or files in seen:
            continue
        chosen = [units[number] for number in sorted(target.units)]
        if any(_defines(unit, wanted) for unit in chosen):
            seen.add(files)
            held |= target.links
            chosen, notices = _with_missing(chosen, units, target.name)
            yield Linked(target.name, _resolved(chosen), wanted, notices)
    for target in targets:
        files = frozenset(units[number].file for number in target.units)
        is_library = target.kind is LinkKind.SHARED or (
            target.kind is not LinkKind.PROGRAM and target.name not in held
        )
        if is_library and files not in seen:
            seen.add(files)
            yield _library(target.name, units, sorted(target.units), entries_of)


def _with_missing(
    chosen: list[Unit], units: Sequence[Unit], name: str
) -> tuple[list[Unit], tuple[str, ...]]:
    """With the units that define what those of the program call and none of them defines."""
    found = list(chosen)
    added: list[str] = []
    defined = {name for unit in chosen for name in unit.outlines}
    homes = {
        name: unit
        for unit in reversed(units)
        if not _defines(unit, MAIN)
        for name, outline in unit.outlines.items()
        if outline.is_external
    }
    waiting = list(chosen)
    while waiting:
        unit = waiting.pop()
        for outline in unit.outlines.values():
            for called in outline.mentions:
                home = homes.get(called)
                if called in defined or home is None:
                    continue
                found.append(home)
                waiting.append(home)
                added.append(home.file)
                defined.update(home.outlines)
    if not added:
        return found, ()
    shown = ", ".join(added[:3]) + (f" and {len(added) - 3} more" if len(added) > 3 else "")
    return found, (f"{name}: taken in, because the program calls their functions: {shown}",)


def _library(
    name: str,
    units: Sequence[Unit],
    numbers: Sequence[int],
    entries_of: Callable[[Iterable[int]], set[str]],
) -> Linked:
    """Entered by its public functions only, if there are any."""
    chosen = [units[number] for number in numbers]
    visible = {name for unit in chosen for name, o in unit.outlines.items() if o.is_external}
    public = entries_of(numbers) & visible
    if not public or public == visible:
        return Linked(name, _resolved(chosen), None)
    hidden = visible - public
    for at, unit in enumerate(chosen):
        if not hidden.isdisjoint(unit.outlines):
            outlines = {
                name: replace(outline, is_external=False) if name in hidden else outline
                for name, outline in unit.outlines.items()
            }
            chosen[at] = replace(unit, outlines=outlines)
    whose = name or "the library"
    many = f"{len(public)} functions" if len(public) > 1 else "one function"
    notice = f"{whose}: entered by the {many} that its public headers declare"
    return Linked(name, _resolved(chosen), None, (notice,))


def _by_entry(
    units: Sequence[Unit],
    targets: Sequence[ProjectTarget],
    wanted: str,
    entries_of: Callable[[Iterable[int]], set[str]],
) -> list[Linked]:
    starts = [n for n, unit in enumerate(units) if _defines(unit, wanted)]
    if not starts:
        return [_library("", units, range(len(units)), entries_of)]
    if len(starts) == 1:
        return [Linked(units[starts[0]].file, _resolved(units), wanted)]
    names = [frozenset(t.name for t in targets if n in t.units) for n in range(len(units))]
    owned = frozenset(name for n in starts for name in names[n])
    programs = []
    for start in starts:
        own = [start]
        shared = []
        for n in range(len(units)):
            if n in starts:
                continue
            if names[start] & names[n]:
                own.append(n)
            elif not owned & names[n]:
                shared.append(n)
        near = sorted(shared, key=lambda n: _distance(units[start].file, units[n].file))
        chosen = [units[n] for n in (*own, *near)]
        programs.append(Linked(units[start].file, _resolved(chosen), wanted))
    return programs


def _distance(one: str, other: str) -> int:
    """How many folders up and down from file to file."""
    return os.path.relpath(os.path.dirname(other) or ".", os.path.dirname(one) or ".").count(os.sep)


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
