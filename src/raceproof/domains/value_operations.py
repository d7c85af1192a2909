"""Arithmetic and casts on abstract values, where addresses survive what C programs do to them.

Addresses may be cast to integers and back, moved, and have tag bits set, tested and cleared in
their low bits. Anything else keeps the bases and forgets the offsets, so that a pointer rebuilt
from its parts still leads to the right objects; only a result less than `LOWEST_ADDRESS`
(`hash(p) % 64`) is a mere number.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Final

from raceproof.domains import float_operations
from raceproof.domains import integer_operations as operations
from raceproof.domains import integers as ints
from raceproof.domains.integer_operations import NO_FLAGS
from raceproof.domains.integers import Integers
from raceproof.domains.values import (
    BOTTOM,
    LOWEST_ADDRESS,
    NO_POINTERS,
    UNINITIALISED,
    UNKNOWN,
    AbstractValue,
    Pointers,
    any_integer,
    constant,
    garbled,
    integer,
    join,
    make,
)
from raceproof.ir import FloatType, IntType, StructType, Type
from raceproof.semantics.concrete import MEANINGS
from raceproof.semantics.domain import OPEN, Omission
from raceproof.semantics.edges import Undefined, Unrepresentable
from raceproof.semantics.operations import OPERATIONS

OMITTED: Final[dict[str, Omission]] = OPEN
"""What the value domain has any number for, of known operands."""


def binary(
    operation: str,
    a: AbstractValue,
    b: AbstractValue,
    width: int,
    flags: frozenset[str] = NO_FLAGS,
    weak: Container[int] = (),
    alignments: Sequence[int] = (),
) -> AbstractValue:
    """`a operation b`. `weak` and `alignments` are those of the `Bases`, if at hand."""
    if a.is_integer and b.is_integer:
        assert a.integers is not None
        assert b.integers is not None
        return integer(operations.OPERATIONS[operation](a.integers, b.integers, flags))
    if a.is_bottom or b.is_bottom:
        return BOTTOM
    if a.pointers or b.pointers:
        if operation == "add" and not (a.is_unknown or b.is_unknown):
            return _add(a, b, width)
        if operation == "sub" and not (a.is_unknown or b.is_unknown):
            return _sub(a, b, width, weak)
        if operation in _BIT_OPERATIONS:
            found = _with_bits(operation, a, b, alignments)
            if found is not None:
                return found
    return _computed(operation, a, b, width)


def _computed(operation: str, a: AbstractValue, b: AbstractValue, width: int) -> AbstractValue:
    """By the numbers; with the bases of both if the result may be an address."""
    numbers = operations.OPERATIONS[operation](a.as_integers(width), b.as_integers(width), NO_FLAGS)
    if not (a.pointers or b.pointers or a.is_unknown or b.is_unknown) or is_small(numbers):
        return integer(numbers)
    return garbled(join(a, b), width)


def is_small(numbers: Integers) -> bool:
    """Too small to be the address of an object."""
    return numbers.values == () or numbers.unsigned_range()[1] < LOWEST_ADDRESS


def _number_part(value: AbstractValue, width: int) -> Integers | None:
    """What it may be when it is not an address."""
    return ints.top(width) if value.is_uninitialised else value.integers


def _move(pointers: Pointers, delta: Integers) -> Pointers:
    if delta.values == (0,):
        return pointers
    return {base: operations.add(offsets, delta) for base, offsets in pointers.items()}


def _add(a: AbstractValue, b: AbstractValue, width: int) -> AbstractValue:
    if a.pointers and b.pointers:
        return garbled(join(a, b), width)
    if b.pointers:
        a, b = b, a
    delta = _number_part(b, width)
    assert delta is not None
    number = _number_part(a, width)
    total = None if number is None else operations.add(number, delta)
    return make(total, _move(a.pointers, delta))


def _sub(a: AbstractValue, b: AbstractValue, width: int, weak: Container[int]) -> AbstractValue:
    number, delta = _number_part(a, width), _number_part(b, width)
    if number is not None and b.pointers:
        return garbled(join(a, b), width)
    parts = []
    if number is not None and delta is not None:
        parts.append(operations.sub(number, delta))
    if a.pointers and b.pointers:
        parts.append(_distance(a.pointers, b.pointers, width, weak))
    total = None
    for part in parts:
        total = part if total is None else ints.join(total, part)
    if delta is None:
        return make(total, NO_POINTERS)
    return make(total, _move(a.pointers, operations.sub(ints.constant(0, width), delta)))


def _distance(a: Pointers, b: Pointers, width: int, weak: Container[int]) -> Integers:
    if len(a) == 1 and a.keys() == b.keys():
        ((base, offsets),) = a.items()
        if base not in weak:
            return operations.sub(offsets, b[base])
    return ints.top(width)


def offset(value: AbstractValue, delta: Integers) -> AbstractValue:
    """The address `delta` bytes on; `delta` has the width of pointers."""
    if value.is_unknown or delta.values == (0,):
        return value
    if delta.values == ():
        return BOTTOM
    integers = value.integers
    if integers is not None:
        integers = operations.add(integers, delta)
    return make(integers, _move(value.pointers, delta), False, value.is_uninitialised)


def scaled(index: AbstractValue, index_width: int, scale: int, width: int) -> Integers:
    """`index * scale` in bytes, for an index of any width, as a number of the pointers' width."""
    numbers = index.as_integers(index_width)
    if index_width < width:
        numbers = operations.sext(numbers, width)
    elif index_width > width:
        numbers = operations.trunc(numbers, width)
    return numbers if scale == 1 else operations.mul(numbers, ints.constant(scale, width))


# --- tag bits ------------------------------------------------------------


