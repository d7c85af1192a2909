"""Where paths lead in the whole program: a points-to analysis over the closed stores.

Inclusion-based and field-sensitive: a cell is an offset of an object (global, slot, allocation
site with its calls). Flow does not matter here, it was followed inside each function. A path that
would lead out of an object leads nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from math import gcd
from typing import TypeAlias

from raceproof.engines.summary.scope import overlap
from raceproof.engines.summary.terms import OBJECTS, Origin, Term

Place: TypeAlias = tuple[Origin, int, int]
"""Object, offset, stride."""

MAX_PLACES = 40
MAX_ROUNDS = 12
MAX_OFFSETS = 8


Extent: TypeAlias = Callable[[Origin], int]
"""How many bytes an object has; 0 if that is not known."""


class StoredContents:
    def __init__(self, stores: Iterable[tuple[Term, Term]], extent: Extent) -> None:
        self._extent = extent
        self._stores = list(dict.fromkeys(stores))
        self._cells: dict[Origin, dict[tuple[int, int], dict[Place, None]]] = defaultdict(dict)
        self._memo: dict[Term, tuple[Place, ...]] = {}
        self._under_way: set[Term] = set()
        self._solve()

    def places(self, term: Term) -> tuple[Place, ...]:
        """The bytes that an address term may mean."""
        found = self._memo.get(term)
        if found is None:
            if term in self._under_way:
                return ()
            self._under_way.add(term)
            found = self._memo[term] = self._places(term)
            self._under_way.discard(term)
        return found

    def writers(self, term: Term) -> int:
        """How many different values memory at the address may hold."""
        return len(self._loaded(term))

    def _places(self, term: Term) -> tuple[Place, ...]:
        origin, constant, stride, _ = term
        kind = origin[0]
        if kind == "f":
            return ((origin, constant, stride),)
        if kind in OBJECTS:
            place = self._inside(origin, constant, stride)
            return () if place is None else (place,)
        if kind != "*":
            return ()
        found: dict[Place, None] = {}
        for base, offset, own_stride in self._loaded(origin[1]):
            step = gcd(own_stride, stride)
            place = self._inside(base, offset + constant, step)
            if place is not None:
                found[place] = None
        return _few(found)

    def _inside(self, origin: Origin, offset: int, stride: int) -> Place | None:
        """The place, unless it is outside of its object.

        The offset of an array inside of a struct is kept (`pool.slots[i]` is not `pool.lock`); one
        that has run out of the object goes back to the first element it can mean.
        """
        extent = self._extent(origin) if origin[0] in OBJECTS else 0
        if stride and not 0 <= offset < (extent or stride):
            offset %= stride
        if extent and not 0 <= offset < extent:
            return None
        return origin, offset, stride

    def _loaded(self, address: Term) -> tuple[Place, ...]:
        found: dict[Place, None] = {}
        for base, offset, stride in self.places(address):
            cells = self._cells.get(base)
            if not cells:
                continue
            if not stride and (exact := cells.get((offset, 0))):
                found.update(exact)
                cells_left = [(key, v) for key, v in cells.items() if key[1]]
            else:
                cells_left = list(cells.items())
            for (at, step), values in cells_left:
                if overlap(at, step, offset, stride):
                    found.update(values)
            if len(found) > MAX_PLACES:
                break
        return _few(found)

    def _solve(self) -> None:
        pending = self._stores
        for _ in range(MAX_ROUNDS):
            changed = False
            self._memo.clear()
            for address, value in pending:
                values = self.places(value)
                if not values:
                    continue
                for base, offset, stride in self.places(address):
                    cell = self._cells[base].setdefault((offset, stride), {})
                    before = len(cell)
                    if before >= MAX_PLACES:
                        continue
                    cell.update(dict.fromkeys(values))
                    changed = changed or len(cell) != before
            if not changed:
                break
        self._memo.clear()


def _few(places: dict[Place, None]) -> tuple[Place, ...]:
    if len(places) <= MAX_OFFSETS:
        return tuple(places)
    by_origin: dict[Origin, list[Place]] = defaultdict(list)
    for place in places:
        by_origin[place[0]].append(place)
    found: list[Place] = []
    for origin, same in by_origin.items():
        if len(same) <= MAX_OFFSETS:
            found.extend(same)
        else:
            found.append((origin, min(offset for _, offset, _ in same), 1))
    return tuple(found[:MAX_PLACES])
