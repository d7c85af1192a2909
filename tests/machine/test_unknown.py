"""Unknown values: a range says nothing that does not hold for each of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from raceproof.machine.splitting import InputSite
from raceproof.machine.unknown import Range, Unknown, unknown_from

BITS = 8
ALL = (1 << BITS) - 1
HALF = 1 << (BITS - 1)

_NUMBERS = st.integers(0, ALL)
_STEPS = st.one_of(
    st.tuples(st.just("add"), _NUMBERS),
    st.tuples(st.just("sub"), _NUMBERS),
    st.tuples(st.just("xor"), st.sampled_from((HALF, 1, 4))),
    st.tuples(st.just("sext"), st.just(0)),
    st.tuples(st.just("mul"), _NUMBERS),
)
_STEP: dict[str, Callable[[Any, int], Any]] = {
    "add": lambda value, number: value + number & ALL,
    "sub": lambda value, number: value - number & ALL,
    "xor": lambda value, number: value ^ number,
    "sext": lambda value, _: (value ^ HALF) - HALF & 0xFFFF,
    "mul": lambda value, number: value * number & ALL,
}
_TESTS: tuple[Callable[[Any, int], Any], ...] = (
    lambda value, number: value < number,
    lambda value, number: value <= number,
    lambda value, number: value > number,
    lambda value, number: number >= value,
    lambda value, number: value == number,
    lambda value, number: value != number,
    lambda value, number: (value ^ HALF) < (number ^ HALF),
)


@given(
    st.tuples(_NUMBERS, _NUMBERS).filter(lambda pair: pair[0] < pair[1]),
    st.lists(_STEPS, max_size=3),
    st.sampled_from(_TESTS),
    _NUMBERS,
)
def test_what_a_range_says_holds_for_its_values(
    bounds: tuple[int, int],
    steps: list[tuple[str, int]],
    test: Callable[[Any, int], Any],
    number: int,
) -> None:
    low, high = bounds
    values: list[Any] = [Range(InputSite(0, 0, ALL), low, high), *range(low, high + 1)]
    for name, operand in steps:
        values = [_STEP[name](value, operand) for value in values]
    said = test(values[0], number)
    if not isinstance(said, Unknown):
        assert all(test(value, number) is said for value in values[1:])


@given(st.sampled_from(_TESTS), _NUMBERS, st.integers(0, ALL), st.booleans())
def test_after_splitting_a_comparison_is_decided(
    test: Callable[[Any, int], Any], number: int, distance: int, is_shifted: bool
) -> None:
    """And the parts are all values, each once."""
    site = InputSite(0, 0, ALL)

    def answer(value: Any) -> Any:
        return test(value + distance & ALL if is_shifted else value, number)

    said = answer(site.value(0))
    if isinstance(said, Unknown):
        if not site.split():  # it wraps around: nothing is known of where
            assert is_shifted
            return
        answers = [answer(site.value(part)) for part in range(len(site.parts))]
        assert is_shifted or not any(isinstance(one, Unknown) for one in answers)
    covered = [v for low, high in site.parts for v in range(low, high + 1)]
    assert covered == list(range(ALL + 1))


def test_blame_goes_to_the_inputs() -> None:
    first, second = InputSite(1, 0, ALL), InputSite(2, 0, ALL)
    third = InputSite(3, 0, ALL)
    unknown_from(first.value(0) * 3, 7, second.value(0)).blame()
    assert (first.is_blamed, second.is_blamed, third.is_blamed) == (True, True, False)
