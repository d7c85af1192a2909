"""Abstract memory against concrete bytes: writes, copies, fills, joins in random order."""

from __future__ import annotations

from random import Random

import pytest

from raceproof.domains import integers as ints
from raceproof.domains import values
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue, address, constant
from tests.domains.concrete_memory import (
    LENGTHS,
    WEAK,
    Pair,
    address_of,
    inside,
    instances,
    pointed_to,
)

BASES = sorted(LENGTHS)
SIZES = [1, 2, 4, 4, 8, 8]


def _offsets(random: Random, base: int, size: int) -> Integers:
    last = LENGTHS[base] - size
    kind = random.choice(["exact", "exact", "aligned", "set", "range", "struct", "top"])
    if kind == "exact":
        return ints.constant(random.randint(0, last), 64)
    if kind == "aligned":
        return ints.constant(random.randint(0, last // size) * size, 64)
    if kind == "set":
        return ints.from_set([random.randint(0, last) for _ in range(random.randint(1, 4))], 64)
    if kind == "top" and base != 2:
        return ints.top(64)
    stride = random.choice([8, 16, 24] if kind == "struct" else [1, 4, size])
    start = random.randint(0, last // size) * size
    return ints.from_range(start, start + (last - start) // stride * stride, stride, 64)


def _written(random: Random, size: int) -> tuple[AbstractValue, list[int]]:
    """A value to write and concrete ones in it."""
    kind = random.choice(["zero", "number", "set", "pointer", "pointers", "any"])
    if size == 8 and kind.startswith("pointer"):
        value = values.BOTTOM
        numbers = []
        for _ in range(1 if kind == "pointer" else 2):
            base, offset = random.choice(BASES), random.randint(0, 16)
            value = values.join(value, address(base, offset))
            numbers += [address_of(base, i, offset) for i in range(instances(base))]
        return value, numbers
    width = 8 * size
    numbers = [random.getrandbits(min(width, 40)) for _ in range(random.randint(1, 3))]
    if kind == "zero":
        numbers = [0]
    if kind == "any":
        return values.any_integer(width), numbers
    return values.integer(ints.from_set(numbers, width)), numbers


def _number(random: Random, value: Integers, limit: int) -> int | None:
    possible = inside(value, limit)
    return random.choice(possible) if possible else None


def _store(pair: Pair, random: Random) -> None:
    base, size = random.choice(BASES), random.choice(SIZES)
    where = _offsets(random, base, size)
    value, numbers = _written(random, size)
    target = values.make(None, {base: where})
    new = pair.memory.store(target, size, value, WEAK)
    assert base in WEAK or where.constant is None or new.load(target, size) == value
    for concrete in pair.concretes:
        instance = random.randrange(instances(base))
        offset = _number(random, where, LENGTHS[base] - size)
        if offset is not None:
            data = random.choice(numbers).to_bytes(size, "little")
            concrete[base, instance][offset : offset + size] = data
    pair.log.append(f"store {base} {where} {size} {value}")
    pair.memory = new


def _lengths(random: Random, room: int) -> Integers:
    least = random.randint(0, room)
    kind = random.choice(["exact", "exact", "range", "stride"])
    if kind == "exact":
        return ints.constant(least, 64)
    stride = 1 if kind == "range" else random.choice([4, 8, 16])
    return ints.from_range(least, least + (room - least) // stride * stride, stride, 64)


def _fill(pair: Pair, random: Random) -> None:
    base = random.choice(BASES)
    where = _offsets(random, base, 1)
    number = random.choice([0, 0, 0xFF, 0x41])
    length = _lengths(random, min(LENGTHS[base], 80))
    pair.log.append(f"fill {base} {where} {length} {number}")
    pair.memory = pair.memory.fill(
        values.make(None, {base: where}), constant(number, 8), length, WEAK
    )
    for concrete in pair.concretes:
        instance = random.randrange(instances(base))
        (offset,), count = _choose(random, [(where, LENGTHS[base])], length)
        concrete[base, instance][offset : offset + count] = [number] * count


def _choose(
    random: Random, starts: list[tuple[Integers, int]], length: Integers
) -> tuple[list[int], int]:
    """Offsets and a length inside of the objects."""
    for _ in range(50):
        chosen = [_number(random, offsets, end) for offsets, end in starts]
        room = min(end - (offset or 0) for offset, (_, end) in zip(chosen, starts, strict=True))
        count = _number(random, length, room)
        if count is not None and None not in chosen:
            return [offset for offset in chosen if offset is not None], count
    raise Undefined


class Undefined(Exception):
    """The program does something undefined."""


def _copy(pair: Pair, random: Random) -> None:
    base, source = random.choice(BASES), random.choice(BASES)
    where, origin = _offsets(random, base, 1), _offsets(random, source, 1)
    length = _lengths(random, min(LENGTHS[base], LENGTHS[source], 80))
    pair.log.append(f"copy {base} {where} from {source} {origin}: {length}")
    pair.memory = pair.memory.copy(
        values.make(None, {base: where}), values.make(None, {source: origin}), length, WEAK
    )
    for concrete in pair.concretes:
        instance, other = random.randrange(instances(base)), random.randrange(instances(source))
        spans = [(where, LENGTHS[base]), (origin, LENGTHS[source])]
        (offset, start), count = _choose(random, spans, length)
        piece = concrete[source, other][start : start + count]
        concrete[base, instance][offset : offset + count] = piece


def _merge(states: list[Pair], random: Random) -> None:
    first, second = states
    is_join = random.random() < 0.6
    if is_join:
        joined = first.memory.join(second.memory)
    else:
        joined = first.memory.widen(second.memory, (0, 8, 16))
    log = [*first.log, "-- and --", *second.log, f"-- merged {is_join} --"]
    states[:] = [
        Pair(joined, first.copies() + second.copies()[:3], log),
        Pair(joined, first.copies()[:3] + second.copies(), [*log]),
    ]
    assert first.memory.leq(joined), log
    assert second.memory.leq(joined), log
    assert joined.join(second.memory) is joined, log
    assert joined.join(first.memory) is joined, log


def run(seed: int, steps: int) -> None:
    random = Random(seed)
    states = [Pair.start(), Pair.start()]
    for _ in range(steps):
        action = random.choice(["store", "store", "store", "fill", "copy", "merge"])
        pair = random.choice(states)
        if action == "merge":
            _merge(states, random)
            continue
        before = pair.memory, pair.copies(), [*pair.log]
        try:
            {"store": _store, "fill": _fill, "copy": _copy}[action](pair, random)
        except Undefined:
            pair.memory, pair.concretes, pair.log = before
    for pair in states:
        base, size = random.choice(BASES), random.choice(SIZES)
        pair.check_range(base, _offsets(random, base, size), size)
        pair.check_all()


@pytest.mark.parametrize("steps", [2, 5, 14, 40])
def test_memory_covers_concrete_memories(steps: int) -> None:
    for seed in range(600 // steps):
        run(seed, steps)


def test_addresses_are_recognised() -> None:
    assert pointed_to(address_of(3, 1, 5)) == (3, 5)
    assert pointed_to(12345) is None
