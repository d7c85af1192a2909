"""Build databases (`compile_commands.json`): which files are compiled how."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.builds.command_line import (
    C_SUFFIXES,
    CXX_SUFFIXES,
    CommandLine,
    is_compiler,
    read_command_line,
    split_command,
)
from raceproof.frontend.source import Source

FILE = "compile_commands.json"
_FOLDERS = (
    ".", "build", "builddir", "out", "_build", "cmake-build-debug", "cmake-build-release",
    "build/debug", "build/release",
)  # fmt: skip
_SUFFIXES = (C_SUFFIXES | CXX_SUFFIXES) - {".h"}


@dataclass(frozen=True, slots=True)
class Command:
    """One entry of the database."""

    source: Source
    output: str
    """The object file, as an absolute path; empty if unknown."""
    has_openmp: bool = False


@dataclass(frozen=True, slots=True)
class Database:
    """The entries for C and C++ files, and what is wrong with the others."""

    path: Path
    commands: tuple[Command, ...]
    notices: tuple[str, ...] = ()
    damaged: int = 0
    """Entries that say nothing."""


def nearby_database(folder: Path) -> Path | None:
    """The database of the project in this folder, where builds usually put it."""
    for name in _FOLDERS:
        if (folder / name / FILE).is_file():
            return folder / name / FILE
    return None


def read_database(path: Path) -> Database:
    """All entries for C and C++ files."""
    if path.is_dir():
        path = path / FILE
    try:
        entries = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a build database: {error}") from error
    if not isinstance(entries, list):
        raise UserError(f"{path}: not a build database: a list of entries is expected")
    commands = []
    notices: dict[str, list[int]] = {}
    damaged = 0
    for number, entry in enumerate(entries, 1):
        try:
            made, trouble = _command(entry, path.parent)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            made, trouble = None, f"damaged, left out: {_words(error)}"
            damaged += 1
        if trouble:
            notices.setdefault(trouble, []).append(number)
        if made is not None:
            commands.append(made)
    told = tuple(_told(path, text, numbers) for text, numbers in notices.items())
    if entries and not commands:
        why = f": {told[0]}" if told else ""
        raise UserError(f"{path}: no entry is for a C or C++ file{why}")
    return Database(path, tuple(commands), told, damaged)


def _told(path: Path, text: str, numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:3])
    more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
    return f"{path}: {'entry' if len(numbers) == 1 else 'entries'} {shown}{more}: {text}"


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"`{error.args[0]}` is missing"
    return str(error)


def _command(entry: dict[str, object], beside: Path) -> tuple[Command | None, str]:
    """The entry, unless it is not for us; and what is odd about it."""
    if not isinstance(entry, dict):
        raise TypeError("not a table of `directory`, `file` and `command`")
    trouble = "" if "directory" in entry else "no `directory`: taken to be that of the database"
    folder = Path(os.path.abspath(beside / str(entry.get("directory", "."))))
    if "arguments" in entry:
        arguments = [str(word) for word in _as_list(entry["arguments"])]
    else:
        arguments = split_command(str(entry["command"]))
    name = str(entry["file"])
    if "\0" in name:
        raise ValueError("`file` holds a null character")
    line = read_command_line(arguments, folder)
    path = Path(os.path.abspath(folder / name))
    if not _is_unit(line, path):
        return None, ""
    output = str(entry.get("output", "")) or line.output
    if not is_compiler(line.compiler):
        trouble = f"`{line.compiler}` is no compiler that is known; its flags are read like GCC's"
    elif line.troubles:
        trouble = line.troubles[0]
    return made_command(line, path, folder, output), trouble


def _is_unit(line: CommandLine, path: Path) -> bool:
    """Not a precompiled header, not assembly, not `-E`."""
    named = {os.path.basename(name): cxx for name, cxx in line.sources}
    if path.name in named:
        return named[path.name] is not None
    return path.suffix in _SUFFIXES


def made_command(line: CommandLine, path: Path, folder: Path, output: str) -> Command:
    """A command for one of the files that a command line compiles."""
    kinds = [cxx for name, cxx in line.sources if os.path.basename(name) == path.name]
    is_cxx = kinds[0] if kinds else None
    language = "" if is_cxx is None else "c++" if is_cxx else "c"
    if language == ("c++" if path.suffix in CXX_SUFFIXES else "c"):
        language = ""
    source = Source(
        path, tuple(line.flags), folder, line.compiler or "cc", tuple(line.query), language
    )
    return Command(source, os.path.abspath(folder / output) if output else "", line.has_openmp)


def _as_list(value: object) -> Iterable[object]:
    if not isinstance(value, list):
        raise TypeError("`arguments` is not a list")
    return value
