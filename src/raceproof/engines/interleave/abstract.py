"""The abstract layer: can two threads of the threading model stand at a candidate's accesses?

On the fly, breadth first (the paper's algorithm 2), sliced to one question: the points are the
synchronisation and the accesses asked about. If no such configuration is reachable, the candidate
is refuted: for any number of threads where the model's cut-off holds, else within the bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from raceproof.engines.interleave.model_state import ModelState
from raceproof.engines.interleave.skeleton import Skeleton
from raceproof.engines.interleave.stack_successors import TooDeep
from raceproof.engines.interleave.threading_model import ThreadingModel
from raceproof.options import MutexRules

MOST_STATES = 30_000


class Reachability(Enum):
    REFUTED = "refuted"
    """For any number of threads; of the pairs asked about, those not in `ModelChecked.pairs`."""
    BOUNDED = "refuted within the thread bound"
    REACHABLE = "reachable"
    OPEN = "not decided"


@dataclass(frozen=True, slots=True)
class AccessPoint:
    """What an instruction does with the variable in question."""

    is_read: bool = False
    is_write: bool = False
    is_atomic: bool = False


@dataclass(frozen=True, slots=True)
class ModelChecked:
    reachability: Reachability
    states: int
    pairs: frozenset[frozenset[int]] = frozenset()
    """Instructions that two threads can stand at together."""


def check(
    skeleton: Skeleton,
    accesses: Mapping[int, AccessPoint],
    bound: int,
    rules: MutexRules,
    seconds_left: Callable[[], float],
    pairs: Iterable[frozenset[int]] | None = None,
) -> ModelChecked:
    """Look for a race among `accesses`; with `pairs`, for each of these."""
    if skeleton.not_followed or any(skeleton.entered(number) for number in accesses):
        return ModelChecked(Reachability.OPEN, 0)
    wanted = None if pairs is None else set(pairs)
    reached: set[frozenset[int]] = set()
    model = ThreadingModel(skeleton.points(accesses), bound, rules)
    visited: set[ModelState] = set()
    queue: deque[ModelState] = deque()
    try:
        for state in model.start():
            visited.add(state)
            queue.append(state)
        while queue:
            state = queue.popleft()
            pair = _race(state, accesses, wanted)
            if pair is not None:
                reached.add(pair)
                if wanted is not None:
                    wanted.discard(pair)
                if not wanted:
                    return ModelChecked(Reachability.REACHABLE, len(visited), frozenset(reached))
            if len(visited) > MOST_STATES or seconds_left() <= 0:
                return ModelChecked(Reachability.OPEN, len(visited))
            for following in model.next(state):
                if following not in visited:
                    visited.add(following)
                    queue.append(following)
    except (TooDeep, RecursionError):
        return ModelChecked(Reachability.OPEN, len(visited))
    found = Reachability.REFUTED if model.is_cut_off else Reachability.BOUNDED
    return ModelChecked(found, len(visited), frozenset(reached))


def _race(
    state: ModelState, accesses: Mapping[int, AccessPoint], wanted: set[frozenset[int]] | None
) -> frozenset[int] | None:
    """The paper's `datarace`: two threads about to access, one writing, not both atomically."""
    standing = [thread for thread in state.threads if thread.point in accesses]
    for index, one in enumerate(standing):
        for other in standing[:index]:
            if wanted is not None and frozenset((one.point, other.point)) not in wanted:
                continue
            first, second = accesses[one.point], accesses[other.point]
            if not (first.is_write or second.is_write):
                continue
            atomic = (first.is_atomic or one.atomic > 0) and (second.is_atomic or other.atomic > 0)
            if not atomic:
                return frozenset((other.point, one.point))
    return None
