"""Blocks of bytes and strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.libc.registry import library, writes

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine


@library("memcpy", "memmove", "__memcpy_chk", "__memmove_chk")
def _memcpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.copy(target, source, size)
    return target


@library("memset", "__memset_chk")
def _memset(m: Machine, target: int, byte: int, size: int, *_: Any) -> int:
    m.memory.write(target, bytes([byte & 0xFF]) * size)
    return target


@library("memcmp", "bcmp")
def _memcmp(m: Machine, first: int, second: int, size: int) -> int:
    return _order(m.memory.read(first, size), m.memory.read(second, size))


def _order(first: bytes, second: bytes) -> int:
    if first == second:
        return 0
    return 1 if first > second else (1 << 32) - 1


@library("strlen")
def _strlen(m: Machine, text: int) -> int:
    return len(m.memory.string(text))


@library("strnlen")
def _strnlen(m: Machine, text: int, limit: int) -> int:
    return len(m.memory.string(text, limit))


@library("strcmp", "strcoll")
def _strcmp(m: Machine, first: int, second: int) -> int:
    return _order(m.memory.string(first), m.memory.string(second))


@library("strncmp")
def _strncmp(m: Machine, first: int, second: int, limit: int) -> int:
    return _order(m.memory.string(first, limit), m.memory.string(second, limit))


@library("strcpy", "__strcpy_chk")
def _strcpy(m: Machine, target: int, source: int, *_: Any) -> int:
    m.memory.write(target, m.memory.string(source) + b"\0")
    return target


@library("strncpy", "__strncpy_chk")
def _strncpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    m.memory.write(target, m.memory.string(source, size).ljust(size, b"\0"))
    return target


@library("strcat", "__strcat_chk")
def _strcat(m: Machine, target: int, source: int, *_: Any) -> int:
    end = target + len(m.memory.string(target))
    m.memory.write(end, m.memory.string(source) + b"\0")
    return target


@library("strncat", "__strncat_chk")
def _strncat(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    end = target + len(m.memory.string(target))
    m.memory.write(end, m.memory.string(source, size) + b"\0")
    return target


@writes("strcat", "__strcat_chk")
def _strcat_place(m: Machine, target: int, source: int, *_: Any) -> tuple[int, int]:
    return target + len(m.memory.string(target)), len(m.memory.string(source)) + 1


@writes("strncat", "__strncat_chk")
def _strncat_place(m: Machine, target: int, source: int, size: int, *_: Any) -> tuple[int, int]:
    return target + len(m.memory.string(target)), len(m.memory.string(source, size)) + 1


@library("strchr", "index")
def _strchr(m: Machine, text: int, byte: int) -> int:
    place = (m.memory.string(text) + b"\0").find(byte & 0xFF)
    return 0 if place < 0 else text + place


@library("strrchr", "rindex")
def _strrchr(m: Machine, text: int, byte: int) -> int:
    place = (m.memory.string(text) + b"\0").rfind(byte & 0xFF)
    return 0 if place < 0 else text + place


@library("strstr")
def _strstr(m: Machine, text: int, wanted: int) -> int:
    place = m.memory.string(text).find(m.memory.string(wanted))
    return 0 if place < 0 else text + place


@library("memchr")
def _memchr(m: Machine, data: int, byte: int, size: int) -> int:
    place = m.memory.read(data, size).find(byte & 0xFF)
    return 0 if place < 0 else data + place


@library("mempcpy", "__mempcpy", "__mempcpy_chk")
def _mempcpy(m: Machine, target: int, source: int, size: int, *_: Any) -> int:
    return _memcpy(m, target, source, size) + size


@library("bcopy")
def _bcopy(m: Machine, source: int, target: int, size: int) -> int:
    return _memcpy(m, target, source, size)


@library("bzero", "explicit_bzero", "__explicit_bzero_chk")
def _bzero(m: Machine, target: int, size: int, *_: Any) -> int:
    return _memset(m, target, 0, size)


@library("strcasecmp")
def _strcasecmp(m: Machine, first: int, second: int) -> int:
    return _order(m.memory.string(first).lower(), m.memory.string(second).lower())


@library("strncasecmp")
def _strncasecmp(m: Machine, first: int, second: int, limit: int) -> int:
    return _order(m.memory.string(first, limit).lower(), m.memory.string(second, limit).lower())


@library("stpcpy", "__stpcpy_chk")
def _stpcpy(m: Machine, target: int, source: int, *_: Any) -> int:
    text = m.memory.string(source)
    m.memory.write(target, text + b"\0")
    return target + len(text)


@library("strchrnul", "__strchrnul")
def _strchrnul(m: Machine, text: int, byte: int) -> int:
    return _strchr(m, text, byte) or text + len(m.memory.string(text))


@library("memrchr")
def _memrchr(m: Machine, data: int, byte: int, size: int) -> int:
    place = m.memory.read(data, size).rfind(byte & 0xFF)
    return 0 if place < 0 else data + place


@library("memmem")
def _memmem(m: Machine, data: int, size: int, wanted: int, length: int) -> int:
    place = m.memory.read(data, size).find(m.memory.read(wanted, length))
    return 0 if place < 0 else data + place


def _prefix(text: bytes, characters: bytes, is_in: bool) -> int:
    """How many bytes at the start are (or are not) among the characters."""
    length = 0
    while length < len(text) and (text[length] in characters) == is_in:
        length += 1
    return length


@library("strspn")
def _strspn(m: Machine, text: int, characters: int) -> int:
    return _prefix(m.memory.string(text), m.memory.string(characters), True)


@library("strcspn")
def _strcspn(m: Machine, text: int, characters: int) -> int:
    return _prefix(m.memory.string(text), m.memory.string(characters), False)


@library("strpbrk")
def _strpbrk(m: Machine, text: int, characters: int) -> int:
    data = m.memory.string(text)
    place = _prefix(data, m.memory.string(characters), False)
    return 0 if place == len(data) else text + place


def _token(m: Machine, text: int, separators: int) -> tuple[int, int]:
    """The next word (0 if there is none) and where to go on; cuts the word off."""
    characters = m.memory.string(separators)
    start = text + _prefix(m.memory.string(text), characters, True)
    data = m.memory.string(start)
    if not data:
        return 0, start
    end = start + _prefix(data, characters, False)
    if end - start < len(data):
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
    data = m.memory.string(text)
    length = _prefix(data, m.memory.string(separators), False)
    if length == len(data):
        m.write_pointer(place, 0)
    else:
        m.memory.write(text + length, b"\0")
        m.write_pointer(place, text + length + 1)
    return text
