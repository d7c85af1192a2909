"""A translation unit to what the engine keeps of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.model import FunctionModel
from raceproof.engines.summary.unit import Unit
from raceproof.errors import UserError
from raceproof.frontend import compile_text
from raceproof.frontend.compiler import Translation
from raceproof.frontend.source import Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.ir import Program
from raceproof.project.fragments import Fragments
from raceproof.project.outlining import outline_some, take_over, unit_names
from raceproof.project.patches import Body, Record, bodies_of, pack_text, patched
from raceproof.project.sources import Project
from raceproof.project.stamps import (
    Stamp,
    make_stamp,
    read_dependencies,
    was_changed_since,
)


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
        quick = None if before is None else patched(source, before, project, toolchain, models)
        if quick is not None:
            record, files = quick
        else:
            original = source.path.read_bytes()
            made, files = _compile(source, toolchain)
            record = _outline(made.text, source, project, models, before)
            record = replace(record, text=pack_text(source, original), files=tuple(files))
            record = replace(record, notice=made.notice)
    except UserError as error:
        return Compiled(None, trouble=str(error))
    except Exception as error:
        trouble = f"{source.path}: raceproof fails on this file, please report it: {error!r}"
        return Compiled(None, trouble=trouble)
    stamp = None if was_changed_since(files, started) else make_stamp(key, files, started)
    return Compiled(record, stamp)


def _compile(source: Source, toolchain: Toolchain) -> tuple[Translation, list[str]]:
    """The LLVM module, and all files that went into it."""
    folder = source.folder or Path.cwd()
    with tempfile.TemporaryDirectory(prefix="raceproof-") as scratch:
        rule = Path(scratch) / "files.d"
        made = compile_text(source, toolchain, "-MD", "-MF", str(rule))
        files = [str(source.path)]
        if rule.exists():
            listed = rule.read_text("utf-8", "surrogateescape")
            files += read_dependencies(listed, folder, toolchain.own_folders)
    return made, [file for file in files if os.path.isfile(file)]


def _outline(
    text: str, source: Source, project: Project, models: Models, before: Record | None
) -> Record:
    """All outlines; those of functions that are as they were `before` are taken from there."""
    from raceproof.frontend.lower_module import read_parts

    file = project.name(source.path)
    module = read_parts(text)
    naming = unit_names(module, file)
    fragments = Fragments(module)
    found = {one.name: one for one in map(fragments.read, module.functions)}
    kept: set[str] = set()
    if before is not None and "blockaddress(" not in text:
        known = before.keys
        kept = {n for n, one in found.items() if known.get(n) == one.key}
    wanted = {name for name in found if name not in kept}
    unit, modelled = outline_some(module, wanted, file, project, models, naming)
    if before is not None and kept:
        take_over(unit, Unit.from_tuple(before.unit), {naming(n): found[n].start for n in kept})
    unit.outlines = {naming(name): unit.outlines[naming(name)] for name in found}
    bodies: dict[str, Body] = bodies_of(found.values(), naming, source, project)
    return Record(unit.to_tuple(), modelled, {n: one.key for n, one in found.items()}, bodies)
