"""The machine's memory: real bytes, in objects that lie far apart.

An address is a plain integer, so it can be stored, compared and cast as C likes. Every object
starts on its own page of 1 KiB and owns all its pages, and a page table leads from an address to
its object: running over the end of an object finds no other one. A freed object keeps its pages
and loses its bytes, so that a dangling access is seen.

Each thread allocates from its own arena. Where an object lies therefore does not depend on how the
threads were interleaved, and two schedules that differ only in the order of independent
allocations meet in the same state.

Bytes that were never written are marked in `mask`; the explorer marks bytes of unknown value in
the same way. Where such a byte is asked for it becomes an input, but one marked as invented, which
a library function of fixed meaning should have written and we did not compute it, is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.machine.faults import (
    Ended,
    UndefinedBehaviour,
    UnknownBytes,
    Unsupported,
)
from raceproof.verdict import BaseKind

PAGE_BITS = 10
PAGE = 1 << PAGE_BITS
UNSET, INVENTED = 1, 2
LARGEST = 1 << 26
"""Bytes of the largest object that we are ready to lay out."""


class MemoryObject:
    """One variable, stack slot or heap block. `data` are its bytes, none when it was freed."""

    __slots__ = (
        "base",
        "data",
        "frozen",
        "frozen_mask",
        "inventor",
        "is_partial",
        "is_private",
        "kind",
        "mask",
        "name",
        "size",
        "source",
    )

    def __init__(
        self, base: int, size: int, kind: BaseKind, name: str, source: str, *, is_private: bool
    ) -> None:
        self.base = base
        self.size = size
        self.kind = kind
        self.name = name
        self.source = source
        """Identifies the variable or the allocation site among all of the program."""
        self.is_private = is_private
        """No other thread can have its address, or no thread can change it."""
        self.data: bytearray | bytes = bytearray(size)
        self.mask: bytearray | None = None
        """`UNSET` or `INVENTED` for each byte whose value is not known; None if all are known."""
        self.inventor = ""
        """The function that should have written the bytes that are marked as invented."""
        self.is_partial = False
        """It may be longer than we know."""
        self.frozen: bytes | None = None
        """The bytes as of the last snapshot; None after a write."""
        self.frozen_mask: bytes | None = None

    @property
    def is_freed(self) -> bool:
        return self.size > 0 and not self.data

    def forget(self, offset: int, size: int, inventor: str = "") -> None:
        """Mark bytes as unknown; `inventor`: a function that would know them."""
        if self.mask is None:
            self.mask = bytearray(self.size)
        self.inventor = inventor or self.inventor
        self.mask[offset : offset + size] = bytes([INVENTED if inventor else UNSET]) * size
        self.data[offset : offset + size] = bytes(size)  # type: ignore[index]
        self.frozen = None

    def learn(self, offset: int, size: int) -> None:
        """Mark bytes as known."""
        mask = self.mask
        if mask is not None:
            mask[offset : offset + size] = bytes(size)
            if (self.size <= 256 or offset + size == self.size) and not any(mask):
                self.mask = None

    def is_unknown(self, offset: int, size: int) -> bool:
        return self.mask is not None and any(self.mask[offset : offset + size])

    def invented_by(self, offset: int, size: int) -> str:
        """The function that should have written one of these bytes; empty if none should have."""
        if self.mask is None or INVENTED not in self.mask[offset : offset + size]:
            return ""
        return self.inventor

    def first_unknown(self, start: int, end: int) -> int:
        """The first byte of a stretch whose value is not known; -1 if all are."""
        if self.mask is None:
            return -1
        found = [
            p
            for p in (self.mask.find(UNSET, start, end), self.mask.find(INVENTED, start, end))
            if p >= 0
        ]
        return min(found, default=-1)

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.name} at {self.base:#x}, {self.size} bytes>"


@dataclass(slots=True)
class Arena:
    """Where one thread's objects lie."""

    stack: int
    stack_end: int
    heap: int
    heap_end: int


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """All bytes that can change, shared between snapshots as far as they are equal."""

    bases: tuple[int, ...]
    """Of the objects, in order: who allocated first leaves no trace."""
    objects: tuple[MemoryObject, ...]
    contents: tuple[bytes | None, ...]
    masks: tuple[bytes | None, ...]


