"""The state of a thread beside values, as a product of facets: one idea, one file.

`Facets` is the list. A field is a facet: its name, the type of its value, and what it does
(`facet.Facet`). Everything that is done with a whole state, a copy, a join, a comparison, a key for
memoisation, what an access records, is derived from this list, so a facet cannot be left out.

Facets are values: shared, never changed in place.
"""

# no `from __future__ import annotations`: the list below is read from the annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Annotated, Any, NamedTuple, cast

from raceproof.analysis.facets.acquisition_order import AcquisitionOrder, Order
from raceproof.analysis.facets.barrier_waits import BarrierWaits, Phases
from raceproof.analysis.facets.creation_lockset import (
    CreationLockset,
    CreationLocksTaken,
    ThreadLocks,
)
from raceproof.analysis.facets.depends_on_others import DependsOnOthers
from raceproof.analysis.facets.facet import (
    Acquire,
    Creation,
    EventContext,
    Facet,
    InAccess,
    Reason,
    Release,
)
from raceproof.analysis.facets.fresh_objects import FreshObjects, Objects
from raceproof.analysis.facets.may_lockset import MayLockset
from raceproof.analysis.facets.must_lockset import Lockset, MustLockset
from raceproof.analysis.facets.parallel_threads import MayParallel, MustParallel
from raceproof.analysis.facets.semaphore_order import AllUses, SemaphoreOrder
from raceproof.analysis.facets.symbolic_locks import SymbolicLocks
from raceproof.analysis.facets.thread_pools import ThreadPools, ThreadPoolsFacet
from raceproof.analysis.facets.unmatched_releases import UnmatchedReleases
from raceproof.analysis.facets.zero_cells import Cells, ZeroCells
from raceproof.analysis.locks import ATOMIC, LockKey, SymbolicLock, holding
from raceproof.analysis.names import Token
from raceproof.concurrency.events import Event
from raceproof.domains.integers import Integers


class Facets(NamedTuple):
    """In this order their reasons are asked whether a pair of accesses can race."""

    may_parallel: Annotated[int, MayParallel()]
    must_parallel: Annotated[int, MustParallel()]
    barrier_waits: Annotated[Phases, BarrierWaits()]
    semaphore_order: Annotated[AllUses, SemaphoreOrder()]
    creation_lockset: Annotated[ThreadLocks, CreationLockset()]
    creation_locks_taken: Annotated[frozenset[LockKey], CreationLocksTaken()]
    must_lockset: Annotated[Lockset, MustLockset()]
    may_lockset: Annotated[frozenset[LockKey], MayLockset()]
    symbolic_locks: Annotated[frozenset[SymbolicLock], SymbolicLocks()]
    acquisition_order: Annotated[Order, AcquisitionOrder()]
    depends_on_others: Annotated[bool, DependsOnOthers()]
    unmatched_releases: Annotated[frozenset[LockKey], UnmatchedReleases()]
    zero_cells: Annotated[Cells, ZeroCells()]
    fresh_objects: Annotated[Objects, FreshObjects()]
    thread_pools: Annotated[ThreadPools, ThreadPoolsFacet()]

    # --- order ------------------------------------------------------------

    def join(self, other: "Facets") -> "Facets":
        """What holds for both; the same object if `other` adds nothing."""
        if self is other:
            return self
        values = [
            mine
            if mine is theirs and not facet.is_relational
            else facet.join(mine, theirs, self, other)
            for facet, mine, theirs in zip(FACETS, self, other, strict=True)
        ]
        joined = Facets._make(values)
        return self if joined == self else joined

    def covers(self, other: "Facets") -> bool:
        """Does every execution that `other` describes fit this?"""
        return self.join(other) is self

    @property
    def block_key(self) -> object:
        """States with different keys are kept apart where control flow joins."""
        return _block_key(self)

    @property
    def exit_key(self) -> object:
        """The same, where a function is left."""
        return _exit_key(self)

    @property
    def holds_atomic(self) -> bool:
        return holding(self.must_lockset, ATOMIC) is not None

    # --- events: see `Facet` ------------------------------------------------------------

    def acquire(self, event: Acquire) -> "Facets":
        return _after(_ACQUIRE, self, event)

    def release(self, event: Release) -> "Facets":
        return _after(_RELEASE, self, event)

    def create(self, event: Creation) -> "Facets":
        return _after(_CREATE, self, event)

    def ended(self, gone: int) -> "Facets":
        return _after(_ENDED, self, gone)

    def may_have_ended(self, threads: int) -> "Facets":
        return _after(_MAY_HAVE_ENDED, self, threads)

    def at_event(self, event: Event, at: EventContext) -> "Facets":
        return _after(EVENT_HOOKS.get(type(event), ()), self, event, at)

    def wait_for_others(self, gives_up_lock: bool = False) -> "Facets":
        return _after(_WAIT_FOR_OTHERS, self, gives_up_lock)

    def return_again(self, children: int) -> "Facets":
        return _after(_RETURN_AGAIN, self, children)

    def assign(self, token: Token) -> "Facets":
        return _after(_ASSIGN, self, token)

    def leave(self, context: int) -> "Facets":
        return _after(_LEAVE, self, context)

    def recur(self, is_entry: bool) -> "Facets":
        return _after(_RECUR, self, is_entry)

    def write(self, base: int, offsets: Integers | None, size: int | None) -> "Facets":
        return _after(_WRITE, self, base, offsets, size)

    # --- accesses ------------------------------------------------------------

    def of_access(self) -> "Facets":
        """What an access made in this state records."""
        return Facets._make(
            (
                facet.initial if facet.in_access is InAccess.ABSENT else value
                for facet, value in zip(FACETS, self, strict=True)
            )
        )

    @property
    def access_key(self) -> tuple[object, ...]:
        """Accesses with different keys are different to the race detection."""
        return _access_key(self)


