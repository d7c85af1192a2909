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
from raceproof.frontend.toolchain import Toolchain
from raceproof.ir import Global, Program
from raceproof.project.sources import Project
from raceproof.project.stamps import (
    Stamp,
    make_stamp,
    read_dependencies,
    was_changed_since,
)
from raceproof.project.store import digest

Record: TypeAlias = tuple[tuple[Any, ...], tuple[str, ...]]
"""`Unit.to_tuple`, and the functions without a body here that a model speaks of."""


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
    source: Source, key: bytes, project: Project, toolchain: Toolchain, models: Models
) -> Compiled:
    """Compiles and outlines one file; trouble is an answer, too."""
    started = time.time_ns()
    try:
        text, files = _compile(source, toolchain)
        record = _outline(text, source, project, models)
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


def _outline(text: str, source: Source, project: Project, models: Models) -> Record:
    from raceproof.frontend.lower_module import lower_module

    name = project.name(source.path)
    program = lower_module(text, [name])
    unit = make_unit(program, models, name, _naming(program, name))
    _rename_types(unit)
    _rename_files(unit, lambda file: project.name(Path.cwd() / file))
    modelled = [
        function.name
        for function in program.functions.values()
        if not function.is_defined
        and (model := models.lookup(function.name)) is not None
        and not model.override
    ]
    return unit.to_tuple(), tuple(modelled)


def _naming(program: Program, file: str) -> Callable[[str], str]:
    """What is private to a unit gets its file's name: two files may each have a `static lock`."""

    def naming(name: str) -> str:
        function = program.functions.get(name)
        variable = program.globals.get(name)
        if variable is not None and variable.is_string:
            return _string_name(variable)
        is_external = True
        if function is not None:
            is_external = function.is_external
        elif variable is not None:
            is_external = variable.is_external
        return name if is_external else f"{name}@{file}"

    return naming


def _string_name(variable: Global) -> str:
    """By its content: the compiler numbers string literals anew after every change."""
    return f".str {digest([repr(variable.initializer)]).hex()}"


def _rename_types(unit: Unit) -> None:
    """Types by their content instead of the compiler's numbers, which every change shifts.

    Types hold others but never themselves (what a pointer points to is left out), so a type's name
    is made of its members' names.
    """
    names: dict[str, str] = {"": ""}

    def name(key: str) -> str:
        found = names.get(key)
        if found is None:
            kind, title, size, target, counts, members = unit.types[key]
            inside = [(m[0], m[1], m[2], name(m[3]), m[4]) for m in members]
            text = repr((kind, title, size, name(target), counts, inside))
            found = names[key] = digest([text]).hex()
        return found

    renamed = {}
    for key, (kind, title, size, target, counts, members) in unit.types.items():
        inside = tuple((m[0], m[1], m[2], name(m[3]), m[4]) for m in members)
        renamed[name(key)] = (kind, title, size, name(target), counts, inside)
    unit.types = renamed
    for outline in unit.outlines.values():
        outline.slots = {n: (own, name(key), size) for n, (own, key, size) in outline.slots.items()}
        allocations = outline.allocations.items()
        outline.allocations = {n: (name(key), size) for n, (key, size) in allocations}
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