def _keep_secret(_: MemoryObject, __: int) -> None:
    raise UnknownBytes("bytes of unknown value")


class Memory:
    """All objects of one execution."""

    def __init__(self, pointer_size: int) -> None:
        self.pages: dict[int, MemoryObject] = {}
        self.reveal: Callable[[MemoryObject, int], None] = _keep_secret
        """Gives an unknown byte of an object a value that the program may look at."""
        self.changing: dict[int, MemoryObject] = {}
        """Objects whose bytes can change, by their base."""
        big = pointer_size == 8
        self._static_next = 0x10_0000
        self._static_end = 0x1000_0000 if not big else 0x4000_0000
        self._arena_size = 0x200_0000 if not big else 0x1_0000_0000
        self._arenas_start = self._static_end
        self._top = (1 << (32 if not big else 47)) - PAGE

    def add_static(
        self, size: int, kind: BaseKind, name: str, source: str, *, is_private: bool
    ) -> MemoryObject:
        """Lay out a global variable."""
        base = self._static_next
        self._static_next += (size // PAGE + 1) * PAGE
        if self._static_next > self._static_end:
            raise Unsupported("the global variables are too large for the machine")
        return self._place(MemoryObject(base, size, kind, name, source, is_private=is_private))

    def arena(self, thread: int) -> Arena:
        """The part of the address space for a new thread."""
        start = self._arenas_start + thread * self._arena_size
        if start + self._arena_size > self._top:
            raise Unsupported(f"no room for thread {thread}")
        middle = start + self._arena_size // 4
        return Arena(start, middle, middle, start + self._arena_size)

    def push(
        self, arena: Arena, size: int, name: str, source: str, *, is_private: bool
    ) -> MemoryObject:
        """A stack slot; `pop` takes it off again."""
        base = arena.stack
        arena.stack = base + (size // PAGE + 1) * PAGE
        if arena.stack > arena.stack_end:
            raise Unsupported("more on the stack than the machine has room for")
        slot = MemoryObject(base, size, BaseKind.STACK, name, source, is_private=is_private)
        slot.mask = bytearray(b"\1") * size
        return self._place(slot)

    def pop(self, arena: Arena, bases: list[int]) -> None:
        for base in bases:
            target = self.changing.pop(base, None)
            if target is not None:
                self._unmap(target)
        arena.stack = bases[0]

    def allocate(self, arena: Arena, size: int, name: str, source: str) -> MemoryObject:
        """A heap block with bytes of unknown value."""
        if size > LARGEST:
            raise Unsupported(f"an allocation of {size} bytes")
        base = arena.heap
        arena.heap = base + (size // PAGE + 1) * PAGE
        if arena.heap > arena.heap_end:
            raise Unsupported("the heap is full")
        block = MemoryObject(base, size, BaseKind.HEAP, name, source, is_private=False)
        block.mask = bytearray(b"\1") * size
        return self._place(block)

    def free(self, address: int) -> None:
        if address == 0:
            return
        block = self.pages.get(address >> PAGE_BITS)
        if block is None or block.kind is not BaseKind.HEAP or block.base != address:
            raise UndefinedBehaviour(f"free of {address:#x}, which is no heap block")
        if block.is_freed:
            raise UndefinedBehaviour(f"{block.name} freed twice")
        block.data = b""
        block.mask = None
        block.frozen = None

    def find(self, address: int, size: int) -> MemoryObject:
        """The object that holds these bytes."""
        found = self.pages.get(address >> PAGE_BITS)
        if found is None:
            raise UndefinedBehaviour(
                "null pointer" if address < PAGE else f"no object at {address:#x}"
            )
        if found.is_freed:
            raise UndefinedBehaviour(f"{found.name} used after free")
        if address - found.base + size > found.size or size < 0:
            raise self.overrun(
                found,
                f"{size} bytes at offset {address - found.base} of {found.name}, "
                f"which has {found.size}",
            )
        return found

    def overrun(self, target: MemoryObject, what: str) -> Ended:
        """An access beyond the end of an object: a mistake, if we know where it ends."""
        if target.is_partial:
            return Unsupported(f"{target.name} is longer than we know")
        return UndefinedBehaviour(what)

    def object_at(self, address: int) -> MemoryObject | None:
        return self.pages.get(address >> PAGE_BITS)

    def read(self, address: int, size: int) -> bytes:
        if size == 0:
            return b""
        found = self.find(address, size)
        offset = address - found.base
        if found.mask is not None:
            self._know(found, offset, offset + size)
        return bytes(found.data[offset : offset + size])

    def _know(self, found: MemoryObject, start: int, end: int) -> None:
        """Have the unknown bytes of a stretch revealed."""
        while (place := found.first_unknown(start, end)) >= 0:
            self.reveal(found, place)

    def check_write(self, address: int, size: int) -> MemoryObject:
        """The object that holds these bytes, which can be written."""
        found = self.find(address, size)
        if not isinstance(found.data, bytearray):
            raise UndefinedBehaviour(f"write to the constant {found.name}")
        return found

    def write(self, address: int, data: bytes) -> None:
        if not data:
            return
        found = self.check_write(address, len(data))
        assert isinstance(found.data, bytearray)
        offset = address - found.base
        found.data[offset : offset + len(data)] = data
        found.frozen = None
        if found.mask is not None:
            found.learn(offset, len(data))

    def copy(self, target: int, source: int, size: int) -> None:
        """Bytes with what is known about them."""
        if size == 0:
            return
        origin = self.find(source, size)
        start = source - origin.base
        mask = None if origin.mask is None else bytes(origin.mask[start : start + size])
        self.write(target, bytes(origin.data[start : start + size]))
        if mask is not None and any(mask):
            found = self.find(target, size)
            found.inventor = origin.inventor or found.inventor
            if found.mask is None:
                found.mask = bytearray(found.size)
            offset = target - found.base
            found.mask[offset : offset + size] = mask

    def string(self, address: int, limit: int | None = None) -> bytes:
        """The bytes up to a zero; at most `limit` of them, then there may be no zero."""
        if limit == 0:
            return b""
        found = self.find(address, 1)
        offset = address - found.base
        last = len(found.data) if limit is None else min(offset + limit, len(found.data))
        end = found.data.find(b"\0", offset, last)
        while (place := found.first_unknown(offset, last if end < 0 else end + 1)) >= 0:
            self.reveal(found, place)
            end = found.data.find(b"\0", offset, last)
        if end < 0:
            if limit is None or offset + limit > len(found.data):
                raise self.overrun(found, f"a string without end in {found.name}")
            end = last
        return bytes(found.data[offset:end])

    def snapshot(self) -> MemorySnapshot:
        bases = tuple(sorted(self.changing))
        objects = tuple([self.changing[base] for base in bases])
        contents = []
        masks = []
        for target in objects:
            if target.frozen is None:
                target.frozen = bytes(target.data)
                target.frozen_mask = None if target.mask is None else bytes(target.mask)
            contents.append(target.frozen)
            masks.append(target.frozen_mask)
        return MemorySnapshot(bases, objects, tuple(contents), tuple(masks))

    def restore(self, snapshot: MemorySnapshot) -> None:
        """Make all bytes as they were."""
        stale = self.changing
        self.changing = {}
        for target, content, mask in zip(
            snapshot.objects, snapshot.contents, snapshot.masks, strict=True
        ):
            self.changing[target.base] = target
            present = stale.pop(target.base, None)
            if present is not target:
                if present is not None:
                    self._unmap(present)
                self._map(target)
            if target.frozen is not content or target.frozen_mask is not mask:
                assert content is not None
                if isinstance(target.data, bytearray) and len(content) == len(target.data):
                    target.data[:] = content
                else:
                    target.data = bytearray(content) if content else b""
                target.mask = None if mask is None else bytearray(mask)
                target.frozen = content
                target.frozen_mask = mask
        for base, target in stale.items():
            if base not in self.changing:
                self._unmap(target)

    def _place(self, target: MemoryObject) -> MemoryObject:
        self._map(target)
        self.changing[target.base] = target
        return target

    def _map(self, target: MemoryObject) -> None:
        first = target.base >> PAGE_BITS
        self.pages[first] = target
        if target.size >= PAGE:
            for page in range(first + 1, first + target.size // PAGE + 1):
                self.pages[page] = target

    def _unmap(self, target: MemoryObject) -> None:
        first = target.base >> PAGE_BITS
        for page in range(first, first + target.size // PAGE + 1):
            if self.pages.get(page) is target:
                del self.pages[page]
