"""Characters in the C locale: wide ones, and the tables of glibc's macros. The functions on narrow
ones are bodies in C, see `frontend/library`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from raceproof.machine.libc.registry import FUNCTIONS, library
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_CLASSES: dict[str, Callable[[int], bool]] = {
    "alnum": lambda c: chr(c).isalnum(),
    "alpha": lambda c: chr(c).isalpha(),
    "blank": lambda c: c in (9, 32),
    "cntrl": lambda c: c < 32 or c == 127,
    "digit": lambda c: 48 <= c <= 57,
    "graph": lambda c: 33 <= c <= 126,
    "lower": lambda c: 97 <= c <= 122,
    "print": lambda c: 32 <= c <= 126,
    "punct": lambda c: 33 <= c <= 126 and not chr(c).isalnum(),
    "space": lambda c: c == 32 or 9 <= c <= 13,
    "upper": lambda c: 65 <= c <= 90,
    "xdigit": lambda c: chr(c) in "0123456789abcdefABCDEF",
}
_BITS = {
    "upper": 0x100,
    "lower": 0x200,
    "alpha": 0x400,
    "digit": 0x800,
    "xdigit": 0x1000,
    "space": 0x2000,
    "print": 0x4000,
    "graph": 0x8000,
    "blank": 0x1,
    "cntrl": 0x2,
    "punct": 0x4,
    "alnum": 0x8,
}
"""What glibc's tables, and so its functions, say for a class."""


def is_in_class(name: str, c: int) -> bool:
    return 0 <= c < 128 and _CLASSES[name](c)


def _class(name: str, result: int) -> Callable[..., int]:
    return lambda m, c, *_: result if is_in_class(name, c) else 0


for _name, _bit in _BITS.items():
    FUNCTIONS[f"is{_name}_l"] = _class(_name, _bit)
    for _suffix in ("", "_l"):
        FUNCTIONS[f"isw{_name}{_suffix}"] = _class(_name, 1)


@library("_toupper", "toupper_l", "towupper", "towupper_l")
def to_upper(m: Machine, c: int, *_: object) -> int:
    return c - 32 if 97 <= c <= 122 else c


@library("_tolower", "tolower_l", "towlower", "towlower_l")
def to_lower(m: Machine, c: int, *_: object) -> int:
    return c + 32 if 65 <= c <= 90 else c


@library("__ctype_get_mb_cur_max")
def _most_bytes(m: Machine) -> int:
    return 1


@library("wctype", "wctype_l")
def _wctype(m: Machine, name: int, *_: object) -> int:
    """A number for a class: its place among the names, from 1."""
    return _place(_CLASSES, m.memory.string(name))


@library("iswctype", "iswctype_l")
def _iswctype(m: Machine, c: int, kind: int, *_: object) -> int | None:
    names = list(_CLASSES)
    if not 1 <= kind <= len(names):
        return None if kind else 0
    return int(is_in_class(names[kind - 1], c))


_CASES = {"tolower": to_lower, "toupper": to_upper}


@library("wctrans", "wctrans_l")
def _wctrans(m: Machine, name: int, *_: object) -> int:
    return _place(_CASES, m.memory.string(name))


@library("towctrans", "towctrans_l")
def _towctrans(m: Machine, c: int, kind: int, *_: object) -> int | None:
    functions = list(_CASES.values())
    return functions[kind - 1](m, c) if 1 <= kind <= len(functions) else None


def _place(names: Iterable[str], wanted: bytes) -> int:
    known = [name.encode() for name in names]
    return known.index(wanted) + 1 if wanted in known else 0


@library("btowc")
def _btowc(m: Machine, c: int) -> int | None:
    return c if c < 128 else -1 if c == 0xFFFF_FFFF else None


@library("wctob")
def _wctob(m: Machine, c: int) -> int | None:
    return c if c < 128 else -1 if c == 0xFFFF_FFFF else None


@library("wcwidth")
def _wcwidth(m: Machine, c: int) -> int:
    return 0 if c == 0 else 1 if is_in_class("print", c) else -1


# --- the tables of glibc's macros ---

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
        sum(bit for name, bit in _BITS.items() if is_in_class(name, c)) for c in range(_FIRST, 256)
    ]
    return _table(m, "__ctype_b_loc", struct.pack(f"<{len(words)}H", *words), 2)


def _cases(m: Machine, name: str, change: Callable[[Machine, int], int]) -> int:
    numbers = [to_signed(change(m, c & 0xFFFF_FFFF), 32) for c in range(_FIRST, 256)]
    return _table(m, name, struct.pack(f"<{len(numbers)}i", *numbers), 4)


@library("__ctype_toupper_loc")
def _upper_cases(m: Machine) -> int:
    return _cases(m, "__ctype_toupper_loc", to_upper)


@library("__ctype_tolower_loc")
def _lower_cases(m: Machine) -> int:
    return _cases(m, "__ctype_tolower_loc", to_lower)
