"""Random abstract values, with concrete ones inside."""

from __future__ import annotations

from hypothesis import strategies as st

from raceproof.domains import integers as ints
from raceproof.domains.integers import Integers

SMALL_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8)
WIDTHS = (*SMALL_WIDTHS, 32, 64)


def numbers(width: int) -> st.SearchStrategy[int]:
    """Unsigned, mostly near the ends of the ranges."""
    size = 1 << width
    half = size >> 1
    near = st.sampled_from([0, half, size, size // 3]).flatmap(
        lambda n: st.integers(n - 20, n + 20)
    )
    return st.one_of(near, st.integers(0, size - 1)).map(lambda n: n % size)


@st.composite
def integers(draw: st.DrawFn, width: int) -> Integers:
    """Not bottom."""
    kind = draw(st.sampled_from(["constant", "set", "range", "range", "top"]))
    if kind == "constant":
        return ints.constant(draw(numbers(width)), width)
    if kind == "set":
        return ints.from_set(draw(st.lists(numbers(width), min_size=1, max_size=8)), width)
    if kind == "top":
        return ints.top(width)
    low = draw(numbers(width))
    stride = draw(st.sampled_from([1, 1, 2, 3, 4, 6, 8, 12, 24, 100]))
    steps = draw(st.one_of(st.integers(1, 40), st.integers(1, 1 << width)))
    return ints.from_range(low, low + steps * stride, stride, width)


@st.composite
def member(draw: st.DrawFn, value: Integers) -> int:
    """One of its values, unsigned."""
    if value.values is not None:
        return draw(st.sampled_from(value.values))
    count = value.count()
    step = draw(st.one_of(st.sampled_from([0, 1, count - 2, count - 1]), st.integers(0, count - 1)))
    return (value.low + step * value.stride) % (1 << value.width)


@st.composite
def with_member(draw: st.DrawFn, width: int) -> tuple[Integers, int]:
    value = draw(integers(width))
    return value, draw(member(value))


def concrete(value: Integers) -> set[int]:
    """All values, for small widths."""
    return {n for n in range(1 << value.width) if value.contains(n)}
