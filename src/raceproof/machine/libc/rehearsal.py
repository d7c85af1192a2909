"""What a library function is about to access: it is run without effect, and watched.

A computed function reads and writes through the machine it is given. In a rehearsal that machine
keeps what is written to itself and notes every byte that is read or written; the notes are exactly
the accesses of the call that is to come. So there is one definition of `strtok_r`, and none has
to say beside it that it writes one byte.

    strtok_r("ab cd", " ", &rest)      reads bytes 0 to 2 and the separators,
                                       writes byte 2 and rest
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from raceproof.machine.faults import UndefinedBehaviour, UnknownBytes
from raceproof.machine.segments import WRITE, AccessRange

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.memory import Memory, MemoryObject


class NotRehearsed(Exception):
    """The function does something that cannot be taken back."""


class _Notes:
    """Stretches of bytes, in the order of their accesses."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []

    def note(self, ranges: list[tuple[int, int]], first: int, end: int) -> None:
        if ranges and ranges[-1][1] == first:
            ranges[-1] = (ranges[-1][0], end)
        elif not ranges or not ranges[-1][0] <= first < end <= ranges[-1][1]:
            ranges.append((first, end))


class _NotingMemory:
    """The machine's memory as a library function sees it; nothing is changed."""

    def __init__(self, memory: Memory, notes: _Notes) -> None:
        self._memory = memory
        self._notes = notes
        self._written: list[tuple[int, bytes]] = []

    def find(self, address: int, size: int) -> MemoryObject:
        return self._memory.find(address, size)

    def object_at(self, address: int) -> MemoryObject | None:
        return self._memory.object_at(address)

    def read(self, address: int, size: int) -> bytes:
        if size == 0:
            return b""
        data = self._memory.read(address, size)
        self._notes.note(self._notes.reads, address, address + size)
        for first, text in self._written:
            data = _overwritten(data, address, first, text)
        return data

    def write(self, address: int, data: bytes) -> None:
        if not data:
            return
        self._memory.check_write(address, len(data))
        self._notes.note(self._notes.writes, address, address + len(data))
        self._written.append((address, bytes(data)))

    def copy(self, target: int, source: int, size: int) -> None:
        if size:
            self._memory.find(source, size)
            self._memory.check_write(target, size)
            self._notes.note(self._notes.reads, source, source + size)
            self._notes.note(self._notes.writes, target, target + size)

    def string(self, address: int, limit: int | None = None) -> bytes:
        text = self._memory.string(address, limit)
        size = len(text) + (limit is None or len(text) < limit)
        if size:
            self._notes.note(self._notes.reads, address, address + size)
        return text

    def allocate(self, *_: Any) -> NoReturn:
        raise NotRehearsed


def _overwritten(data: bytes, address: int, first: int, text: bytes) -> bytes:
    """Bytes read at an address, after `text` was written at another one."""
    start, end = max(address, first), min(address + len(data), first + len(text))
    if start >= end:
        return data
    return data[: start - address] + text[start - first : end - first] + data[end - address :]


class _Rehearsal:
    """Stands for the machine. What comes from outside is as much as can come."""

    def __init__(self, machine: Machine, notes: _Notes) -> None:
        self._machine = machine
        self.memory = _NotingMemory(machine.memory, notes)
        self.output = bytearray()
        self.sync = dict(machine.sync)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def read_pointer(self, address: int) -> int:
        size = self._machine.program.layout.pointer_size
        return int.from_bytes(self.memory.read(address, size), "little")

    def write_pointer(self, address: int, value: int) -> None:
        size = self._machine.program.layout.pointer_size
        self.memory.write(address, (value & (1 << 8 * size) - 1).to_bytes(size, "little"))

    def set_errno(self, number: int) -> None:
        pass

    def note_inexact(self, what: str) -> None:
        pass

    def input(self, bits: int, limits: tuple[int, int] | None, *_: Any) -> int:
        return 0 if limits is None else limits[1] & (1 << bits) - 1

    def input_fails(self) -> bool:
        return False

    def forget(self, address: int, size: int, *_: Any) -> None:
        self.memory.write(address, bytes(size))


def rehearse(
    machine: Machine, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[AccessRange, ...] | None:
    """The accesses of a call; None if it cannot be computed."""
    notes = _Notes()
    try:
        if function(_Rehearsal(machine, notes), *arguments) is None:
            return None
    except (NotRehearsed, UnknownBytes):
        return None
    except UndefinedBehaviour:
        pass  # what it did until then
    reads = [(first, end, 0) for first, end in notes.reads]
    return (*reads, *((first, end, WRITE) for first, end in notes.writes))
