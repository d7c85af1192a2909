"""`sscanf`: what is looked at ends where the format, or what fits it, ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raceproof.ir import FloatType
from raceproof.machine.codec import encode
from raceproof.machine.libc.floats import parse_float
from raceproof.machine.libc.numbers import Character, parse_integer
from raceproof.machine.libc.registry import library
from raceproof.semantics.floats import rounded

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_PART = re.compile(
    rb"%(\*)?(\d+)?(hh|h|ll|l|q|j|z|t|L)?(?:([diouxXcsfFeEgGaApn%])|(\[\^?\]?[^]]*\]))|(\s+)|(.)",
    re.DOTALL,
)
_SIZES = {"hh": 1, "h": 2, "": 4, "ll": 8, "q": 8, "j": 8}
_BASES = {"d": 10, "u": 10, "i": 0, "o": 8, "x": 16, "X": 16, "p": 16}
_SPACES = b" \t\n\v\f\r"
_END = -1


@dataclass(slots=True)
class _Text:
    """The input, looked at one character after the other."""

    machine: Machine
    address: int
    position: int = 0

    def at(self, place: int) -> int:
        return self.machine.memory.read(self.address + self.position + place, 1)[0]

    def skip_spaces(self) -> None:
        while (byte := self.at(0)) and byte in _SPACES:
            self.position += 1

    def limited(self, limit: int | None) -> Character:
        return lambda place: 0 if limit is not None and place >= limit else self.at(place)


@library("sscanf", "__isoc99_sscanf", "__isoc23_sscanf")
def _sscanf(m: Machine, text: int, template: int, *places: int) -> int | None:
    """How many were assigned; -1 if the text ended before the first."""
    source = _Text(m, text)
    assigned = 0
    rest = iter(places)
    for part in _PART.finditer(m.memory.string(template)):
        skipped, limit, length, letter, members, space, plain = part.groups()
        if (plain == b"%" and letter is None) or (length == b"l" and (letter in (b"c", b"s"))):
            return None
        kind = "[" if members is not None else (letter or b"").decode()
        if space is not None or kind not in ("", "c", "n", "["):
            source.skip_spaces()
        if space is not None:
            continue
        if plain is not None or kind == "%":
            if source.at(0) != (plain or b"%")[0]:
                return assigned if source.at(0) or assigned else _END
            source.position += 1
            continue
        size = m.program.layout.pointer_size if kind == "p" else _size(m, length)
        if kind == "n":
            m.memory.write(next(rest), source.position.to_bytes(size, "little"))
            continue
        if not source.at(0):
            return assigned or _END
        most = None if limit is None else int(limit)
        if _is_doubtful(source, kind, most):
            return None
        taken, content = _convert(m, source, kind, size, length or b"", most, members or b"")
        if not taken:
            return assigned
        source.position += taken
        if skipped is None:
            m.memory.write(next(rest), content)
            assigned += 1
    return assigned


def _is_doubtful(source: _Text, kind: str, limit: int | None) -> bool:
    """Whether only the beginning of a number fits (`1e+`, `0x`): libraries differ in what is
    left of the input then."""
    text = source.limited(limit)
    if kind in _BASES:
        taken = parse_integer(text, _BASES[kind])[1]
        return taken > 0 and text(taken - 1) == 48 and text(taken) | 32 == 120
    if kind in "fFeEgGaA":
        taken = parse_float(text)[1]
        ending = text(taken) | 32
        return taken > 0 and (ending in (101, 112) or (ending == 120 and text(taken - 1) == 48))
    return False


def _size(m: Machine, length: bytes | None) -> int:
    return _SIZES.get((length or b"").decode(), m.program.layout.pointer_size)


def _convert(
    m: Machine,
    source: _Text,
    kind: str,
    size: int,
    length: bytes,
    limit: int | None,
    members: bytes,
) -> tuple[int, bytes]:
    """Bytes taken from the input (0: it does not fit) and bytes to be stored."""
    if kind == "c":
        data = bytes(_characters(source, limit or 1, lambda byte: True))
        return (len(data), data) if len(data) == (limit or 1) else (0, b"")
    if kind == "s":
        data = bytes(_characters(source, limit, lambda byte: byte not in _SPACES))
        return len(data), data + b"\0"
    if kind == "[":
        inside, is_excluded = _set(members)
        data = bytes(_characters(source, limit, lambda byte: (byte in inside) != is_excluded))
        return len(data), data + b"\0"
    if kind in _BASES:
        value, taken = parse_integer(source.limited(limit), _BASES[kind])
        return taken, (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    number, taken = parse_float(source.limited(limit))
    bits = {b"": 32, b"l": 64, b"L": 80}.get(length, 64)
    return taken, encode(m.program.layout, FloatType(bits), rounded(number, bits))


def _characters(source: _Text, limit: int | None, fits: object) -> Iterator[int]:
    assert callable(fits)
    place = 0
    while (limit is None or place < limit) and (byte := source.at(place)) and fits(byte):
        yield byte
        place += 1


def _set(members: bytes) -> tuple[frozenset[int], bool]:
    """The characters of `[...]`, and whether all others are meant."""
    text = members[1:-1]
    is_excluded = text.startswith(b"^")
    text = text[1:] if is_excluded else text
    found: set[int] = set()
    place = 0
    while place < len(text):
        if text[place + 1 : place + 2] == b"-" and place + 2 < len(text):
            found.update(range(text[place], text[place + 2] + 1))
            place += 3
        else:
            found.add(text[place])
            place += 1
    return frozenset(found), is_excluded
