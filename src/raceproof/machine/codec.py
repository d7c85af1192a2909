"""Values to bytes and back, by their type. All supported targets are little-endian.

A value is an int (unsigned), a float, or a tuple of the elements of a struct, array or vector.
"""

from __future__ import annotations

from typing import Any

from raceproof.ir import (
    ArrayType,
    FloatType,
    IntType,
    Layout,
    PointerType,
    StructType,
    Type,
    VectorType,
)
from raceproof.machine.faults import Unsupported
from raceproof.semantics.floats import decode_float, encode_float


def encode(layout: Layout, type_: Type, value: Any) -> bytes:
    """The bytes of a value, as many as a store of its type touches."""
    match type_:
        case IntType(bits):
            return int(value).to_bytes((bits + 7) // 8, "little")
        case PointerType():
            return int(value).to_bytes(layout.pointer_size, "little")
        case FloatType(bits) if bits <= 80:
            return encode_float(bits, value)
        case ArrayType() | VectorType():
            return b"".join(
                encode(layout, type_.element, element).ljust(layout.size(type_.element), b"\0")
                for element in value
            )
        case StructType():
            data = bytearray(layout.size(type_))
            for field, offset, element in zip(
                type_.fields, layout.offsets(type_), value, strict=True
            ):
                part = encode(layout, field, element)
                data[offset : offset + len(part)] = part
            return bytes(data)
    raise Unsupported(f"a value of type {type_} in memory")


def decode(layout: Layout, type_: Type, data: bytes) -> Any:
    """The value of these bytes."""
    match type_:
        case IntType(bits):
            return int.from_bytes(data[: (bits + 7) // 8], "little") & ((1 << bits) - 1)
        case PointerType():
            return int.from_bytes(data[: layout.pointer_size], "little")
        case FloatType(bits) if bits <= 80:
            return decode_float(bits, data)
        case ArrayType() | VectorType():
            step = layout.size(type_.element)
            return tuple(
                decode(layout, type_.element, data[i * step : (i + 1) * step])
                for i in range(type_.count)
            )
        case StructType():
            return tuple(
                decode(layout, field, data[offset : offset + layout.size(field)])
                for field, offset in zip(type_.fields, layout.offsets(type_), strict=True)
            )
    raise Unsupported(f"a value of type {type_} in memory")
