"""A persistent map from small integers, made for merging.

Two states of a program mostly share their memory. The map is a tuple of chunks of `CHUNK` entries;
a change copies one chunk and the tuple, and merging two maps looks only into the chunks that are
not the same object. A missing entry is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

V = TypeVar("V")

_BITS = 6
CHUNK = 1 << _BITS
_MASK = CHUNK - 1
_EMPTY: tuple[None, ...] = (None,) * CHUNK


class IntMap(Generic[V]):
    """int -> V, immutable."""

    __slots__ = ("chunks",)

    def __init__(self, chunks: tuple[tuple[V | None, ...], ...] = ()) -> None:
        self.chunks = chunks

    def get(self, key: int) -> V | None:
        chunks = self.chunks
        index = key >> _BITS
        return chunks[index][key & _MASK] if index < len(chunks) else None

    def set(self, key: int, value: V | None) -> IntMap[V]:
        """A map that differs in this entry; None removes it."""
        index, place = key >> _BITS, key & _MASK
        chunks = list(self.chunks)
        while index >= len(chunks):
            chunks.append(_EMPTY)
        chunk = list(chunks[index])
        chunk[place] = value
        chunks[index] = tuple(chunk)
        return IntMap(tuple(chunks))

    def set_all(self, entries: dict[int, V | None]) -> IntMap[V]:
        """Many changes at once."""
        if not entries:
            return self
        length = max(len(self.chunks), (max(entries) >> _BITS) + 1)
        chunks: list[list[V | None] | tuple[V | None, ...]] = [*self.chunks]
        chunks += [_EMPTY] * (length - len(chunks))
        for key, value in entries.items():
            chunk = chunks[key >> _BITS]
            if not isinstance(chunk, list):
                chunk = chunks[key >> _BITS] = list(chunk)
            chunk[key & _MASK] = value
        return IntMap(tuple(c if isinstance(c, tuple) else tuple(c) for c in chunks))

    def items(self) -> Iterator[tuple[int, V]]:
        for index, chunk in enumerate(self.chunks):
            if chunk is not _EMPTY:
                for place, value in enumerate(chunk):
                    if value is not None:
                        yield index << _BITS | place, value

    def __len__(self) -> int:
        return sum(CHUNK - chunk.count(None) for chunk in self.chunks if chunk is not _EMPTY)

    def differences(self, other: IntMap[V]) -> list[tuple[int, V | None, V | None]]:
        """`(key, here, there)` wherever the two do not hold the same object."""
        if self.chunks is other.chunks:
            return []
        found = []
        mine, theirs = self.chunks, other.chunks
        length = max(len(mine), len(theirs))
        mine += (_EMPTY,) * (length - len(mine))
        theirs += (_EMPTY,) * (length - len(theirs))
        for index in range(length):
            left, right = mine[index], theirs[index]
            if left is not right:
                start = index << _BITS
                found += [
                    (start + place, x, y)
                    for place, (x, y) in enumerate(zip(left, right, strict=True))
                    if x is not y
                ]
        return found

    def merge(self, other: IntMap[V], combine: Callable[[V, V], V]) -> IntMap[V]:
        """The entries of both, combined where both have one.

        `self` itself if nothing changes; `combine(x, y)` should return `x` itself likewise.
        """
        changes: dict[int, V | None] = {}
        for key, here, there in self.differences(other):
            if there is None:
                continue
            if here is None:
                changes[key] = there
            else:
                both = combine(here, there)
                if both is not here:
                    changes[key] = both
        return self.set_all(changes)
