"""What one instruction reads and writes, in one shape for loads, stores, copies and calls."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.ir import Value


@dataclass(frozen=True, slots=True)
class Product:
    """The product of the factors, in bytes: `calloc(n, size)`."""

    factors: tuple[Value, ...]
    scale: int = 1


@dataclass(frozen=True, slots=True)
class StringLength:
    """The bytes of the string at `pointer` with its final zero, at most `limit` characters."""

    pointer: Value
    limit: Value | int | None = None
    width: int = 1


@dataclass(frozen=True, slots=True)
class WholeObject:
    """From the pointer to the end of its object; `free` means all of it."""


@dataclass(frozen=True, slots=True)
class Reachable:
    """The whole object and all that can be reached from it by pointers."""


Size = int | Value | Product | StringLength | WholeObject | Reachable | None
"""How many bytes: known, a value, computed from values, or (None) unknown."""


@dataclass(frozen=True, slots=True)
class MemoryEffect:
    """`size` bytes at `pointer` are read, written, or (an atomic update) both."""

    pointer: Value
    size: Size
    is_read: bool
    is_write: bool
    is_atomic: bool = False
    is_may: bool = False
    """Perhaps it accesses less, or nothing."""

    @property
    def constant_size(self) -> int | None:
        """The number of bytes if it is known without looking at any value."""
        return self.size if isinstance(self.size, int) else None
