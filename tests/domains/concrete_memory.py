"""Concrete memories beside an abstract one: whatever they hold, it must cover."""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.domains import integers as ints
from raceproof.domains.integers import Integers
from raceproof.domains.memory import EMPTY, Memory
from raceproof.domains.objects import Contents, uninitialised, zeroed
from raceproof.domains.values import AbstractValue

ADDRESS = 0x5A37_0000_0000
WEAK = frozenset({3, 4})
LENGTHS = {0: 16, 1: 600, 2: 48, 3: 16, 4: 256}

Bytes = list[int]
Concrete = dict[tuple[int, int], Bytes]
"""(base, instance) -> bytes."""


def instances(base: int) -> int:
    return 2 if base in WEAK else 1


def address_of(base: int, instance: int, offset: int) -> int:
    return ADDRESS + (base << 24) + (instance << 20) + 0x8000 + offset


def pointed_to(number: int) -> tuple[int, int] | None:
    """Base and offset if this number is the address of an object."""
    distance = number - ADDRESS
    if not 0 <= distance < len(LENGTHS) << 24:
        return None
    base, offset = distance >> 24, (distance & 0xFFFFF) - 0x8000
    return (base, offset) if -0x1000 < offset < 0x1000 else None


def covers(value: AbstractValue, number: int, size: int) -> bool:
    """Is this number, which may be an address, among the values?"""
    if value.is_unknown:
        return True
    target = pointed_to(number) if size == 8 else None
    if target is not None:
        offsets = value.pointers.get(target[0])
        return offsets is not None and offsets.contains(target[1])
    if value.is_uninitialised or (value.integers and value.integers.contains(number)):
        return True
    return any(
        offsets.contains(number - address_of(base, instance, 0))
        for base, offsets in value.pointers.items()
        for instance in range(instances(base))
    )


@dataclass
class Pair:
    """An abstract memory and some concrete ones that it covers."""

    memory: Memory
    concretes: list[Concrete]
    log: list[str] = field(default_factory=list)

    def copies(self) -> list[Concrete]:
        return [{key: list(data) for key, data in c.items()} for c in self.concretes]

    @staticmethod
    def start() -> Pair:
        """Objects of known and unknown size, zero or not initialised."""
        kinds: dict[int, Contents] = {
            0: zeroed(16),
            1: zeroed(600),
            2: uninitialised(None),
            3: uninitialised(16),
            4: zeroed(256),
        }
        concrete: Concrete = {}
        for base, length in LENGTHS.items():
            fill = 0 if base in (0, 1, 4) else 0xA5
            for instance in range(instances(base)):
                concrete[base, instance] = [fill] * length
        return Pair(EMPTY.set_all(kinds), [concrete])

    def check(self, base: int, offset: int, size: int) -> None:
        value = self.memory.read(base, ints.constant(offset, 64), size)
        for concrete in self.concretes:
            for instance in range(instances(base)):
                data = concrete[base, instance][offset : offset + size]
                number = int.from_bytes(bytes(data), "little")
                what = base, offset, size, hex(number), value, self.log
                assert covers(value, number, size), what

    def check_range(self, base: int, offsets: Integers, size: int) -> None:
        value = self.memory.read(base, offsets, size)
        for concrete in self.concretes:
            for instance in range(instances(base)):
                data = concrete[base, instance]
                for offset in inside(offsets, len(data) - size):
                    number = int.from_bytes(bytes(data[offset : offset + size]), "little")
                    what = base, offset, size, hex(number), value, self.log
                    assert covers(value, number, size), what

    def check_all(self) -> None:
        for base, length in LENGTHS.items():
            for size in (1, 2, 4, 8, 12):
                for offset in range(0, length - size + 1, 4 if length > 64 else 1):
                    self.check(base, offset, size)


def inside(offsets: Integers, last: int) -> list[int]:
    """The offsets from 0 to `last`."""
    return [n for n in range(last + 1) if offsets.contains(n)]
