"""Wide strings, and multibyte characters in the C locale: one byte each, ASCII only.

`wchar_t` has four bytes on all our targets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.machine.libc.registry import library
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_WIDTH = 4
_FAILED = -1


def _at(m: Machine, text: int, place: int = 0) -> int:
    return int.from_bytes(m.memory.read(text + place * _WIDTH, _WIDTH), "little")


def _put(m: Machine, target: int, characters: list[int]) -> None:
    m.memory.write(target, b"".join(c.to_bytes(_WIDTH, "little") for c in characters))


def wide_string(m: Machine, text: int, limit: int | None = None) -> list[int]:
    """The characters up to a zero, at most so many."""
    found: list[int] = []
    while (limit is None or len(found) < limit) and (c := _at(m, text, len(found))):
        found.append(c)
    return found


def _order(a: int, b: int) -> int:
    one, other = to_signed(a, 32), to_signed(b, 32)
    return (one > other) - (one < other)


def _fold(c: int) -> int:
    return c + 32 if 65 <= c <= 90 else c


@library("wcslen")
def _wcslen(m: Machine, text: int) -> int:
    return len(wide_string(m, text))


@library("wcsnlen")
def _wcsnlen(m: Machine, text: int, limit: int) -> int:
    return len(wide_string(m, text, limit))


def _compared(m: Machine, first: int, second: int, limit: int | None, *, folds: bool) -> int:
    place = 0
    while limit is None or place < limit:
        a, b = _at(m, first, place), _at(m, second, place)
        order = _order(_fold(a), _fold(b)) if folds else _order(a, b)
        if order or not a:
            return order
        place += 1
    return 0


@library("wcscmp", "wcscoll")
def _wcscmp(m: Machine, first: int, second: int) -> int:
    return _compared(m, first, second, None, folds=False)


@library("wcsncmp")
def _wcsncmp(m: Machine, first: int, second: int, limit: int) -> int:
    return _compared(m, first, second, limit, folds=False)


@library("wcscasecmp")
def _wcscasecmp(m: Machine, first: int, second: int) -> int:
    return _compared(m, first, second, None, folds=True)


@library("wcsncasecmp")
def _wcsncasecmp(m: Machine, first: int, second: int, limit: int) -> int:
    return _compared(m, first, second, limit, folds=True)


@library("wcschr")
def _wcschr(m: Machine, text: int, wanted: int) -> int:
    while (c := _at(m, text)) != wanted:
        if not c:
            return 0
        text += _WIDTH
    return text


@library("wcsrchr")
def _wcsrchr(m: Machine, text: int, wanted: int) -> int:
    characters = [*wide_string(m, text), 0]
    places = [place for place, c in enumerate(characters) if c == wanted]
    return text + places[-1] * _WIDTH if places else 0


@library("wcsstr", "wcswcs")
def _wcsstr(m: Machine, text: int, wanted: int) -> int:
    word = wide_string(m, wanted)
    while True:
        if all(_at(m, text, place) == c for place, c in enumerate(word)):
            return text
        if not _at(m, text):
            return 0
        text += _WIDTH


def _prefix(m: Machine, text: int, characters: int, is_in: bool) -> int:
    among = wide_string(m, characters)
    length = 0
    while (c := _at(m, text, length)) and (c in among) == is_in:
        length += 1
    return length


@library("wcsspn")
def _wcsspn(m: Machine, text: int, characters: int) -> int:
    return _prefix(m, text, characters, True)


@library("wcscspn")
def _wcscspn(m: Machine, text: int, characters: int) -> int:
    return _prefix(m, text, characters, False)


@library("wcspbrk")
def _wcspbrk(m: Machine, text: int, characters: int) -> int:
    place = text + _prefix(m, text, characters, False) * _WIDTH
    return place if _at(m, place) else 0


@library("wcscpy")
def _wcscpy(m: Machine, target: int, source: int) -> int:
    _put(m, target, [*wide_string(m, source), 0])
    return target


@library("wcpcpy")
def _wcpcpy(m: Machine, target: int, source: int) -> int:
    text = wide_string(m, source)
    _put(m, target, [*text, 0])
    return target + len(text) * _WIDTH


@library("wcsncpy")
def _wcsncpy(m: Machine, target: int, source: int, size: int) -> int:
    text = wide_string(m, source, size)
    _put(m, target, text + [0] * (size - len(text)))
    return target


@library("wcscat")
def _wcscat(m: Machine, target: int, source: int) -> int:
    end = target + len(wide_string(m, target)) * _WIDTH
    _put(m, end, [*wide_string(m, source), 0])
    return target


@library("wcsncat")
def _wcsncat(m: Machine, target: int, source: int, size: int) -> int:
    end = target + len(wide_string(m, target)) * _WIDTH
    _put(m, end, [*wide_string(m, source, size), 0])
    return target


@library("wcstok")
def _wcstok(m: Machine, text: int, separators: int, rest: int) -> int:
    place = text or m.known(m.read_pointer(rest))
    if not place:
        return 0
    start = place + _prefix(m, place, separators, True) * _WIDTH
    if not _at(m, start):
        m.write_pointer(rest, 0)
        return 0
    end = start + _prefix(m, start, separators, False) * _WIDTH
    if _at(m, end):
        _put(m, end, [0])
        m.write_pointer(rest, end + _WIDTH)
    else:
        m.write_pointer(rest, 0)
    return int(start)


@library("wcswidth")
def _wcswidth(m: Machine, text: int, limit: int) -> int:
    characters = wide_string(m, text, limit)
    return len(characters) if all(32 <= c <= 126 for c in characters) else -1


@library("wmemcpy", "wmemmove")
def _wmemcpy(m: Machine, target: int, source: int, count: int) -> int:
    m.memory.copy(target, source, count * _WIDTH)
    return target


@library("wmempcpy")
def _wmempcpy(m: Machine, target: int, source: int, count: int) -> int:
    return _wmemcpy(m, target, source, count) + count * _WIDTH


@library("wmemset")
def _wmemset(m: Machine, target: int, c: int, count: int) -> int:
    _put(m, target, [c] * count)
    return target


@library("wmemcmp")
def _wmemcmp(m: Machine, first: int, second: int, count: int) -> int:
    order = 0
    for place in range(count):
        order = order or _order(_at(m, first, place), _at(m, second, place))
    return order


@library("wmemchr")
def _wmemchr(m: Machine, data: int, wanted: int, count: int) -> int:
    for place in range(count):
        if _at(m, data, place) == wanted:
            return data + place * _WIDTH
    return 0


# --- multibyte characters ---


# What bytes beyond ASCII are in the C locale differs from one library to the next: not computed.


@library("mblen")
def _mblen(m: Machine, text: int, size: int) -> int | None:
    return _mbtowc(m, 0, text, size)


@library("mbtowc")
def _mbtowc(m: Machine, target: int, text: int, size: int) -> int | None:
    if not text:
        return 0
    if not size:
        return _FAILED
    byte = m.memory.read(text, 1)[0]
    if byte >= 128:
        return None
    if target:
        _put(m, target, [byte])
    return int(byte != 0)


@library("wctomb")
def _wctomb(m: Machine, target: int, c: int) -> int | None:
    if not target:
        return 0
    if c >= 128:
        return None
    m.memory.write(target, bytes((c,)))
    return 1


@library("mbrlen")
def _mbrlen(m: Machine, text: int, size: int, _: int) -> int | None:
    return _mbrtowc(m, 0, text, size, 0)


@library("mbrtowc")
def _mbrtowc(m: Machine, target: int, text: int, size: int, _: int) -> int | None:
    if not text:
        return 0
    return -2 if not size else _mbtowc(m, target, text, size)


@library("wcrtomb")
def _wcrtomb(m: Machine, target: int, c: int, _: int) -> int | None:
    return _wctomb(m, target, c) if target else 1


@library("mbsinit")
def _mbsinit(m: Machine, state: int) -> int | None:
    return None if state else 1


@library("mbstowcs")
def _mbstowcs(m: Machine, target: int, source: int, count: int) -> int | None:
    if not target:
        text = m.memory.string(source)
        return None if any(byte >= 128 for byte in text) else len(text)
    for place in range(count):
        byte = m.memory.read(source + place, 1)[0]
        if byte >= 128:
            return None
        _put(m, target + place * _WIDTH, [byte])
        if not byte:
            return place
    return count


@library("wcstombs")
def _wcstombs(m: Machine, target: int, source: int, count: int) -> int | None:
    if not target:
        text = wide_string(m, source)
        return None if any(c >= 128 for c in text) else len(text)
    for place in range(count):
        c = _at(m, source, place)
        if c >= 128:
            return None
        m.memory.write(target + place, bytes((c,)))
        if not c:
            return place
    return count


def narrow(characters: list[int]) -> bytes:
    """For functions that read numbers: what is no ASCII ends a number."""
    return bytes(c if c < 128 else 0x80 for c in characters)
