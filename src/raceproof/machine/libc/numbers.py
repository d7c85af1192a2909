"""Integers from text. Absolute values, divisions, bits and byte order are bodies in C, see
`frontend/library`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.machine.faults import UndefinedBehaviour
from raceproof.machine.libc.registry import FUNCTIONS, library
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_SPACES = b" \t\n\v\f\r"
RANGE_ERROR = 34
INVALID = 22

Character = Callable[[int], int]
"""The character at a place of a text; what comes after the number is not asked for."""


def narrow_text(m: Machine, text: int) -> Character:
    return lambda place: m.memory.read(text + place, 1)[0]


def wide_text(m: Machine, text: int) -> Character:
    def character(place: int) -> int:
        return int.from_bytes(m.memory.read(text + 4 * place, 4), "little")

    return character


def given_text(data: bytes) -> Character:
    """Bytes that end with their last one."""
    return lambda place: data[place] if place < len(data) else 0


def _digit(c: int, base: int) -> int:
    """The value of a digit; -1 if it is none."""
    if 48 <= c <= 57:
        value = c - 48
    elif 65 <= c & ~32 <= 90 and c < 128:
        value = (c & ~32) - 55
    else:
        return -1
    return value if value < base else -1


def skip_spaces(character: Character) -> int:
    place = 0
    while character(place) in _SPACES and character(place) < 128 and character(place):
        place += 1
    return place


def parse_integer(character: Character, base: int) -> tuple[int, int]:
    """The number at the start, and how many characters it takes (0 if there is none)."""
    place = skip_spaces(character)
    sign = character(place)
    if sign in b"+-" and sign:
        place += 1
    if base in (0, 16) and character(place) == 48 and character(place + 1) | 32 == 120:
        if _digit(character(place + 2), 16) >= 0:
            place, base = place + 2, 16
    if base == 0:
        base = 8 if character(place) == 48 else 10
    first, value = place, 0
    while (digit := _digit(character(place), base)) >= 0:
        value = value * base + digit
        place += 1
    if place == first:
        return 0, 0
    return (-value if sign == 45 else value), place


def long_bits(m: Machine) -> int:
    return 8 * m.program.layout.pointer_size


def _integer(
    bits: Callable[[Machine], int], is_signed: bool, text_of: Callable[..., Character], width: int
) -> Callable[..., int]:
    def convert(m: Machine, text: int, end: int, base: int, *_: Any) -> int:
        base = to_signed(base, 32)
        if base < 0 or base == 1 or base > 36:
            m.set_errno(INVALID)
            if end:
                m.write_pointer(end, text)
            return 0
        value, length = parse_integer(text_of(m, text), base)
        if end:
            m.write_pointer(end, text + length * width)
        size = bits(m)
        least, most = (-(1 << size - 1), (1 << size - 1) - 1) if is_signed else (0, (1 << size) - 1)
        magnitude = value if is_signed else abs(value)
        if not least <= magnitude <= most:
            m.set_errno(RANGE_ERROR)
            value = min(max(value, least), most) if is_signed else most
        return value & (1 << size) - 1

    return convert


def _sixty_four(_: Machine) -> int:
    return 64


_KINDS: tuple[tuple[str, Callable[[Machine], int], bool], ...] = (
    ("ol", long_bits, True),
    ("oul", long_bits, False),
    ("oll", _sixty_four, True),
    ("oull", _sixty_four, False),
    ("oimax", _sixty_four, True),
    ("oumax", _sixty_four, False),
    ("oq", _sixty_four, True),
    ("ouq", _sixty_four, False),
)
for _name, _bits, _signed in _KINDS:
    for _prefix, _suffix in (("", ""), ("__isoc23_", ""), ("", "_l")):
        FUNCTIONS[f"{_prefix}strt{_name}{_suffix}"] = _integer(_bits, _signed, narrow_text, 1)
        FUNCTIONS[f"{_prefix}wcst{_name}{_suffix}"] = _integer(_bits, _signed, wide_text, 4)
library("__strtol_internal")(_integer(long_bits, True, narrow_text, 1))


def _to_integer(bits: Callable[[Machine], int]) -> Callable[..., int]:
    """`atoi` and its kind: what does not fit is undefined."""

    def convert(m: Machine, text: int) -> int:
        value = parse_integer(narrow_text(m, text), 10)[0]
        size = bits(m)
        if not -(1 << size - 1) <= value < 1 << size - 1:
            raise UndefinedBehaviour("a number in a text that is too large for its type")
        return value

    return convert


library("atoi")(_to_integer(lambda _: 32))
library("atol")(_to_integer(long_bits))
library("atoll")(_to_integer(_sixty_four))


@library("pthread_equal", "thrd_equal")
def _same_thread(m: Machine, first: int, second: int) -> int:
    return int(first == second)


@library("a64l")
def _a64l(m: Machine, text: int) -> int:
    digits = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    value = 0
    for place in range(6):
        byte = m.memory.read(text + place, 1)
        if byte == b"\0" or byte not in digits:
            break
        value |= digits.index(byte) << 6 * place
    return to_signed(value & 0xFFFF_FFFF, 32)
