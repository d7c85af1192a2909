"""C text for types, names and numbers.

Integers are unsigned, in the smallest C type that holds their bits; a pointer is an `address`, an
index into the printed program's own memory. Struct, array and vector values are kept as their
scalar leaves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from raceproof.errors import UserError
from raceproof.ir import (
    ArrayType,
    FloatType,
    IntType,
    Layout,
    PointerType,
    StructType,
    Type,
    VectorType,
    VoidType,
)

_NOT_A_NAME = re.compile(r"\W+")
_FULL = (8, 16, 32, 64)


def identifier(text: str) -> str:
    """A C identifier that reads like the text."""
    return _NOT_A_NAME.sub("_", text).strip("_") or "unnamed"


def comment(text: str) -> str:
    """A C comment that the text cannot end."""
    return f"/* {text.replace('*/', '* /').replace('/*', '/ *')} */"


def quoted(text: str) -> str:
    """A C string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bits_of(type_: Type, layout: Layout) -> int:
    """The width of an integer or pointer."""
    if isinstance(type_, PointerType):
        return layout.pointer_size * 8
    assert isinstance(type_, IntType), type_
    return type_.bits


def c_type(type_: Type) -> str:
    """The C type of a scalar."""
    match type_:
        case PointerType():
            return "address"
        case IntType(bits=bits) if bits <= 64:
            return f"uint{next(full for full in _FULL if full >= bits)}_t"
        case FloatType(bits=32):
            return "float"
        case FloatType(bits=64):
            return "double"
    raise UserError(f"cannot translate values of type {type_} to plain C")


def leaves(type_: Type, layout: Layout, offset: int = 0) -> Iterator[tuple[Type, int]]:
    """The scalars that a value is made of, with their offsets in bytes."""
    match type_:
        case StructType(fields=fields):
            for field, start in zip(fields, layout.offsets(type_), strict=True):
                yield from leaves(field, layout, offset + start)
        case ArrayType(element=element, count=count) | VectorType(element=element, count=count):
            for index in range(count):
                yield from leaves(element, layout, offset + index * layout.size(element))
        case VoidType():
            return
        case _:
            yield type_, offset


def leaf_range(type_: Type, path: tuple[int, ...], layout: Layout) -> tuple[int, int, Type]:
    """Which leaves the member at `path` is: first, end, and its type."""
    first = 0
    for index in path:
        parts: tuple[Type, ...]
        if isinstance(type_, StructType):
            parts = type_.fields
        else:
            assert isinstance(type_, ArrayType | VectorType)
            parts = (type_.element,) * type_.count
        first += sum(1 for part in parts[:index] for _ in leaves(part, layout))
        type_ = parts[index]
    return first, first + sum(1 for _ in leaves(type_, layout)), type_


def literal(type_: Type, value: Any, layout: Layout) -> str:
    """A number of a scalar type."""
    if isinstance(type_, FloatType):
        return _float_literal(type_, float(value))
    bits = bits_of(type_, layout)
    if bits > 64:
        c_type(type_)
    suffix = "ull" if bits > 32 else "u"
    number = int(value) & ((1 << bits) - 1)
    text = hex(number) if number >= 1 << min(bits, 31) - 1 and number > 255 else str(number)
    return text + suffix


def _float_literal(type_: FloatType, value: float) -> str:
    if math.isnan(value):
        return "(0.0 / 0.0)"
    if math.isinf(value):
        return "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"
    text = value.hex() if value != int(value) or abs(value) > 1e15 else f"{value:.1f}"
    if value < 0:
        text = f"({text})"
    return f"(float){text}" if type_.bits == 32 else text


def flattened(value: Any) -> Iterator[Any]:
    """The scalars of a constant as the linker gives it."""
    if isinstance(value, tuple):
        for part in value:
            yield from flattened(part)
    else:
        yield value


def wrapped(type_: Type, expression: str, layout: Layout) -> str:
    """The expression cut down to the bits of an integer type."""
    bits = bits_of(type_, layout)
    name = c_type(type_)
    if bits in _FULL:
        return f"({name})({expression})"
    return f"({name})(({expression}) & {hex((1 << bits) - 1)}u{'ll' if bits > 32 else ''})"


def signed(type_: Type, text: str, layout: Layout) -> str:
    """The signed value, as a C expression of a signed type."""
    bits = bits_of(type_, layout)
    return f"(int{bits}_t){text}" if bits in _FULL else f"sign({text}, {bits})"
