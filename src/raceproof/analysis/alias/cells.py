"""The objects of a program, their cells, and addresses: (object, offset of a cell).

An offset of None stands for an unknown one, the result of integer arithmetic on an address. It
folds its object into one cell as soon as an access goes through it, not before: most such numbers
are hash values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from math import gcd
from typing import TYPE_CHECKING

from raceproof.analysis.alias.shapes import Shape
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.analysis.alias.solver import InclusionSolver


@dataclass(eq=False, slots=True)
class Thing:
    """An object, or all objects that one place of the program makes."""

    number: int
    descriptor: tuple[Hashable, ...]
    """What it is: ("global", name), ("function", name), ("slot", instruction), ..."""
    kind: BaseKind
    shape: Shape
    site: int | None = None
    """The instruction that makes it."""
    calls: tuple[int, ...] = ()
    """Those on the way to it, if others make other objects: see `frames`."""


class Cells:
    def __init__(self) -> None:
        self.solver: InclusionSolver
        self.things: list[Thing] = []
        self._is_coarse = False
        self._known: dict[tuple[Hashable, ...], Thing] = {}
        self.addresses: list[tuple[Thing, int | None]] = []
        self._owners: list[int] = []
        """Address -> the number of its object."""
        self._numbers: dict[tuple[int, int | None], int] = {}
        self._contents: list[dict[int, int]] = []
        """Thing -> cell -> the node of what it holds."""
        self._copies: list[dict[tuple[int, int, int, int | None], None]] = []
        """Thing -> copies of its memory: target, cell there, cell here, bytes (None: unknown)."""

    def thing(
        self,
        descriptor: tuple[Hashable, ...],
        kind: BaseKind,
        shape: Shape,
        site: int | None = None,
        calls: tuple[int, ...] = (),
    ) -> Thing:
        found = self._known.get(descriptor)
        if found is None:
            found = Thing(len(self.things), descriptor, kind, shape, site, calls)
            self._known[descriptor] = found
            self.things.append(found)
            self._contents.append({})
            self._copies.append({})
            if self._is_coarse:
                shape.fold(1)
        return found

    def find(self, *descriptor: Hashable) -> Thing | None:
        return self._known.get(descriptor)

    def address(self, thing: Thing, offset: int | None = 0) -> int:
        """The number of an address, from 0."""
        if offset is not None:
            offset = thing.shape.canonical(offset)
        key = (thing.number, offset)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.addresses)
            self.addresses.append((thing, offset))
            self._owners.append(thing.number)
            if offset is not None:
                thing.shape.offsets.add(offset)
                if thing.shape.is_full():
                    self.fold(thing, gcd(*thing.shape.offsets))
        return number

    def coarsen(self) -> None:
        """From now on every object is one cell."""
        self._is_coarse = True
        for thing in list(self.things):
            self.fold(thing, 1)

    # --- what the solver asks ------------------------------------------------------------

    def moved(self, address: int, distance: int, scales: tuple[int, ...] = ()) -> int:
        """The addresses that many bytes on, plus any multiples of the scales, as a bit set."""
        thing, offset = self.addresses[address]
        if offset is None or thing.descriptor[0] == "function":
            return 1 << address
        shape = thing.shape
        offset = shape.canonical(offset)
        places = shape.moved(offset, distance) if distance else {offset}
        if scales:
            for place, scale in product(places, scales):
                if shape.wake(place, scale):
                    self._regroup(thing)
            outside = not places
            if outside or not all(shape.holds_index(p, s) for p in places for s in scales):
                self.fold(thing, gcd(*scales, distance if outside else 0) or 1)
            places = {shape.canonical(place) for place in places or {offset}}
        found = 0
        for place in places:
            found |= 1 << self.address(thing, place)
        return found

    def contents(self, address: int, distance: int = 0) -> list[int]:
        """The nodes of the cells that many bytes on."""
        thing, offset = self.addresses[address]
        if offset is None:
            self.fold(thing, 1)
            return [self.content(thing, 0)]
        offset = thing.shape.canonical(offset)
        if not distance:
            return [self.content(thing, offset)]
        places = thing.shape.moved(offset, distance)
        return [self.content(thing, place) for place in sorted(places)]

    def whole_contents(self, addresses: list[int]) -> list[int]:
        """The nodes of what the objects hold, if each of them is one cell."""
        numbers = set(map(self._owners.__getitem__, addresses))
        return [self.content(self.things[number], 0) for number in sorted(numbers)]

    def content(self, thing: Thing, offset: int) -> int:
        """The node of what a cell holds."""
        table = self._contents[thing.number]
        offset = thing.shape.canonical(offset)
        node = table.get(offset)
        if node is None:
            node = table[offset] = self.solver.node()
            for copy in list(self._copies[thing.number]):
                self._copy_cell(thing, offset, copy)
        return self.solver.find(node)

    def contents_of(self, thing: Thing) -> Iterator[tuple[int, int]]:
        """All cells and what they hold."""
        for offset, node in sorted(self._contents[thing.number].items()):
            yield offset, self.solver.held(node)

    def fold(self, thing: Thing, stride: int) -> None:
        """Makes the cells at offsets equal modulo `stride` one."""
        if thing.shape.fold(stride):
            self._regroup(thing)

    def _regroup(self, thing: Thing) -> None:
        """The shape has become coarser: merges the cells that are one now."""
        table = self._contents[thing.number]
        folded: dict[int, int] = {}
        self._contents[thing.number] = folded
        for offset, node in table.items():
            place = thing.shape.canonical(offset)
            if place in folded:
                self.solver.merge(folded[place], node)
            else:
                folded[place] = node
        thing.shape.offsets = {thing.shape.canonical(o) for o in thing.shape.offsets}
        for copy in list(self._copies[thing.number]):
            for offset in list(self._contents[thing.number]):
                self._copy_cell(thing, offset, copy)

    # --- copies of memory ------------------------------------------------------------

    def copy_memory(self, target: int, source: int, size: int | None) -> None:
        """`memcpy` between two addresses: what the one object holds or will hold, at the same
        distance the other holds too."""
        to, to_offset = self.addresses[target]
        thing, offset = self.addresses[source]
        if "function" in (to.descriptor[0], thing.descriptor[0]):
            return
        if to_offset is None:
            self.fold(to, 1)
        if offset is None:
            self.fold(thing, 1)
        copy = (to.number, to_offset or 0, offset or 0, size)
        if copy in self._copies[thing.number]:
            return
        self._copies[thing.number][copy] = None
        for cell in list(self._contents[thing.number]):
            self._copy_cell(thing, cell, copy)

    def _copy_cell(self, thing: Thing, cell: int, copy: tuple[int, int, int, int | None]) -> None:
        number, to_offset, from_offset, size = copy
        target = self.things[number]
        start = thing.shape.canonical(from_offset)
        _, _, distance = thing.shape.places(cell)
        is_exact = not thing.shape.places(start)[2]
        if (
            is_exact
            and not distance
            and not (start <= cell and (size is None or cell < start + size))
        ):
            return
        place = target.shape.canonical(to_offset)
        places = target.shape.moved(place, cell - start)
        if distance:
            for p in places:
                if target.shape.wake(p, distance):
                    self._regroup(target)
            if not all(target.shape.holds_index(p, distance) for p in places):
                self.fold(target, distance)
            places = {target.shape.canonical(p) for p in places}
        if not is_exact and not places:
            self.fold(target, thing.shape.places(start)[2])
            places = target.shape.moved(target.shape.canonical(to_offset), cell - start)
        node = self._contents[thing.number].get(cell)
        if node is None:
            node = self.content(thing, cell)
        for p in places:
            self.solver.copy(node, self.content(target, p))
