"""What code does to the locks that its thread holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.engines.interleave.skeleton import ModelPlace

Lock = tuple[ModelPlace, bool]
"""Where it is, and whether it is held for reading only."""

ATOMIC: Lock = (ModelPlace("atomic", "", 0), False)
MayBe = Callable[[ModelPlace, ModelPlace], bool]
"""Whether two places, as one function sees them, may be the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a stretch of code does to the locks held: takes away, then adds. `None`: all."""

    lost: frozenset[ModelPlace] | None = frozenset()
    gained: frozenset[Lock] = frozenset()

    def then(self, later: Change, may_be: MayBe) -> Change:
        if later.lost is None:
            return Change(None, later.gained)
        lost = None if self.lost is None else self.lost | later.lost
        return Change(lost, later.gained | _kept(self.gained, later.lost, may_be))

    def meet(self, other: Change) -> Change:
        """What holds on both ways."""
        if self.lost is None or other.lost is None:
            return Change(None, self.gained & other.gained)
        return Change(self.lost | other.lost, self.gained & other.gained)

    def applied(self, held: frozenset[Lock], may_be: MayBe) -> frozenset[Lock]:
        if self.lost is None:
            return self.gained
        return self.gained | _kept(held, self.lost, may_be)


def _kept(locks: frozenset[Lock], lost: frozenset[ModelPlace], may_be: MayBe) -> frozenset[Lock]:
    if not lost:
        return locks
    return frozenset(lock for lock in locks if not any(may_be(lock[0], place) for place in lost))


NO_CHANGE = Change()
