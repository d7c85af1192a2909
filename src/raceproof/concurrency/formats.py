"""What `printf` and `scanf` access, by their format string.

With a constant format each conversion tells which argument is read or written and how far
(`%p` touches nothing, `%s` reads a string). Otherwise every pointer argument may be accessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from raceproof.concurrency.effects import MemoryEffect, StringLength
from raceproof.concurrency.model import FormatFamily, FormatModel
from raceproof.ir import (
    BytesConstant,
    Call,
    GlobalAddress,
    Layout,
    PointerType,
    Program,
    Value,
    ZeroConstant,
)

_LENGTH = r"(?P<length>hh|h|ll|l|q|j|z|t|L)?"
_PRINTF = re.compile(
    r"%(?P<flags>[-+ #0'I]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    + _LENGTH
    + r"(?P<conversion>[a-zA-Z%])"
)
_SCANF = re.compile(
    r"%(?P<skip>\*)?(?P<width>\d+)?(?P<allocate>m)?"
    + _LENGTH
    + r"(?P<conversion>\[\^?\]?[^]]*\]|[a-zA-Z%])"
)
_INTEGER_SIZES = {"hh": 1, "h": 2, "": 4, "ll": 8, "q": 8, "j": 8, "L": 8}
_WIDE = 4


def format_effects(model: FormatModel, call: Call, program: Program) -> list[MemoryEffect]:
    """What the call accesses through the arguments its format speaks of."""
    values = call.arguments[model.first :]
    text = (
        constant_string(call.arguments[model.format], program)
        if (model.format < len(call.arguments))
        else None
    )
    if text is None or "$" in text:
        writes = model.family is FormatFamily.SCANF
        return [
            MemoryEffect(value, None, not writes, writes)
            for value in values
            if isinstance(value.type, PointerType)
        ]
    follow = _printf if model.family is FormatFamily.PRINTF else _scanf
    return list(follow(text, iter(values), program.layout))


def constant_string(value: Value, program: Program) -> str | None:
    """The C string that a constant points to, if no thread can change it."""
    if not isinstance(value, GlobalAddress):
        return None
    target = program.globals.get(value.name)
    if target is None or not target.is_constant:
        return None
    if isinstance(target.initializer, ZeroConstant):
        return ""
    if not isinstance(target.initializer, BytesConstant):
        return None
    data = target.initializer.data[value.offset :]
    end = data.find(b"\0")
    return None if end < 0 else data[:end].decode("latin-1")


def _printf(text: str, values: Iterator[Value], layout: Layout) -> Iterator[MemoryEffect]:
    for found in _PRINTF.finditer(text):
        if found["conversion"] in "%m":
            continue
        if found["width"] == "*":
            next(values, None)
        limit: Value | int | None = None
        if found["precision"] == "*":
            limit = next(values, None)
        elif found["precision"]:
            limit = int(found["precision"])
        value = next(values, None)
        if value is None:
            return
        if found["conversion"] in "sS":
            is_wide = found["conversion"] == "S" or found["length"] == "l"
            yield MemoryEffect(
                value, StringLength(value, limit, _WIDE if is_wide else 1), True, False
            )
        elif found["conversion"] == "n":
            yield MemoryEffect(value, integer_size(found["length"], layout), False, True)


def _scanf(text: str, values: Iterator[Value], layout: Layout) -> Iterator[MemoryEffect]:
    for value, size in zip(values, scanned_sizes(text, layout), strict=False):
        yield MemoryEffect(value, size, False, True)


def scanned_sizes(text: str, layout: Layout) -> Iterator[int | None]:
    """How many bytes each conversion of a format of `scanf` stores, in their order.

    None: as many as come.
    """
    for found in _SCANF.finditer(text):
        if found["conversion"] != "%" and not found["skip"]:
            yield _scanned_size(found, layout)


def _scanned_size(found: re.Match[str], layout: Layout) -> int | None:
    conversion, length = found["conversion"], found["length"] or ""
    if found["allocate"] or conversion == "p":
        return layout.pointer_size
    if conversion[0] in "sScC[":
        width = _WIDE if length == "l" or conversion in "SC" else 1
        if conversion in "cC":
            return int(found["width"] or 1) * width
        return (int(found["width"]) + 1) * width if found["width"] else None
    if conversion in "aAeEfFgG":
        long_double = 12 if layout.pointer_size == 4 else 16
        return {"l": 8, "L": long_double}.get(length, 4)
    return integer_size(length, layout)


def integer_size(length: str | None, layout: Layout) -> int:
    """How many bytes an integer has after a conversion with this length modifier."""
    return _INTEGER_SIZES.get(length or "", layout.pointer_size)
