"""A configuration: all that decides what can still happen, to be stored, compared and resumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raceproof.machine.machine import Machine
from raceproof.machine.memory import MemorySnapshot
from raceproof.machine.segments import SegmentKind
from raceproof.machine.thread import ConcreteThread, Frame
from raceproof.machine.unknown import Inside, Unknown

BlockAccess = tuple[int, int, int, int]
"""First byte, end, flags, instruction."""

Blocks = tuple[frozenset[BlockAccess], ...]
"""For each thread its plain accesses since it last synchronised."""


@dataclass(frozen=True, slots=True, eq=False)
class Configuration:
    memory: MemorySnapshot
    threads: tuple[ConcreteThread, ...]
    sync: dict[Any, Any]
    alive: int
    blocks: Blocks


def capture(machine: Machine, blocks: Blocks) -> Configuration:
    return Configuration(
        machine.memory.snapshot(),
        tuple(thread.copy() for thread in machine.threads),
        dict(machine.sync),
        machine.alive,
        blocks,
    )


def resume(machine: Machine, configuration: Configuration) -> None:
    """Put the machine into a configuration."""
    machine.memory.restore(configuration.memory)
    machine.threads = [thread.copy() for thread in configuration.threads]
    machine.sync = dict(configuration.sync)
    machine.alive = configuration.alive
    machine.ended = None
    machine.choice = None


def key(configuration: Configuration) -> Any:
    """Equal for configurations with the same future."""
    memory = configuration.memory
    return (
        tuple([target.base for target in memory.objects]),
        memory.contents,
        memory.masks,
        tuple([_thread_key(thread) for thread in configuration.threads]),
        frozenset(configuration.sync.items()),
        configuration.blocks,
    )


def _thread_key(thread: ConcreteThread) -> Any:
    if not thread.is_alive:
        return ("finished", _plain(thread.result), thread.arena.heap)
    pending = thread.pending
    operation = pending.operation if pending is not None else None
    return (
        tuple([_frame_key(frame) for frame in thread.frames]),
        None if operation is None else (type(operation).__name__, operation.name),
        thread.arena.heap,
        thread.arena.stack,
        thread.atomic_depth,
        thread.is_cancelled,
        tuple(thread.thread_locals.items()),
        tuple([(number, _plain(value)) for number, value in thread.specifics.items()]),
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
    return (
        frame.code.function.name,
        segment,
        tuple([_plain(registers[index]) for index in live]),
        frame.variadic,
    )


def _plain(value: Any) -> Any:
    """A stand-in that can be compared."""
    if isinstance(value, Unknown):
        return ("inside", value.target.base) if isinstance(value, Inside) else "?"
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    return value
