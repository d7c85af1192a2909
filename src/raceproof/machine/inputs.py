"""Where nondeterministic values come from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Invention:
    """A value that was made up for what a function returns or writes."""

    function: str
    value: int
    is_inexact: bool = False
    """Not made up, but not computed exactly either."""
    is_fixed: bool = False
    """By a function that is known, and would have returned one certain value."""


class Inputs(Protocol):
    needs_all: bool
    """Whether a value that stands for one among others is no use: nothing may depend on it."""

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        """A value of `bits` bits (unsigned), within `limits` (inclusive, signed) if given."""


class GivenInputs:
    """The values of a schedule in their order, then zeros."""

    needs_all = False

    def __init__(self, values: Sequence[int] = ()) -> None:
        self._values = iter(values)

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        value = next(self._values, 0 if limits is None else max(limits[0], 0))
        return value & ((1 << bits) - 1)


class RandomInputs:
    """Small numbers and the program's own constants, with a seeded generator."""

    needs_all = False

    def __init__(self, generator: random.Random, constants: Sequence[int] = ()) -> None:
        self._generator = generator
        self._constants = constants

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        generator = self._generator
        mask = (1 << bits) - 1
        if limits is not None:
            low, high = limits
            if high - low < 16:
                return generator.randint(low, high) & mask
            value = self._draw(bits)
            return min(max(value, low), high) & mask
        return self._draw(bits) & mask

    def _draw(self, bits: int) -> int:
        generator = self._generator
        kind = generator.random()
        if kind < 0.4:
            return generator.randint(0, 1)
        if kind < 0.65:
            return generator.randint(-1, 5)
        if kind < 0.9 and self._constants:
            return generator.choice(self._constants) + generator.choice((0, 0, 1, -1))
        if kind < 0.98:
            return generator.randint(0, 100)
        return generator.getrandbits(bits)
