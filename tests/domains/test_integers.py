"""The laws of sets of machine integers, against concrete arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raceproof.domains import integer_operations as operations
from raceproof.domains import integers as ints
from raceproof.domains.integer_division import urem
from raceproof.domains.integers import Integers, signed
from raceproof.domains.refinement import NEGATED, SWAPPED, compare, refine
from tests.domains.strategies import WIDTHS, concrete, integers, with_member

widths = st.sampled_from(WIDTHS)
pairs = widths.flatmap(lambda w: st.tuples(with_member(w), with_member(w)))
small_pairs = st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8]).flatmap(
    lambda w: st.tuples(integers(w), integers(w))
)

Pair = tuple[tuple[Integers, int], tuple[Integers, int]]


def _truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def concretely(operation: str, x: int, y: int, width: int) -> int | None:
    """The result before wrapping, signed where that matters; None if undefined."""
    sx, sy = signed(x, width), signed(y, width)
    if operation in ("udiv", "sdiv", "urem", "srem") and y == 0:
        return None
    if operation in ("shl", "lshr", "ashr") and y >= width:
        return None
    results: dict[str, Callable[[], int]] = {
        "add": lambda: x + y,
        "sub": lambda: x - y,
        "mul": lambda: x * y,
        "udiv": lambda: x // y,
        "sdiv": lambda: _truncated(sx, sy),
        "urem": lambda: x % y,
        "srem": lambda: sx - _truncated(sx, sy) * sy,
        "shl": lambda: x << y,
        "lshr": lambda: x >> y,
        "ashr": lambda: sx >> y,
        "and": lambda: x & y,
        "or": lambda: x | y,
        "xor": lambda: x ^ y,
    }
    return results[operation]()


def holds(predicate: str, x: int, y: int, width: int) -> bool:
    if predicate[0] == "s":
        x, y = signed(x, width), signed(y, width)
    kind = predicate[1:] if predicate[0] in "su" else predicate
    return {
        "eq": x == y,
        "ne": x != y,
        "lt": x < y,
        "le": x <= y,
        "gt": x > y,
        "ge": x >= y,
    }[kind]


@pytest.mark.parametrize("operation", operations.OPERATIONS)
@given(pairs)
def test_operation_covers_the_concrete_result(operation: str, pair: Pair) -> None:
    (a, x), (b, y) = pair
    expected = concretely(operation, x, y, a.width)
    if expected is not None:
        assert operations.OPERATIONS[operation](a, b, frozenset()).contains(expected)


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@given(pairs, st.sampled_from([{"nsw"}, {"nuw"}, {"nsw", "nuw"}]))
def test_operation_without_overflow(operation: str, pair: Pair, flags: set[str]) -> None:
    (a, x), (b, y) = pair
    width = a.width
    half = 1 << (width - 1)
    unsigned = concretely(operation, x, y, width)
    exact = concretely(operation, signed(x, width), signed(y, width), width)
    assert unsigned is not None
    assert exact is not None
    result = operations.OPERATIONS[operation](a, b, frozenset(flags))
    overflows = ("nuw" in flags and not 0 <= unsigned < 2 * half) or (
        "nsw" in flags and not -half <= exact < half
    )
    if not overflows:
        assert result.contains(exact)


@given(widths.flatmap(with_member), st.sampled_from(WIDTHS))
def test_casts(pair: tuple[Integers, int], target: int) -> None:
    a, x = pair
    if target <= a.width:
        assert operations.trunc(a, target).contains(x)
    else:
        assert operations.zext(a, target).contains(x)
        assert operations.sext(a, target).contains(signed(x, a.width))


@given(pairs)
def test_ranges(pair: Pair) -> None:
    (a, x), _ = pair
    assert a.contains(x)
    low, high = a.unsigned_range()
    assert low <= x <= high
    low, high = a.signed_range()
    assert low <= signed(x, a.width) <= high
    low, high, stride = a.progression()
    assert any(
        low <= n <= high and (n == low or (n - low) % stride == 0) for n in (x, x - (1 << a.width))
    )
    assert a.constant is None or a.constant == x


def test_what_two_wrapping_progressions_share_is_in_both() -> None:
    a, b = ints.from_range(-20, 52, 1, 8), ints.from_range(4, 244, 8, 8)
    first, second = refine("eq", a, b)
    assert ints.leq(first, a)
    assert ints.leq(second, b)


@pytest.mark.parametrize("predicate", NEGATED)
@given(pairs)
def test_compare_and_refine(predicate: str, pair: Pair) -> None:
    (a, x), (b, y) = pair
    truth = holds(predicate, x, y, a.width)
    assert compare(predicate, a, b) in (truth, None)
    assert holds(NEGATED[predicate], x, y, a.width) is not truth
    assert holds(SWAPPED[predicate], y, x, a.width) is truth
    first, second = refine(predicate, a, b)
    assert ints.leq(first, a)
    assert ints.leq(second, b)
    if truth:
        assert first.contains(x)
        assert second.contains(y)


@pytest.mark.parametrize("predicate", ["slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
@given(small_pairs)
def test_order_is_decided_exactly_in_small_widths(
    predicate: str, pair: tuple[Integers, Integers]
) -> None:
    a, b = pair
    if a.values is None or b.values is None:
        return
    answers = {holds(predicate, x, y, a.width) for x in a.values for y in b.values}
    assert compare(predicate, a, b) == (answers.pop() if len(answers) == 1 else None)


@given(pairs)
def test_join_and_meet(pair: Pair) -> None:
    (a, x), (b, y) = pair
    joined = ints.join(a, b)
    assert joined.contains(x)
    assert joined.contains(y)
    assert ints.leq(a, joined)
    assert ints.leq(b, joined)
    assert ints.join(joined, a) is joined
    met = ints.meet(a, b)
    assert ints.leq(met, a)
    if b.contains(x):
        assert met.contains(x)
        assert ints.meet(b, a).contains(x)
    if ints.leq(b, a):
        assert joined is a
        assert a.contains(y)


@given(small_pairs)
def test_order_is_inclusion(pair: tuple[Integers, Integers]) -> None:
    a, b = pair
    if ints.leq(a, b):
        assert concrete(a) <= concrete(b)
    if concrete(a) == concrete(b) and (a.values is not None or b.values is not None):
        assert a == b
        assert hash(a) == hash(b)
    assert concrete(a) | concrete(b) <= concrete(ints.join(a, b))
    assert concrete(a) & concrete(b) <= concrete(ints.meet(a, b))


@given(
    widths.flatmap(lambda w: st.lists(integers(w), min_size=2, max_size=40)),
    st.lists(st.integers(-300, 300)).map(lambda n: tuple(sorted(n))),
)
def test_widening_covers_and_ends(chain: list[Integers], thresholds: tuple[int, ...]) -> None:
    current = chain[0]
    for step in chain[1:]:
        grown = ints.widen(current, step, thresholds)
        assert ints.leq(current, grown)
        assert ints.leq(step, grown)
        current = grown


@pytest.mark.parametrize("step", [1, -1, 3, 4, 24])
@pytest.mark.parametrize("width", WIDTHS)
def test_widening_ends_a_counting_loop(width: int, step: int) -> None:
    thresholds = (-100, -1, 0, 1, 10, 64, 1000)
    current = ints.constant(0, width)
    for _ in range(40):
        moved = operations.add(current, ints.constant(step, width))
        grown = ints.widen(current, ints.join(current, moved), thresholds)
        if grown is current:
            break
        current = grown
    else:
        pytest.fail("did not end")
    assert current.contains(7 * step)


def test_examples() -> None:
    i = ints.from_range(0, 40, 1, 32)
    assert operations.add(i, ints.constant(-1, 32)).signed_range() == (-1, 39)
    assert operations.mul(operations.sext(i, 64), ints.constant(24, 64)).progression() == (
        0,
        960,
        24,
    )
    assert ints.from_range(0, 3_000_000_000, 1, 32).unsigned_range() == (0, 3_000_000_000)
    assert urem(ints.top(32), ints.constant(16, 32)) == ints.from_range(0, 15, 1, 32)
    less, _ = refine("slt", ints.top(32), ints.constant(10, 32))
    assert less.signed_range() == (-(1 << 31), 9)
    assert refine("ne", ints.top(32), ints.constant(0, 32))[0].contains(0) is False
    aligned = operations.bit_and(ints.top(64), ints.constant(-8, 64))
    assert not aligned.contains(4)
