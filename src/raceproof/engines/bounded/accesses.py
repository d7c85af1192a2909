"""How a thread of the unfolding touches memory.

An access through a pointer becomes a choice between the places where the pointer may lead. Places
that only this thread uses are read and written in its state at once; the others become operations
of a visible step.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import TYPE_CHECKING

from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.engines.bounded.events import Input, Place, Read, UnfoldAccess, UnfoldEvent, Write
from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.engines.bounded.sharing import UNKNOWN, VALUE_LIMIT, Targets, constants
from raceproof.engines.bounded.waiting import UnsharedAccess
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    pass

PLACE_LIMIT = 96
"""An index that may take more values than this is taken to take only the first of them."""


class ThreadMemory(Part):
    """The memory side of unfolding one thread."""

    # --- places ------------------------------------------------------------

    def places(self, address: Term, size: int) -> tuple[Place, ...]:
        """Where an access may go. Ends the path if there is no such place."""
        targets = self.sharing.targets(address)
        places, is_limited = self._candidates(address, targets, size)
        if len(places) > 4 * PLACE_LIMIT:
            is_limited = True
            del places[4 * PLACE_LIMIT :]
        if not places:
            if not (address.is_constant and address.constant == 0):
                self.cursor.cut("a pointer that may lead anywhere")
            raise PathEnds
        if not address.is_constant or any(place[0].length is not None for place in places):
            is_known = self.terms.any(self._inside(address, place, size) for place in places)
            if is_limited:
                self.cursor.cut("an index with too many possible values", self.terms.not_(is_known))
            if UNKNOWN in targets:
                self.cursor.cut("a pointer that may lead anywhere", self.terms.not_(is_known))
            elif not address.is_constant:
                self._cut_elsewhere(address, is_known)
            self.cursor.require(is_known)
        return tuple(places)

    def _cut_elsewhere(self, address: Term, is_known: Term) -> None:
        """No proof rests on the tables alone: they may not lead to another object than the pointer
        does. Null, and what lies near it, is the end of the path."""
        first = self.terms.const(self.space.first_address, address.width)
        is_somewhere = self.terms.compare("uge", address, first)
        condition = self.terms.and_(is_somewhere, self.terms.not_(is_known))
        self.cursor.cut("a pointer to an object that we did not expect", condition)

    def _candidates(self, address: Term, targets: Targets, size: int) -> tuple[list[Place], bool]:
        """The places of an access, and whether there may be more."""
        places: list[Place] = []
        is_limited = False
        for number, offset in sorted(targets, key=lambda t: (t[0], -1 if t[1] is None else t[1])):
            if number < 0:
                continue
            target = self.space.all[number]
            if target.function:
                continue
            if offset is not None:
                if offset >= 0 and offset + size <= target.size:
                    places.append((target, offset))
                else:
                    is_limited = is_limited or target.is_partial
                continue
            stride, rest = self._congruence(address)
            start = (rest - target.address) % stride
            offsets = range(start, target.size - size + 1, stride)
            is_limited = is_limited or target.is_partial
            if len(offsets) > PLACE_LIMIT:
                is_limited = True
                offsets = offsets[:PLACE_LIMIT]
            places += ((target, o) for o in offsets if (target, o) not in places)
        return places, is_limited

    def _inside(self, address: Term, place: Place, size: int) -> Term:
        """The access goes to this place, and the place exists."""
        here = self.at(address, place)
        length = place[0].length
        if length is None:
            return here
        end = self.terms.const(place[1] + size, length.width)
        return self.terms.and_(here, self.terms.compare("ule", end, length))

    def at(self, address: Term, place: Place) -> Term:
        target = self.terms.const(place[0].address + place[1], address.width)
        return self.terms.eq(address, target)

    def _congruence(self, term: Term) -> tuple[int, int]:
        """(m, r) such that the value is always r modulo m, m at most the pointer's range."""
        if term.is_constant:
            return 1 << term.width, term.constant
        a = term.arguments
        match term.operation:
            case "add":
                (m, r), (n, s) = self._congruence(a[0]), self._congruence(a[1])
                divisor = gcd(m, n)
                return divisor, (r + s) % divisor
            case "mul" if a[1].is_constant and 0 < a[1].constant < 1 << 16:
                m, r = self._congruence(a[0])
                factor = a[1].constant
                if m < 1 << 16:
                    return m * factor, r * factor % (m * factor)
                return factor, 0
            case "shl" if a[1].is_constant and a[1].constant < 16:
                return 1 << a[1].constant, 0
            case "ite":
                (m, r), (n, s) = self._congruence(a[1]), self._congruence(a[2])
                divisor = gcd(gcd(m, n), abs(r - s))
                return divisor or m, r % (divisor or m)
            case "var":
                return self._alignment(self.sharing.targets(term))
        return 1, 0

    def _alignment(self, targets: Targets) -> tuple[int, int]:
        """The congruence of a pointer to one of the targets; objects begin at multiples of 16."""
        divisor, rest = 16, 0
        for position, (_, offset) in enumerate(sorted(targets, key=str)):
            if offset is None:
                return 1, 0
            if position == 0:
                rest = offset
            divisor = gcd(divisor, abs(offset - rest))
        return (divisor, rest % divisor) if targets else (1, 0)

    def _record(self, places: tuple[Place, ...], size: int, *, is_write: bool) -> None:
        for target, offset in places:
            if not target.is_read_only:
                self.sharing.record(self.thread, target, offset, size, is_write=is_write)

    def _split(
        self, places: tuple[Place, ...], size: int
    ) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """The shared and the other places."""
        if not self.cursor.state.is_threaded:
            return (), places
        shared = tuple(
            place for place in places if self.sharing.is_shared(self.thread, *place, size)
        )
        return shared, tuple(place for place in places if place not in shared)

    # --- loads and stores ------------------------------------------------------------

    def read(
        self, address: Term, size: int, *, is_atomic: bool = False, is_access: bool = True
    ) -> Term:
        """The value of `size` bytes; with `is_access`, something that can race."""
        places = self.places(address, size)
        if self.cursor.state.is_threaded:
            self._record(places, size, is_write=False)
        shared, own = self._split(places, size)
        result: Term | None = None
        if shared:
            with self.cursor.step("read") as event:
                name = self.cursor.name("read")
                variable = self._few_values(name, shared, size)
                if variable is None:
                    variable = self.terms.var(name, size * 8)
                for target, offset in shared:
                    initial = self.unfolder.initial_value(target, offset, size)
                    if variable.operation == "var":
                        self.sharing.define(variable, self.sharing.loaded(target, offset, size))
                        self.sharing.define(variable, self.sharing.targets(initial))
                    self._note_input(initial, self.at(address, (target, offset)))
                event.operations.append(Read(variable, address, size, shared))
                if is_access:
                    self._add_access(event, address, size, shared, False, is_atomic)
                self.use(address, places)
                result = variable
        else:
            self.use(address, places)
        for place in own:
            value = self.read_own(place, size)
            self._note_input(value, self.at(address, place))
            result = (
                value if result is None else self.terms.ite(self.at(address, place), value, result)
            )
        assert result is not None
        return result

    def _few_values(self, name: str, shared: tuple[Place, ...], size: int) -> Term | None:
        """The value of a read as a choice between the constants that are ever stored there."""
        found: frozenset[int] = frozenset()
        for target, offset in shared:
            stored = self.sharing.values(target, offset, size)
            initial = constants(self.unfolder.initial_value(target, offset, size))
            if stored is None or initial is None:
                return None
            found |= stored | initial
            if len(found) > VALUE_LIMIT + 1:
                return None
        if len(found) < 2:
            return None
        first, *rest = sorted(found)
        result = self.terms.const(first, size * 8)
        for value in rest:
            is_it = self.terms.var(f"{name} is {value}", 1)
            result = self.terms.ite(is_it, self.terms.const(value, size * 8), result)
        return result

    def _note_input(self, value: Term, condition: Term) -> None:
        """Uninitialised memory is an input when it is first read."""
        if value.operation == "var" and str(value.value).startswith("uninitialised"):
            guard = self.terms.and_(self.cursor.state.guard, condition)
            number = self.cursor.instruction.number if self.cursor.instruction else -1
            self.body.inputs.append(Input(len(self.body.events), guard, number, value))

    def write(
        self,
        address: Term,
        value: Term,
        *,
        is_atomic: bool = False,
        is_access: bool = True,
        condition: Term | None = None,
    ) -> None:
        terms = self.terms
        size = value.width // 8
        places = self.places(address, size)
        if self.cursor.state.is_threaded:
            self._record(places, size, is_write=True)
            targets = self.sharing.targets(value)
            for target, offset in places:
                self.sharing.stored(target, offset, targets)
                self.sharing.note_value(target, offset, value)
        shared, own = self._split(places, size)
        if shared:
            with self.cursor.step("write") as event:
                event.operations.append(
                    Write(value, address, size, shared, condition or terms.true)
                )
                if is_access:
                    self._add_access(event, address, size, shared, True, is_atomic)
                self.use(address, places)
        else:
            self.use(address, places)
        for place in own:
            when = self.at(address, place) if len(places) > 1 else terms.true
            if condition is not None:
                when = terms.and_(when, condition)
            new = value
            if when is not terms.true:
                new = terms.ite(when, value, self.read_own(place, size))
            self.write_own(place, new)

    # --- freed objects ------------------------------------------------------------

    def use(self, address: Term, places: Iterable[Place]) -> None:
        """A use of memory that this thread knows to be freed is where the execution ends, as on the
        machine. (What another thread has freed since is not looked at: that is a race, or a path
        too many.)"""
        terms = self.terms
        is_freed = terms.any(
            terms.and_(self.at(address, place), self._is_freed(place[0]))
            for place in places
            if place[0].freed is not None
        )
        if is_freed is terms.false:
            return
        if self.cursor.event is not None:
            self.cursor.event.assume = terms.and_(self.cursor.event.assume, terms.not_(is_freed))
        else:
            self.cursor.require(terms.not_(is_freed))
        if is_freed is terms.true:
            raise PathEnds

    def _is_freed(self, target: UnfoldObject) -> Term:
        byte = self.cursor.state.read(self.space.freed(target), 0, 1)
        return self.terms.not_(self.terms.eq(byte, self.terms.const(0, 8)))

    def note_freed(self, address: Term, places: Iterable[Place]) -> None:
        terms = self.terms
        for target, offset in places:
            flag = self.space.freed(target)
            when = self.at(address, (target, offset))
            before = self.cursor.state.read(flag, 0, 1)
            self.cursor.state.write(flag, 0, terms.ite(when, terms.const(1, 8), before))

    def read_own(self, place: Place, size: int) -> Term:
        """From memory that is not shared."""
        self._note_own(place, size, is_write=False)
        return self.cursor.state.read(*place, size)

    def write_own(self, place: Place, value: Term) -> None:
        self._note_own(place, value.width // 8, is_write=True)
        self.cursor.state.write(*place, value)

    def _note_own(self, place: Place, size: int, *, is_write: bool) -> None:
        if self.cursor.state.is_threaded:
            target, start = place
            spot = (target.number, start, start + size)
            self.cursor.own_accesses.append(UnsharedAccess(spot, is_write, self.cursor.state.guard))

    def touch(
        self, address: Term, size: int | None, *, is_write: bool, is_atomic: bool = False
    ) -> None:
        """An access whose value is not looked at; without a size, to the end of the object."""
        if not self.cursor.state.is_threaded:
            return
        for place, length, condition in self.extents(address, size):
            target, start = place
            if target.is_read_only:
                continue
            self.sharing.record(self.thread, target, start, length, is_write=is_write)
            if self.sharing.is_shared(self.thread, target, start, length):
                with self.cursor.step("write" if is_write else "read") as event:
                    pointer = self.space.pointer(target, start)
                    self._add_access(
                        event, pointer, length, (place,), is_write, is_atomic, condition
                    )
                    self.use(address, (place,))
            else:
                self.use(address, (place,))

    def extents(self, address: Term, size: int | None) -> list[tuple[Place, int, Term]]:
        """The places of an access of any size, how many bytes of each, and when."""
        if address.is_constant and address.constant == 0:
            return []
        targets = self.sharing.targets(address)
        result: list[tuple[Place, int, Term]] = []
        for number, offset in sorted(targets, key=lambda t: (t[0], -1 if t[1] is None else t[1])):
            if number < 0 or self.space.all[number].function:
                continue
            target = self.space.all[number]
            if target.is_partial:
                self.cursor.cut("an object of unknown size")
            if offset is None:
                self.unfolder.result.is_exact = False
                result.append(((target, 0), target.size, self.terms.true))
                continue
            length = target.size - offset if size is None else min(size, target.size - offset)
            if length > 0 and offset >= 0:
                place = (target, offset)
                result.append((place, length, self.at(address, place)))
        if UNKNOWN in targets or not result:
            known = self.terms.any(self.at(address, place) for place, _, _ in result)
            self.cursor.cut("a pointer that may lead anywhere", self.terms.not_(known))
        return result

    def _add_access(
        self,
        event: UnfoldEvent,
        address: Term,
        size: int,
        places: tuple[Place, ...],
        is_write: bool,
        is_atomic: bool,
        condition: Term | None = None,
    ) -> None:
        is_atomic = is_atomic or self.cursor.state.section > 0
        event.accesses.append(
            UnfoldAccess(address, size, places, is_write, is_atomic, condition or self.terms.true)
        )
