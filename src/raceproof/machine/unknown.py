"""Values that are not known: the explorer's way to try all inputs at once.

On an open machine an input is not a number but `Unknown`. Whatever is computed from it is unknown
too. A branch on it goes both ways, memory remembers which bytes are unknown, an index makes a
pointer to somewhere in its object. What needs a number (an address to lock, a size to allocate)
gives up, and then says which inputs are to *blame* (their sites: the instructions that asked).

    int i = input();                   Range over all of int
    if (i < 0 || i > 9) abort();       both ways, and it was compared with 0 and 10
    a[i] = 1;                          a write somewhere Inside(a)
    lock(&m[i]);                       cannot go on: split i at 0 and 10 (see `splitting`)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from raceproof.machine.faults import ChoiceNeeded

if TYPE_CHECKING:
    from raceproof.machine.memory import MemoryObject
    from raceproof.machine.splitting import InputSite

_NO_SITES: frozenset[InputSite] = frozenset()


class Unknown:
    """Any value of its type, computed from the inputs of `sites`."""

    __slots__ = ("sites",)

    def __init__(self, sites: frozenset[InputSite] = _NO_SITES) -> None:
        self.sites = sites

    def _absorb(self, *others: Any) -> Unknown:
        return unknown_from(self, *others)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _absorb
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = _absorb
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _absorb
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _absorb
    __neg__ = __invert__ = __abs__ = _absorb
    __lt__ = __le__ = __gt__ = __ge__ = _absorb
    __eq__ = __ne__ = _absorb  # type: ignore[assignment]
    __getitem__ = _absorb

    def __hash__(self) -> int:
        return 0x5EED

    def __bool__(self) -> bool:
        self.blame()
        raise ChoiceNeeded

    def blame(self) -> None:
        """Say that more should be known."""
        for site in self.sites:
            site.is_blamed = True

    def key(self) -> Any:
        """What can be compared: equal for values of which the same is known."""
        return "?"

    def __repr__(self) -> str:
        return "?"


class Inside(Unknown):
    """A pointer to some byte of `target`."""

    __slots__ = ("target",)

    def __init__(self, target: MemoryObject, sites: frozenset[InputSite] = _NO_SITES) -> None:
        super().__init__(sites)
        self.target = target

    def key(self) -> Any:
        return ("inside", self.target.base)

    def __repr__(self) -> str:
        return f"?{self.target.name}"


class Range(Unknown):
    """A value from `low` to `high`: an input plus `shift`, with the bits of `flip` flipped.

    It stays one while it is shifted, and says for sure how it compares if that is sure.
    """

    __slots__ = ("flip", "high", "low", "shift", "site")

    def __init__(self, site: InputSite, low: int, high: int, shift: int = 0, flip: int = 0) -> None:
        super().__init__(site.alone)
        self.site = site
        self.low = low
        self.high = high
        self.shift = shift
        self.flip = flip

    def key(self) -> Any:
        return ("range", self.site.instruction, self.low, self.high, self.shift, self.flip)

    def _moved(self, distance: int) -> Range:
        return Range(self.site, self.low + distance, self.high + distance, self.shift + distance)

    def __add__(self, other: Any) -> Unknown:
        if type(other) is int and not self.flip:
            return self._moved(other)
        return self._absorb(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Unknown:
        return self + -other if type(other) is int else self._absorb(other)

    def __and__(self, other: Any) -> Unknown:
        """With all bits of some width: the same if it does not wrap around within."""
        if type(other) is int and other & (other + 1) == 0 and not self.flip:
            period = other + 1
            if self.low // period == self.high // period:
                return self._moved(-(self.low // period * period))
        return self._absorb(other)

    __rand__ = __and__

    def __xor__(self, other: Any) -> Unknown:
        """With the top bit: the other half of all values, or both exchanged."""
        if type(other) is int and other.bit_count() == 1 and not self.flip and self.low >= 0:
            if 0 < self.high < other:
                return self._moved(other)
            if other <= self.low and self.high < 2 * other:
                return self._moved(-other)
            if (self.low, self.high) == (0, 2 * other - 1):
                return Range(self.site, self.low, self.high, self.shift, other)
        return self._absorb(other)

    __rxor__ = __xor__

    def __lt__(self, other: Any) -> Any:
        if type(other) is not int:
            return self._absorb(other)
        if self.high < other:
            return True
        return False if self.low >= other else self._undecided(other)

    def __ge__(self, other: Any) -> Any:
        found = self < other
        return found if isinstance(found, Unknown) else not found

    def __le__(self, other: Any) -> Any:
        return self < other + 1 if type(other) is int else self._absorb(other)

    def __gt__(self, other: Any) -> Any:
        return self >= other + 1 if type(other) is int else self._absorb(other)

    def __eq__(self, other: Any) -> Any:
        if type(other) is not int:
            return self._absorb(other)
        if not self.low <= other <= self.high:
            return False
        return self._undecided(other, other + 1)

    def __ne__(self, other: Any) -> Any:
        found = self == other
        return found if isinstance(found, Unknown) else not found

    __hash__ = Unknown.__hash__

    def may_be(self, numbers: Iterable[int]) -> bool:
        return any(self.low <= number <= self.high for number in numbers)

    def compared_with(self, numbers: Iterable[int]) -> None:
        """Note that it matters whether it is one of these."""
        for number in numbers:
            if self.may_be((number,)):
                self._undecided(number, number + 1)

    def _undecided(self, *bounds: int) -> Unknown:
        for bound in bounds:
            self.site.bounds.add((bound ^ self.flip) - self.shift)
        return Unknown(self.sites)

    def __repr__(self) -> str:
        return f"{self.low}..{self.high}"


UNKNOWN: Final = Unknown()


def unknown_from(*values: Any) -> Unknown:
    """An unknown value that was computed from these."""
    sites = _NO_SITES
    for value in values:
        if isinstance(value, Unknown) and value.sites is not sites:
            sites = sites | value.sites if sites else value.sites
    return Unknown(sites) if sites else UNKNOWN
