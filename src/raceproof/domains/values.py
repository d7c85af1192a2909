"""Abstract values: what a register or a piece of memory may hold.

A value is a set of integers and a set of addresses, an address being a base and a byte offset (of
the width of pointers). NULL is the integer 0. Two flags: `is_unknown`, it may be anything and point
anywhere; `is_uninitialised`, it may be what was never written, that is any integer. Floating-point
numbers are any integer of their width.

    p = c ? &s.b : 0;      // integers {0}, pointers {s: {4}}

A value whose bits were mixed up (`garbled`) keeps the bases it came from, with any offset.
Values are immutable; `join` and `widen` return their first argument itself if nothing changes.
"""

from __future__ import annotations

from raceproof.domains import integers as ints
from raceproof.domains.integers import Integers

Pointers = dict[int, Integers]
"""Base -> offsets. Never changed once in a value."""

NO_POINTERS: Pointers = {}

LOWEST_ADDRESS = 4096
"""No object lies within so many bytes of either end of memory: there are NULL and error codes."""


def address_range(width: int) -> Integers:
    """What the address of an object can be as a number."""
    return ints.from_range(LOWEST_ADDRESS, (1 << width) - LOWEST_ADDRESS - 1, 1, width)


_FEW_BASES = 4


class AbstractValue:
    """`is_integer` says that there is an integer part and nothing else."""

    __slots__ = ("_mixed", "integers", "is_integer", "is_uninitialised", "is_unknown", "pointers")

    def __init__(
        self,
        integers: Integers | None,
        pointers: Pointers,
        is_unknown: bool = False,
        is_uninitialised: bool = False,
    ) -> None:
        self.integers = integers
        self.pointers = pointers
        self.is_unknown = is_unknown
        self.is_uninitialised = is_uninitialised
        self.is_integer = not (pointers or is_unknown or is_uninitialised or integers is None)
        self._mixed: tuple[int, AbstractValue | None] | None = None
        """The value `garbled`, for one width (None: itself); often asked for where much is
        unclear."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, AbstractValue):
            return NotImplemented
        return (
            self.integers == other.integers
            and self.pointers == other.pointers
            and self.is_unknown == other.is_unknown
            and self.is_uninitialised == other.is_uninitialised
        )

    def __hash__(self) -> int:
        flags = (self.is_unknown, self.is_uninitialised)
        return hash((self.integers, frozenset(self.pointers.items()), flags))

    def __repr__(self) -> str:
        parts = [repr(self.integers)] if self.integers is not None else []
        parts += [f"&{base}+{offsets}" for base, offsets in sorted(self.pointers.items())]
        parts += ["unknown"] if self.is_unknown else []
        parts += ["uninitialised"] if self.is_uninitialised else []
        return " | ".join(parts) or "bottom"

    @property
    def is_bottom(self) -> bool:
        return (
            self.integers is None
            and not self.pointers
            and not self.is_unknown
            and not self.is_uninitialised
        )

    @property
    def constant(self) -> int | None:
        """The only integer it can be, unsigned."""
        return self.integers.constant if self.is_integer and self.integers else None

    @property
    def only_address(self) -> tuple[int, int] | None:
        """`(base, offset)` if it is one exact address."""
        if len(self.pointers) != 1 or self.integers is not None:
            return None
        if self.is_unknown or self.is_uninitialised:
            return None
        ((base, offsets),) = self.pointers.items()
        offset = offsets.signed_constant
        return None if offset is None else (base, offset)

    def as_integers(self, width: int) -> Integers:
        """All that it may be as a number."""
        if self.is_integer and self.integers is not None and self.integers.width == width:
            return self.integers
        if self.is_unknown or self.is_uninitialised:
            return ints.top(width)
        if not self.pointers:
            return ints.bottom(width) if self.integers is None else ints.top(width)
        if next(iter(self.pointers.values())).width != width:
            return ints.top(width)
        addresses = address_range(width)
        return addresses if self.integers is None else ints.join(addresses, self.integers)

    def initialised(self) -> AbstractValue:
        """Without what was never written."""
        if not self.is_uninitialised:
            return self
        return make(self.integers, self.pointers, self.is_unknown)

    def pointers_only(self) -> AbstractValue:
        """Without integers and what was never written: what a dereference that works sees."""
        if self.integers is None and not self.is_uninitialised:
            return self
        return UNKNOWN if self.is_unknown else make(None, self.pointers)


BOTTOM = AbstractValue(None, NO_POINTERS)
UNKNOWN = AbstractValue(None, NO_POINTERS, is_unknown=True)
UNINITIALISED = AbstractValue(None, NO_POINTERS, is_uninitialised=True)


def integer(integers: Integers) -> AbstractValue:
    """Just these integers."""
    value = integers.value
    if value is None:
        value = BOTTOM if integers.values == () else AbstractValue(integers, NO_POINTERS)
        integers.value = value
    assert isinstance(value, AbstractValue)
    return value


def constant(number: int, width: int) -> AbstractValue:
    return integer(ints.constant(number, width))


def any_integer(width: int) -> AbstractValue:
    """Any number, but no address."""
    return integer(ints.top(width))


def address(base: int, offset: int = 0, width: int = 64) -> AbstractValue:
    """The address `offset` bytes into a base; `width` is that of pointers."""
    return AbstractValue(None, {base: ints.constant(offset, width)})


def make(
    integers: Integers | None,
    pointers: Pointers,
    is_unknown: bool = False,
    is_uninitialised: bool = False,
) -> AbstractValue:
    """A value from its parts, in canonical form."""
    if is_unknown:
        return UNKNOWN
    if integers is not None and integers.values == ():
        integers = None
    if not pointers:
        if not is_uninitialised:
            return BOTTOM if integers is None else integer(integers)
        if integers is None:
            return UNINITIALISED
    return AbstractValue(integers, pointers, False, is_uninitialised)


def garbled(value: AbstractValue, width: int) -> AbstractValue:
    """What mixing the bits of this value with others, or taking some of them, may give."""
    if value.is_unknown:
        return UNKNOWN
    if value.is_bottom:
        return BOTTOM
    if not value.pointers:
        if value.integers is None:
            return value
        return make(ints.top(width), NO_POINTERS, False, value.is_uninitialised)
    known = value._mixed
    if known is not None and known[0] == width:
        return known[1] or value
    top = ints.top(next(iter(value.pointers.values())).width)
    if all(offsets is top for offsets in value.pointers.values()):
        if value.integers is ints.top(width):
            value._mixed = (width, None)
            return value
        pointers = value.pointers
    else:
        pointers = dict.fromkeys(value.pointers, top)
    result = AbstractValue(ints.top(width), pointers, False, value.is_uninitialised)
    value._mixed = (width, result)
    return result


# --- the lattice ------------------------------------------------------------


def leq(a: AbstractValue, b: AbstractValue) -> bool:
    if a is b or b.is_unknown:
        return True
    if a.is_unknown or (a.is_uninitialised and not b.is_uninitialised):
        return False
    if a.integers is not None and (b.integers is None or not ints.leq(a.integers, b.integers)):
        return False
    if a.pointers is not b.pointers:
        for base, offsets in a.pointers.items():
            other = b.pointers.get(base)
            if other is None or not ints.leq(offsets, other):
                return False
    return True


def join(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    if a is b:
        return a
    if a.is_integer and b.is_integer:
        assert a.integers is not None
        assert b.integers is not None
        integers = ints.join(a.integers, b.integers)
        return a if integers is a.integers else b if integers is b.integers else integer(integers)
    return _combine(a, b, None)


def widen(a: AbstractValue, b: AbstractValue, thresholds: tuple[int, ...] = ()) -> AbstractValue:
    """As `integers.widen`; the bases are finitely many and just joined."""
    if a is b:
        return a
    if a.is_integer and b.is_integer:
        assert a.integers is not None
        assert b.integers is not None
        integers = ints.widen(a.integers, b.integers, thresholds)
        return a if integers is a.integers else integer(integers)
    return _combine(a, b, thresholds)


def _combine(
    a: AbstractValue, b: AbstractValue, thresholds: tuple[int, ...] | None
) -> AbstractValue:
    """Join, or widen if there are thresholds."""
    if a.is_unknown or b.is_unknown:
        return UNKNOWN
    first, second = a.integers, b.integers
    if first is None:
        integers = second
    elif second is None or first is second:
        integers = first
    elif thresholds is None:
        integers = ints.join(first, second)
    else:
        integers = ints.widen(first, second, thresholds)
    pointers = _combine_pointers(a.pointers, b.pointers, thresholds)
    is_uninitialised = a.is_uninitialised or b.is_uninitialised
    if integers is first and pointers is a.pointers and is_uninitialised == a.is_uninitialised:
        return a
    if integers is second and pointers is b.pointers and is_uninitialised == b.is_uninitialised:
        return b
    return AbstractValue(integers, pointers, False, is_uninitialised)


def _combine_pointers(a: Pointers, b: Pointers, thresholds: tuple[int, ...] | None) -> Pointers:
    if a is b or not b:
        return a
    if not a:
        return b
    if len(b) > _FEW_BASES and b.items() <= a.items():
        return a
    result: Pointers | None = None
    for base, offsets in b.items():
        old = a.get(base)
        if old is offsets:
            continue
        if old is None:
            new = offsets
        elif thresholds is None:
            new = ints.join(old, offsets)
        else:
            new = ints.widen(old, offsets, thresholds)
        if new is not old:
            if result is None:
                result = dict(a)
            result[base] = new
    return a if result is None else result
