"""A translation unit to what the engine keeps of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.model import FunctionModel
from raceproof.engines.summary.unit import Unit, make_unit
from raceproof.errors import UserError
from raceproof.frontend import compile_text
from raceproof.frontend.compiler import Source
from raceproof.frontend.llvm_text import symbol
from raceproof.frontend.module_text import ModuleText
from raceproof.frontend.toolchain import Toolchain
from raceproof.ir import Program
from raceproof.project.fragments import Fragments, TypeNames, name_of
from raceproof.project.sources import Project
from raceproof.project.stamps import (
    Stamp,
    make_stamp,
    read_dependencies,
    was_changed_since,
)
from raceproof.project.store import digest

Record: TypeAlias = tuple[tuple[Any, ...], tuple[str, ...], dict[str, bytes]]
"""`Unit.to_tuple`, the functions without a body here that a model speaks of, and the keys of the
functions with one."""


class ProjectModels(Models):
    """Models of functions that the project does not define itself.

    A unit alone cannot tell: what it calls may have its body in another unit.
    """

    __slots__ = ("_own",)

    def __init__(self, models: Models, own: Iterable[str]) -> None:
        self._shelves = models._shelves
        self._found = models._found
        self._own = frozenset(own)

    def applicable(self, name: str, program: Program) -> FunctionModel | None:
        model = super().applicable(name, program)
        return None if model is not None and name in self._own and not model.override else model


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of one translation unit."""

    record: Record | None
    """None if it could not be compiled."""
    stamp: Stamp | None = None
    """None if it must not be remembered."""
    trouble: str = ""


def compile_unit(
    source: Source,
    key: bytes,
    project: Project,
    toolchain: Toolchain,
    models: Models,
    before: Record | None = None,
) -> Compiled:
    """Compiles and outlines one file; trouble is an answer, too.

    `before` is what came of an earlier state of the file.
    """
    started = time.time_ns()
    try:
        text, files = _compile(source, toolchain)
        record = _outline(text, source, project, models, before)
    except UserError as error:
        return Compiled(None, trouble=str(error))
    except Exception as error:
        trouble = f"{source.path}: raceproof fails on this file, please report it: {error!r}"
        return Compiled(None, trouble=trouble)
    stamp = None if was_changed_since(files, started) else make_stamp(key, files, started)
    return Compiled(record, stamp)


def _compile(source: Source, toolchain: Toolchain) -> tuple[str, list[str]]:
    """The LLVM text, and all files that went into it."""
    folder = source.folder or Path.cwd()
    with tempfile.TemporaryDirectory(prefix="raceproof-") as scratch:
        rule = Path(scratch) / "files.d"
        asking = replace(source, flags=(*source.flags, "-MD", "-MF", str(rule)))
        text = compile_text(asking, toolchain)
        files = [str(source.path)]
        if rule.exists():
            listed = rule.read_text("utf-8", "surrogateescape")
            files += read_dependencies(listed, folder, toolchain.own_folders)
    return text, [file for file in files if os.path.isfile(file)]


def _outline(
    text: str, source: Source, project: Project, models: Models, before: Record | None
) -> Record:
    """All outlines; those of functions that are as they were `before` are taken from there."""
    from raceproof.frontend.lower_module import lower_parts, read_parts

    name = project.name(source.path)
    module = read_parts(text)
    fragments = Fragments(module)
    keys = {name_of(one.header): fragments.key(one) for one in module.functions}
    starts = {name_of(one.header): fragments.start(one) for one in module.functions}
    order = list(keys)
    kept: set[str] = set()
    if before is not None and "blockaddress(" not in text:
        known = before[2]
        kept = {f for f in order if known.get(f) == keys[f] and models.lookup(f) is None}
    naming = _naming(module, name)
    if kept:
        module.declarations += [o.header for o in module.functions if name_of(o.header) in kept]
        module.functions = [o for o in module.functions if name_of(o.header) not in kept]
    program = lower_parts(module, [name])
    unit = make_unit(program, models, name, naming)
    _rename_types(unit, TypeNames(program.debug))
    _rename_files(unit, lambda file: project.name(Path.cwd() / file))
    if before is not None and kept:
        _take_over(unit, Unit.from_tuple(before[0]), {naming(f): starts[f] for f in kept})
    unit.outlines = {naming(f): unit.outlines[naming(f)] for f in order}
    modelled = [
        function.name
        for function in program.functions.values()
        if not function.is_defined
        and function.name not in kept
        and (model := models.lookup(function.name)) is not None
        and not model.override
    ]
    return unit.to_tuple(), tuple(modelled), keys


def _take_over(unit: Unit, before: Unit, starts: dict[str, int]) -> None:
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


def _naming(module: ModuleText, file: str) -> Callable[[str], str]:
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
            names[name] = f".str {digest([rest]).hex()}"
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
