"""What a function does, in order, with the callees' summaries put in: named effects.

`Steps` gathers them by block, `Flow` runs those that change locks and threads, `compose` turns them
into the function's own summary. (RacerD: `Domain.acquire_lock` and the like.)
"""

from __future__ import annotations

from typing import NamedTuple

from raceproof.engines.summary.instance import Instance
from raceproof.engines.summary.state import Core, ThreadId
from raceproof.engines.summary.terms import Origin, Term, Terms


class Accesses(NamedTuple):
    """An instruction reads or writes memory."""

    number: int
    addresses: Terms
    size: int | None
    is_write: bool
    is_atomic: bool


class CallsFunction(NamedTuple):
    """A callee with a summary."""

    number: int
    name: str
    instance: Instance


class Starts(NamedTuple):
    """A thread is created."""

    thread: ThreadId


class Runs(NamedTuple):
    """What a created thread runs, and in what states it may start."""

    thread: ThreadId
    name: str
    instance: Instance
    outer: tuple[Core, ...]
    """The states of the callee that created it."""
    starts: tuple[Core, ...]


class CallsDeferred(NamedTuple):
    """A callee calls a function that we know and it does not."""

    number: int
    name: str
    instance: Instance
    cores: tuple[Core, ...]


class Pends(NamedTuple):
    """A call, or the creation of a thread, of a function that only our caller knows."""

    kind: str
    """call, or create"""
    path: tuple[tuple[str, int], ...]
    callees: Terms
    arguments: tuple[Terms, ...]
    cores: tuple[Core, ...]
    thread: ThreadId


class Acquires(NamedTuple):
    locks: Terms
    mode: str
    """read, or write"""
    success: str
    """always, or by the result: zero, nonzero"""
    key: Term
    """The result."""


class Releases(NamedTuple):
    locks: Terms


class Joins(NamedTuple):
    handles: Terms


class Waits(NamedTuple):
    """Waits for other threads, at a condition, barrier or semaphore."""

    objects: Terms


class Publishes(NamedTuple):
    """Objects become visible to others."""

    origins: tuple[Origin, ...]


class Makes(NamedTuple):
    """Objects are new: no other thread knows them."""

    origins: tuple[Origin, ...]


class Exits(NamedTuple):
    """The thread ends."""


Effect = (
    Accesses
    | CallsFunction
    | Starts
    | Runs
    | CallsDeferred
    | Pends
    | Acquires
    | Releases
    | Joins
    | Waits
    | Publishes
    | Makes
    | Exits
)