FACETS: tuple[Facet[Any], ...] = tuple(
    annotation.__metadata__[0] for annotation in Facets.__annotations__.values()
)
"""In the order of the fields."""

START = Facets._make(facet.initial for facet in FACETS)
"""Of a thread that starts alone."""

FACET_REASONS: tuple[Reason, ...] = tuple(
    facet.reason for facet in FACETS if facet.reason is not None
)

_Hook = tuple[int, Callable[..., Any]]


def _key(is_part: Callable[[Facet[Any]], bool]) -> Callable[[Facets], tuple[object, ...]]:
    places = [place for place, facet in enumerate(FACETS) if is_part(facet)]
    assert len(places) > 1, "itemgetter gives a tuple"
    return cast("Callable[[Facets], tuple[object, ...]]", itemgetter(*places))


_block_key = _key(lambda facet: facet.splits_blocks)
_exit_key = _key(lambda facet: facet.splits_exits)
_access_key = _key(lambda facet: facet.in_access is InAccess.APART)


def _hooks(event: str) -> tuple[_Hook, ...]:
    """The facets that an event concerns."""
    return tuple(
        (place, getattr(facet, event))
        for place, facet in enumerate(FACETS)
        if getattr(type(facet), event) is not getattr(Facet, event)
    )


_ACQUIRE = _hooks("acquire")
_RELEASE = _hooks("release")
_CREATE = _hooks("create")
_ENDED = _hooks("ended")
_MAY_HAVE_ENDED = _hooks("may_have_ended")
EVENT_HOOKS: dict[type[Event], tuple[_Hook, ...]] = {
    kind: tuple(
        (place, facet.at_event) for place, facet in enumerate(FACETS) if kind in facet.events
    )
    for kind in {kind for facet in FACETS for kind in facet.events}
}
"""The library calls that facets follow themselves."""
_WAIT_FOR_OTHERS = _hooks("wait_for_others")
_RETURN_AGAIN = _hooks("return_again")
_ASSIGN = _hooks("assign")
_LEAVE = _hooks("leave")
_RECUR = _hooks("recur")
_WRITE = _hooks("write")


def _after(hooks: tuple[_Hook, ...], before: Facets, *event: object) -> Facets:
    values: list[Any] | None = None
    for place, hook in hooks:
        old = before[place]
        new = hook(old, *event, before)
        if new is not old:
            if values is None:
                values = list(before)
            values[place] = new
    return before if values is None else Facets._make(values)
