"""Comparing abstract values, and what a comparison that holds says about its operands.

Different objects have different addresses; the order of addresses is known within one object only.
A weak base stands for several objects: equal offsets into it are not the same address. No object
lies near NULL or near the end of memory (error codes such as `(void *)-1`).
"""

from __future__ import annotations

from collections.abc import Container

from raceproof.domains import integers as ints
from raceproof.domains import refinement
from raceproof.domains.integers import Integers
from raceproof.domains.values import (
    BOTTOM,
    NO_POINTERS,
    AbstractValue,
    Pointers,
    address_range,
    constant,
    integer,
    make,
)

_SIGNED = {"ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge"}
"""Offsets are signed."""


def compare(
    predicate: str, a: AbstractValue, b: AbstractValue, width: int, weak: Container[int] = ()
) -> bool | None:
    """Does `a predicate b` hold always (True), never (False), or is it open (None)?"""
    if a.is_integer and b.is_integer:
        assert a.integers is not None
        assert b.integers is not None
        return refinement.compare(predicate, a.integers, b.integers)
    if a.is_unknown or a.is_uninitialised or b.is_unknown or b.is_uninitialised:
        return None
    if a.is_bottom or b.is_bottom:
        return None
    answers = set()
    if a.integers is not None:
        answers.add(refinement.compare(predicate, a.integers, b.as_integers(width)))
    if a.pointers:
        if b.integers is not None:
            answers.add(refinement.compare(predicate, address_range(width), b.integers))
        if b.pointers and len(answers) < 2 and None not in answers:
            answers.add(_compare_addresses(predicate, a.pointers, b.pointers, weak))
    return answers.pop() if len(answers) == 1 else None


def _compare_addresses(
    predicate: str, a: Pointers, b: Pointers, weak: Container[int]
) -> bool | None:
    if len(a) == 1 and a.keys() == b.keys():
        ((base, offsets),) = a.items()
        if base not in weak:
            return refinement.compare(_SIGNED.get(predicate, predicate), offsets, b[base])
    if predicate not in ("eq", "ne"):
        return None
    for base, offsets in a.items():
        other = b.get(base)
        if other is not None and refinement.compare("eq", offsets, other) is not False:
            return None
    return predicate == "ne"


def truth(value: AbstractValue, width: int) -> bool | None:
    """Is it other than zero?"""
    return compare("ne", value, constant(0, width), width)


def refine_truth(value: AbstractValue, width: int, is_true: bool) -> AbstractValue:
    """The value, known to be zero or not."""
    return refine("ne" if is_true else "eq", value, constant(0, width), width)[0]


def refine(
    predicate: str, a: AbstractValue, b: AbstractValue, width: int, weak: Container[int] = ()
) -> tuple[AbstractValue, AbstractValue]:
    """What is left of both if `a predicate b` holds; bottom if it cannot hold."""
    if a.is_integer and b.is_integer:
        assert a.integers is not None
        assert b.integers is not None
        first, second = refinement.refine(predicate, a.integers, b.integers)
        return (
            a if first is a.integers else integer(first),
            b if second is b.integers else integer(second),
        )
    if a.is_bottom or b.is_bottom:
        return BOTTOM, BOTTOM
    if predicate == "eq":
        return _equal(a, b, width), _equal(b, a, width)
    if predicate == "ne":
        return _different(a, b, weak), _different(b, a, weak)
    return (
        _ordered(predicate, a, b, width, weak),
        _ordered(refinement.SWAPPED[predicate], b, a, width, weak),
    )


def may_be_address(value: AbstractValue) -> bool:
    """May a number in it be that of an address, by chance?"""
    if value.is_uninitialised:
        return True
    numbers = value.integers
    if numbers is None:
        return False
    return refinement.compare("eq", numbers, address_range(numbers.width)) is not False


def _equal(a: AbstractValue, b: AbstractValue, width: int) -> AbstractValue:
    """`a` if it equals `b`."""
    if b.is_unknown:
        return a
    if a.is_unknown:
        return b
    numbers = _common_numbers(a, b, width)
    pointers: Pointers = {}
    if a.pointers and b.pointers:
        for base, offsets in a.pointers.items():
            other = b.pointers.get(base)
            if other is not None:
                both = ints.meet(offsets, other)
                if both.values != ():
                    pointers[base] = both
    if a.pointers and may_be_address(b):
        pointers = a.pointers
    if b.pointers and may_be_address(a):
        pointers = {**b.pointers, **pointers}
    if pointers is a.pointers and numbers is a.integers and not a.is_uninitialised:
        return a
    return make(numbers, pointers, False, a.is_uninitialised and b.is_uninitialised)


def _common_numbers(a: AbstractValue, b: AbstractValue, width: int) -> Integers | None:
    if a.is_uninitialised or a.integers is None:
        return b.integers if a.is_uninitialised else None
    if b.is_uninitialised or b.integers is None:
        return a.integers if b.is_uninitialised else None
    return ints.meet(a.integers, b.integers)


def _different(a: AbstractValue, b: AbstractValue, weak: Container[int]) -> AbstractValue:
    """`a` if it differs from `b`."""
    if a.is_unknown or b.is_unknown or b.is_uninitialised:
        return a
    if b.is_integer and a.integers is not None:
        assert b.integers is not None
        numbers = refinement.refine("ne", a.integers, b.integers)[0]
        if numbers is a.integers:
            return a
        return make(numbers, a.pointers, False, a.is_uninitialised)
    target = b.only_address
    if target is not None and target[0] in a.pointers and target[0] not in weak:
        base = target[0]
        offsets = refinement.refine("ne", a.pointers[base], b.pointers[base])[0]
        if offsets is not a.pointers[base]:
            pointers = dict(a.pointers)
            if offsets.values == ():
                del pointers[base]
            else:
                pointers[base] = offsets
            return make(a.integers, pointers or NO_POINTERS, False, a.is_uninitialised)
    return a


def _ordered(
    predicate: str, a: AbstractValue, b: AbstractValue, width: int, weak: Container[int]
) -> AbstractValue:
    """`a` if it is less, greater... than `b`."""
    if a.is_unknown or b.is_unknown or b.is_uninitialised:
        return a
    numbers, others = a.integers, b.as_integers(width)
    if numbers is not None:
        numbers = refinement.refine(predicate, numbers, others)[0]
    pointers = a.pointers
    if pointers:
        if not b.pointers:
            if refinement.compare(predicate, address_range(width), others) is False:
                pointers = NO_POINTERS
        elif b.integers is None and len(b.pointers) == 1:
            ((base, offsets),) = b.pointers.items()
            if base in pointers and base not in weak:
                old = pointers[base]
                new = refinement.refine(_SIGNED.get(predicate, predicate), old, offsets)[0]
                if new is not old:
                    pointers = {**pointers, base: new}
                    if new.values == ():
                        del pointers[base]
    if numbers is a.integers and pointers is a.pointers:
        return a
    return make(numbers, pointers, False, a.is_uninitialised)
