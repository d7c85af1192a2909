"""Floating-point numbers as abstract values: their bits, as far as these are known.

A number that is known is computed with as `semantics.floats` says; everything else may be any
number.
"""

from __future__ import annotations

import math

from raceproof.domains.values import BOTTOM, AbstractValue, any_integer, constant
from raceproof.semantics import floats
from raceproof.semantics.edges import Undefined

WIDTHS = (32, 64)


def number(value: float, width: int) -> AbstractValue:
    """A constant."""
    if width not in WIDTHS:
        return any_integer(width)
    return constant(int.from_bytes(floats.encode_float(width, value), "little"), width)


def known(value: AbstractValue, width: int) -> float | None:
    """The number, if there is only one that it can be."""
    bits = value.constant if width in WIDTHS else None
    return None if bits is None else floats.bits_float(width, bits)


def binary(operation: str, a: AbstractValue, b: AbstractValue, width: int) -> AbstractValue:
    if a.is_bottom or b.is_bottom:
        return BOTTOM
    left, right = known(a, width), known(b, width)
    if left is None or right is None:
        return any_integer(width)
    return number(floats.binary(operation, width, left, right), width)


def compare(predicate: str, a: AbstractValue, b: AbstractValue, width: int) -> bool | None:
    left, right = known(a, width), known(b, width)
    if left is None or right is None:
        return None
    return floats.COMPARE[predicate](left, right)


def as_integer(value: AbstractValue, width: int) -> AbstractValue:
    """The bits; those of a nan are left open."""
    found = known(value, width)
    return any_integer(width) if found is not None and math.isnan(found) else value


def negate(value: AbstractValue, width: int) -> AbstractValue:
    found = known(value, width)
    return any_integer(width) if found is None else number(-found, width)


def cast(operation: str, value: AbstractValue, from_width: int, to_width: int) -> AbstractValue:
    """A conversion from or to floating point."""
    found: float | None = value.constant
    if not operation.endswith("tofp"):
        found = known(value, from_width)
    if found is None or (not operation.startswith("fpto") and to_width not in WIDTHS):
        return any_integer(to_width)
    try:
        result = floats.converted(operation, found, from_width, to_width)
    except Undefined:
        return any_integer(to_width)
    return (
        constant(int(result), to_width)
        if operation.startswith("fpto")
        else number(result, to_width)
    )
