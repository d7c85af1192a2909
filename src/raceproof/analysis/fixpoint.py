"""The fixpoint solver: states at places, joined until nothing changes.

One worklist does it, for the blocks of a function, for all functions of a thread at once, and for
the walk over points-to sets. What differs is policy:

- *context*: what a place is (its key): a block, a block in a round of its loops, a block of a
  function in a context; `Variants` says which states are kept apart at one place;
- *join*: how the state that arrives is joined with what is there, given how often the place was
  looked at, so that it can widen;
- *priority*: what is looked at next; in reverse post-order most places are looked at once.

The join gives the old state itself back if the new one adds nothing. States only grow, and the join
has to widen where they could grow for ever; then the end is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
S = TypeVar("S")
Priority = Any
"""Compared with those of the same solver only."""


class Node(Generic[S]):
    """What is known at a place."""

    __slots__ = ("is_queued", "state", "visits")

    def __init__(self, state: S) -> None:
        self.state = state
        self.visits = 0
        """How often it was looked at."""
        self.is_queued = False


class FixpointSolver(Generic[K, S]):
    def __init__(
        self, join: Callable[[K, Node[S], S], S], priority: Callable[[K], Priority]
    ) -> None:
        self.nodes: dict[K, Node[S]] = {}
        self._join = join
        self._priority = priority
        self._queue: list[tuple[Priority, int, K]] = []
        self._count = 0

    def arrive(self, key: K, state: S) -> None:
        """A state gets to a place."""
        node = self.nodes.get(key)
        if node is None:
            self.nodes[key] = Node(state)
        else:
            joined = self._join(key, node, state)
            if joined is node.state:
                return
            node.state = joined
        self.put(key)

    def put(self, key: K) -> None:
        """Something that a place depends on has changed: it is to be looked at (again)."""
        node = self.nodes[key]
        if not node.is_queued:
            node.is_queued = True
            self._count += 1
            heappush(self._queue, (self._priority(key), self._count, key))

    def pending(
        self, is_due: Callable[[Priority], bool] | None = None
    ) -> Iterator[tuple[K, Node[S]]]:
        """The places to look at, until none is left, or the first of them is not due. Places may be
        added meanwhile."""
        queue = self._queue
        while queue and (is_due is None or is_due(queue[0][0])):
            _, _, key = heappop(queue)
            node = self.nodes[key]
            node.is_queued = False
            node.visits += 1
            yield key, node


class Variants:
    """States that are kept apart at one place by a key, up to `most` keys; the rest together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Hashable, set[object]] = {}

    def of(self, place: Hashable, key: object) -> object:
        """The key, or None if the place has others enough."""
        known = self._known.setdefault(place, set())
        if key not in known:
            if len(known) >= self._most:
                return None
            known.add(key)
        return key