def _with_bits(
    operation: str, a: AbstractValue, b: AbstractValue, alignments: Sequence[int]
) -> AbstractValue | None:
    """`pointer & mask`, `pointer | mask`, `pointer ^ mask`; None if there is no constant mask.

    Also None for an address in an integer of another width than its own, of which a part is left.
    """
    if b.pointers:
        a, b = b, a
    mask = b.constant
    if mask is None or a.is_unknown or a.is_uninitialised:
        return None
    assert b.integers is not None
    width = b.integers.width
    if any(offsets.width != width for offsets in a.pointers.values()):
        return None
    operate = _BIT_OPERATIONS[operation]
    total = (
        None
        if a.integers is None
        else operations.OPERATIONS[operation](a.integers, b.integers, NO_FLAGS)
    )
    pointers: Pointers = {}
    for base, offsets in a.pointers.items():
        alignment = alignments[base] if base < len(alignments) else 1
        found = operate(offsets, b.integers, mask, alignment)
        if found is None:
            return None
        if operation == "and" and mask < LOWEST_ADDRESS:
            total = found if total is None else ints.join(total, found)
        else:
            pointers[base] = found
    return make(total, pointers)


def _and_bits(offsets: Integers, bits: Integers, mask: int, alignment: int) -> Integers | None:
    unit = mask & -mask
    width = bits.width
    if mask < LOWEST_ADDRESS:
        if mask < alignment:
            return operations.bit_and(offsets, bits)
        return ints.from_range(0, mask, max(unit, 1), width)
    if mask + unit != 1 << width:
        return None
    if alignment % unit == 0:
        return operations.bit_and(offsets, bits)
    return operations.add(offsets, ints.from_range(1 - unit, 0, 1, width))


def _or_bits(offsets: Integers, bits: Integers, mask: int, alignment: int) -> Integers | None:
    if mask == 0:
        return offsets
    if mask < alignment:
        return operations.bit_or(offsets, bits)
    if mask < LOWEST_ADDRESS:
        return operations.add(offsets, ints.from_range(0, mask, 1, bits.width))
    return None


def _xor_bits(offsets: Integers, bits: Integers, mask: int, alignment: int) -> Integers | None:
    if mask == 0:
        return offsets
    if mask < alignment:
        return operations.bit_xor(offsets, bits)
    if mask < LOWEST_ADDRESS:
        return operations.add(offsets, ints.from_range(-mask, mask, 1, bits.width))
    return None


_BIT_OPERATIONS: dict[str, Callable[[Integers, Integers, int, int], Integers | None]] = {
    "and": _and_bits,
    "or": _or_bits,
    "xor": _xor_bits,
}


# --- casts ------------------------------------------------------------


def cast(operation: str, value: AbstractValue, from_width: int, to_width: int) -> AbstractValue:
    """The value in another type of these widths."""
    widen = _CASTS.get(operation)
    if widen is None:
        if value.is_bottom:
            return BOTTOM
        return float_operations.cast(operation, value, from_width, to_width)
    if from_width == to_width:
        return value
    if to_width < from_width:
        widen = operations.trunc
    if value.is_integer:
        assert value.integers is not None
        return integer(widen(value.integers, to_width))
    numbers = widen(value.as_integers(from_width), to_width)
    if not (value.pointers or value.is_unknown) or min(from_width, to_width) <= 12:
        return UNINITIALISED if numbers.is_top and value is UNINITIALISED else integer(numbers)
    return UNKNOWN if value.is_unknown else garbled(value, to_width)


def intrinsic(
    name: str, arguments: Sequence[AbstractValue], types: Sequence[Type], result: Type
) -> AbstractValue | tuple[AbstractValue, ...]:
    """One of the compiler's pure operations: by the definition with numbers if these are known."""
    parts = result.fields if isinstance(result, StructType) else (result,)
    computed = _of_constants(name, arguments, types, parts)
    if computed is None:
        computed = [any_integer(_width(part) or 64) for part in parts]
        if name.endswith(".with.overflow"):
            computed[0] = binary(name[1:4], arguments[0], arguments[1], _width(types[0]) or 64)
    return tuple(computed) if len(parts) > 1 else computed[0]


def _of_constants(
    name: str, arguments: Sequence[AbstractValue], types: Sequence[Type], parts: Sequence[Type]
) -> list[AbstractValue] | None:
    operation = OPERATIONS.get(f"llvm.{name}")
    if operation is None or not operation.is_fixed or operation.name not in MEANINGS:
        return None
    numbers: list[float] = []
    for argument, type_ in zip(arguments, types, strict=True):
        width = _width(type_)
        if width is None or argument.constant is None:
            return None
        number = (
            float_operations.known(argument, width)
            if isinstance(type_, FloatType)
            else argument.constant
        )
        if number is None:
            return None
        numbers.append(number)
    widths = [_width(part) for part in parts]
    if not numbers or not all(widths):
        return None
    try:
        found = MEANINGS[operation.name](_width(types[0]), widths[0], *numbers)
    except (Undefined, Unrepresentable):
        return None
    values = found if isinstance(found, tuple) else (found,)
    return [
        float_operations.number(value, width or 64)
        if isinstance(part, FloatType)
        else constant(int(value), width or 64)
        for value, part, width in zip(values, parts, widths, strict=True)
    ]


def _width(type_: Type) -> int | None:
    return type_.bits if isinstance(type_, IntType | FloatType) else None


_CASTS: dict[str, Callable[[Integers, int], Integers]] = {
    "trunc": operations.trunc,
    "zext": operations.zext,
    "sext": operations.sext,
    "ptrtoint": operations.zext,
    "inttoptr": operations.zext,
    "bitcast": operations.zext,
    "addrspacecast": operations.zext,
}
