"""What the interpreter notes down on its way: accesses, and what it could not follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from raceproof.analysis.contexts import Context
from raceproof.analysis.facets import Facets
from raceproof.domains.integers import Integers
from raceproof.domains.integers import join as join_integers

OUTSIDE = (
    "memory outside of the program holds no addresses of its objects, and no other code writes it"
)
"""What is assumed where pointers lead there."""

RelativeLock = tuple[Any, ...]
"""A lock known by its place relative to the accessed bytes; equal keys on the same bytes mean the
same lock. The last element says whether it is held for writing."""


class OwnAccess(NamedTuple):
    """An access at a thread's argument, or at an element with the argument as index."""

    kind: str
    """argument, or index"""
    offset: int | None
    """From the argument, or of the element with the argument as index in its object; None if that
    is unclear."""
    scale: int = 0
    bits: int = 64
    """Of an index: so many bits of the argument matter."""
    threads: int = 0
    """Of a creator: bit set of the threads none of whose running instances has this argument."""
    of: str = ""
    """Of a creator: the kind of their arguments."""
    may_be_same: bool = False
    """One of their running instances may have it."""


@dataclass(eq=False, slots=True)
class RawAccess:
    """An access of one instruction in one context to one base, joined over all visits."""

    thread: int
    context: Context
    instruction: int
    base: int
    offsets: Integers
    size: int | None
    is_write: bool
    is_atomic: bool
    facets: Facets
    """What the thread's state was: see `Facets.of_access`."""
    relative: frozenset[RelativeLock]
    is_only: bool
    """The instruction accesses no other base here."""
    is_free: bool = False
    own: OwnAccess | None = None
    called: frozenset[str] = frozenset()
    """Names, for people, of locks that are held for sure, but may be another one each time: it is
    only known from where their address was loaded."""
    visits: int = 1

    def signature(self) -> tuple[object, ...]:
        """Accesses that are alike in this are alike for every question about races."""
        return (
            self.thread,
            self.base,
            self.offsets,
            self.size,
            self.is_write,
            self.is_atomic,
            self.relative,
            self.own,
            *self.facets.access_key,
        )


class Records:
    def __init__(self) -> None:
        self.accesses: dict[tuple[object, ...], RawAccess] = {}
        self.assumptions: dict[str, None] = {}
        self.ended: dict[int, str] = {}
        """Instruction -> that an execution ends there, and why."""
        self.reached: dict[tuple[str, int], int] = {}
        """Function and block -> the last of its instructions that some execution gets to."""
        self.parallel: set[int] = set()
        """Instructions beside which other threads may run (walks only)."""
        self.stopped: dict[int, str] = {}
        """Instruction after which some execution does not go on -> why, where it is undefined."""
        self.blind: dict[tuple[int, str], None] = {}
        """(instruction, what: a read, write, call, ...) where a pointer may point anywhere."""

    def add(self, access: RawAccess) -> None:
        key = (
            access.context.number,
            access.instruction,
            access.base,
            access.is_write,
            access.is_atomic,
            access.relative,
            access.own,
            *access.facets.access_key,
        )
        old = self.accesses.get(key)
        if old is None:
            self.accesses[key] = access
            return
        old.visits += 1
        if old.offsets is not access.offsets:
            old.offsets = join_integers(old.offsets, access.offsets)
        if old.size != access.size:
            sizes = (old.size, access.size)
            old.size = None if None in sizes else max(s for s in sizes if s is not None)
        old.facets = old.facets.join(access.facets)
        old.is_only = old.is_only and access.is_only
        old.called &= access.called

    def not_followed(self, what: str, instruction: int) -> None:
        """It is unclear what this does: no proof goes past it."""
        self.blind[(instruction, what)] = None

    def assume(self, text: str) -> None:
        self.assumptions[text] = None
