"""`printf` and its family: formats in parts, and what they print.

Everything that C11 and POSIX say is done exactly: numbered arguments, wide strings, hexadecimal
floats; so is what is common beyond it (`%m` is left out: the text of an error is the library's).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from raceproof.machine.faults import UnknownBytes
from raceproof.machine.unknown import Unknown
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.memory import Memory

_DIRECTIVE = re.compile(
    rb"%(?:(\d+)\$)?([-+ #0'I]*)(\*(?:\d+\$)?|\d+)?(?:\.(\*(?:\d+\$)?|-?\d*))?"
    rb"(hh|h|ll|l|q|j|z|t|L)?([diouxXcsCSpfFeEgGaAnm%])"
)


@dataclass(frozen=True, slots=True)
class Directive:
    start: int
    end: int
    position: int | None
    """The number of its argument, from 1; None: the next one."""
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
        if text is None or text.startswith("*"):
            return None
        return None if text.startswith("-") else int(text or "0")

    @property
    def is_wide(self) -> bool:
        return self.letter in "CS" or (self.letter in "cs" and self.length == "l")

    @property
    def is_plain(self) -> bool:
        """Whether its arguments come one after the other."""
        texts = (self.width or "", self.precision_text or "")
        return self.position is None and not any("$" in text for text in texts)


@lru_cache(maxsize=256)
def directives(template: bytes) -> tuple[Directive, ...]:
    """The `%` parts of a format string."""
    return tuple(_directives(template))


def _directives(template: bytes) -> Iterator[Directive]:
    for found in _DIRECTIVE.finditer(template):
        number, flags, width, precision, length, letter = (
            None if part is None else part.decode() for part in found.groups()
        )
        yield Directive(
            found.start(),
            found.end(),
            None if number is None else int(number),
            flags or "",
            width,
            precision,
            length or "",
            letter or "",
        )


def is_understood(template: bytes) -> bool:
    """Whether every `%` is one of ours."""
    rest = bytearray(template)
    for directive in directives(template):
        if directive.letter == "m":
            return False
        rest[directive.start : directive.end] = b" " * (directive.end - directive.start)
    return b"%" not in rest


class _Arguments:
    """The values of a call, taken one after the other or by number."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values = values
        self._next = 0

    def take(self, number: int | None) -> Any:
        if number is None:
            self._next += 1
            number = self._next
        if not 1 <= number <= len(self._values):
            raise UnknownBytes("a format that asks for more arguments than there are")
        return self._values[number - 1]

    def star(self, text: str | None) -> int | None:
        """What `*` or `*2$` stands for; None if it is another text."""
        if text is None or not text.startswith("*"):
            return None
        value = self.take(int(text[1:-1]) if text.endswith("$") else None)
        return to_signed(int(value) & 0xFFFF_FFFF, 32)


def format_text(
    memory: Memory, template: bytes, arguments: tuple[Any, ...], long_bits: int
) -> bytes:
    """What `printf(template, arguments...)` prints; raises `UnknownBytes` if we cannot tell."""
    if not is_understood(template):
        raise UnknownBytes("a format that we do not know")
    out = bytearray()
    position = 0
    values = _Arguments(arguments)
    for directive in directives(template):
        out += template[position : directive.start]
        position = directive.end
        if directive.letter == "%":
            out += b"%"
            continue
        flags, width, precision = _sizes(directive, values)
        value = values.take(directive.position)
        if isinstance(value, Unknown):
            raise UnknownBytes("an unknown value is printed")
        if directive.letter == "n":
            size = _bits(directive.length, long_bits) // 8
            memory.write(value, len(out).to_bytes(size, "little"))
            continue
        out += _one(memory, directive, flags, width, precision, value, long_bits)
    return bytes(out + template[position:])


def _sizes(directive: Directive, values: _Arguments) -> tuple[str, int, int | None]:
    """Flags, width, precision."""
    flags = directive.flags
    star = values.star(directive.width)
    width = star if star is not None else int(directive.width or 0)
    if width < 0:
        flags, width = flags + "-", -width
    given = values.star(directive.precision_text)
    if given is None:
        return flags, width, directive.precision
    return flags, width, None if given < 0 else given


_BITS = {"hh": 8, "h": 16, "": 32, "ll": 64, "q": 64, "j": 64}


def _bits(length: str, long_bits: int) -> int:
    return _BITS.get(length, long_bits)


