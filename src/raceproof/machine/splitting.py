"""Inputs that are tried in parts, because the program needs to know more about them.

An input starts as one range with all its values. Where it was compared is noted. When an execution
cannot go on without knowing more, or meets a race that may be none, the ranges of the inputs in
question are split there, and those parts that have few values into single ones; then everything is
explored anew. All parts together are all values, so what holds for each of them holds.

    int i = input();                   -2^31..-1, 0, 1, ..., 9, 10..2^31-1
    if (i < 0 || i > 9) abort();       decided for each part
    lock(&m[i]);                       a number now
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.machine.unknown import Range

_MOST_VALUES = 64
"""In a part that is split into single values."""
_MOST_PARTS = 200


@dataclass(slots=True, eq=False)
class InputSite:
    """An instruction that asks for an input."""

    instruction: int
    low: int
    """A signed number; where it is negative, its parts are still unsigned."""
    high: int
    bits: int = 64
    bounds: set[int] = field(default_factory=set)
    """Where a part should begin: what it was compared with."""
    is_blamed: bool = False
    """Whether something could not go on without knowing it, or touched more than it would."""
    parts: tuple[tuple[int, int], ...] = ()
    alone: frozenset[InputSite] = frozenset()

    def __post_init__(self) -> None:
        self.alone = frozenset((self,))
        self.parts = self._halves()

    def _halves(self) -> tuple[tuple[int, int], ...]:
        """The values, unsigned: two stretches if some are negative."""
        if self.low >= 0:
            return ((self.low, self.high),)
        end = 1 << self.bits
        negative = (self.low + end, min(self.high, -1) + end)
        return (negative,) if self.high < 0 else (negative, (0, self.high))

    def value(self, part: int) -> int | Range:
        low, high = self.parts[part]
        return low if low == high else Range(self, low, high)

    def split(self) -> bool:
        """Split it as far as is known to be of use; whether that is more than before."""
        if not self.bounds:
            return False
        parts: list[tuple[int, int]] = []
        for first, last in self._halves():
            half = (first + last + 1) // 2
            starts = sorted({b for b in (*self.bounds, half) if first < b <= last})
            for low, end in zip((first, *starts), (*starts, last + 1), strict=True):
                if self.is_blamed and end - low <= _MOST_VALUES:
                    parts += [(value, value) for value in range(low, end)]
                else:
                    parts.append((low, end - 1))
        found = tuple(parts)
        if len(found) > _MOST_PARTS or found == self.parts:
            return False
        self.parts = found
        return True


class InputSites:
    """All inputs of a program."""

    def __init__(self) -> None:
        self._sites: dict[tuple[int, int, int], InputSite] = {}
        """By instruction and values: a call by pointer may ask for one input or another."""

    def at(self, instruction: int, low: int, high: int, bits: int = 64) -> InputSite:
        key = instruction, low, high
        found = self._sites.get(key)
        if found is None:
            found = self._sites[key] = InputSite(instruction, low, high, bits)
        return found

    def split(self, *, only_blamed: bool) -> bool:
        """Split those that are to blame, or all; whether that changes anything."""
        sites = [site for site in self._sites.values() if site.is_blamed or not only_blamed]
        changed = [site.split() for site in sites]
        return any(changed)
