"""Blocks of bytes and strings.

A function looks at its bytes one after the other and stops where it knows its result, as the
standard says of `memchr`; sizes may be larger than the buffer where the result comes before its
end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.libc.registry import library

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine


def character(m: Machine, address: int) -> int:
    """One byte."""
    return m.memory.read(address, 1)[0]


def string_length(m: Machine, text: int, limit: int | None = None) -> int:
    return len(m.memory.string(text, limit))


# --- blocks ---


@library("memcpy", "memmove", "__memcpy_chk", "__memmove_chk")
def _memcpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.copy(target, source, size)
    return target


@library("mempcpy", "__mempcpy", "__mempcpy_chk")
def _mempcpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    return _memcpy(m, target, source, size) + size


@library("bcopy")
def _bcopy(m: Machine, source: int, target: int, size: int) -> int:
    return _memcpy(m, target, source, size)


@library("memccpy")
def _memccpy(m: Machine, target: int, source: int, byte: int, size: int) -> int:
    for place in range(size):
        found = character(m, source + place)
        m.memory.write(target + place, bytes((found,)))
        if found == byte & 0xFF:
            return target + place + 1
    return 0


@library("memset", "__memset_chk", "memset_explicit")
def _memset(m: Machine, target: int, byte: int, size: int, *_: Any) -> int:
    m.memory.write(target, bytes([byte & 0xFF]) * size)
    return target


@library("bzero", "explicit_bzero", "__explicit_bzero_chk")
def _bzero(m: Machine, target: int, size: int, *_: Any) -> int:
    return _memset(m, target, 0, size)


@library("memcmp", "bcmp", "timingsafe_bcmp", "timingsafe_memcmp")
def _memcmp(m: Machine, first: int, second: int, size: int) -> int:
    a, b = m.memory.read(first, size), m.memory.read(second, size)
    return (a > b) - (a < b)


@library("memchr")
def _memchr(m: Machine, data: int, byte: int, size: int) -> int:
    for place in range(data, data + size):
        if character(m, place) == byte & 0xFF:
            return place
    return 0


@library("rawmemchr")
def _rawmemchr(m: Machine, data: int, byte: int) -> int:
    while character(m, data) != byte & 0xFF:
        data += 1
    return data


@library("memrchr")
def _memrchr(m: Machine, data: int, byte: int, size: int) -> int:
    for place in range(data + size - 1, data - 1, -1):
        if character(m, place) == byte & 0xFF:
            return place
    return 0


@library("memmem")
def _memmem(m: Machine, data: int, size: int, wanted: int, length: int) -> int:
    place = m.memory.read(data, size).find(m.memory.read(wanted, length))
    return 0 if place < 0 else data + place


@library("swab")
def _swab(m: Machine, source: int, target: int, size: int) -> int:
    size = 0 if size >> 8 * m.program.layout.pointer_size - 1 else size
    data = m.memory.read(source, size - size % 2)
    swapped = bytes(data[place ^ 1] for place in range(len(data)))
    m.memory.write(target, swapped)
    return 0


@library("memfrob")
def _memfrob(m: Machine, target: int, size: int) -> int:
    m.memory.write(target, bytes(byte ^ 42 for byte in m.memory.read(target, size)))
    return target


# --- lengths and orders ---


@library("strlen", "__strlen_chk")
def _strlen(m: Machine, text: int, *_: Any) -> int:
    return string_length(m, text)


@library("strnlen")
def _strnlen(m: Machine, text: int, limit: int) -> int:
    for length in range(limit):
        if not character(m, text + length):
            return length
    return limit


def lowered(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


def _compared(m: Machine, first: int, second: int, limit: int | None, *, folds: bool) -> int:
    """As far as the first difference."""
    place = 0
    while limit is None or place < limit:
        a, b = character(m, first + place), character(m, second + place)
        one, other = (lowered(a), lowered(b)) if folds else (a, b)
        if one != other:
            return 1 if one > other else -1
        if not a:
            return 0
        place += 1
    return 0


@library("strcmp", "strcoll", "strcoll_l")
def _strcmp(m: Machine, first: int, second: int, *_: Any) -> int:
    return _compared(m, first, second, None, folds=False)


@library("strncmp")
def _strncmp(m: Machine, first: int, second: int, limit: int) -> int:
    return _compared(m, first, second, limit, folds=False)


@library("strcasecmp", "strcasecmp_l")
def _strcasecmp(m: Machine, first: int, second: int, *_: Any) -> int:
    return _compared(m, first, second, None, folds=True)


@library("strncasecmp", "strncasecmp_l")
def _strncasecmp(m: Machine, first: int, second: int, limit: int, *_: Any) -> int:
    return _compared(m, first, second, limit, folds=True)


@library("strverscmp")
def _strverscmp(m: Machine, first: int, second: int) -> int:
    return version_order(m.memory.string(first), m.memory.string(second))


_NUMBERS = {
    # in a text, a number, a fraction, zeros: other characters, digits, zeros
    "text": ("text", "number", "zeros"),
    "number": ("text", "number", "number"),
    "fraction": ("text", "fraction", "fraction"),
    "zeros": ("text", "fraction", "zeros"),
}
_LONGER = "longer"
_RESULTS: dict[str, tuple[int | str | None, ...]] = {
    # for other/other, other/digit, other/zero, digit/other, ...; None: by the characters
    "text": (None, None, None, None, _LONGER, None, None, None, None),
    "number": (None, -1, -1, 1, _LONGER, _LONGER, 1, _LONGER, _LONGER),
    "fraction": (None,) * 9,
    "zeros": (None, 1, 1, -1, None, None, -1, None, None),
}


def version_order(a: bytes, b: bytes) -> int:
    """`strverscmp`: numbers by their value; those with leading zeros are fractions."""
    a, b = a + b"\0", b + b"\0"
    state = "text"
    place = 0
    while a[place] == b[place]:
        if not a[place]:
            return 0
        state = _NUMBERS[state][_kind(a[place])]
        place += 1
    result = _RESULTS[state][3 * _kind(a[place]) + _kind(b[place])]
    order = 1 if a[place] > b[place] else -1
    if result is None:
        return order
    if isinstance(result, int):
        return result
    one, other = _digits(a[place:]), _digits(b[place:])
    return order if one == other else 1 if one > other else -1


def _kind(byte: int) -> int:
    return (48 <= byte <= 57) + (byte == 48)


def _digits(text: bytes) -> int:
    count = 0
    while 48 <= text[count] <= 57:
        count += 1
    return count


# --- looking for something ---


def _found(m: Machine, text: int, byte: int) -> tuple[int, bool]:
    """Where the character, or the end, is; whether it is the character."""
    while True:
        found = character(m, text)
        if found == byte & 0xFF:
            return text, True
        if not found:
            return text, False
        text += 1


@library("strchr", "index")
def _strchr(m: Machine, text: int, byte: int) -> int:
    place, is_there = _found(m, text, byte)
    return place if is_there else 0


@library("strchrnul", "__strchrnul")
def _strchrnul(m: Machine, text: int, byte: int) -> int:
    return _found(m, text, byte)[0]


@library("strrchr", "rindex")
def _strrchr(m: Machine, text: int, byte: int) -> int:
    place = (m.memory.string(text) + b"\0").rfind(byte & 0xFF)
    return 0 if place < 0 else text + place


def _within(m: Machine, text: int, wanted: bytes, *, folds: bool) -> int:
    """The first place of a word, or 0; what comes after it is not looked at."""
    wanted = bytes(map(lowered, wanted)) if folds else wanted
    while True:
        for place, byte in enumerate(wanted):
            found = character(m, text + place)
            if (lowered(found) if folds else found) != byte:
                break
        else:
            return text
        if not character(m, text):
            return 0
        text += 1


@library("strstr")
def _strstr(m: Machine, text: int, wanted: int) -> int:
    return _within(m, text, m.memory.string(wanted), folds=False)


@library("strcasestr")
def _strcasestr(m: Machine, text: int, wanted: int) -> int:
    return _within(m, text, m.memory.string(wanted), folds=True)


def prefix(m: Machine, text: int, characters: bytes, is_in: bool) -> int:
    """How many bytes at the start are (or are not) among the characters."""
    length = 0
    while (byte := character(m, text + length)) and (byte in characters) == is_in:
        length += 1
    return length


@library("strspn")
def _strspn(m: Machine, text: int, characters: int) -> int:
    return prefix(m, text, m.memory.string(characters), True)


@library("strcspn")
def _strcspn(m: Machine, text: int, characters: int) -> int:
    return prefix(m, text, m.memory.string(characters), False)


@library("strpbrk")
def _strpbrk(m: Machine, text: int, characters: int) -> int:
    place = text + prefix(m, text, m.memory.string(characters), False)
    return place if character(m, place) else 0


# --- writing strings ---


@library("strcpy", "__strcpy_chk")
def _strcpy(m: Machine, target: int, source: int, *_: Any) -> int:
    m.memory.write(target, m.memory.string(source) + b"\0")
    return target


@library("stpcpy", "__stpcpy", "__stpcpy_chk")
def _stpcpy(m: Machine, target: int, source: int, *_: Any) -> int:
    text = m.memory.string(source)
    m.memory.write(target, text + b"\0")
    return target + len(text)


def _up_to(m: Machine, text: int, limit: int) -> bytes:
    """At most so many characters; none is looked at behind them or the zero."""
    data = bytearray()
    while len(data) < limit and (byte := character(m, text + len(data))):
        data.append(byte)
    return bytes(data)


@library("strncpy", "__strncpy_chk")
def _strncpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.write(target, _up_to(m, source, size).ljust(size, b"\0"))
    return target


@library("stpncpy", "__stpncpy", "__stpncpy_chk")
def _stpncpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    text = _up_to(m, source, size)
    m.memory.write(target, text.ljust(size, b"\0"))
    return target + len(text)


@library("strcat", "__strcat_chk")
def _strcat(m: Machine, target: int, source: int, *_: Any) -> int:
    m.memory.write(target + string_length(m, target), m.memory.string(source) + b"\0")
    return target


@library("strncat", "__strncat_chk")
def _strncat(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.write(target + string_length(m, target), _up_to(m, source, size) + b"\0")
    return target


@library("strlcpy")
def _strlcpy(m: Machine, target: int, source: int, size: int) -> int:
    text = m.memory.string(source)
    if size:
        m.memory.write(target, text[: size - 1] + b"\0")
    return len(text)


@library("strlcat")
def _strlcat(m: Machine, target: int, source: int, size: int) -> int:
    before, text = len(_up_to(m, target, size)), m.memory.string(source)
    if before < size:
        m.memory.write(target + before, text[: size - before - 1] + b"\0")
    return before + len(text)


@library("strxfrm", "strxfrm_l")
def _strxfrm(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    """In the C locale, a copy; what is in the target if it does not fit is left open."""
    text = m.memory.string(source)
    if len(text) < size:
        m.memory.write(target, text + b"\0")
    elif size:
        m.forget(target, size, "strxfrm")
    return len(text)


# --- cutting strings ---


def _token(m: Machine, text: int, separators: int) -> tuple[int, int]:
    """The next word (0 if there is none) and where to go on; cuts the word off."""
    characters = m.memory.string(separators)
    start = text + prefix(m, text, characters, True)
    if not character(m, start):
        return 0, start
    end = start + prefix(m, start, characters, False)
    if character(m, end):
        m.memory.write(end, b"\0")
        return start, end + 1
    return start, end


@library("strtok")
def _strtok(m: Machine, text: int, separators: int) -> int:
    place = text or m.sync.get("strtok", 0)
    if not place:
        return 0
    word, m.sync["strtok"] = _token(m, place, separators)
    return word


@library("strtok_r", "__strtok_r")
def _strtok_r(m: Machine, text: int, separators: int, rest: int) -> int:
    place = text or m.known(m.read_pointer(rest))
    if not place:
        return 0
    word, following = _token(m, place, separators)
    m.write_pointer(rest, following)
    return word


@library("strsep", "__strsep")
def _strsep(m: Machine, place: int, separators: int) -> int:
    text = int(m.known(m.read_pointer(place)))
    if not text:
        return 0
    end = text + prefix(m, text, m.memory.string(separators), False)
    if not character(m, end):
        m.write_pointer(place, 0)
    else:
        m.memory.write(end, b"\0")
        m.write_pointer(place, end + 1)
    return text


# --- paths ---


@library("basename")
def _basename(m: Machine, path: int) -> int:
    """GNU's: what comes after the last slash."""
    text = m.memory.string(path)
    return path + text.rfind(b"/") + 1


@library("__xpg_basename")
def _posix_basename(m: Machine, path: int) -> int:
    """POSIX's: without slashes at the end, which are cut off."""
    text = m.memory.string(path) if path else b""
    if not text:
        return m.static_text(".")
    name = text.rstrip(b"/")
    if not name:
        return path + len(text) - 1
    if len(name) < len(text):
        m.memory.write(path + len(name), b"\0")
    return path + name.rfind(b"/") + 1


@library("dirname")
def _dirname(m: Machine, path: int) -> int:
    """What comes before the last slash, cut off there."""
    text = m.memory.string(path) if path else b""
    end = len(text.rstrip(b"/"))
    slash = text[:end].rfind(b"/") if end else len(text) - 1
    if slash < 0:
        return m.static_text(".")
    end = len(text[:slash].rstrip(b"/"))
    if end == 0:  # the root; two slashes at the start may mean something else
        end = 2 if slash == 1 else 1
    m.memory.write(path + end, b"\0")
    return path
