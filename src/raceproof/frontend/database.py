"""Build databases (`compile_commands.json`): which files, compiled how, make which program."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.compiler import C_SUFFIXES, CXX_SUFFIXES, Source

_WITH_VALUE = frozenset(
    {"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-isysroot", "-imacros"}
)
_KEPT_PREFIXES = (
    "-I",
    "-D",
    "-U",
    "-std=",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-fno-exceptions",
    "-fno-rtti",
    "-funsigned-char",
    "-fsigned-char",
    "-fshort-enums",
    "-fms-extensions",
    "-fpack-struct",
    "-fblocks",
    "-m32",
    "-m64",
    "-ansi",
    "-fexceptions",
)


@dataclass(frozen=True, slots=True)
class Command:
    """One entry of the database."""

    source: Source
    output: str


def read_database(path: Path) -> list[Command]:
    """All entries for C and C++ files."""
    if path.is_dir():
        path = path / "compile_commands.json"
    try:
        entries = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path}: not a build database: {error}") from error
    if not isinstance(entries, list):
        raise UserError(f"{path}: not a build database: a list of entries is expected")
    commands = []
    for number, entry in enumerate(entries, 1):
        try:
            commands.append(_command(entry, path.parent))
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path}: entry {number} is damaged: {error!r}") from error
    return [c for c in commands if c.source.path.suffix in C_SUFFIXES | CXX_SUFFIXES]


def _command(entry: dict[str, object], beside: Path) -> Command:
    folder = beside / str(entry["directory"])
    if "arguments" in entry:
        arguments = [str(a) for a in _as_list(entry["arguments"])]
    else:
        arguments = shlex.split(str(entry["command"]))
    file = folder / str(entry["file"])
    output = str(entry.get("output", "")) or _output_of(arguments)
    return Command(Source(file, tuple(_kept(arguments[1:])), folder), output)


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("`arguments` is not a list")
    return value


def _kept(arguments: list[str]) -> Iterable[str]:
    """The flags that say what the program is; warnings, outputs and optimisation are ours."""
    rest = iter(arguments)
    for argument in rest:
        if argument in _WITH_VALUE:
            yield argument
            yield next(rest, "")
        elif argument == "-o":
            next(rest, "")
        elif argument.startswith(_KEPT_PREFIXES):
            yield argument


def _output_of(arguments: list[str]) -> str:
    for flag, value in itertools.pairwise(arguments):
        if flag == "-o":
            return value
    return ""


def choose(
    commands: list[Command], target: str | None, file_filter: str | None, path: Path
) -> list[Source]:
    """The files of one program: those whose output lies in `target`, those that match the filter.

    CMake puts the objects of a program `server` into `CMakeFiles/server.dir/`.
    """
    found = commands
    if target is not None:
        found = [c for c in found if _belongs(c.output, target)]
    if file_filter is not None:
        found = [
            c
            for c in found
            if fnmatch(str(c.source.path), file_filter) or fnmatch(c.source.path.name, file_filter)
        ]
    if not found:
        raise UserError(f"{path}: no C or C++ file is left{_known_targets(commands, target)}")
    unique = {c.source.path: c.source for c in found}
    return list(unique.values())


def _belongs(output: str, target: str) -> bool:
    parts = Path(output).parts
    return f"{target}.dir" in parts or target in parts or Path(output).stem == target


def _known_targets(commands: list[Command], target: str | None) -> str:
    if target is None:
        return ""
    known = sorted(
        {
            part.removesuffix(".dir")
            for c in commands
            for part in Path(c.output).parts
            if part.endswith(".dir")
        }
    )
    return f" for --target {target}" + (f" (known: {', '.join(known)})" if known else "")
