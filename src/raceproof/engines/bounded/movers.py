"""Plain accesses need no context switch before them.

We look for the first race of an execution. Before it, no two threads ever stand before accesses
that race. Take a plain access `a` of a thread, and move it to the left until it directly follows
the thread's step before it. It could only fail to pass a step `b` of another thread that accesses
the same bytes and one of the two writes; but then, just before `b`, both threads stood before their
accesses, and that was a race already, as `a` is plain. So every first race is found by executions
in which a thread goes through its plain accesses without a pause. It may still stop before one for
good: that is where the race is.

Where only some candidates are looked at, an access moves only if all that could stop it are among
them.
"""

from __future__ import annotations

from raceproof.engines.bounded.cells import Cell, UnfoldCells
from raceproof.engines.bounded.events import UnfoldEvent, Unfolding

Pairs = frozenset[frozenset[int]]
"""Pairs of instructions that are looked at."""
_KINDS = frozenset({"read", "write", "copy", "call"})
_Access = tuple[int, int, bool]
"""Thread, instruction, whether it writes."""


class Movers:
    """Which events of an unfolding follow their predecessors at once."""

    def __init__(
        self, unfolding: Unfolding, cells: UnfoldCells, pairs: Pairs | None = None
    ) -> None:
        self._cells = cells
        self._pairs = pairs
        self._users: dict[Cell, set[_Access]] = {}
        if pairs is not None:
            for thread in unfolding.threads:
                for event in thread.events:
                    self._enter(event)

    def _enter(self, event: UnfoldEvent) -> None:
        for part in [part for part, _ in event.parts] or [event]:
            for access in part.accesses:
                for place in access.places:
                    for cell in self._cells.of(place, access.size):
                        user = (part.thread, part.instruction, access.is_write)
                        self._users.setdefault(cell, set()).add(user)

    def follows(self, event: UnfoldEvent) -> bool:
        """Whether no other thread needs to run just before the event."""
        if event.kind not in _KINDS or event.is_inner or event.parts or not event.index:
            return False
        if not event.accesses or any(access.is_atomic for access in event.accesses):
            return False
        if event.assume.operation != "const" or event.creates or event.is_fatal:
            return False
        return self._pairs is None or all(
            frozenset((event.instruction, instruction)) in self._pairs
            for access in event.accesses
            for place in access.places
            for cell in self._cells.of(place, access.size)
            for thread, instruction, is_write in self._users[cell]
            if thread != event.thread and (is_write or access.is_write)
        )
