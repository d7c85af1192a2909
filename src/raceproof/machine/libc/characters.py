"""Characters in the C locale: the functions, and the tables that glibc's macros look into."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.machine.libc.registry import FUNCTIONS, library

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_CLASSES: dict[str, Callable[[int], bool]] = {
    "isalnum": lambda c: chr(c).isalnum(),
    "isalpha": lambda c: chr(c).isalpha(),
    "isblank": lambda c: c in (9, 32),
    "iscntrl": lambda c: c < 32 or c == 127,
    "isdigit": lambda c: 48 <= c <= 57,
    "isgraph": lambda c: 33 <= c <= 126,
    "islower": lambda c: 97 <= c <= 122,
    "isprint": lambda c: 32 <= c <= 126,
    "ispunct": lambda c: 33 <= c <= 126 and not chr(c).isalnum(),
    "isspace": lambda c: c == 32 or 9 <= c <= 13,
    "isupper": lambda c: 65 <= c <= 90,
    "isxdigit": lambda c: chr(c) in "0123456789abcdefABCDEF",
}


def _class(holds: Callable[[int], bool]) -> Callable[..., int]:
    return lambda m, c: int(0 <= c < 128 and holds(c))


for _name, _holds in _CLASSES.items():
    FUNCTIONS[_name] = _class(_holds)


@library("toupper", "_toupper")
def _toupper(m: Machine, c: int) -> int:
    return c - 32 if 97 <= c <= 122 else c


@library("tolower", "_tolower")
def _tolower(m: Machine, c: int) -> int:
    return c + 32 if 65 <= c <= 90 else c


_BITS = {
    "isupper": 0x100,
    "islower": 0x200,
    "isalpha": 0x400,
    "isdigit": 0x800,
    "isxdigit": 0x1000,
    "isspace": 0x2000,
    "isprint": 0x4000,
    "isgraph": 0x8000,
    "isblank": 0x1,
    "iscntrl": 0x2,
    "ispunct": 0x4,
    "isalnum": 0x8,
}
_FIRST = -128
"""The tables start with this character."""


def _table(m: Machine, name: str, data: bytes, size: int) -> int:
    """A pointer to a pointer to the entry of character 0, the thread's own."""
    thread = m.current
    key = f"library:{name}"
    place = thread.thread_locals.get(key)
    if place is None:
        table = m.memory.allocate(thread.arena, len(data), name, f"call:{name}")
        pointer = m.memory.allocate(thread.arena, m.program.layout.pointer_size, name, key)
        m.memory.write(table.base, data)
        m.write_pointer(pointer.base, table.base - _FIRST * size)
        table.is_private = pointer.is_private = True
        place = thread.thread_locals[key] = pointer.base
    return place


@library("__ctype_b_loc")
def _classes(m: Machine) -> int:
    words = [
        sum(bit for name, bit in _BITS.items() if 0 <= c < 128 and _CLASSES[name](c))
        for c in range(_FIRST, 256)
    ]
    return _table(m, "__ctype_b_loc", struct.pack(f"<{len(words)}H", *words), 2)


@library("__ctype_toupper_loc")
def _upper_cases(m: Machine) -> int:
    numbers = [_toupper(m, c) for c in range(_FIRST, 256)]
    return _table(m, "__ctype_toupper_loc", struct.pack(f"<{len(numbers)}i", *numbers), 4)


@library("__ctype_tolower_loc")
def _lower_cases(m: Machine) -> int:
    numbers = [_tolower(m, c) for c in range(_FIRST, 256)]
    return _table(m, "__ctype_tolower_loc", struct.pack(f"<{len(numbers)}i", *numbers), 4)
