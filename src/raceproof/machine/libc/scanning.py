"""`sscanf`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from raceproof.ir import FloatType
from raceproof.machine.codec import encode
from raceproof.machine.faults import Unsupported
from raceproof.machine.libc.numbers import parse_float, parse_integer
from raceproof.machine.libc.registry import library

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_PART = re.compile(rb"%(\*)?(\d+)?(hh|h|ll|l|q|j|z|t|L)?([diouxXcsfFeEgGn%])|(\s+)|(.)", re.DOTALL)
_SIZES = {"hh": 1, "h": 2, "": 4, "ll": 8, "q": 8, "j": 8}
_BASES = {"d": 10, "u": 10, "i": 0, "o": 8, "x": 16, "X": 16}


@library("sscanf", "__isoc99_sscanf", "__isoc23_sscanf")
def _sscanf(m: Machine, text: int, template: int, *places: int) -> int:
    """How many were assigned; -1 if the text ended before the first."""
    data = m.memory.string(text)
    pattern = m.memory.string(template)
    if b"[" in pattern:
        raise Unsupported("a set of characters in a format of scanf")
    position = assigned = 0
    rest = iter(places)
    for part in _PART.finditer(pattern):
        skipped, limit, length, letter, space, plain = part.groups()
        if space is not None or (letter is not None and letter not in b"cn%"):
            position += len(data[position:]) - len(data[position:].lstrip())
        if space is not None:
            continue
        if plain is not None or letter == b"%":
            if data[position : position + 1] != (plain or b"%"):
                break
            position += 1
            continue
        kind = letter.decode()
        size = _SIZES.get((length or b"").decode(), m.program.layout.pointer_size)
        if kind == "n":
            m.memory.write(next(rest), position.to_bytes(size, "little"))
            continue
        if position >= len(data):
            return assigned or -1
        end = len(data) if limit is None else min(len(data), position + int(limit))
        taken, content = _convert(m, data[position:end], kind, size, length or b"", limit)
        if not taken:
            break
        position += taken
        if skipped is None:
            m.memory.write(next(rest), content)
            assigned += 1
    return assigned


def _convert(
    m: Machine, data: bytes, kind: str, size: int, length: bytes, limit: bytes | None
) -> tuple[int, bytes]:
    """Bytes taken from the input (0: it does not fit) and bytes to be stored."""
    if kind == "c":
        count = int(limit or 1)
        return (count, data[:count]) if len(data) >= count else (0, b"")
    if kind == "s":
        word = data.split(None, 1)[0]
        return len(word), word + b"\0"
    if kind in _BASES:
        value, taken = parse_integer(data, _BASES[kind])
        return taken, (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    number, taken = parse_float(data)
    bits = {b"": 32, b"l": 64, b"L": 80}.get(length, 64)
    return taken, encode(m.program.layout, FloatType(bits), number)
