"""Source files to LLVM's textual form."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend.source import C_SUFFIXES, CXX_SUFFIXES, LLVM_SUFFIXES, Source
from raceproof.frontend.toolchain import Attempt, Toolchain

_LINE_MARKER = re.compile(rb'^#(?:line)? \d+ "[^"\n]*".*$', re.M)

_ODD_MAIN = re.compile(rb"error: [^\n]*parameter of 'main'|error: 'main' must return")
_ANY_MAIN = "-ffreestanding"
"""Clang refuses a `main` of an odd type, as others do not, unless `main` is a name like any."""


class DoesNotCompile(UserError):
    """With the compiler's messages behind the first line."""


def check_source(path: Path) -> None:
    """One clear message for what is not a program text at all."""
    if not path.exists():
        raise UserError(f"{path}: there is no such file")
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name its files, or use `raceproof scan`")
    if not os.access(path, os.R_OK):
        raise UserError(f"{path}: cannot be read (no permission)")
    if path.suffix not in C_SUFFIXES | CXX_SUFFIXES | LLVM_SUFFIXES:
        known = " ".join(sorted(C_SUFFIXES | CXX_SUFFIXES | LLVM_SUFFIXES))
        raise UserError(f"{path}: not a kind of file that can be checked (known: {known})")
    if path.stat().st_size == 0:
        raise UserError(f"{path}: the file is empty")
    if path.suffix != ".bc":
        with path.open("rb") as stream:
            if b"\0" in stream.read(4096):
                raise UserError(f"{path}: is a binary file, not a program text")


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation unit as an LLVM module, and what the user should know of how it was made."""

    text: str
    notice: str = ""
    preprocess: tuple[str, ...] = ()
    """The command that prints the unit's text with all headers, if there are any in it."""


def compile_source(source: Source, toolchain: Toolchain, *extra: str) -> Translation:
    """The LLVM module of one C or C++ file; `extra` are further flags."""
    check_source(source.path)
    text = _own_lines(source.path) if source.is_preprocessed else None
    try:
        return _compile(source, toolchain, Attempt(), extra, text)
    except DoesNotCompile as error:
        for attempt in toolchain.attempts(source):
            try:
                return _compile(source, toolchain, attempt, extra, text)
            except DoesNotCompile:
                continue
        raise error


def _compile(
    source: Source,
    toolchain: Toolchain,
    attempt: Attempt,
    extra: Sequence[str],
    text: bytes | None,
) -> Translation:
    command = [*toolchain.command, *toolchain.flags_for(source, attempt)]
    preprocess: tuple[str, ...] = ()
    if text is not None:
        what = ["-x", "c++-cpp-output" if source.is_cxx else "cpp-output", "-"]
    else:
        what = ["-x", "c++" if source.is_cxx else "c", str(source.path)]
        preprocess = (*command, "-E", *what)
    whole = [*command, *extra, "-S", "-emit-llvm", "-o", "-", *what]
    made = _run(toolchain, whole, text, source)
    return Translation(made, attempt.notice, preprocess)


def _own_lines(path: Path) -> bytes:
    """A preprocessed file with line markers blanked, so that positions speak of this file."""
    marker = f'# 1 "{path}"\n'.encode()
    return marker + _LINE_MARKER.sub(b"", path.read_bytes())


def _run(toolchain: Toolchain, command: Sequence[str], text: bytes | None, source: Source) -> str:
    try:
        code, output, errors = toolchain.running.run(command, text, source.folder)
    except OSError as error:
        raise UserError(f"cannot start the compiler {command[0]}: {error.strerror}") from error
    if code and _ODD_MAIN.search(errors) and _ANY_MAIN not in command:
        return _run(toolchain, [*command, _ANY_MAIN], text, source)
    if code:
        message = errors.decode("utf-8", "replace").strip()
        raise DoesNotCompile(f"{source.path}: does not compile\n{message}")
    return output.decode("utf-8", "surrogateescape")
