"""What people call memory that has no name of its own, the same from every engine.

A block of the heap is called after its type, the part of it that is meant, and where it is made:
`conn.next (allocated in conn_new, memcached.c:812)`. Whoever keeps such a name over changes of the
source leaves the line out (`without_lines`).
"""

from __future__ import annotations

import re
from pathlib import PurePath

from raceproof.ir.debug import DebugInfo
from raceproof.ir.position import Position
from raceproof.ir.program import Program

_LIBRARY = ("/libcxx/", "/include/c++/")
_ORIGIN = re.compile(r" \((allocated in [^()]*(?:\([^()]*\)[^()]*)*)\)$")
_MADE_AT = re.compile(r"(\(allocated in [^,()]+), [^,()]+:\d+\)")


def is_of_library(position: Position | None) -> bool:
    """Whether a place lies in a header of the C++ library, which people know by its interface."""
    return position is not None and any(part in position.file for part in _LIBRARY)


def heap_name(
    debug: DebugInfo, type_: str, path: str, function: str, position: Position | None
) -> str:
    """The part at `path` of a block for objects of this type (a debug key, or empty), allocated in
    this function."""
    name = debug.type(type_).name if type_ else ""
    where = f", {PurePath(position.file).name}:{position.line}" if position is not None else ""
    return f"{name or 'memory'}{path} (allocated in {function}{where})"


def heap_type(program: Program, call: int) -> str:
    """The debug key of what the pointer variable points to that receives the result of a call."""
    pointer = program.debug.type(program.heap_types.get(call, ""))
    return pointer.target if pointer.kind == "pointer" else ""


def block_name(program: Program, call: int, path: str) -> str:
    """The part at `path` of a block that a call of this program allocates."""
    function, position = program.function_of(call), program.instruction(call).position
    return heap_name(program.debug, heap_type(program, call), path, function.display, position)


def without_origin(name: str) -> str:
    """`conn.next`, where it is clear which conn is meant."""
    return _ORIGIN.sub("", name)


def origin(name: str) -> str:
    """`allocated in conn_new, memcached.c:812`; empty for what has a name of its own."""
    found = _ORIGIN.search(name)
    return found[1] if found else ""


def without_lines(name: str) -> str:
    """The same name wherever the lines of the source move to."""
    return _MADE_AT.sub(r"\1)", name)
