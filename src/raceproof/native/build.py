"""The program, built for this machine with ThreadSanitizer and with the runtime's hooks."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raceproof.errors import UserError
from raceproof.frontend import Selection, compile_text
from raceproof.frontend.assembling import assemble
from raceproof.frontend.link import link_modules
from raceproof.frontend.toolchain import Toolchain
from raceproof.ir import Program
from raceproof.native.instrument import instrumented
from raceproof.native.points import Point, PointTable, points_at, points_of
from raceproof.options import DataModel, Options
from raceproof.verdict import Access

_RUNTIME = Path(__file__).with_name("runtime.c")
_TRIPLE = re.compile(r'^target triple = "[^"\n]*"\n', re.M)
_CXX = re.compile(r"@_Z|@__cxa_|@__gxx_personality")
_LINES = 12
"""Of a linker's complaint."""


@dataclass(frozen=True, slots=True)
class Module:
    """The whole program as one LLVM module, as its own compiler would see it: without the bodies
    of library functions that the analysis puts in."""

    text: str
    is_cxx: bool
    failed: int = 0


def read_module(selection: Selection, options: Options) -> Module:
    if options.data_model is not DataModel.LP64:
        raise UserError("ThreadSanitizer needs a 64-bit program: give --data-model LP64")
    assembly = assemble(selection, options, compile_text)
    names = [str(source.path) for source in assembly.modules]
    texts = [made.text for made in assembly.modules.values()]
    text = link_modules(texts, names, is_lenient=selection.is_build)
    is_cxx = any(source.is_cxx for source in assembly.modules) or bool(_CXX.search(text))
    return Module(text, is_cxx, len(assembly.failed))


class Builder:
    """Builds in a folder; `sanitizer_cc` names a compiler that links its own ThreadSanitizer."""

    def __init__(
        self,
        module: Module,
        program: Program | None,
        options: Options,
        folder: Path,
        *,
        sanitizer_cc: str | None = None,
        link_args: Sequence[str] = (),
    ) -> None:
        self._module = module
        self._program = program
        self._folder = folder
        self._linker = sanitizer_cc
        self._link_args = list(link_args)
        self._zig = Toolchain(options).bundled_compiler

    def points(self, numbers: frozenset[int], accesses: Iterable[Access]) -> PointTable:
        """Of these instructions, or of these accesses if nobody knows a program with numbers, those
        that can be told in the module."""
        if self._program is None:
            return points_at(self._module.text, accesses)
        return points_of(self._module.text, self._program, numbers)

    def build(self, points: Mapping[int, Point]) -> Path:
        """The program with hooks at the points; raises `UserError` with the linker's own words."""
        text = _TRIPLE.sub("", instrumented(self._module.text, points), count=1)
        source = self._folder / "program.ll"
        source.write_text(text, "utf-8", "surrogateescape")
        binary = self._folder / "program"
        runtime = self._folder / "runtime.o"
        driver = "c++" if self._module.is_cxx else "cc"
        zig = [self._zig, driver, "-g", "-fno-sanitize=undefined"]
        _run(
            [
                self._zig,
                "cc",
                "-O1",
                "-fno-builtin",
                "-fno-sanitize=all",
                "-c",
                str(_RUNTIME),
                "-o",
                str(runtime),
            ]
        )
        libraries = [*self._link_args, "-lpthread", "-lm"]
        if self._linker is None:
            inputs = [str(source), str(runtime)]
            _run([*zig, "-fsanitize=thread", *inputs, "-o", str(binary), *libraries])
            return binary
        made = self._folder / "program.o"
        _run([*zig, "-fsanitize=thread", "-c", str(source), "-o", str(made)])
        linked = [self._linker, "-fsanitize=thread", str(made), str(runtime), "-o", str(binary)]
        _run([*linked, *libraries])
        return binary


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, text=True, errors="replace"
        )
    except OSError as error:
        raise UserError(f"cannot start {command[0]}: {error.strerror}") from error
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        shown = "\n".join(lines[:_LINES])
        raise UserError(f"the program cannot be built with ThreadSanitizer:\n{shown}")
