"""Values to bytes and back, by their type. All supported targets are little-endian.

A value is an int (unsigned), a float, or a tuple of the elements of a struct, array or vector.
"""

from __future__ import annotations

import math
import struct
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


def encode(layout: Layout, type_: Type, value: Any) -> bytes:
    """The bytes of a value, as many as a store of its type touches."""
    match type_:
        case IntType(bits):
            return int(value).to_bytes((bits + 7) // 8, "little")
        case PointerType():
            return int(value).to_bytes(layout.pointer_size, "little")
        case FloatType(bits):
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
        case FloatType(bits):
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


def round_float(bits: int, value: float) -> float:
    """The nearest number of that width."""
    if bits == 32:
        try:
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            return math.copysign(math.inf, value)
    return value


def encode_float(bits: int, value: float) -> bytes:
    match bits:
        case 16:
            return struct.pack("<e", value)
        case 32:
            return struct.pack("<f", value)
        case 64:
            return struct.pack("<d", value)
        case 80:
            return _encode_extended(value)
    raise Unsupported(f"floating-point numbers of {bits} bits")


def decode_float(bits: int, data: bytes) -> float:
    match bits:
        case 16:
            return float(struct.unpack("<e", data[:2])[0])
        case 32:
            return float(struct.unpack("<f", data[:4])[0])
        case 64:
            return float(struct.unpack("<d", data[:8])[0])
        case 80:
            return _decode_extended(data[:10])
    raise Unsupported(f"floating-point numbers of {bits} bits")


def _encode_extended(value: float) -> bytes:
    sign = 0x8000 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return (0xC << 60).to_bytes(8, "little") + (0x7FFF | sign).to_bytes(2, "little")
    if math.isinf(value):
        return (8 << 60).to_bytes(8, "little") + (0x7FFF | sign).to_bytes(2, "little")
    if value == 0:
        return bytes(8) + sign.to_bytes(2, "little")
    fraction, exponent = math.frexp(abs(value))
    mantissa = int(fraction * (1 << 64))
    return mantissa.to_bytes(8, "little") + (exponent + 16382 | sign).to_bytes(2, "little")


def _decode_extended(data: bytes) -> float:
    mantissa = int.from_bytes(data[:8], "little")
    head = int.from_bytes(data[8:10], "little")
    sign = -1.0 if head & 0x8000 else 1.0
    exponent = head & 0x7FFF
    if exponent == 0x7FFF:
        return sign * (math.inf if mantissa << 1 & (1 << 64) - 1 == 0 else math.nan)
    try:
        return sign * math.ldexp(mantissa, exponent - 16383 - 63)
    except OverflowError:
        return sign * math.inf
