"""The order in which locks were taken, after two ways meet: the same with values and without."""

from __future__ import annotations

import pytest

from raceproof.analysis.facets.facet import Acquire, Release
from raceproof.analysis.locks import LockKey
from raceproof.analysis.state import ThreadState, join_states
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


def state(locks: tuple[LockKey, ...]) -> ThreadState:
    found = ThreadState(EMPTY)
    for lock in locks:
        found.facets = found.facets.acquire(Acquire(lock))
    return found


def point(locks: tuple[LockKey, ...]) -> Point:
    return Point(state(locks).facets)


@pytest.mark.parametrize(("one", "other", "order"), WAYS)
def test_the_order_after_a_join_is_that_of_common_locks(
    one: tuple[LockKey, ...], other: tuple[LockKey, ...], order: tuple[LockKey, ...]
) -> None:
    for a, b in ((one, other), (other, one)):
        assert join_states(state(a), state(b)).facets.acquisition_order == order
        assert join(point(a), point(b)).facets.acquisition_order == order


def test_a_lock_given_back_in_an_unclear_order_may_hand_threads_on() -> None:
    joined = join_states(state((M, N)), state((N, M)))
    assert joined.facets.release(Release(N)).depends_on_others
    clear = join_states(state((M, N)), state((M, N, P)))
    assert not clear.facets.release(Release(N)).depends_on_others
