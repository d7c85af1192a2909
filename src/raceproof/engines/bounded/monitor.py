"""The race monitor: do two threads stand before accesses to the same byte?

The paper sets a shadow flag for every byte that the last step of one context writes and looks at
the flags in the first step of the next context. Both steps are then adjacent, so just before the
first of them both threads stood before their accesses. That is what we ask for directly, at the end
of the simulated execution: for every cell of shared memory one flag for each thread and kind of
access, set if the thread's next step is such an access. Two accesses race if they come from
different threads, one of them writes and not both are atomic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.engines.bounded.cells import Cell, UnfoldCells
from raceproof.engines.bounded.events import UnfoldAccess, UnfoldEvent, Unfolding
from raceproof.engines.bounded.movers import Pairs
from raceproof.smt.solver import Model
from raceproof.smt.terms import Term, Terms

_KINDS = ((False, False), (False, True), (True, False), (True, True))
"""(writes, is atomic)"""


def conflicts(a: tuple[bool, bool], b: tuple[bool, bool]) -> bool:
    return (a[0] or b[0]) and not (a[1] and b[1])


@dataclass(frozen=True, slots=True, eq=False)
class RacingPair:
    """Two accesses that a model shows to race, and the cell they share."""

    first: UnfoldEvent
    first_access: UnfoldAccess
    second: UnfoldEvent
    second_access: UnfoldAccess
    cell: Cell


class Monitor:
    """Looks at all shared memory, or at the instructions of some candidates only."""

    def __init__(
        self,
        terms: Terms,
        unfolding: Unfolding,
        cells: UnfoldCells,
        stands_before: Callable[[UnfoldEvent], Term],
        pairs: Pairs | None = None,
    ) -> None:
        self._terms = terms
        self._cells = cells
        self._pairs = pairs
        self._stands: dict[int, Term] = {}
        self._flags: dict[Cell, list[tuple[UnfoldEvent, UnfoldAccess, Term]]] = {}
        wanted = None if self._pairs is None else {i for pair in self._pairs for i in pair}
        for thread in unfolding.threads:
            for event in thread.events:
                for part, reached in event.parts or ((event, terms.true),):
                    if not part.accesses:
                        continue
                    if wanted is not None and part.instruction not in wanted:
                        continue
                    stands = terms.and_(stands_before(event), reached)
                    for access in part.accesses:
                        self._watch(part, access, stands)

    def _watch(self, event: UnfoldEvent, access: UnfoldAccess, stands: Term) -> None:
        terms = self._terms
        stands = terms.and_(stands, access.condition)
        for place in access.places:
            target = terms.const(place[0].address + place[1], access.address.width)
            here = terms.and_(stands, terms.eq(access.address, target))
            if here is terms.false:
                continue
            for cell in self._cells.of(place, access.size):
                self._flags.setdefault(cell, []).append((event, access, here))

    def race(self) -> Term:
        """Some two threads race."""
        terms = self._terms
        races = []
        for watched in self._flags.values():
            flags: dict[tuple[int, tuple[bool, bool], int], list[Term]] = {}
            for event, access, here in watched:
                kind = (access.is_write, access.is_atomic)
                instruction = event.instruction if self._pairs is not None else 0
                flags.setdefault((event.thread, kind, instruction), []).append(here)
            merged = [(key, terms.any(found)) for key, found in flags.items()]
            for position, (a, flag) in enumerate(merged):
                for b, other in merged[position + 1 :]:
                    if a[0] == b[0] or not conflicts(a[1], b[1]):
                        continue
                    if self._pairs is not None and frozenset((a[2], b[2])) not in self._pairs:
                        continue
                    races.append(terms.and_(flag, other))
        return terms.any(races)

    def other_than(self, pair: RacingPair) -> Term:
        """A race between other accesses than these."""
        terms = self._terms
        flags = [
            terms.any(
                here
                for watched in self._flags.values()
                for event, _, here in watched
                if event is wanted
            )
            for wanted in (pair.first, pair.second)
        ]
        return terms.not_(terms.and_(*flags))

    def pair(self, model: Model) -> RacingPair | None:
        """The racing accesses in a model."""
        for cell, watched in self._flags.items():
            true = [(e, a) for e, a, here in watched if model.holds(here)]
            for position, (event, access) in enumerate(true):
                for other, other_access in true[position + 1 :]:
                    if event.thread != other.thread and conflicts(
                        (access.is_write, access.is_atomic),
                        (other_access.is_write, other_access.is_atomic),
                    ):
                        return RacingPair(event, access, other, other_access, cell)
        return None
