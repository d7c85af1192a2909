"""The state machine of memory bases (RacerF, figure 6; after Eraser).

Each access by a thread moves its base on:

    untouched --read by t--> ReadOnly t --write by t--> Exclusive t
    untouched --write by t------------------------->  Exclusive t
    ReadOnly t --read by u--> Shared --write by anyone--> SharedMod
    ReadOnly t --write by u--> SharedMod
    Exclusive t --any by u--> SharedMod

Only a base that ends as SharedMod can have a race, or one that ends as Exclusive of a thread of
which several instances run. Everything else needs no look at pairs of accesses. The order of the
accesses makes no difference to where a base ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Use(Enum):
    READ_ONLY = "ReadOnly"
    EXCLUSIVE = "Exclusive"
    SHARED = "Shared"
    SHARED_MODIFIED = "SharedMod"


@dataclass(frozen=True, slots=True)
class Sharing:
    """How a base is used so far; `owner` is the only thread, where there is one."""

    use: Use
    owner: int | None = None

    def after(self, thread: int, is_write: bool) -> Sharing:
        """The state after one more access."""
        if self.owner == thread:
            if is_write and self.use is Use.READ_ONLY:
                return Sharing(Use.EXCLUSIVE, thread)
            return self
        if self.use is Use.READ_ONLY or self.use is Use.SHARED:
            return Sharing(Use.SHARED_MODIFIED if is_write else Use.SHARED)
        return Sharing(Use.SHARED_MODIFIED)

    def is_vulnerable(self, many: int) -> bool:
        """Can there be a race? `many`: bit set of the threads with several instances."""
        if self.use is Use.SHARED_MODIFIED:
            return True
        return self.use is Use.EXCLUSIVE and self.owner is not None and bool(many >> self.owner & 1)

    def is_shared(self, many: int) -> bool:
        """Do several threads access it, or several instances of one?"""
        return self.owner is None or bool(many >> self.owner & 1)


def first(thread: int, is_write: bool) -> Sharing:
    return Sharing(Use.EXCLUSIVE if is_write else Use.READ_ONLY, thread)


def sharing_of(accesses: Iterable[tuple[int, bool]]) -> Sharing:
    """The state after all accesses (thread, is it a write), of which there is at least one."""
    state: Sharing | None = None
    for thread, is_write in accesses:
        state = first(thread, is_write) if state is None else state.after(thread, is_write)
    assert state is not None
    return state
