"""Accesses that end the execution.

An access outside of every object that its address may point into is undefined, just as one through
a null pointer: the machine stops there, and so does the interpreter.

    struct device *d = malloc(sizeof *d);
    struct state *s = (struct state *)(d + 3200);      // meant: (char *)d + 3200
    s->ready = 0;                                      // nothing after this is ever run

It must be outside at all of the offsets, of objects whose sizes are all known. An object of no
bytes counts as one of unknown size: harnesses make those for memory that they know nothing of.

Mostly such a way cannot be taken at all, `stack[top - 1]` with nothing on the stack. But a place
where no execution goes on is named under the assumptions of the answer: who reads `race-free`
should know what it rests on.
"""

from __future__ import annotations

from raceproof.analysis.objects import Objects
from raceproof.domains import values as domain
from raceproof.domains.bases import Base
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue
from raceproof.verdict import BaseKind


def is_null(address: AbstractValue) -> bool:
    """Only null, or nothing at all."""
    if address.pointers or address.is_unknown or address.is_uninitialised:
        return False
    return not may_be_address(address)


def left_object(objects: Objects, address: AbstractValue, size: int) -> Base[BaseKind] | None:
    """One of the objects, if the access is outside of all that the address may point into."""
    if not address.pointers or address.is_unknown or address.is_uninitialised:
        return None
    if may_be_address(address):
        return None
    found = None
    for number, offsets in address.pointers.items():
        base = objects[number]
        if not _is_outside(base, offsets, size):
            return None
        found = found or base
    return found


def may_be_address(address: AbstractValue) -> bool:
    """Is there an integer in it that may be the address of something?"""
    integers = address.integers
    return integers is not None and integers.unsigned_range()[1] >= domain.LOWEST_ADDRESS


def _is_outside(base: Base[BaseKind], offsets: Integers, size: int) -> bool:
    if base.kind is BaseKind.EXTERNAL or not base.size:
        return False
    low, high = offsets.signed_range()
    return low > base.size - size or high < 0
