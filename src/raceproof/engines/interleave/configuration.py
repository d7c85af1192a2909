"""A configuration: all that decides what can still happen, to be stored, compared and resumed.

**State hashing.** Two configurations count as one if their keys are equal, and keys are compared in
full, not by a digest: no state is ever taken for another one. What a key leaves out cannot change
the future: registers that are dead at the point where a thread stands, the locks a thread holds
(they stand in `sync` by their owner), the values of memory bytes that are unknown (they are zero
under their mask), names and allocation sites. Objects lie in the arena of the thread that allocates
them, so addresses do not depend on the interleaving and keys of equal states are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from raceproof.machine.jumps import SetJump
from raceproof.machine.machine import Machine
from raceproof.machine.memory import MemorySnapshot
from raceproof.machine.segments import AccessRange, CompiledFunction, SegmentKind
from raceproof.machine.thread import ConcreteThread, Frame
from raceproof.machine.unknown import Unknown

Block = frozenset[AccessRange]
"""Plain accesses of a thread since it last synchronised."""


@dataclass(frozen=True, slots=True, eq=False)
class Configuration:
    memory: MemorySnapshot
    threads: tuple[ConcreteThread, ...]
    sync: dict[Any, Any]
    alive: int
    ghosts: int
    blocks: tuple[Block, ...]


def capture(machine: Machine, blocks: tuple[Block, ...]) -> Configuration:
    """What the machine stands in; it must be resumed before it goes on."""
    return Configuration(
        machine.memory.snapshot(),
        tuple(machine.threads),
        machine.sync,
        machine.alive,
        machine.ghosts,
        blocks,
    )


def resume(machine: Machine, configuration: Configuration, mover: int) -> None:
    """Put the machine into a configuration, in which thread `mover` is going to step."""
    machine.memory.restore(configuration.memory)
    machine.threads = [
        thread.copy() if thread.number == mover else thread.shared_copy()
        for thread in configuration.threads
    ]
    machine.sync = dict(configuration.sync)
    machine.alive = configuration.alive
    machine.ghosts = configuration.ghosts
    machine.ended = None
    machine.choice = None


class Identities:
    """Gives equal configurations equal keys, and equal threads the same small number."""

    def __init__(self) -> None:
        self._threads: dict[Any, int] = {}
        self._points: dict[Any, int] = {}
        self._point_of: dict[int, int] = {}

    def key(self, configuration: Configuration) -> Any:
        memory = configuration.memory
        return (
            memory.bases,
            memory.contents,
            memory.masks,
            tuple([self._thread(thread) for thread in configuration.threads]),
            frozenset(configuration.sync.items()),
            configuration.blocks,
        )

    def node(self, thread: ConcreteThread) -> tuple[int, int]:
        """A thread (of a configuration whose key was asked for) and where it stands."""
        found = self._point_of.get(thread.identity)
        if found is None:
            point = _point_key(thread)
            found = self._points.setdefault(point, len(self._points))
            self._point_of[thread.identity] = found
        return thread.number, found

    def _thread(self, thread: ConcreteThread) -> int:
        if thread.identity is None:
            found = _thread_key(thread)
            thread.identity = self._threads.setdefault(found, 2 * len(self._threads))
        identity: int = thread.identity
        return identity + thread.is_cancelled


def _point_key(thread: ConcreteThread) -> Any:
    """Where its frames stand, without any values."""
    operation = thread.pending.operation if thread.pending is not None else None
    return (
        tuple([(frame.code.function.name, frame.segment) for frame in thread.frames]),
        None if operation is None else (type(operation).__name__, operation.name),
    )


def _thread_key(thread: ConcreteThread) -> Any:
    if not thread.is_alive:
        return ("finished", _plain(thread.result), thread.arena.heap)
    pending = thread.pending
    operation = pending.operation if pending is not None else None
    return (
        tuple([_frame_key(frame) for frame in thread.frames]),
        None
        if operation is None
        else (type(operation).__name__, operation.name, _plain(operation.state)),
        None
        if pending is None
        else (pending.options, tuple([_plain(argument) for argument in pending.arguments])),
        thread.arena.heap,
        thread.arena.stack,
        thread.atomic_depth,
        thread.is_uncancellable,
        _plain(thread.result),
        thread.destructions,
        tuple(thread.thread_locals.items()),
        tuple([(number, _plain(value)) for number, value in thread.specifics.items()]),
        tuple([(_plain(routine), _plain(argument)) for routine, argument in thread.cleanups]),
    )


def _frame_key(frame: Frame) -> Any:
    segment = frame.segment
    infos = frame.code.infos
    if segment < 0:
        live = infos[~segment].live
    else:
        info = infos[segment]
        if info.kind is SegmentKind.PLAIN:
            live = info.live
        else:  # in a call: what matters after it
            following = info.next
            after = infos[~following if following < 0 else following].live
            live = tuple([index for index in after if index != info.result])
    registers = frame.registers
    if _returns_twice(frame.code):
        live = tuple(range(len(registers)))
    after_arguments = getattr(frame.after, "arguments", ())
    return (
        frame.code.function.name,
        segment,
        tuple([_plain(registers[index]) for index in live]),
        frame.variadic,
        len(frame.slots),
        tuple([_plain(argument) for argument in (*frame.arguments, *after_arguments)]),
        None if frame.after is None else (frame.after.name, _plain(frame.after.state)),
    )


@cache
def _returns_twice(code: CompiledFunction) -> bool:
    """Whether it calls `setjmp`: then any register may matter again."""
    return any(isinstance(info.operation, SetJump) for info in code.infos)


def _plain(value: Any) -> Any:
    """A stand-in that can be compared."""
    if isinstance(value, Unknown):
        return value.key()
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    return value
