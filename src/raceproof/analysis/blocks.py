"""Places of a function: blocks, by the round of the loops around them and what is kept apart there.

States are kept apart by the round of the loops they are in (up to a bound, so short loops are
unrolled), and by the locks they hold and the threads that may be running (a few).
"""

from __future__ import annotations

from raceproof.analysis.contexts import Counters
from raceproof.analysis.fixpoint import Node
from raceproof.analysis.flow import Flow
from raceproof.analysis.rounds import Rounds
from raceproof.analysis.state import ThreadState, join_states

PATIENCE = 3
"""Rounds of a loop before values are widened."""
STEPS = 24
"""Rounds of a loop before they are widened as far as they go."""

Place = tuple[int, Counters, object]
"""A block, the rounds of the loops around it, and what is kept apart there."""


def enter_loops(
    rounds_of: Rounds, flow: Flow, block: int, source: int, counters: Counters
) -> Counters:
    """The rounds at a block, coming from another."""
    nest = flow.nests[block]
    if not nest:
        return ()
    old = flow.nests[source] if source >= 0 else ()
    rounds = []
    for depth, head in enumerate(nest):
        if depth < len(old) and old[depth] == head:
            count = counters[depth]
            if head == block and source in flow.loops[head].blocks:
                count = min(count + 1, rounds_of.of(flow, head))
                rounds.append(count)
                break
            rounds.append(count)
        else:
            rounds.append(0)
            counters = ()
            old = ()
    rounds.extend([0] * (len(nest) - len(rounds)))
    return tuple(rounds)


def merged(states: list[ThreadState], most: int) -> list[ThreadState]:
    """Fewer states: one for each set of locks, and one for the rest."""
    found: dict[object, ThreadState] = {}
    for state in states:
        key: object = state.facets.block_key
        if key not in found and len(found) >= most:
            key = None
        old = found.get(key)
        if old is None:
            found[key] = state
            continue
        joined = join_states(old, state)
        found[key] = joined.copy() if joined is not old else old
    return list(found.values())


def joined_at(flow: Flow, place: Place, node: Node[ThreadState], state: ThreadState) -> ThreadState:
    """What is known at a block, and what arrives there; loops are widened after some rounds."""
    thresholds: tuple[int, ...] | None = None
    if node.visits > PATIENCE and place[0] in flow.graph.loop_heads:
        thresholds = flow.thresholds(place[0]) if node.visits <= STEPS else ()
    return join_states(node.state, state, thresholds)


def block_priority(flow: Flow, block: int, counters: Counters) -> tuple[int, ...]:
    """Rounds of a loop one after the other, inside a round in reverse post-order."""
    found: list[int] = []
    for head, count in zip(flow.nests[block], counters, strict=False):
        found += (head, count)
    found.append(block)
    return tuple(found)
