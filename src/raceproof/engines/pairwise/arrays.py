"""Arrays in which each element has a lock of its own: `flag[i]` and `lock[i]`.

Both are one object each, so that an index says which element and which lock is meant. They are
found by looking at which elements are written with which locks held (`Sightings`); whether all
writes are like that is a candidate, which `elements` has to prove.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from raceproof.engines.pairwise.values import PairPlace, PairValue
from raceproof.smt.terms import Term, Terms, signed

if TYPE_CHECKING:
    from raceproof.engines.pairwise.execution_log import ExecutionLog
    from raceproof.engines.pairwise.state import PairState

_MOST_ARRAYS = 3
_WIDEST = 8
_LARGEST_STRIDE = 1 << 12

Key = tuple[object, ...]
Form = tuple[int, int]
"""An offset as a constant plus a multiple of a stride; a stride of 0 means the constant alone."""


class Meeting(Enum):
    """How an access meets the elements of an array."""

    NONE = "none"
    WHOLE = "whole"
    """One element as a whole."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class GuardedArray:
    """Element k is at `first + k * stride` of the one object, its lock at `first_lock +
    k * lock_stride` of the other."""

    elements: Key
    first: int
    stride: int
    size: int
    """Bytes of an element."""
    locks: Key
    first_lock: int
    lock_stride: int

    def meeting(self, form: Form | None, size: int | None) -> Meeting:
        """Of an access to the object with the elements."""
        if form is None or size is None or form[1] % self.stride:
            return Meeting.OTHER
        gap = (form[0] - self.first) % self.stride
        if gap == 0 and size == self.size:
            return Meeting.WHOLE
        is_beside = gap >= self.size and gap + size <= self.stride
        return Meeting.NONE if is_beside else Meeting.OTHER

    def is_lock(self, form: Form | None) -> bool | None:
        """Is an address in the object with the locks one of them? None: unknown."""
        if form is None or form[1] % self.lock_stride:
            return None
        return (form[0] - self.first_lock) % self.lock_stride == 0

    def fit(self, terms: Terms, element: Term, lock: Term) -> Term:
        """Do an offset of an element and one of a lock belong together?"""
        width = element.width

        def scaled(offset: Term, first: int, by: int) -> Term:
            distance = terms.binary("sub", offset, terms.const(first, width))
            return terms.binary("mul", distance, terms.const(by, width))

        return terms.eq(
            scaled(element, self.first, self.lock_stride),
            scaled(lock, self.first_lock, self.stride),
        )


def only_place(address: PairValue) -> PairPlace | None:
    """Where the address points, if the condition of the place holds."""
    return address.places[0] if len(address.places) == 1 else None


class Forms:
    """Which offsets are a constant plus a multiple of a stride, as they were computed."""

    def __init__(self) -> None:
        self._known: dict[Term, Form] = {}

    def of(self, offset: Term) -> Form | None:
        if offset.is_constant:
            return signed(offset.constant, offset.width), 0
        return self._known.get(offset)

    def moved(self, base: Term, result: Term, distance: int, scales: list[int]) -> None:
        """The result is the base, a distance, and multiples of the scales."""
        form = self.of(base)
        if form is None or result.is_constant:
            return
        strides = [scale for scale in (form[1], *scales) if scale]
        if len(strides) == 1:
            self._known[result] = form[0] + distance, abs(strides[0])


@dataclass(eq=False)
class Sightings:
    """Which arrays there may be, and which threads write them."""

    writers: dict[GuardedArray, set[int]] = field(default_factory=dict)
    """The calls that create them."""
    single: dict[Key, bool] = field(default_factory=dict)
    """Objects of which there is one, and whether it starts with zeros."""

    def arrays(self) -> list[GuardedArray]:
        return [
            array
            for array in self.writers
            if self.single.get(array.elements) and array.locks in self.single
        ][:_MOST_ARRAYS]

    def see(
        self, log: ExecutionLog, state: PairState, call: int, address: PairValue, size: int | None
    ) -> None:
        """A thread that the call creates writes to the address."""
        forms = log.world.forms
        place = only_place(address)
        if place is None or size is None or size > _WIDEST:
            return
        form = forms.of(place.offset)
        if form is None or not size <= form[1] <= _LARGEST_STRIDE:
            return
        for lock in state.addressed.values():
            there = only_place(lock.address)
            lock_form = None if there is None else forms.of(there.offset)
            if there is None or lock_form is None or not lock.is_write:
                continue
            if 0 < lock_form[1] <= _LARGEST_STRIDE:
                array = GuardedArray(place.object.key, *form, size, there.object.key, *lock_form)
                self.writers.setdefault(array, set()).add(call)
