"""Outlines of some functions of a module, in names that do not depend on the compiler's mood."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from pathlib import Path
from typing import TypeAlias

from raceproof.concurrency.catalogue import Models
from raceproof.engines.summary.unit import Unit, make_unit
from raceproof.frontend.llvm_text import symbol
from raceproof.frontend.lower_module import lower_parts
from raceproof.frontend.module_text import FunctionText, ModuleText
from raceproof.project.fragments import TypeNames, name_of
from raceproof.project.sources import Project
from raceproof.project.store import digest

Naming: TypeAlias = Callable[[str], str]

_DEBUG = re.compile(r", !dbg !\d+")


def outline_some(
    module: ModuleText,
    wanted: Container[str],
    file: str,
    project: Project,
    models: Models,
    naming: Naming,
) -> tuple[Unit, tuple[str, ...]]:
    """A unit with the outlines of the wanted functions only, and all of the rest.

    Also the functions without a body in the module that a model speaks of. Functions that have
    both a body and a model are lowered whether wanted or not: what calling them means depends on
    it.
    """
    bodies: list[FunctionText] = []
    others: list[FunctionText] = []
    for one in module.functions:
        name = name_of(one.header)
        is_needed = name in wanted or models.lookup(name) is not None
        (bodies if is_needed else others).append(one)
    undefined = [name_of(header) for header in module.declarations]
    module.declarations = [*module.declarations, *(one.header for one in others)]
    module.functions = bodies
    program = lower_parts(module, [file])
    unit = make_unit(program, models, file, naming)
    _rename_types(unit, TypeNames(program.debug))
    _rename_files(unit, lambda name: project.name(Path.cwd() / name))
    kept = {naming(name_of(one.header)) for one in bodies if name_of(one.header) in wanted}
    unit.outlines = {name: o for name, o in unit.outlines.items() if name in kept}
    modelled = [
        name
        for name in undefined
        if (model := models.lookup(name)) is not None and not model.override
    ]
    return unit, tuple(modelled)


def take_over(unit: Unit, before: Unit, starts: dict[str, int]) -> None:
    """Outlines of an earlier unit, moved to where their functions are now, and their types."""
    types: list[str] = []
    for name, line in starts.items():
        outline = before.outlines[name].moved(line)
        unit.outlines[name] = outline
        types += [type_ for _, type_, _ in outline.slots.values()]
        types += [type_ for type_, _ in outline.allocations.values()]
    while types:
        key = types.pop()
        if key and key not in unit.types:
            found = unit.types[key] = before.types[key]
            types += [found[3], *(member[3] for member in found[5])]


def unit_names(module: ModuleText, file: str) -> Callable[[str], str]:
    """What is private to a unit gets its file's name: two files may each have a `static lock`.

    A string literal is named by its content: the compiler numbers them anew after every change.
    """
    names: dict[str, str] = {}
    for one in module.functions:
        if one.header.startswith(("define internal ", "define private ")):
            name = name_of(one.header)
            names[name] = f"{name}@{file}"
    for token, rest in module.globals:
        linkage = rest.split(" global ")[0].split(" constant ")[0].split()
        name = symbol(token)
        if "private" in linkage and " constant " in rest[:120]:
            names[name] = f".str {digest([_DEBUG.sub('', rest)]).hex()}"
        elif "private" in linkage or "internal" in linkage:
            names[name] = f"{name}@{file}"
    return lambda name: names.get(name, name)


def _rename_types(unit: Unit, names: TypeNames) -> None:
    """Types by their content instead of the compiler's numbers, which every change shifts."""
    name = names.name
    renamed = {}
    for key, (kind, title, size, target, counts, members) in unit.types.items():
        inside = tuple((m[0], m[1], m[2], name(m[3]), m[4]) for m in members)
        renamed[name(key)] = (kind, title, size, name(target), counts, inside)
    unit.types = renamed
    for outline in unit.outlines.values():
        outline.slots = {n: (own, name(key), size) for n, (own, key, size) in outline.slots.items()}
        outline.allocations = {n: (name(k), size) for n, (k, size) in outline.allocations.items()}
        outline.seal()
    for variable, facts in unit.globals.items():
        unit.globals[variable] = (*facts[:2], name(facts[2]), *facts[3:])


def _rename_files(unit: Unit, rename: Callable[[str], str]) -> None:
    """The compiler names files as they are seen from where it ran; reports as seen from the
    root."""
    memo: dict[str, str] = {"": ""}

    def renamed(file: str) -> str:
        found = memo.get(file)
        if found is None:
            found = memo[file] = rename(file)
        return found

    for outline in unit.outlines.values():
        outline.file = renamed(outline.file)
        for number, (line, column, file) in outline.places.items():
            outline.places[number] = (line, column, renamed(file))
    for name, facts in unit.globals.items():
        unit.globals[name] = (*facts[:5], renamed(facts[5]), facts[6])
