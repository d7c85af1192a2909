"""Elements that are each guarded by a lock of their own.

While a thread holds the lock of an element, it knows what the element holds: what it found there
when it took the lock, and what it wrote since. The candidate is that whoever writes an element
while there are several threads holds its lock, and is not `main`; that `main`, as long as it is
alone, writes nothing but zeros; and that no thread takes a lock of the array twice, or gives back
one that it is not known to hold. A lock that is forgotten at a loop's head breaks it, too.

What is found there came from some thread: if an element was not 0 when its lock was taken, some
thread has written something else than 0 to it before. `query` makes use of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raceproof.engines.pairwise.arrays import GuardedArray, Meeting, only_place
from raceproof.engines.pairwise.state import AddressedLock, PairState, SharedCell
from raceproof.engines.pairwise.values import PairPlace, PairValue, chosen
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.pairwise.locking import Locking

Site = tuple[object, ...]
"""Where a lock was taken."""


@dataclass(frozen=True, slots=True)
class Found:
    """If `condition`, the thread holds the lock at this offset, and found its element not 0."""

    array: GuardedArray
    condition: Term
    lock: Term


@dataclass(frozen=True, slots=True)
class _Held:
    """A lock of an array, if `holds`."""

    holds: Term
    address: PairValue
    offset: Term
    found: SharedCell
    """What its element was when it was taken."""
    now: SharedCell
    """What it is now."""


class Elements:
    def __init__(self, locking: Locking) -> None:
        self.locking = locking
        self.log = locking.log
        self.world = locking.world
        self.terms = locking.terms

    def _wrong(self, array: GuardedArray, state: PairState, condition: Term) -> None:
        self.log.oblige(self.world.is_array(array), state, condition)

    # --- locks ------------------------------------------------------------

    def _lock(self, array: GuardedArray, address: PairValue) -> PairPlace | None:
        """Where in the array the lock is, if its condition holds."""
        place = only_place(address)
        if place is None or place.object.key != array.locks:
            return None
        is_lock = array.is_lock(self.world.forms.of(place.offset))
        return place if is_lock else None

    def _may_be_lock(self, array: GuardedArray, address: PairValue) -> Term:
        """When the address may be one of a lock of the array."""
        terms = self.terms
        ways = [terms.not_(terms.any(p.condition for p in address.places))]
        for place in address.places:
            if place.object.key == array.locks:
                if array.is_lock(self.world.forms.of(place.offset)) is not False:
                    ways.append(place.condition)
        return terms.any(ways)

    def _held(self, array: GuardedArray, state: PairState) -> list[_Held]:
        """The locks of the array that the thread may hold."""
        return [
            _Held(
                self.terms.and_(lock.holds, place.condition),
                lock.address,
                place.offset,
                _found(array, site),
                _now(array, site),
            )
            for site, lock in state.addressed.items()
            if lock.is_write and (place := self._lock(array, lock.address)) is not None
        ]

    def acquired(
        self, state: PairState, site: Site, address: PairValue, condition: Term, is_write: bool
    ) -> None:
        """The lock at the address is about to be held if the condition holds."""
        from raceproof.engines.pairwise.locking import may_be_same

        terms = self.terms
        for array in self.world.arrays:
            place = self._lock(array, address)
            if place is None:
                continue
            if self.log.is_main or not is_write:
                self._wrong(array, state, condition)
            for other, lock in state.addressed.items():
                same = may_be_same(self.log, lock.address, address)
                if other == site and self._lock(array, lock.address) is not None:
                    same = terms.true
                self._wrong(array, state, terms.all([condition, lock.holds, same]))
            found = self.log.fresh("element", array.size * 8)
            state.memory[_found(array, site)] = PairValue(found)
            state.memory[_now(array, site)] = PairValue(found)
            is_set = terms.all([condition, place.condition, self._is_set(found)])
            self.locking.thread_counters.took(state, array, is_set)

    def released(self, state: PairState, address: PairValue) -> None:
        """The lock at the address is about to be given back."""
        from raceproof.engines.pairwise.locking import may_be_same

        terms = self.terms
        for array in self.world.arrays:
            concerned = self._may_be_lock(array, address)
            if concerned is terms.false:
                continue
            known = []
            for held in self._held(array, state):
                mine = terms.and_(held.holds, may_be_same(self.log, held.address, address))
                known.append(mine)
                now = self.locking.view(state, held.now).bits
                self.locking.thread_counters.gave(state, array, terms.and_(mine, self._is_set(now)))
            self._wrong(array, state, terms.and_(concerned, terms.not_(terms.any(known))))

    def forgotten(self, state: PairState, lock: AddressedLock, condition: Term) -> None:
        """If the condition holds, nothing more will be known of a lock."""
        for array in self.world.arrays:
            if self._may_be_lock(array, lock.address) is not self.terms.false:
                self._wrong(array, state, self.terms.and_(lock.holds, condition))

    def _is_set(self, value: Term) -> Term:
        return self.terms.not_(self.terms.eq(value, self.terms.const(0, value.width)))

    # --- memory ------------------------------------------------------------

    def read(self, state: PairState, place: PairPlace, size: int, width: int) -> PairValue | None:
        """What is known of an element; None if it is none."""
        for array in self.world.arrays:
            if place.object.key != array.elements or width != array.size * 8:
                continue
            form = self.world.forms.of(place.offset)
            if array.meeting(form, size) is not Meeting.WHOLE:
                continue
            value = PairValue(self.log.fresh("read", width))
            for held in self._held(array, state):
                known = [
                    self.world.is_array(array),
                    held.holds,
                    array.fit(self.terms, place.offset, held.offset),
                ]
                now = self.locking.view(state, held.now)
                value = chosen(self.terms, self.terms.all(known), now, value)
            return value
        return None

    def wrote(
        self,
        state: PairState,
        place: PairPlace,
        condition: Term,
        size: int | None,
        value: PairValue | None,
    ) -> None:
        """If the condition holds, the thread writes to the place; None: unknown what."""
        terms = self.terms
        for array in self.world.arrays:
            if place.object.key != array.elements:
                continue
            meeting = array.meeting(self.world.forms.of(place.offset), size)
            if meeting is Meeting.NONE:
                continue
            is_whole = meeting is Meeting.WHOLE and value is not None
            if self.log.is_main:
                is_zero = terms.false
                if is_whole and value is not None:
                    is_zero = terms.not_(self._is_set(value.bits))
                is_right = terms.and_(state.alone, is_zero)
                self._wrong(array, state, terms.and_(condition, terms.not_(is_right)))
                continue
            if not is_whole or value is None or value.bits.width != array.size * 8:
                self._wrong(array, state, condition)
                continue
            ways = []
            for held in self._held(array, state):
                fits = array.fit(terms, place.offset, held.offset)
                mine = terms.and_(held.holds, fits)
                ways.append(mine)
                now = self.locking.view(state, held.now)
                new = chosen(terms, terms.and_(condition, mine), PairValue(value.bits), now)
                state.memory[held.now] = new
            self._wrong(array, state, terms.and_(condition, terms.not_(terms.any(ways))))
            sets = terms.and_(condition, self._is_set(value.bits))
            here = PairValue(value.bits, (PairPlace(terms.true, place.object, place.offset),))
            self.log.settings.setdefault(array, []).append(self.log.record(-1, state, sets, here))

    def spoiled(self, state: PairState, targets: set[tuple[object, ...]], condition: Term) -> None:
        """The thread writes somewhere in these objects, as the analysis names them."""
        for array in self.world.arrays:
            if (array.elements[0], array.elements[-1]) in targets:
                self._wrong(array, state, condition)

    def found(self, state: PairState) -> tuple[Found, ...]:
        """The elements whose locks are held, and that were not 0 when they were taken."""
        result = []
        for array in self.world.arrays:
            for held in self._held(array, state):
                value = self.locking.view(state, held.found).bits
                condition = self.terms.and_(held.holds, self._is_set(value))
                result.append(Found(array, condition, held.offset))
        return tuple(result)


def _found(array: GuardedArray, site: Site) -> SharedCell:
    return SharedCell(("found", array, site), 0, array.size)


def _now(array: GuardedArray, site: Site) -> SharedCell:
    return SharedCell(("element", array, site), 0, array.size)
