"""The order in which locks were taken, after two ways meet: the same with values and without."""

from __future__ import annotations

import pytest

from raceproof.analysis.state import Held, LockKey, State, drop, join_states, take
from raceproof.analysis.walk.point import Point, join
from raceproof.domains.memory import EMPTY

M, N, P = (LockKey(number, 0) for number in range(3))
WAYS = [
    ((M, N), (M, N), (M, N)),
    ((M, N), (N, M), ()),
    ((M, N, P), (M, N), (M, N)),
    ((M, P, N), (M, N), (M, N)),
    ((M,), (N,), ()),
    ((M, N), (), ()),
    ((P, M, N), (N, P, M), ()),
]


def state(locks: tuple[LockKey, ...]) -> State:
    found = State(EMPTY)
    for lock in locks:
        take(found, lock, True)
    return found


def point(locks: tuple[LockKey, ...]) -> Point:
    return Point(held=frozenset(Held(lock, True) for lock in locks), order=locks)


@pytest.mark.parametrize(("one", "other", "order"), WAYS)
def test_the_order_after_a_join_is_that_of_common_locks(
    one: tuple[LockKey, ...], other: tuple[LockKey, ...], order: tuple[LockKey, ...]
) -> None:
    for a, b in ((one, other), (other, one)):
        assert join_states(state(a), state(b)).acquired == order
        assert join(point(a), point(b)).order == order


def test_a_lock_given_back_in_an_unclear_order_may_hand_threads_on() -> None:
    joined = join_states(state((M, N)), state((N, M)))
    drop(joined, N)
    assert joined.guided
    clear = join_states(state((M, N)), state((M, N, P)))
    drop(clear, N)
    assert not clear.guided
