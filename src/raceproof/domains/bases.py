"""The objects that addresses point into, numbered."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, eq=False)
class Base(Generic[Kind]):
    """One abstract object. `descriptor` says which: a global, a slot in a context, a site."""

    number: int
    descriptor: Hashable
    kind: Kind
    name: str
    """For people."""
    size: int | None = None
    """In bytes; None if unknown."""
    alignment: int = 1
    """Its address is a multiple of this."""
    function: str | None = None
    """The function that this is the address of."""


class Bases(Generic[Kind]):
    """Gives each descriptor its base and number, in the order of asking."""

    __slots__ = ("_numbers", "alignments", "all", "weak", "weakened")

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.all: list[Base[Kind]] = []
        self.weak: set[int] = set()
        """The bases that may stand for more than one object."""
        self.weakened = 0
        """How often what was known of a base turned out wrong: its size, or that it is single."""
        self.alignments: list[int] = []

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, number: int) -> Base[Kind]:
        return self.all[number]

    def find(self, descriptor: Hashable) -> int | None:
        return self._numbers.get(descriptor)

    def intern(
        self,
        descriptor: Hashable,
        kind: Kind,
        name: str,
        size: int | None = None,
        *,
        is_weak: bool = False,
        alignment: int = 1,
        function: str | None = None,
    ) -> int:
        """The number of the base with this descriptor, made now if it is new.

        A base once asked for as weak stays weak, and one asked for with two sizes has none.
        """
        number = self._numbers.get(descriptor)
        if number is None:
            number = self._numbers[descriptor] = len(self.all)
            self.all.append(Base(number, descriptor, kind, name, size, alignment, function))
            self.alignments.append(alignment)
            if is_weak:
                self.weak.add(number)
            return number
        if is_weak and number not in self.weak:
            self.weak.add(number)
            self.weakened += 1
        known = self.all[number]
        if known.size != size and known.size is not None:
            self.all[number] = replace(known, size=None)
            self.weakened += 1
        return number

    def is_weak(self, number: int) -> bool:
        return number in self.weak
