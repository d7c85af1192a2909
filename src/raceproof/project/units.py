"""A translation unit to what the engine keeps of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raceproof.concurrency.catalogue import Models
from raceproof.engines.summary.unit import Unit, make_unit
from raceproof.errors import UserError
from raceproof.frontend import compile_text
from raceproof.frontend.compiler import Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.ir import Program
from raceproof.project.sources import Project
from raceproof.project.stamps import (
    Stamp,
    make_stamp,
    read_dependencies,
    was_changed_since,
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of one translation unit."""

    unit: tuple[Any, ...] | None
    """`Unit.to_tuple`; None if it could not be compiled."""
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
    except UserError as error:
        return Compiled(None, trouble=str(error))
    unit = _outline(text, source, project, models)
    stamp = None if was_changed_since(files, started) else make_stamp(key, files, started)
    return Compiled(unit.to_tuple(), stamp)


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


def _outline(text: str, source: Source, project: Project, models: Models) -> Unit:
    from raceproof.frontend.lower_module import lower_module

    name = project.name(source.path)
    program = lower_module(text, [name])
    unit = make_unit(program, models, name, _naming(program, name))
    _rename_files(unit, lambda file: project.name((source.folder or Path.cwd()) / file))
    return unit


def _naming(program: Program, file: str) -> Callable[[str], str]:
    """What is private to a unit gets its file's name: two files may each have a `static lock`."""

    def naming(name: str) -> str:
        function = program.functions.get(name)
        variable = program.globals.get(name)
        is_external = True
        if function is not None:
            is_external = function.is_external
        elif variable is not None:
            is_external = variable.is_external
        return name if is_external else f"{name}@{file}"

    return naming


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
