"""Taking values apart into bytes and putting them together again, little-endian.

Integers come out exact; of addresses that are cut or mixed the bases are kept.
"""

from __future__ import annotations

from raceproof.domains import integers as ints
from raceproof.domains.integer_operations import add, lshr, shl, trunc, zext
from raceproof.domains.values import (
    BOTTOM,
    UNINITIALISED,
    UNKNOWN,
    AbstractValue,
    constant,
    garbled,
    integer,
    join,
    make,
)

Piece = tuple[int, AbstractValue]
"""So many bytes with this value."""

ZERO_BYTE = constant(0, 8)


def fitted(value: AbstractValue, size: int) -> AbstractValue:
    """The value as it lies in `size` bytes (a bit becomes a byte)."""
    integers = value.integers
    if integers is None or integers.width == 8 * size:
        return value
    width = 8 * size
    numbers = zext(integers, width) if integers.width < width else trunc(integers, width)
    return make(numbers, value.pointers, value.is_unknown, value.is_uninitialised)


def extract(value: AbstractValue, total: int, start: int, size: int) -> AbstractValue:
    """Bytes `start` to `start + size` of a value of `total` bytes."""
    if size == total:
        return value
    if value.is_integer and value.integers is not None:
        numbers = value.integers
        if start:
            numbers = lshr(numbers, ints.constant(8 * start, numbers.width))
        return integer(trunc(numbers, 8 * size))
    return garbled(value, 8 * size)


def concatenate(pieces: list[Piece]) -> AbstractValue:
    """One value out of some, lowest address first."""
    if len(pieces) == 1:
        return pieces[0][1]
    size = sum(piece[0] for piece in pieces)
    width = 8 * size
    if all(value.is_integer for _, value in pieces):
        shift = 0
        total = ints.constant(0, width)
        for piece_size, value in pieces:
            assert value.integers is not None
            numbers = zext(value.integers, width)
            total = add(total, shl(numbers, ints.constant(shift, width)) if shift else numbers)
            shift += 8 * piece_size
        return integer(total)
    mixed = BOTTOM
    for _, value in pieces:
        if value.is_bottom:
            return BOTTOM
        mixed = join(mixed, garbled(value, width))
    return mixed


def repeated(byte: AbstractValue, size: int) -> AbstractValue:
    """`size` bytes that each hold some value of `byte`, not all the same one."""
    if byte is UNINITIALISED or byte is UNKNOWN or size == 1 or byte is BOTTOM:
        return byte
    numbers = byte.integers
    width = 8 * size
    if numbers is not None:
        number = numbers.constant
        if number is None:
            numbers = ints.top(width)
        else:
            numbers = ints.constant(number * (((1 << width) - 1) // 255), width)
        if byte.is_integer:
            return integer(numbers)
    return make(numbers, byte.pointers, byte.is_unknown, byte.is_uninitialised)


def mixed_byte(value: AbstractValue) -> AbstractValue:
    """Any byte of this value, or of one mixed from it."""
    if value.is_integer and value.constant == 0:
        return ZERO_BYTE
    return garbled(value, 8)


def filler(value: AbstractValue) -> AbstractValue:
    """A value of one byte that can be `repeated`: with pointers, their offsets are unknown."""
    if value.pointers:
        return garbled(value, 8)
    return fitted(value, 1)
