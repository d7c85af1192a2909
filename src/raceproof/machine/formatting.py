"""`printf` and its family."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from raceproof.machine.operators import to_signed
from raceproof.machine.unknown import Unknown

if TYPE_CHECKING:
    from raceproof.machine.memory import Memory

_DIRECTIVE = re.compile(
    rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|q|j|z|t|L)?([diouxXcspfFeEgGaAn%])"
)


@dataclass(frozen=True, slots=True)
class Directive:
    start: int
    end: int
    flags: str
    width: str | None
    precision_text: str | None
    length: str
    letter: str

    @property
    def stars(self) -> int:
        """Arguments taken by `*`."""
        return (self.width == "*") + (self.precision_text == "*")

    @property
    def precision(self) -> int | None:
        text = self.precision_text
        return None if text is None or text == "*" else int(text or "0")


@lru_cache(maxsize=256)
def directives(template: bytes) -> tuple[Directive, ...]:
    """The `%` parts of a format string."""
    return tuple(_directives(template))


def _directives(template: bytes) -> Iterator[Directive]:
    for found in _DIRECTIVE.finditer(template):
        flags, width, precision, length, letter = (
            None if part is None else part.decode() for part in found.groups()
        )
        yield Directive(
            found.start(), found.end(), flags or "", width, precision, length or "", letter or ""
        )


def format_text(
    memory: Memory, template: bytes, arguments: tuple[Any, ...], long_bits: int
) -> bytes:
    """What `printf(template, arguments...)` prints."""
    out = bytearray()
    position = 0
    rest = iter(arguments)
    for directive in directives(template):
        out += template[position : directive.start]
        position = directive.end
        if directive.letter == "%":
            out += b"%"
            continue
        flags = directive.flags
        width = directive.width
        precision = directive.precision_text
        if width == "*":
            number = to_signed(int(next(rest, 0)), 32)
            flags, width = (flags + "-", str(-number)) if number < 0 else (flags, str(number))
        if precision == "*":
            number = to_signed(int(next(rest, 0)), 32)
            precision = None if number < 0 else str(number)
        value = next(rest, 0)
        if isinstance(value, Unknown):
            out += b"?"
            continue
        if directive.letter == "n":
            size = _BITS.get(directive.length, long_bits) // 8
            memory.write(value, len(out).to_bytes(size, "little"))
            continue
        out += _one(memory, directive, flags, width or "", precision, value, long_bits)
    return bytes(out + template[position:])


_BITS = {"hh": 8, "h": 16, "": 32, "ll": 64, "q": 64, "j": 64}


def _one(
    memory: Memory,
    directive: Directive,
    flags: str,
    width: str,
    precision: str | None,
    value: Any,
    long_bits: int,
) -> bytes:
    letter = directive.letter
    point = "" if precision is None else f".{precision or 0}"
    bits = _BITS.get(directive.length, long_bits)
    if precision is not None and letter in "diuxXo":
        flags = flags.replace("0", "")
        if int(precision or 0) == 0 and not value:
            return _pad(b"", flags, width)
    match letter:
        case "d" | "i":
            number = to_signed(value & (1 << bits) - 1, bits)
            return str(f"%{flags}{width}{point}d" % number).encode()
        case "u":
            return str(f"%{flags}{width}{point}d" % (value & (1 << bits) - 1)).encode()
        case "x" | "X" | "o":
            if not value:
                flags = flags.replace("#", "")
            text = str(f"%{flags}{width}{point}{letter}" % (value & (1 << bits) - 1))
            return text.replace("0o", "0").encode()
        case "c":
            return _pad(bytes([value & 0xFF]), flags, width)
        case "s":
            limit = None if precision is None else int(precision or 0)
            text_bytes = memory.string(value, limit) if value else b"(null)"
            if precision is not None:
                text_bytes = text_bytes[: int(precision or 0)]
            return _pad(text_bytes, flags, width)
        case "p":
            return _pad(f"{value:#x}".encode() if value else b"(nil)", flags, width)
        case "a" | "A":
            return _pad(_hexadecimal(float(value), letter), flags, width)
    return (f"%{flags}{width}{point}{letter}" % float(value)).encode()


def _hexadecimal(value: float, letter: str) -> bytes:
    text = value.hex()
    if "p" in text:
        digits, _, exponent = text.partition("p")
        text = f"{digits.rstrip('0').rstrip('.')}p{exponent}" if "." in digits else text
    return (text.upper() if letter == "A" else text).encode()


def _pad(text: bytes, flags: str, width: str) -> bytes:
    size = int(width or 0)
    return text.ljust(size) if "-" in flags else text.rjust(size)
