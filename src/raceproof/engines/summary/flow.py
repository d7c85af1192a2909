"""States through the control flow of one function.

Up to `MAX_STATES` different cores are kept apart at each block, each with the facts under which it
holds; so `if (c) lock(m); ... if (c) unlock(m);` and `if (trylock(m) == 0)` are followed exactly.
When there are more, they are joined. A function that does nothing to locks and threads needs none
of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

from raceproof.engines.summary import effects as fx
from raceproof.engines.summary import state
from raceproof.engines.summary.effects import Effect
from raceproof.engines.summary.facts import Facts, assume, common, decide
from raceproof.engines.summary.guarded import Guarded
from raceproof.engines.summary.outline import loops
from raceproof.engines.summary.state import EMPTY, Core, ThreadId
from raceproof.engines.summary.steps import EffectSteps
from raceproof.engines.summary.summary import Exit
from raceproof.engines.summary.terms import Term, Terms, is_dereference, means

MAX_STATES = 6
MAX_EXITS = 4
MAX_VISITS = 40
"""Visits of one block before its states are joined for good."""

_RELEVANT = (fx.CallsFunction, fx.Acquires, fx.Releases, fx.Joins, fx.Waits, fx.Starts, fx.Exits)
States = dict[Core, Facts]


class EffectFlow:
    """Runs the steps of a function; then `states(block)` is what may hold at its start."""

    def __init__(self, steps: EffectSteps, guarded: Guarded) -> None:
        self.steps = steps
        self._guarded = guarded
        self.outline = steps.outline
        self.multiple: set[ThreadId] = {
            thread for thread, info in steps.threads.items() if info[3] == 2
        }
        self.leaks: set[ThreadId] = set()
        self.exits: dict[Core, set[int | None]] = {}
        self._in: list[States] = []
        self._relevant: list[list[Effect]] = [
            [one for one in block if isinstance(one, _RELEVANT) and not _is_idle(one)]
            for block in steps.blocks
        ]
        self._loop_joins = self._find_loop_joins()
        if steps.is_flat and not any(self._relevant) and not guarded.waits:
            self._in = [{EMPTY: {}} for _ in steps.blocks]
            if any(end[0] == "return" for _, end in self.outline.blocks):
                self.exits = {EMPTY: {None}}
            return
        for _ in range(3):
            before = len(self.multiple)
            self._run()
            if len(self.multiple) == before:
                break

    def states(self, block: int) -> States:
        return self._in[block]

    def _run(self) -> None:
        count = len(self.steps.blocks)
        self._in = [{} for _ in range(count)]
        self.exits = {}
        self._in[0] = {EMPTY: {}}
        visits = [0] * count
        queue, queued = [0], {0}
        while queue:
            block = heappop(queue)
            queued.discard(block)
            visits[block] += 1
            if visits[block] > 2 * MAX_VISITS:
                continue
            if visits[block] > MAX_VISITS:
                self._collapse(block)
            for core, facts in list(self._in[block].items()):
                for after, known in self.through(block, core, facts):
                    for target, final, final_facts in self._leave(block, after, known):
                        if self._arrive(target, final, final_facts) and target not in queued:
                            queued.add(target)
                            heappush(queue, target)

    def through(self, block: int, core: Core, facts: Facts) -> Iterator[tuple[Core, Facts]]:
        """The states at the end of the block."""
        current: list[tuple[Core, Facts]] = [(core, facts)]
        for effect in self._relevant[block]:
            current = [after for c, f in current for after in self.apply(effect, c, f)]
            if not current:
                return
            if len(current) > MAX_STATES:
                current = _joined(current)
        yield from current

    def apply(self, effect: Effect, core: Core, facts: Facts) -> list[tuple[Core, Facts]]:
        """The states after one effect."""
        match effect:
            case fx.Acquires():
                return self._acquire(effect, core, facts)
            case fx.Releases(locks):
                return [(state.release(core, locks), facts)]
            case fx.Starts(thread):
                if state.is_active(core, thread):
                    self.multiple.add(thread)
                return [(state.start(core, thread), facts)]
            case fx.Joins(handles):
                return [(self._end(core, handles), facts)]
            case fx.Waits():
                return [(state.wait(core), facts)]
            case fx.CallsFunction():
                return self._call(effect, core, facts)
            case fx.Exits():
                self.leaks.update(thread for thread, _ in core[2])
                return []
        return [(core, facts)]

    def _acquire(self, effect: fx.Acquires, core: Core, facts: Facts) -> list[tuple[Core, Facts]]:
        locks, mode, success, key = effect
        if not locks:
            return [(core, facts)]
        taken = state.acquire(core, locks, mode)
        if success == "always":
            return [(taken, facts)]
        is_zero = success == "zero"
        return [
            (taken, {**facts, key: (is_zero, 0)}),
            (core, {**facts, key: (not is_zero, 0)}),
        ]

    def combine(self, outer: Core, inner: Core) -> Core:
        return state.combine(outer, inner, self._match, self._left_by)

    def _call(self, effect: fx.CallsFunction, core: Core, facts: Facts) -> list[tuple[Core, Facts]]:
        number, _, instance = effect
        key: Term = (("x", self.outline.name, number), 0, 0, ())
        found = []
        for inner, value in instance.summary.exits:
            for choice in instance.choices:
                translated = instance.core(inner, choice)
                for thread, _ in translated[2]:
                    if state.is_active(core, thread):
                        self.multiple.add(thread)
                after = self.combine(core, translated)
                known = dict(facts)
                known.pop(key, None)
                if value is not None:
                    known[key] = (True, value)
                found.append((after, known))
        if len(found) > 1:
            unique: States = {}
            for after, known in found:
                unique[after] = common(unique[after], known) if after in unique else known
            found = list(unique.items())
        return found

    def _match(self, thread: ThreadId, handle: Term) -> int:
        info = self.steps.threads.get(thread)
        if info is None:
            return 0
        how = means(handle, info[0])
        return min(how, 1) if thread in self.multiple else how

    def _left_by(self, thread: ThreadId) -> tuple[ThreadId, ...]:
        info = self.steps.threads.get(thread)
        return () if info is None else info[2]

    def _end(self, core: Core, handles: Terms) -> Core:
        """A join: of one thread if the id says which; else it is left to the end of the loop."""
        matching = [
            thread
            for thread, _ in core[2]
            if any(self._match(thread, handle) for handle in handles)
        ]
        if not matching:
            unresolved = tuple(handles[:1])
            return state.end(core, unresolved, self._match, self._left_by)
        sure = any(self._match(matching[0], handle) == 2 for handle in handles)
        return self._remove(core, matching) if len(matching) == 1 and sure else core

    def _remove(self, core: Core, threads: list[ThreadId]) -> Core:
        active = dict(core[2])
        for thread in threads:
            active.pop(thread, None)
            for left in self._left_by(thread):
                active[left] = True
        return (core[0], core[1], tuple(sorted(active.items())), core[3], core[4])

    # --- edges ------------------------------------------------------------

    def _leave(self, block: int, core: Core, facts: Facts) -> Iterator[tuple[int, Core, Facts]]:
        terminator = self.outline.blocks[block][1]
        kind = terminator[0]
        if kind == "jump":
            for target in terminator[1]:
                yield self._edge(block, target, core, facts)
        elif kind == "branch":
            _, if_true, if_false, test = terminator
            answer = decide(test, facts)
            if answer is not False:
                yield self._edge(block, if_true, core, assume(test, True, facts))
            if answer is not True:
                yield self._edge(block, if_false, core, assume(test, False, facts))
        elif kind == "switch":
            _, key, cases, default = terminator
            for constant, target in cases:
                if decide((key, "eq", constant), facts) is not False:
                    known = assume((key, "eq", constant), True, facts)
                    yield self._edge(block, target, core, known)
            yield self._edge(block, default, core, facts)
        elif kind == "return":
            self.leaks.update(thread for thread, _ in core[2])
            self.exits.setdefault(core, set()).add(_returned(terminator[1], facts))

    def _edge(self, block: int, target: int, core: Core, facts: Facts) -> tuple[int, Core, Facts]:
        for body, handles, signature in self._loop_joins.get(block, ()):
            if target not in body:
                core = self._leave_loop(core, handles, signature)
        waited = self._guarded.leaving(block, target)
        if waited:
            core = state.wait(core, waited)
        if target <= block:
            facts = {}
        for key, incoming in self.outline.phis.get(target, ()):
            for source, constant in incoming:
                if source == block:
                    facts = {**facts, key: (True, constant)}
                    break
            else:
                if key in facts:
                    facts = {k: v for k, v in facts.items() if k != key}
        return target, core, facts

    def _arrive(self, block: int, core: Core, facts: Facts) -> bool:
        states = self._in[block]
        known = states.get(core)
        if known is not None:
            fewer = common(known, facts)
            if fewer == known:
                return False
            states[core] = fewer
            return True
        if len(states) >= MAX_STATES:
            joined = _joined([*states.items(), (core, facts)])[0]
            if states == {joined[0]: joined[1]}:
                return False
            self._in[block] = {joined[0]: joined[1]}
            return True
        states[core] = facts
        return True

    def _collapse(self, block: int) -> None:
        joined = _joined(list(self._in[block].items()))
        self._in[block] = dict(joined)

    # --- loops that join ------------------------------------------------------------

    def _find_loop_joins(self) -> dict[int, list[tuple[frozenset[int], Terms, tuple[Any, ...]]]]:
        """Blocks where a loop that joins an array of threads is left the normal way."""
        joins = {
            index: [one.handles for one in block if isinstance(one, fx.Joins)]
            for index, block in enumerate(self.steps.blocks)
        }
        found: dict[int, list[tuple[frozenset[int], Terms, tuple[Any, ...]]]] = {}
        if not any(joins.values()):
            return found
        for header, body in loops(self.outline):
            for block in body:
                for handles in joins[block]:
                    signature: tuple[Any, ...] = ()
                    for handle in handles:
                        if is_dereference(handle):
                            signature = signature or self.steps.loop_signature(handle[0][1])
                    found.setdefault(header, []).append((body, handles, signature))
        return found

    def _leave_loop(self, core: Core, handles: Terms, signature: tuple[Any, ...]) -> Core:
        active = dict(core[2])
        for thread in list(active):
            if not any(self._match(thread, handle) for handle in handles):
                continue
            own = self.steps.threads[thread][1]
            if signature and (own == signature or (not own and thread not in self.multiple)):
                core = self._remove(core, [thread])
            else:
                flagged = {**dict(core[2]), thread: False}
                core = (core[0], core[1], tuple(sorted(flagged.items())), core[3], core[4])
        return core

    def summary_exits(self) -> tuple[Exit, ...]:
        """The ways to return, few of them."""
        found: list[Exit] = []
        for core, values in self.exits.items():
            if len(values) > 2 or None in values:
                found.append((core, None))
            else:
                found.extend((core, value) for value in values)
        if len(found) > 1 and len({core for core, _ in found}) == 1:
            return ((found[0][0], None),)
        if len(found) > MAX_EXITS:
            by_value: dict[int | None, Core] = {}
            for core, value in found:
                by_value[value] = state.join(by_value[value], core) if value in by_value else core
            found = [(core, value) for value, core in by_value.items()]
        if len(found) > MAX_EXITS:
            whole = found[0][0]
            for core, _ in found[1:]:
                whole = state.join(whole, core)
            return ((whole, None),)
        return tuple(sorted(found, key=repr))


def _is_idle(effect: Effect) -> bool:
    return isinstance(effect, fx.CallsFunction) and effect.instance.summary.is_flat


def _joined(states: list[tuple[Core, Facts]]) -> list[tuple[Core, Facts]]:
    core, facts = states[0]
    for other, known in states[1:]:
        core = state.join(core, other)
        facts = common(facts, known)
    return [(core, facts)]


def _returned(terms: Terms, facts: Facts) -> int | None:
    if len(terms) != 1:
        return None
    term = terms[0]
    if term[0][0] == "c" and term[2] == 0:
        return term[1]
    if term[0][0] == "b":
        _, predicate, left, right = term[0]
        answer = decide((left, predicate, right[1]), facts)
        return None if answer is None else int(answer)
    fact = facts.get(term)
    return fact[1] if fact is not None and fact[0] else None
