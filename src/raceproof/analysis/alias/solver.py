"""Inclusion constraints between sets of addresses, solved to the least solution.

A node has a set of addresses, an int used as a bit set. Constraints:

    copy(a, b)           b holds whatever a holds                       b = a
    shift(a, b, d, s)    the same, moved by d bytes and an index        b = a + d + i * s
    load(a, b, k)        whatever the cells at a + k hold               b = *(a + k)
    store(a, b, k)       the cells at a + k hold what b holds           *(a + k) = b
    each(a, f)           f is told each address that a holds, once      calls, copies of memory

Solved in waves: cycles of copies become one node, new addresses go along the copies in topological
order, then the other constraints turn them into new copies; until nothing is new. (Pereira and
Berlin, "Wave propagation and deep propagation for pointer analysis".)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from raceproof.ir.components import strongly_connected

if TYPE_CHECKING:
    from raceproof.analysis.alias.cells import Cells

Hook = Callable[[int], None]
Shift = tuple[int, int, tuple[int, ...]]


_FEW_BITS = 4
_MANY_STEPS = 1_000_000
"""Constraints applied to single addresses; from so many on members are no longer told apart."""


class OutOfTime(Exception):
    """The constraints take longer to solve than there is time."""


def bits(number: int) -> list[int]:
    """The places of the ones, in order."""
    if number.bit_count() > _FEW_BITS:
        return _many_bits(number)
    found = []
    while number:
        low = number & -number
        found.append(low.bit_length() - 1)
        number ^= low
    return found


def _many_bits(number: int) -> list[int]:
    """Taking out one after the other would copy the number each time."""
    digits = bin(number)[:1:-1]
    found = []
    place = digits.find("1")
    while place >= 0:
        found.append(place)
        place = digits.find("1", place + 1)
    return found


class InclusionSolver:
    def __init__(self, cells: Cells, is_late: Callable[[], bool] = lambda: False) -> None:
        self.cells = cells
        cells.solver = self
        self._is_late = is_late
        self._parent: list[int] = []
        self.points: list[int] = []
        """Node -> the addresses it holds."""
        self._new: list[int] = []
        """Node -> those that have not gone along the copies."""
        self._waiting: list[int] = []
        """Node -> those that the other constraints have not seen."""
        self._copies: list[set[int]] = []
        self._shifts: list[list[Shift]] = []
        self._loads: list[list[tuple[int, int]]] = []
        self._stores: list[list[tuple[int, int]]] = []
        self._hooks: list[list[Hook]] = []
        self._dirty: set[int] = set()
        self._busy: set[int] = set()
        self._new_edges = 0
        self._steps = 0
        self._is_coarse = False

    def node(self) -> int:
        number = len(self._parent)
        self._parent.append(number)
        for table in (self.points, self._new, self._waiting):
            table.append(0)
        self._copies.append(set())
        self._shifts.append([])
        self._loads.append([])
        self._stores.append([])
        self._hooks.append([])
        return number

    def find(self, node: int) -> int:
        parent = self._parent
        root = node
        while parent[root] != root:
            root = parent[root]
        while parent[node] != root:
            parent[node], node = root, parent[node]
        return root

    def held(self, node: int) -> int:
        return self.points[self.find(node)]

    # --- constraints ------------------------------------------------------------

    def add(self, node: int, addresses: int) -> None:
        node = self.find(node)
        fresh = addresses & ~self.points[node]
        if fresh:
            self.points[node] |= fresh
            self._new[node] |= fresh
            self._waiting[node] |= fresh
            self._dirty.add(node)
            self._busy.add(node)

    def copy(self, source: int, target: int) -> None:
        source, target = self.find(source), self.find(target)
        if source == target or target in self._copies[source]:
            return
        self._copies[source].add(target)
        self._new_edges += 1
        if self.points[source]:
            self.add(target, self.points[source])

    def shift(self, source: int, target: int, distance: int, scales: tuple[int, ...]) -> None:
        if self._is_coarse:
            self.copy(source, target)
            return
        source = self.find(source)
        self._shifts[source].append((target, distance, scales))
        self._again(source, lambda a: self._shifted(a, target, distance, scales))

    def load(self, pointer: int, target: int, distance: int = 0) -> None:
        pointer = self.find(pointer)
        self._loads[pointer].append((target, distance))
        self._again(pointer, lambda a: self._loaded(a, target, distance))

    def store(self, pointer: int, value: int, distance: int = 0) -> None:
        pointer = self.find(pointer)
        self._stores[pointer].append((value, distance))
        self._again(pointer, lambda a: self._stored(a, value, distance))

    def each(self, node: int, hook: Hook) -> None:
        node = self.find(node)
        self._hooks[node].append(hook)
        self._again(node, hook)

    def _again(self, node: int, hook: Hook) -> None:
        """A new constraint sees the addresses that the old ones have seen already."""
        for address in bits(self.points[node] & ~self._waiting[node]):
            hook(address)

    def merge(self, a: int, b: int) -> None:
        """Makes two nodes one."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        seen = (self.points[a] & ~self._waiting[a]) & (self.points[b] & ~self._waiting[b])
        self._parent[b] = a
        self.points[a] |= self.points[b]
        self._copies[a] |= self._copies[b]
        self._copies[b] = set()
        self._shifts[a] += self._shifts[b]
        self._loads[a] += self._loads[b]
        self._stores[a] += self._stores[b]
        self._hooks[a] += self._hooks[b]
        self._new[a] = self.points[a]
        self._waiting[a] = self.points[a] & ~seen
        self._dirty.discard(b)
        self._busy.discard(b)
        if self._new[a]:
            self._dirty.add(a)
            self._busy.add(a)

    # --- what the other constraints do with one address ---------------------------------------

    def _shifted(self, address: int, target: int, distance: int, scales: tuple[int, ...]) -> None:
        self.add(target, self.cells.moved(address, distance, scales))

    def _loaded(self, address: int, target: int, distance: int) -> None:
        for content in self.cells.contents(address, distance):
            self.copy(content, target)

    def _stored(self, address: int, value: int, distance: int) -> None:
        for content in self.cells.contents(address, distance):
            self.copy(value, content)

    # --- solving ------------------------------------------------------------

    def solve(self) -> None:
        self._new_edges += 1
        order: dict[int, int] = {}
        while self._dirty or self._busy:
            if self._is_late():
                raise OutOfTime
            if self._new_edges > len(self._parent) // 20 or not order:
                order = self._collapse()
                self._new_edges = 0
            self._propagate(order)
            self._turn()
            if self._steps > _MANY_STEPS and not self._is_coarse:
                self._coarsen()

    def _coarsen(self) -> None:
        """Every object becomes one cell, so moving a pointer changes nothing: large programs with
        large sets are solved in time, with less precision."""
        self._is_coarse = True
        self.cells.coarsen()
        for node, shifts in enumerate(self._shifts):
            for target, _, _ in shifts:
                self.copy(node, target)
            self._shifts[node] = []

    def _collapse(self) -> dict[int, int]:
        """Cycles become one node; returns the others in topological order."""
        roots = [n for n, parent in enumerate(self._parent) if parent == n]
        index = {node: i for i, node in enumerate(roots)}
        graph: list[Sequence[int]] = [()] * len(roots)
        for node in roots:
            if self._copies[node]:
                targets = {self.find(target) for target in self._copies[node]} - {node}
                self._copies[node] = targets
                at = index[node]
                graph[at] = [index[target] for target in targets]
        components = strongly_connected(graph)
        order: dict[int, int] = {}
        for rank, component in enumerate(reversed(components)):
            first = roots[component[0]]
            for other in component[1:]:
                self.merge(first, roots[other])
            order[self.find(first)] = rank
        return order

    def _propagate(self, order: dict[int, int]) -> None:
        from heapq import heapify, heappop, heappush

        last = len(order)
        queue = [(order.get(node, last), node) for node in self._dirty]
        heapify(queue)
        while queue:
            _, node = heappop(queue)
            if self._parent[node] != node:
                continue
            fresh = self._new[node]
            if not fresh:
                self._dirty.discard(node)
                continue
            self._new[node] = 0
            self._dirty.discard(node)
            for target in self._copies[node]:
                target = self.find(target)
                if fresh & ~self.points[target]:
                    self.add(target, fresh)
                    heappush(queue, (order.get(target, last), target))

    def _turn(self) -> None:
        """Each other constraint sees the addresses that are new to it."""
        busy, self._busy = self._busy, set()
        for count, node in enumerate(sorted(busy)):
            if count % 256 == 0 and self._is_late():
                raise OutOfTime
            if self._parent[node] != node:
                self._busy.add(self.find(node))
                continue
            fresh, self._waiting[node] = self._waiting[node], 0
            if not fresh:
                continue
            self._apply(node, bits(fresh))

    def _apply(self, node: int, addresses: list[int]) -> None:
        shifts, loads = tuple(self._shifts[node]), tuple(self._loads[node])
        stores, hooks = tuple(self._stores[node]), tuple(self._hooks[node])
        if not (shifts or loads or stores or hooks):
            return
        self._steps += len(addresses) * (len(shifts) + len(loads) + len(stores) + len(hooks))
        if self._is_coarse and (loads or stores):
            for content in self.cells.whole_contents(addresses):
                for target, _ in loads:
                    self.copy(content, target)
                for value, _ in stores:
                    self.copy(value, content)
            loads = stores = ()
        if not (shifts or loads or stores or hooks):
            return
        for count, address in enumerate(addresses):
            if count % 64 == 63 and self._is_late():
                raise OutOfTime
            for target, distance, scales in shifts:
                self._shifted(address, target, distance, scales)
            for target, distance in loads:
                self._loaded(address, target, distance)
            for value, distance in stores:
                self._stored(address, value, distance)
            for hook in hooks:
                hook(address)
