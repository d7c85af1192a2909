"""When the rounds of counting loops begin and end, and what that means for the facts about them.

`pools` has the facts and why they hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof.analysis.counted_loops import CountedLoop
from raceproof.analysis.facets.thread_pools import (
    Count,
    CreateLoop,
    Fact,
    Handing,
    Members,
    RunningLoop,
    ThreadPool,
)
from raceproof.analysis.linear import cell_at, content_of, name, number_of, resolved
from raceproof.analysis.names import Cell, CountRange, Linear, Token
from raceproof.analysis.state import ThreadState

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter

_IN_MEMORY = -(1 << 40)
"""Registers from here downwards stand for counters in memory, by the heads of their loops."""


class Counting:
    def __init__(self, run: Interpreter) -> None:
        self.run = run

    def edge(self, act: Activation, source: int, target: int, state: ThreadState) -> None:
        """The edge is about to be taken."""
        counted = act.flow.counted
        left = counted.get(source)
        if left is not None and left.exit == target:
            self._left(act, left, state)
        entered = counted.get(target)
        if entered is not None:
            if source in act.flow.loops[target].blocks:
                self._advanced(act, entered, state)
            else:
                self._entered(act, entered, source, state)

    def after_edge(self, act: Activation, target: int, state: ThreadState) -> None:
        """Registers that are no longer needed have no names."""
        if state.pools.aliases or state.pools.picks:
            context = act.context.number
            live = act.flow.live[target]

            def is_live(token: Token) -> bool:
                return token.context != context or token.register in live

            aliases = {k: v for k, v in state.pools.aliases.items() if is_live(k)}
            picks = {k: v for k, v in state.pools.picks.items() if is_live(k)}
            if len(aliases) + len(picks) < len(state.pools.aliases) + len(state.pools.picks):
                state.pools = replace(state.pools, aliases=aliases, picks=picks)

    def _entered(
        self, act: Activation, counted: CountedLoop, source: int, state: ThreadState
    ) -> None:
        loop = RunningLoop(act.context.number, counted.head)
        self._abandon(state, loop)
        counter = self._counter(act, counted)
        start: Linear | None = None
        if counted.pointer is None:
            for origin, value in counted.start:
                if origin == source:
                    start = number_of(act, state, value)
        else:
            cell = self._cell(act, counted, state)
            if cell is not None:
                start = content_of(state, cell)
                state.pools = state.pools.without_root(counter)
                name(state, cell, Linear(counter, 0))
        if start is None or start.root == counter:
            return
        may_wrap = counted.sign == "u" and counted.relation in ("le", "ge")
        count = Count(loop, counter, start, may_wrap=may_wrap)
        counts = {**state.pools.counts, loop: count}
        state.pools = replace(state.pools, counts=counts)

    def _advanced(self, act: Activation, counted: CountedLoop, state: ThreadState) -> None:
        """Another round begins."""
        loop = RunningLoop(act.context.number, counted.head)
        count = state.pools.counts.get(loop)
        if count is None:
            return
        if counted.pointer is not None:
            cell = self._cell(act, counted, state)
            if cell is None or content_of(state, cell) != Linear(count.counter, counted.step):
                self._abandon(state, loop)
                return
            assert isinstance(count.counter, Token)
            state.pools = state.pools.without_root(count.counter)
            name(state, cell, Linear(count.counter, 0))
        facts: dict[Fact, Members] = {}
        for fact, members in state.pools.facts.items():
            if isinstance(fact, ThreadPool) or fact.loop != loop:
                facts[fact] = members
            elif fact.is_done or isinstance(fact, Handing):
                facts[replace(fact, is_done=False)] = members
        counts = {**state.pools.counts, loop: replace(count, is_first=False)}
        picks = {k: v for k, v in state.pools.picks.items() if v.loop != loop}
        kept = {k: v for k, v in state.pools.kept.items() if v.loop != loop}
        state.pools = replace(state.pools, counts=counts, facts=facts, picks=picks, kept=kept)

    def tested(self, act: Activation, head: int, state: ThreadState) -> None:
        """The head compares the counter with the bound; both must be what they were."""
        counted = act.flow.counted[head]
        loop = RunningLoop(act.context.number, head)
        count = state.pools.counts.get(loop)
        if count is None:
            return
        bound = number_of(act, state, counted.bound)
        is_counter = resolved(act, state, counted.counter.index) == Linear(count.counter, 0)
        if bound is None or bound.root == count.counter or not is_counter:
            self._abandon(state, loop)
        elif count.bound is None:
            counts = {**state.pools.counts, loop: replace(count, bound=bound)}
            state.pools = replace(state.pools, counts=counts)
        elif count.bound != bound:
            self._abandon(state, loop)

    def _left(self, act: Activation, counted: CountedLoop, state: ThreadState) -> None:
        """The head's test has failed: all numbers of the range have been counted."""
        loop = RunningLoop(act.context.number, counted.head)
        count = state.pools.counts.get(loop)
        if count is not None:
            numbers = _range(counted, count)
            if numbers is not None:
                if count.is_first:
                    self._empty(state, numbers)
                self._close(state, loop, counted, numbers)
        self._abandon(state, loop)

    def _empty(self, state: ThreadState, numbers: CountRange) -> None:
        """The range is empty, so a pool with it is empty."""
        facts = dict(state.pools.facts)
        for fact, members in state.pools.facts.items():
            if isinstance(fact, ThreadPool):
                distance = fact.range.low.constant - numbers.low.constant
                if numbers.moved(distance).covers(fact.range):
                    self.run.calls.threads.none_left(state, members.threads)
                    del facts[fact]
        state.pools = state.pools.with_facts(facts)

    def _close(
        self, state: ThreadState, loop: RunningLoop, counted: CountedLoop, numbers: CountRange
    ) -> None:
        facts = dict(state.pools.facts)
        for fact, members in state.pools.facts.items():
            if isinstance(fact, ThreadPool | Handing) or fact.loop != loop:
                continue
            del facts[fact]
            slots = fact.slots if isinstance(fact, CreateLoop) else fact.pool.slots
            moved = _indices(counted, numbers, fact.shift, slots.extension)
            if moved is None:
                continue
            if isinstance(fact, CreateLoop):
                pool = ThreadPool(fact.slots, moved, fact.argument)
                old = facts.get(pool, Members(0, frozenset()))
                facts[pool] = Members(old.threads | members.threads, old.regions | members.regions)
            elif moved.covers(fact.pool.range) and fact.pool in facts:
                gone = members.threads & facts[fact.pool].threads
                self.run.calls.threads.none_left(state, gone)
                del facts[fact.pool]
        state.pools = state.pools.with_facts(facts)

    def _abandon(self, state: ThreadState, loop: RunningLoop) -> None:
        known = state.pools
        if loop not in known.counts and not (known.facts or known.kept):
            return
        counts = {k: v for k, v in known.counts.items() if k != loop}
        facts = {
            fact: members
            for fact, members in known.facts.items()
            if isinstance(fact, ThreadPool) or fact.loop != loop
        }
        picks = {k: v for k, v in known.picks.items() if v.loop != loop}
        kept = {k: v for k, v in known.kept.items() if v.loop != loop}
        state.pools = replace(known, counts=counts, facts=facts, picks=picks, kept=kept)

    def _counter(self, act: Activation, counted: CountedLoop) -> Token:
        if counted.pointer is None:
            return act.token(counted.counter.index)
        return act.token(_IN_MEMORY - counted.head)

    def _cell(self, act: Activation, counted: CountedLoop, state: ThreadState) -> Cell | None:
        assert counted.pointer is not None
        address = self.run.calls.memory.address(act, state, counted.pointer)
        return cell_at(self.run, state, address, counted.size)


def _range(counted: CountedLoop, count: Count) -> CountRange | None:
    """The numbers that the counter of a loop takes; only now that it has ended are they told."""
    if count.bound is None:
        return None
    if counted.sign == "u" and counted.shift:
        return None
    bound = count.bound.plus(-counted.shift)
    if counted.step > 0:
        end = bound.plus(1) if counted.relation == "le" else bound
        return CountRange(counted.sign, count.start, end)
    low = bound if counted.relation == "ge" else bound.plus(1)
    return CountRange(counted.sign, low, count.start.plus(1))


def _indices(
    counted: CountedLoop, numbers: CountRange, shift: int, extension: str
) -> CountRange | None:
    """What the index has been. It must see the counter as the test did: signed or not. And an
    unsigned one must not go below 0; `while (n-- > 0) ids[n]` is fine."""
    if counted.sign and extension == {"s": "z", "u": "s"}[counted.sign]:
        return None
    if counted.sign == "u" and shift:
        if not (shift == -1 and counted.step < 0 and counted.relation == "gt"):
            return None
    return numbers.moved(shift)
