"""Functions that call themselves, directly or through others.

The second activation of a function is not run: it gets the exits found so far, and the function is
run again, from the join of all states in which it is entered, until entries and exits are stable.
Its activations then share their stack slots, which are weak and outlive each of them; nothing is
kept that is known of registers only by name (symbolic locks, fresh objects), as the same name means
another value in each activation.

Locks survive the join of entries, or else a recursive mutex would be lost:

    void walk(int n) { lock(&m); count++; if (n) walk(n - 1); count++; unlock(&m); }

The joined entry holds nothing, since the first call holds nothing. A body that gives back only what
it took (the facet `unmatched_releases` has what else it gave back) leaves the locks of its caller
alone, so that the caller still has them after the call.
"""

from __future__ import annotations

from raceproof.analysis.locks import MOST_COUNTED, UNCLEAR, Held
from raceproof.analysis.state import Content, ThreadState, join_contents, join_states
from raceproof.domains import values as domain

Exit = tuple[ThreadState, Content | None]

_PATIENCE = 3


class Recursion:
    """What is known of a recursive function: how it is entered, how it exits."""

    def __init__(self, arguments: tuple[Content, ...], entry: ThreadState) -> None:
        self.arguments = arguments
        self.entry = _bare(entry)
        self.exit: Exit | None = None
        self.is_open = True
        self.meetings = 0

    def meet(self, arguments: tuple[Content, ...], state: ThreadState) -> None:
        """The function is also entered like this."""
        self.meetings += 1
        old = self.arguments
        met = _bare(state)
        met.registers = {-1 - i: value for i, value in enumerate(arguments)}
        mine = self.entry.copy()
        mine.registers = {-1 - i: value for i, value in enumerate(old)}
        joined = join_states(mine, met, (0,) if self.meetings > _PATIENCE else None)
        if joined is mine:
            return
        count = min(len(old), len(arguments))
        self.arguments = tuple(joined.registers[-1 - i] for i in range(count))
        self.entry = joined.copy()
        self.entry.registers = {}
        self.is_open = True

    def add_exits(self, exits: list[Exit]) -> None:
        for state, value in exits:
            left = state.copy()
            left.facets = left.facets.recur(is_entry=False)
            if self.exit is None:
                self.exit = (left, value)
                self.is_open = True
                continue
            thresholds = (0,) if self.meetings > _PATIENCE else None
            joined = join_exits(self.exit, (left, value), thresholds)
            if joined[0] is not self.exit[0] or joined[1] is not self.exit[1]:
                self.exit = joined
                self.is_open = True
        self.meetings += 1

    def back_in(self, caller: ThreadState, left: ThreadState) -> ThreadState:
        """The state after a call made in `caller` that left the function in `left`: with those
        locks of the caller that the body cannot have given back."""
        after = left.copy()
        after.facets = left.facets.recur(is_entry=False)._replace(
            unmatched_releases=caller.facets.unmatched_releases | left.facets.unmatched_releases
        )
        if UNCLEAR in left.facets.unmatched_releases:
            return after
        before = {held.lock: held.times for held in self.entry.facets.must_lockset}
        behind = {held.lock: held for held in left.facets.must_lockset}
        held = set(left.facets.must_lockset)
        for mine in caller.facets.must_lockset:
            if mine.lock in left.facets.unmatched_releases:
                continue
            there = behind.get(mine.lock)
            times = mine.times - before.get(mine.lock, 0) + (there.times if there else 0)
            if times > 0:
                if there is not None:
                    held.discard(there)
                is_write = mine.is_write or (there is not None and there.is_write)
                held.add(Held(mine.lock, is_write, min(times, MOST_COUNTED)))
        after.facets = after.facets._replace(must_lockset=frozenset(held))
        return after


def _bare(state: ThreadState) -> ThreadState:
    bare = state.copy()
    bare.registers = {}
    bare.facets = bare.facets.recur(is_entry=True)
    return bare


def join_exits(a: Exit, b: Exit, thresholds: tuple[int, ...] | None = None) -> Exit:
    state = join_states(a[0], b[0], thresholds)
    if a[1] is None or b[1] is None:
        return state, a[1] if b[1] is None else b[1]
    if thresholds is not None and isinstance(a[1], domain.AbstractValue):
        if isinstance(b[1], domain.AbstractValue):
            return state, domain.widen(a[1], b[1], thresholds)
    return state, join_contents(a[1], b[1])
