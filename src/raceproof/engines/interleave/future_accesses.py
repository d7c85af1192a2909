"""What a thread may still do, learned from what it was seen to do.

For each thread there is a graph: its *points* (where its frames stand) are the nodes, the
transitions that it was seen to take are the edges, with all they touched. What a thread may do from
a point is what the edges reachable from there touch, and what the threads do that it creates there.

A thread that is held up may never be seen to go on, just because of what went before it. So what it
looks at is entered, too, as a step that leads nowhere.

The graphs hold only what was seen, so an answer may be too small, until the exploration is over.
Whoever relied on one asks again then (`version` tells whether it can have changed).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from raceproof.engines.interleave.access_sets import NOTHING, AccessSet

Node = tuple[int, int]
"""Thread and point."""

Need = tuple[Any, bool]
"""A lock, or ("thread", number), that its holders must let go of; whether only to read."""

Held = frozenset[tuple[Any, bool]]
"""Locks, and threads that are not over; whether held for reading only."""


@dataclass(slots=True)
class _Edge:
    strong: AccessSet = NOTHING
    whole: AccessSet = NOTHING


@dataclass(slots=True)
class _Point:
    edges: dict[tuple[tuple[Node, ...], Need | None], _Edge] = field(default_factory=dict)


class FutureAccesses:
    """The graphs of all threads."""

    def __init__(self) -> None:
        self._points: dict[Node, _Point] = {}
        self._answers: dict[tuple[Node, Held], AccessSet] = {}
        self.version = 0
        self.has_cancellation = False

    def learn(
        self,
        node: Node,
        need: Need | None,
        targets: tuple[Node, ...],
        strong: AccessSet,
        whole: AccessSet,
    ) -> None:
        """A transition from `node` to `targets` (of its thread, and of threads it created)."""
        edges = self._points.setdefault(node, _Point()).edges
        edge = edges.get((targets, need))
        if edge is None:
            edge = edges[targets, need] = _Edge()
            self._changed()
        new_strong, new_whole = edge.strong.union(strong), edge.whole.union(whole)
        if new_whole != edge.whole or new_strong != edge.strong:
            edge.strong, edge.whole = new_strong, new_whole
            self._changed()

    def note_cancellation(self) -> None:
        if not self.has_cancellation:
            self.has_cancellation = True
            self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._answers.clear()

    def next(self, node: Node) -> AccessSet | None:
        """What the next transition touches but for its plain accesses; None if none was seen."""
        point = self._points.get(node)
        if point is None:
            return None
        found = NOTHING
        for edge in point.edges.values():
            found = found.union(edge.strong)
        return found

    def after(self, node: Node, held: Held) -> AccessSet:
        """What may be touched from here on, as long as `held` stays with its holders."""
        found = self._answers.get((node, held))
        if found is None:
            found = self._answers[node, held] = self._search(node, held)
        return found

    def _search(self, node: Node, held: Held) -> AccessSet:
        found = NOTHING
        seen = {node}
        work = [node]
        while work:
            point = self._points.get(work.pop())
            if point is None:
                continue
            for (targets, need), edge in point.edges.items():
                if need is not None and _is_held(need, held):
                    continue
                found = found.union(edge.whole)
                for target in targets:
                    if target not in seen:
                        seen.add(target)
                        work.append(target)
        return found._replace(is_final=False)  # who ends the execution meets no race after it


def _is_held(need: Need, held: Held) -> bool:
    key, only_reads = need
    return (key, False) in held or (not only_reads and (key, True) in held)
