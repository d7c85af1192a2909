"""Operations as native code: one LLVM module with a function for each, called through ctypes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.machine.native import zig

SLOT = 16
"""Bytes for each operand and result."""


class Native:
    """The functions of a shared library; each reads operands from one buffer, writes to another."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._operands = ctypes.create_string_buffer(SLOT * 4)
        self._results = ctypes.create_string_buffer(SLOT * 2)

    def call(self, name: str, operands: Sequence[bytes]) -> list[bytes]:
        """The results, as the bytes of their slots."""
        data = b"".join(operand.ljust(SLOT, b"\0") for operand in operands)
        self._operands.raw = data.ljust(SLOT * 4, b"\0")
        self._results.raw = bytes(SLOT * 2)
        getattr(self._library, name)(self._operands, self._results)
        found = self._results.raw
        return [found[:SLOT], found[SLOT:]]


def compiled(text: str, suffix: str, folder: Path) -> Native:
    """`text` is LLVM (`.ll`) or C (`.c`)."""
    source = folder / f"operations{suffix}"
    source.write_text(text)
    library = folder / f"operations{suffix}.so"
    command = [zig(), "cc", "-shared", "-fPIC", "-O0", "-w", "-fno-sanitize=undefined"]
    subprocess.run([*command, str(source), "-lm", "-o", str(library)], check=True)
    return Native(library)


def llvm_function(name: str, operands: Sequence[str], results: Sequence[str], body: str) -> str:
    """Loads `%a`, `%b`, ... of these types, runs the body, stores `%r` (and `%s`)."""
    lines = [f"define void @{name}(ptr %in, ptr %out) {{"]
    for index, (letter, type_) in enumerate(zip("abc", operands, strict=False)):
        lines.append(f"  %p{letter} = getelementptr i8, ptr %in, i64 {index * SLOT}")
        lines.append(f"  %{letter} = load {type_}, ptr %p{letter}")
    lines.append(body)
    for index, (letter, type_) in enumerate(zip("rs", results, strict=False)):
        value = f"%{letter}"
        if type_ == "i1":
            lines.append(f"  {value}w = zext i1 {value} to i8")
            value, type_ = f"{value}w", "i8"
        lines.append(f"  %q{letter} = getelementptr i8, ptr %out, i64 {index * SLOT}")
        lines.append(f"  store {type_} {value}, ptr %q{letter}")
    return "\n".join([*lines, "  ret void", "}", ""])
