"""The unfolded program: a fixed list of guarded steps for each thread.

An `UnfoldEvent` is one visible statement of the paper: what happens at once between two points
where another thread may take over. It reads and writes shared memory, may have to wait (`assume`),
and may be an access that races. What a thread computes between its events depends only on what its
events read and on the inputs, so it needs no place in the list.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.ir import Position
from raceproof.smt.terms import Term

Place = tuple[UnfoldObject, int]
"""An object and an offset in bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """`variable` becomes the value at `address`, which is one of the places."""

    variable: Term
    address: Term
    size: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """If `condition`, `value` goes to `address`, which is one of the places."""

    value: Term
    address: Term
    size: int
    places: tuple[Place, ...]
    condition: Term


@dataclass(frozen=True, slots=True, eq=False)
class UnfoldAccess:
    """What the race monitor looks at; `condition` says when the access takes place at all."""

    address: Term
    size: int
    places: tuple[Place, ...]
    is_write: bool
    is_atomic: bool
    condition: Term


@dataclass(slots=True, eq=False)
class UnfoldEvent:
    thread: int
    index: int
    """Its place among the thread's events: the paper's numerical label."""
    guard: Term
    """The thread's path leads through it."""
    instruction: int
    kind: str
    assume: Term
    """It can only take place if this holds; may speak of what it reads."""
    operations: list[Read | Write] = field(default_factory=list)
    accesses: list[UnfoldAccess] = field(default_factory=list)
    is_inner: bool = False
    """In an atomic section: no other thread may run before it."""
    is_fatal: bool = False
    """Ends every thread, so that nothing comes after it."""
    position: Position | None = None
    calls: tuple[int, ...] = ()
    """The calls that led here, outermost first."""
    creates: tuple[tuple[int, Term], ...] = ()
    """The threads that it creates, and when."""
    tick: int = -1
    """Its place among the thread's ticks."""
    parts: tuple[tuple[UnfoldEvent, Term], ...] = ()
    """The events of the atomic section that it stands for, and when the section reaches them."""


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """Once the thread has come to its event number `index`, on a path with `guard`, `condition`
    must have held: an assumption of the program, an index within bounds."""

    index: int
    guard: Term
    condition: Term


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Here the unfolding stopped: a loop unwound too often, an unknown pointer."""

    index: int
    guard: Term
    reason: str
    position: Position | None
    constraints: int = 0
    """How many of the thread's constraints stand before it."""


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """A value from outside: a nondeterministic call or something uninitialised."""

    index: int
    guard: Term
    instruction: int
    variable: Term


@dataclass(frozen=True, slots=True, eq=False)
class HiddenWrite:
    """A write that no other thread is thought to see: the event and which of its operations."""

    event: UnfoldEvent
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Hiding:
    """Writes that no thread may see once the thread has come to its event number `end` on a path
    with `guard`: it starts over there and will write the same places anew (see `waiting`)."""

    writes: tuple[HiddenWrite, ...]
    end: int
    guard: Term


@dataclass(slots=True, eq=False)
class ThreadBody:
    """One thread of the unfolded program."""

    number: int
    entry: str
    creation: int
    """The instruction that creates it; -1 for main."""
    parent: int
    position: Position | None = None
    events: list[UnfoldEvent] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    hidings: list[Hiding] = field(default_factory=list)
    ticks: list[tuple[int, Term]] = field(default_factory=list)
    """Every instruction at which the machine might stop, with its guard, events or not."""


@dataclass(slots=True, eq=False)
class Unfolding:
    """All threads, in the order in which their creations stand in the program."""

    threads: list[ThreadBody]
    passes: int = 0
    is_exact: bool = True
    """False if some operation was taken to give any result (floating point, assembly)."""
    assumptions: list[str] = field(default_factory=list)
