"""Abstract values against concrete numbers, some of which are addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raceproof.domains import integers as ints
from raceproof.domains import values
from raceproof.domains.bases import Bases
from raceproof.domains.integer_operations import OPERATIONS
from raceproof.domains.refinement import NEGATED
from raceproof.domains.value_operations import binary, cast, offset, scaled
from raceproof.domains.value_refinement import compare, refine, refine_truth, truth
from raceproof.domains.values import AbstractValue, address, any_integer, constant
from tests.domains.concrete_memory import WEAK, address_of, covers, instances, pointed_to
from tests.domains.strategies import with_member
from tests.domains.test_integers import concretely, holds

ALIGNMENTS = [8, 1, 16, 8, 4]
"""Of the bases of `concrete_memory`, whose objects lie at multiples of 0x8000."""

Sample = tuple[AbstractValue, int]


@st.composite
def samples(draw: st.DrawFn, width: int = 64) -> Sample:
    """A value and a concrete one in it."""
    parts: list[Sample] = []
    for kind in draw(
        st.lists(
            st.sampled_from(["integer", "small", "pointer", "pointer", "uninitialised", "unknown"]),
            min_size=1,
            max_size=3,
        )
    ):
        if kind == "integer":
            integers, number = draw(with_member(width))
            parts.append((values.integer(integers), number))
        elif kind == "small":
            number = draw(st.sampled_from([0, 1, 7, 4095, 2**64 - 1, 2**64 - 16]))
            parts.append((constant(number, width), number % (1 << width)))
        elif kind == "pointer":
            base = draw(st.integers(0, 4))
            instance = draw(st.integers(0, instances(base) - 1))
            step = draw(st.integers(0, 24))
            offsets = draw(
                st.sampled_from(
                    [
                        ints.constant(step, 64),
                        ints.from_set([step, step + 4], 64),
                        ints.from_range(step % 4, 400, 4, 64)
                        if step < 4
                        else ints.constant(step, 64),
                        ints.top(64),
                    ]
                )
            )
            parts.append((values.make(None, {base: offsets}), address_of(base, instance, step)))
        elif kind == "uninitialised":
            parts.append((values.UNINITIALISED, draw(st.integers(0, 99))))
        else:
            parts.append((values.UNKNOWN, draw(st.integers(0, 99))))
    value = values.BOTTOM
    for part, _ in parts:
        value = values.join(value, part)
    return value, draw(st.sampled_from([number for _, number in parts]))


@pytest.mark.parametrize("operation", OPERATIONS)
@given(samples(), samples(), st.booleans())
def test_binary(operation: str, first: Sample, second: Sample, is_aligned: bool) -> None:
    (a, x), (b, y) = first, second
    exact = concretely(operation, x, y, 64)
    if exact is None:
        return
    number = exact % (1 << 64)
    result = binary(operation, a, b, 64, weak=WEAK, alignments=ALIGNMENTS if is_aligned else ())
    if covers(result, number, 8):
        return
    target = pointed_to(number)
    assert target is not None, (result, hex(number))
    used = {base for value in (a, b) for base in value.pointers}
    assert target[0] not in used, (result, target)


@given(samples(), st.integers(-64, 64))
def test_offset(sample: Sample, distance: int) -> None:
    value, number = sample
    moved = offset(value, ints.constant(distance, 64))
    assert covers(moved, (number + distance) % (1 << 64), 8)
    assert offset(moved, ints.constant(-distance, 64)) == value or value.integers is not None


@given(samples(), samples())
def test_join_and_widen(first: Sample, second: Sample) -> None:
    (a, x), (b, y) = first, second
    for result in (values.join(a, b), values.widen(a, b, (0, 10))):
        assert covers(result, x, 8)
        assert covers(result, y, 8)
        assert values.leq(a, result)
        assert values.leq(b, result)
        assert values.join(result, a) is result
        assert values.widen(result, b) is result
    if values.leq(b, a):
        assert values.join(a, b) is a
        assert covers(a, y, 8)


@pytest.mark.parametrize("predicate", NEGATED)
@given(samples(), samples())
def test_compare_and_refine(predicate: str, first: Sample, second: Sample) -> None:
    (a, x), (b, y) = first, second
    answer = holds(predicate, x, y, 64)
    assert compare(predicate, a, b, 64, WEAK) in (answer, None)
    left, right = refine(predicate, a, b, 64, WEAK)
    if answer:
        assert covers(left, x, 8)
        assert covers(right, y, 8)


@given(samples())
def test_truth(sample: Sample) -> None:
    value, number = sample
    assert truth(value, 64) in (number != 0, None)
    assert covers(refine_truth(value, 64, number != 0), number, 8)


@given(samples(), st.sampled_from([1, 8, 16, 32]))
def test_casts(sample: Sample, width: int) -> None:
    value, number = sample
    small = cast("trunc", value, 64, width)
    part = number % (1 << width)
    assert covers(small, part, 1)
    assert covers(cast("zext", small, width, 64), part, 1)
    assert cast("inttoptr", cast("ptrtoint", value, 64, 64), 64, 64) is value


def test_null_check() -> None:
    pointer = values.join(address(7, 4), constant(0, 64))
    assert truth(pointer, 64) is None
    assert refine_truth(pointer, 64, True) == address(7, 4)
    assert refine_truth(pointer, 64, False) == constant(0, 64)
    assert truth(address(7), 64) is True


def test_error_pointer() -> None:
    pointer = values.join(address(7), constant(-12, 64))
    limit = constant(-4095, 64)
    assert refine("uge", pointer, limit, 64)[0] == constant(-12, 64)
    assert refine("ult", pointer, limit, 64)[0] == address(7)
    assert compare("uge", address(7), limit, 64) is False


def test_tag_bits() -> None:
    tagged = binary("or", address(0, 16), constant(1, 64), 64, alignments=[8])
    assert tagged == address(0, 17)
    assert binary("and", tagged, constant(7, 64), 64, alignments=[8]) == constant(1, 64)
    assert binary("and", tagged, constant(-8, 64), 64, alignments=[8]) == address(0, 16)
    assert binary("and", address(0, 16), constant(-8, 64), 64).pointers[0].contains(9)


def test_bits_of_a_part_of_an_address() -> None:
    part = values.make(None, {0: ints.constant(16, 64)})
    result = binary("and", part, constant(-8, 32), 32, alignments=[8])
    assert result.as_integers(32).contains(0x8010)


def test_walking_an_array() -> None:
    end = address(3, 400)
    position = values.make(None, {3: ints.from_range(0, 800, 4, 64)})
    assert refine("ult", position, end, 64)[0].pointers[3].signed_range() == (0, 396)
    assert refine("ult", position, end, 64, {3})[0] is position
    assert refine("ne", position, address(3, 0), 64)[0].pointers[3].signed_range() == (4, 800)


def test_hash_of_an_address_is_a_number() -> None:
    index = binary("urem", address(3), constant(64, 64), 64)
    assert not index.pointers
    assert scaled(index, 64, 8, 64) == ints.from_range(0, 504, 8, 64)
    assert scaled(any_integer(32), 32, 1, 64).signed_range() == (-(1 << 31), (1 << 31) - 1)


def test_split_and_rebuilt_address_keeps_its_base() -> None:
    high = binary("lshr", address(3), constant(32, 64), 64)
    low = cast("zext", cast("trunc", address(3), 64, 32), 32, 64)
    rebuilt = binary("or", binary("shl", high, constant(32, 64), 64), low, 64)
    assert rebuilt.pointers[3].is_top


def test_bases() -> None:
    bases: Bases[str] = Bases()
    first = bases.intern(("global", "x"), "global", "x", 4, alignment=4)
    assert bases.intern(("global", "x"), "global", "x", 4) == first
    second = bases.intern(("site", 12), "heap", "malloc at a.c:3", is_weak=True)
    assert bases.is_weak(second)
    assert not bases.is_weak(first)
    assert bases.find(("site", 12)) == second
    assert bases[first].size == 4
    assert bases.alignments == [4, 1]
