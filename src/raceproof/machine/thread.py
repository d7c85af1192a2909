"""Threads of an execution: a stack of frames each, all state explicit."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from raceproof.machine.memory import Arena
from raceproof.machine.segments import ATOMIC, UNSURE, WRITE, AccessRange, CompiledFunction

if TYPE_CHECKING:
    from raceproof.machine.operation import Operation


class Status(Enum):
    RUNNING = "running"
    FINISHED = "finished"


class Frame:
    """One call: registers, and the segment to go on with."""

    __slots__ = ("after", "arguments", "code", "registers", "segment", "slots", "variadic")

    def __init__(self, code: CompiledFunction, registers: list[Any]) -> None:
        self.code = code
        self.registers = registers
        self.segment = code.entry
        self.slots: list[int] = []
        """Bases of its stack slots."""
        self.arguments: tuple[Any, ...] = ()
        """The variable arguments."""
        self.variadic = 0
        """Where the variable arguments lie in memory, once asked for."""
        self.after: Operation | None = None
        """What a library operation does when this call comes back."""

    def copy(self) -> Frame:
        other = Frame.__new__(Frame)
        other.code = self.code
        other.registers = self.registers[:]
        other.segment = self.segment
        other.slots = self.slots[:]
        other.arguments = self.arguments
        other.variadic = self.variadic
        other.after = self.after
        return other


@dataclass(slots=True, eq=False)
class Pending:
    """What a thread is about to do: its next visible step."""

    instruction: int
    accesses: tuple[AccessRange, ...]
    operation: Operation | None = None
    arguments: tuple[Any, ...] = ()
    is_sync: bool = False
    """Orders threads: not only an access that others may see."""
    options: int = 0
    """Not a visible step, but a value to be chosen among so many."""

    def conflict(self, other: Pending) -> tuple[AccessRange, AccessRange] | None:
        """Accesses of the two that touch the same bytes, one writing, not both atomic."""
        for mine in self.accesses:
            for theirs in other.accesses:
                if (mine[2] | theirs[2]) & UNSURE:
                    continue
                if mine[0] < theirs[1] and theirs[0] < mine[1] and races(mine[2], theirs[2]):
                    return mine, theirs
        return None


def races(first: int, second: int) -> bool:
    """Whether two accesses of the same bytes with these flags race."""
    return bool((first | second) & WRITE and not first & second & ATOMIC)


@dataclass(slots=True, eq=False)
class ConcreteThread:
    """A thread of one execution; `number` counts creations, `main` is 0."""

    number: int
    entry: str
    creator: int
    """The instruction that created it, -1 for `main`."""
    parent: int
    arena: Arena
    frames: list[Frame] = field(default_factory=list)
    status: Status = Status.RUNNING
    pending: Pending | None = None
    atomic_depth: int = 0
    result: Any = 0
    is_cancelled: bool = False
    is_joined: bool = False
    held: tuple[tuple[Any, str], ...] = ()
    """Locks it holds, with the mode, in the order it took them."""
    thread_locals: dict[str, int] = field(default_factory=dict)
    specifics: dict[int, Any] = field(default_factory=dict)
    cleanups: tuple[tuple[Any, Any], ...] = ()
    is_uncancellable: bool = False
    destructions: int = 0
    """Calls of destructors at its end."""
    identity: Any = None
    """What the explorer knows its frames by; None if they may have changed since."""
    created_at: int = -1
    """Where the program creates it; of `std::thread`, not where the library does."""

    @property
    def must_end(self) -> bool:
        """Cancelled, and ready to find out."""
        return self.is_cancelled and not self.is_uncancellable

    @property
    def is_alive(self) -> bool:
        return self.status is Status.RUNNING

    def copy(self) -> ConcreteThread:
        arena = self.arena
        return ConcreteThread(
            self.number,
            self.entry,
            self.creator,
            self.parent,
            Arena(arena.stack, arena.stack_end, arena.heap, arena.heap_end),
            [frame.copy() for frame in self.frames],
            self.status,
            self.pending,
            self.atomic_depth,
            self.result,
            self.is_cancelled,
            self.is_joined,
            self.held,
            dict(self.thread_locals),
            dict(self.specifics),
            self.cleanups,
            self.is_uncancellable,
            self.destructions,
            created_at=self.created_at,
        )

    def shared_copy(self) -> ConcreteThread:
        """A copy that shares all but what other threads may change; not to be run."""
        return ConcreteThread(
            self.number,
            self.entry,
            self.creator,
            self.parent,
            self.arena,
            self.frames,
            self.status,
            self.pending,
            self.atomic_depth,
            self.result,
            self.is_cancelled,
            self.is_joined,
            self.held,
            self.thread_locals,
            self.specifics,
            self.cleanups,
            self.is_uncancellable,
            self.destructions,
            self.identity,
            self.created_at,
        )
