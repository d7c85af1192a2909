"""What a facet is: one idea about the state of a thread, with all that belongs to it.

A thread state is a product of facets (`raceproof.analysis.facets.Facets`). A facet has a value, an
order on it (given by `join`), a transfer for the events that concern it, and says what its value
means for an access. Copies, joins, comparisons and memoisation keys of states are made from the
list of facets; nothing else lists them.

Two kinds of values occur. A *may* value grows at joins (the threads that may run in parallel), a
*must* value shrinks (the locks held for sure). Either way `join(a, b)` describes every execution
that `a` or `b` describes.

What can happen to a state is a method here for each event; the default leaves the value as it is.
`before` is the whole product just before the event. A transfer must describe every execution that
the event allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from raceproof.analysis.locks import LockKey, Symbol
from raceproof.analysis.names import Token
from raceproof.concurrency.events import Event
from raceproof.ir import Value

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess
    from raceproof.domains.integers import Integers

V = TypeVar("V")
N = TypeVar("N")


class InAccess(Enum):
    """What becomes of a facet's value in the record of an access."""

    ABSENT = "absent"
    """It says nothing about accesses."""
    APART = "apart"
    """Accesses with different values are different accesses to the race detection."""
    JOINED = "joined"
    """Values are joined over the visits of an instruction."""


Exclusion = Callable[["RawAccess", "RawAccess", "Facts"], bool]
"""Can the two accesses of one object never race?"""
Condition = Callable[["RawAccess", "RawAccess", "Facts"], bool]
"""Does what a likely race needs hold for a pair?"""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why pairs of accesses cannot race, with the words of reports."""

    key: str
    excludes: Exclusion
    of_pair: str
    """Why these two cannot race: `a barrier lies between them`."""
    of_location: str
    """Why a location is safe: `a barrier lies between the accesses`."""


@dataclass(frozen=True, slots=True)
class Acquire:
    """A lock was taken."""

    key: LockKey | None
    """Which, if that is clear."""
    is_write: bool = True
    is_counted: bool = True
    """Does taking it again count?"""
    symbol: Symbol | None = None
    """Its address, where it is not clear which lock it is."""
    possible: frozenset[LockKey] = frozenset()
    """The locks that it may be."""
    is_count_lost: bool = False
    """Is it unclear how often it is held now?"""
    creation_locks: frozenset[LockKey] = frozenset()
    """The locks under which the taking thread was created."""


@dataclass(frozen=True, slots=True)
class Release:
    """A lock was given back."""

    key: LockKey | None
    """Which, if that is clear."""
    may_be: Callable[[LockKey], bool] | None = None
    """If not: the locks that it may be."""
    may_be_symbol: Callable[[Symbol], bool] | None = None
    """The symbolic locks that it may be; None: none of them."""
    is_possible: bool = False
    """Is it surely not held any more, if it is one that the may-lockset follows?"""
    drops_all: bool = False
    """Is a lock that was taken more than once not held for sure any more?"""


@dataclass(frozen=True, slots=True)
class Creation:
    """A thread was created."""

    thread: int
    family: int
    """Bit set of the thread and those that it may create in turn."""
    is_sure: bool
    """Does it surely run from here on?"""


class EventContext(Protocol):
    """Where a library function is called, for facets that follow its events themselves."""

    @property
    def thread(self) -> int: ...

    @property
    def call(self) -> int: ...

    @property
    def context(self) -> int: ...

    @property
    def is_repeated(self) -> bool:
        """May the call be made more than once, or by more than one thread?"""
        ...

    def key(self, operand: Value) -> LockKey | None:
        """The one object of synchronisation that an operand points to, if that is clear."""
        ...

    def bases(self, operand: Value) -> set[int]:
        """The objects that it may point into; none if that may be any."""
        ...

    def constant(self, operand: Value) -> int | None: ...

    def notes(self, kind: type[N]) -> N:
        """What a facet keeps for the whole program: one object of the kind for each analysis. It
        may only grow."""
        ...


class Facet(Generic[V]):
    initial: V
    """The value where a thread starts, with no thread beside it."""
    in_access: InAccess = InAccess.ABSENT
    is_relational: bool = False
    """Does its join depend on other facets? Then equal values are joined, too."""
    splits_blocks: bool = False
    """Are states with different values kept apart where control flow joins (a few of them)?"""
    splits_exits: bool = False
    """The same, where a function is left."""
    reason: Reason | None = None
    """When it excludes a pair of accesses."""
    conditions: tuple[tuple[str, Condition], ...] = ()
    """What has to hold, by this facet, for a race to be likely; in words, and as a test."""

    events: tuple[type[Event], ...] = ()
    """Calls of library functions that `at_event` wants to see."""

    def join(self, a: V, b: V, left: Facets, right: Facets) -> V:
        """What holds for both: of two ways, or of two visits."""
        raise NotImplementedError

    # --- events ------------------------------------------------------------

    def at_event(self, value: V, event: Event, at: EventContext, before: Facets) -> V:
        """A library function is called; see `events`."""
        return value

    def acquire(self, value: V, event: Acquire, before: Facets) -> V:
        return value

    def release(self, value: V, event: Release, before: Facets) -> V:
        return value

    def create(self, value: V, event: Creation, before: Facets) -> V:
        return value

    def ended(self, value: V, gone: int, before: Facets) -> V:
        """Threads (a bit set) have ended."""
        return value

    def may_have_ended(self, value: V, threads: int, before: Facets) -> V:
        """Threads (a bit set) may have ended."""
        return value

    def wait_for_others(self, value: V, gives_up_lock: bool, before: Facets) -> V:
        """Waits until another thread does something; a wait for a condition gives its lock up for
        that time."""
        return value

    def return_again(self, value: V, children: int, before: Facets) -> V:
        """Back at `setjmp`, from anywhere later in the thread, which may have created `children`
        (a bit set)."""
        return value

    # --- names ------------------------------------------------------------

    def assign(self, value: V, token: Token, before: Facets) -> V:
        """A register is assigned anew: what was known of its old value is void."""
        return value

    def leave(self, value: V, context: int, before: Facets) -> V:
        """A function returns: the registers of its context mean nothing any more."""
        return value

    def recur(self, value: V, is_entry: bool, before: Facets) -> V:
        """Another activation of the same function is entered, or left."""
        return value

    def write(
        self, value: V, base: int, offsets: Integers | None, size: int | None, before: Facets
    ) -> V:
        """Bytes may have been written; anywhere in the object if None."""
        return value
