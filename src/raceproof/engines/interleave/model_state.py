"""Configurations of the threading model: where threads stand, locks, handles; and their changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from raceproof.engines.interleave.skeleton import Key
from raceproof.options import MutexRules

DORMANT = -1
NOWHERE = -2
"""Where a thread stands that comes to no point any more: in an endless loop, before `exit`."""


@dataclass(frozen=True, slots=True)
class ModelFrame:
    point: int
    keys: tuple[Key | None, ...] = ()
    """The addresses that the parameters are."""


Stack = tuple[ModelFrame, ...]


@dataclass(frozen=True, slots=True)
class ModelThread:
    """`stack` is empty when the thread has ended."""

    site: int
    stack: Stack
    waits: tuple[Key | None, Key | None] | None = None
    """Condition and lock, while it waits."""
    atomic: int = 0
    """Depth of its atomic sections."""

    @property
    def point(self) -> int:
        return self.stack[-1].point if self.stack else -1


Holder = tuple[int, bool, int]
"""Thread, whether it holds the lock for reading only, depth."""


@dataclass(frozen=True, slots=True)
class ModelState:
    threads: tuple[ModelThread, ...]
    locks: frozenset[tuple[Key, Holder]] = frozenset()
    handles: frozenset[tuple[Key, int]] = frozenset()
    woken: frozenset[int] = frozenset()
    cancelled: frozenset[int] = frozenset()


def put(state: ModelState, number: int, thread: ModelThread) -> ModelState:
    """The state with a thread changed; what ends is joined at once and not cancelled any more."""
    threads = (*state.threads[:number], thread, *state.threads[number + 1 :])
    if thread.stack:
        return replace(state, threads=threads)
    ended = frozenset((key, DORMANT if of == number else of) for key, of in state.handles)
    return replace(state, threads=threads, handles=ended, cancelled=state.cancelled - {number})


def added(state: ModelState, thread: ModelThread) -> tuple[ModelState, int]:
    """The state with a new thread, in the place of one that has ended and left no lock behind."""
    holders = {holder[0] for _, holder in state.locks}
    for index, other in enumerate(state.threads):
        if index and not other.stack and index not in holders:
            return put(state, index, thread), index
    return replace(state, threads=(*state.threads, thread)), len(state.threads)


def handled(state: ModelState, key: Key | None, thread: int) -> ModelState:
    """The state with a handle that stands for a thread."""
    if key is None:
        return state
    rest = frozenset(item for item in state.handles if item[0] != key)
    return replace(state, handles=rest | {(key, thread)})


def taken(state: ModelState, number: int, key: Key | None, reads: bool) -> Iterator[ModelState]:
    """The states in which the thread has taken the lock; none if it has to wait."""
    if key is None:
        yield state
        return
    mine: Holder | None = None
    for held, holder in state.locks:
        if held != key:
            continue
        if holder[0] == number:
            mine = holder
        elif not (reads and holder[1]):
            return
    if mine is None:
        yield replace(state, locks=state.locks | {(key, (number, reads, 1))})
        return
    yield state
    deeper = (key, (number, mine[1] and reads, min(mine[2] + 1, 4)))
    yield replace(state, locks=state.locks - {(key, mine)} | {deeper})


def released(
    state: ModelState, number: int, key: Key | None, rules: MutexRules
) -> Iterator[ModelState]:
    """The states in which the thread has released the lock, if it may."""
    anyone = rules is MutexRules.LINUX
    held = [
        (lock, holder)
        for lock, holder in state.locks
        if (key is None or lock == key) and (anyone or holder[0] == number)
    ]
    if key is None or not held:
        yield state
    for lock, holder in held:
        rest = state.locks - {(lock, holder)}
        if holder[2] > 1 and holder[0] == number:
            rest |= {(lock, (number, holder[1], holder[2] - 1))}
        yield replace(state, locks=rest)