def _one(
    memory: Memory,
    directive: Directive,
    flags: str,
    width: int,
    precision: int | None,
    value: Any,
    long_bits: int,
) -> bytes:
    letter = directive.letter
    if letter in "diuoxX":
        number = int(value) & (1 << _bits(directive.length, long_bits)) - 1
        if letter in "di":
            number = to_signed(number, _bits(directive.length, long_bits))
        return _integer(number, letter, flags, width, precision)
    if directive.is_wide:
        return _padded(_wide(memory, letter, precision, value), flags, width)
    match letter:
        case "c":
            return _padded(bytes([value & 0xFF]), flags, width)
        case "s":
            return _padded(_string(memory, value, precision), flags, width)
        case "p":
            return _padded(f"{value:#x}".encode() if value else b"(nil)", flags, width)
    return _float(float(value), letter, flags, width, precision, directive.length == "L")


def _string(memory: Memory, address: int, precision: int | None) -> bytes:
    if not address:
        return b"(null)" if precision is None or precision >= 6 else b""
    if precision is None:
        return memory.string(address)
    text = bytearray()
    while len(text) < precision and (byte := memory.read(address + len(text), 1)) != b"\0":
        text += byte
    return bytes(text)


def _wide(memory: Memory, letter: str, precision: int | None, value: int) -> bytes:
    """Wide characters in the C locale, where only those of ASCII can be printed."""
    characters: list[int] = []
    if letter in "cC":
        characters = [value]
    elif not value:
        return _string(memory, 0, precision)
    else:
        while precision is None or len(characters) < precision:
            data = memory.read(value + 4 * len(characters), 4)
            if not any(data):
                break
            characters.append(int.from_bytes(data, "little"))
    if any(c >= 128 for c in characters):
        raise UnknownBytes("a wide character that is not in the C locale")
    return bytes(characters)


def _integer(number: int, letter: str, flags: str, width: int, precision: int | None) -> bytes:
    digits = format(abs(number), {"d": "d", "i": "d", "u": "d"}.get(letter, letter))
    if precision == 0 and number == 0:
        digits = ""
    if letter == "o" and "#" in flags and not digits.startswith("0"):
        digits = digits.rjust(precision or 0, "0")
        digits = digits if digits.startswith("0") else "0" + digits
    digits = digits.rjust(precision or 0, "0")
    sign = ""
    if letter in "di":
        sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    elif letter in "xX" and "#" in flags and number:
        sign = f"0{letter}"
    return _filled(sign, digits, flags, width, precision is None)


def _filled(sign: str, digits: str, flags: str, width: int, may_fill: bool) -> bytes:
    """With zeros between the sign and the digits if asked for, else with blanks outside."""
    if may_fill and "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return _padded((sign + digits).encode(), flags, width)


def _float(
    value: float, letter: str, flags: str, width: int, precision: int | None, is_long: bool
) -> bytes:
    is_negative = math.copysign(1, value) < 0
    sign = "-" if is_negative else "+" if "+" in flags else " " if " " in flags else ""
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        text = text.upper() if letter.isupper() else text
        return _padded((sign + text).encode(), flags, width)
    size = abs(value)
    if letter in "aA":
        if is_long:
            raise UnknownBytes("a long double in hexadecimal")
        text = _hexadecimal(size, precision, "#" in flags)
        sign += "0X" if letter == "A" else "0x"
        return _filled(sign, text.upper() if letter == "A" else text, flags, width, True)
    form = f"%{'#' if '#' in flags else ''}.{6 if precision is None else precision}{letter}"
    return _filled(sign, form % size, flags, width, True)


def _hexadecimal(value: float, precision: int | None, has_point: bool) -> str:
    """The digits of `%a`: glibc's leading digit is 1, or 0 for what is not normalised."""
    if value == 0:
        leading, fraction, exponent = 0, 0, 0
    else:
        mantissa, power = math.frexp(value)
        exponent = power - 1
        if exponent < -1022:
            exponent, leading = -1022, 0
            fraction = int(math.ldexp(value, 1022 + 52))
        else:
            leading, fraction = 1, int(math.ldexp(mantissa, 53)) & (1 << 52) - 1
    digits = f"{fraction:013x}"
    if precision is None:
        digits = digits.rstrip("0")
    elif precision < 13:
        cut = 4 * (13 - precision)
        whole = (leading << 52) + fraction
        rounded = (whole + (1 << cut - 1)) >> cut
        if whole & (1 << cut) - 1 == 1 << cut - 1:
            rounded &= ~1
        leading, fraction = rounded >> 4 * precision, rounded & (1 << 4 * precision) - 1
        digits = f"{fraction:0{precision}x}" if precision else ""
    else:
        digits = digits.ljust(precision, "0")
    point = "." if digits or has_point else ""
    return f"{leading:x}{point}{digits}p{exponent:+d}"


def _padded(text: bytes, flags: str, width: int) -> bytes:
    return text.ljust(width) if "-" in flags else text.rjust(width)
