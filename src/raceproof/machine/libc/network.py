"""Addresses of the internet, as text and as bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from raceproof.machine.libc.registry import library

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_INET, _INET6 = 2, 10
_NONE = 0xFFFF_FFFF
_NO_FAMILY, _NO_SPACE = 97, 28
_PART = re.compile(rb"(0[xX][0-9a-fA-F]*|[0-9]+)")
_QUAD = re.compile(rb"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})")


def parse_address(text: bytes) -> int | None:
    """`inet_aton`: one to four numbers, in host order; None if it is no address."""
    text = re.split(rb"[ \t\n\v\f\r]", text, maxsplit=1)[0]
    parts = text.split(b".")
    if not 1 <= len(parts) <= 4 or not all(_PART.fullmatch(part) for part in parts):
        return None
    numbers = []
    for part in parts:
        if part[:2].lower() == b"0x":
            numbers.append(int(part[2:] or b"0", 16))
        elif part.startswith(b"0"):
            if re.search(rb"[89]", part):
                return None
            numbers.append(int(part, 8))
        else:
            numbers.append(int(part))
    *heads, last = numbers
    if any(number > 255 for number in heads) or last >= 1 << 8 * (5 - len(numbers)):
        return None
    value = last
    for place, number in enumerate(heads):
        value |= number << 24 - 8 * place
    return value


def _swapped(value: int) -> int:
    return int.from_bytes(value.to_bytes(4, "little"), "big")


@library("inet_addr")
def _inet_addr(m: Machine, text: int) -> int:
    value = parse_address(m.memory.string(text))
    return _NONE if value is None else _swapped(value)


@library("inet_aton")
def _inet_aton(m: Machine, text: int, place: int) -> int:
    value = parse_address(m.memory.string(text))
    if value is None:
        return 0
    m.memory.write(place, value.to_bytes(4, "big"))
    return 1


@library("inet_lnaof")
def _inet_lnaof(m: Machine, address: int) -> int:
    host = _swapped(address)
    return host & (0xFF_FFFF if host < 1 << 31 else 0xFFFF if host < 3 << 30 else 0xFF)


@library("inet_netof")
def _inet_netof(m: Machine, address: int) -> int:
    host = _swapped(address)
    return host >> (24 if host < 1 << 31 else 16 if host < 3 << 30 else 8)


@library("inet_makeaddr")
def _inet_makeaddr(m: Machine, net: int, host: int) -> int:
    if net < 128:
        value = net << 24 | host & 0xFF_FFFF
    elif net < 65536:
        value = net << 16 | host & 0xFFFF
    elif net < 1 << 24:
        value = net << 8 | host & 0xFF
    else:
        value = net | host
    return _swapped(value & 0xFFFF_FFFF)


def parse_quad(text: bytes) -> bytes | None:
    """Four decimal numbers without leading zeros, as `inet_pton` wants them."""
    found = _QUAD.fullmatch(text)
    if found is None:
        return None
    parts = found.groups()
    if any(int(part) > 255 or (part.startswith(b"0") and part != b"0") for part in parts):
        return None
    return bytes(map(int, parts))


def parse_six(text: bytes) -> bytes | None:
    """An address of version 6."""
    if text.count(b"::") > 1 or b":::" in text:
        return None
    head, gap, tail = text.partition(b"::")
    before, after = _groups(head, is_last=not gap), _groups(tail, is_last=True)
    if before is None or after is None:
        return None
    if not gap:
        return before if len(before) == 16 else None
    missing = 16 - len(before) - len(after)
    return before + bytes(missing) + after if missing >= 2 else None


def _groups(text: bytes, is_last: bool) -> bytes | None:
    if not text:
        return b""
    found = b""
    parts = text.split(b":")
    for number, part in enumerate(parts):
        if b"." in part and is_last and number == len(parts) - 1:
            quad = parse_quad(part)
            if quad is None:
                return None
            found += quad
        elif re.fullmatch(rb"[0-9a-fA-F]{1,4}", part):
            found += int(part, 16).to_bytes(2, "big")
        else:
            return None
    return found


@library("inet_pton")
def _inet_pton(m: Machine, family: int, text: int, place: int) -> int:
    if family not in (_INET, _INET6):
        m.set_errno(_NO_FAMILY)
        return -1
    data = m.memory.string(text)
    found = parse_quad(data) if family == _INET else parse_six(data)
    if found is None:
        return 0
    m.memory.write(place, found)
    return 1


def print_six(data: bytes) -> str:
    """As glibc prints it: the longest run of zeros, the first of those, is left out."""
    words = [int.from_bytes(data[i : i + 2], "big") for i in range(0, 16, 2)]
    best, length = 0, 0
    for start in range(8):
        end = start
        while end < 8 and words[end] == 0:
            end += 1
        if end - start > length:
            best, length = start, end - start
    if best == 0 and (length == 6 or (length == 5 and words[5] == 0xFFFF)):
        quad = ".".join(map(str, data[12:]))
        return f"::{quad}" if length == 6 else f"::ffff:{quad}"
    texts = [f"{word:x}" for word in words]
    if length < 2:
        return ":".join(texts)
    return ":".join(texts[:best]) + "::" + ":".join(texts[best + length :])


@library("inet_ntop")
def _inet_ntop(m: Machine, family: int, place: int, target: int, size: int) -> int:
    if family not in (_INET, _INET6):
        m.set_errno(_NO_FAMILY)
        return 0
    data = m.memory.read(place, 4 if family == _INET else 16)
    text = ".".join(map(str, data)) if family == _INET else print_six(data)
    if len(text) >= size:
        m.set_errno(_NO_SPACE)
        return 0
    m.memory.write(target, text.encode() + b"\0")
    return target
