"""Threads of one loop that each get something of their own.

    for (i = 0; i < n; i++) { slot[i] = 0; pthread_create(&id, NULL, work, &slot[i]); }

An argument is *own* if no two instances of the thread that run at the same time have the same one:
the address of an element that the counter of the loop picks, the counter itself, or a new object.
What an instance does at its argument, or at the element that its argument is the index of, no other
instance does; nor does the creator do it with elements of rounds whose thread it has not created
yet, or has waited for.

Why it is sound
---------------

*Elements and numbers.* The fact `Handing` says of some threads: every running instance was created
in this run of the loop, one in a round, with the argument that belongs to the round's counter. It
begins when none of the threads runs, goes on as long as only instances that it speaks about run
when another one is created, and ends with the loop. In one run of a loop the counter never comes
back to a value (`pools`), so arguments differ: elements by a multiple of the stride, numbers as
numbers (a cast to fewer bits than the counter has is not followed).

A thread of which an instance was created in another way has no own argument, once and for all
(`ThreadInfo.is_shared`). Threads that are not unique because their creator is not are among those:
instances run which the fact does not speak about.

*New objects.* No one but the creator had seen the object until it was handed over or, in the same
round, stored in an element and then handed over once. So every instance ever has another object.

*Accesses.* In the thread: at the argument plus a constant, or at an element of a single array with
the argument as index. Two of them with all their bytes in one window of the stride's length lie in
different windows for different arguments. In the creator: the element of the round's counter,
before the round's thread is created or after it was waited for: the instances that run have other
counters. What the creator does at the argument of a thread that it has not waited for yet touches
other bytes than that thread does, or is not excluded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof.analysis.counted_loops import constant_added
from raceproof.analysis.facets.thread_pools import (
    Fact,
    Handing,
    JoinLoop,
    LoopArgument,
    Members,
    Pick,
    Slots,
    ThreadPools,
)
from raceproof.analysis.linear import Place, leaf_of, loop_of, number_of, place_of, resolved
from raceproof.analysis.names import Token
from raceproof.analysis.records import OwnAccess
from raceproof.analysis.state import ThreadState
from raceproof.analysis.symbols import symbol_of
from raceproof.analysis.threads import ThreadInfo
from raceproof.domains.values import AbstractValue
from raceproof.ir import Cast, Freeze, IntType, Offset, Register, Value

if TYPE_CHECKING:
    from raceproof.analysis.facets.thread_pools import RunningLoop
    from raceproof.analysis.interpreter import Activation, Interpreter

_EVERYBODY = -1
_THROUGH_CASTS = ("inttoptr", "ptrtoint", "sext", "zext")


class OwnArguments:
    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.analysis = run.analysis
        info = run.analysis.threads[run.thread]
        function = run.analysis.program.functions[info.entry]
        self._argument: Token | None = None
        """The argument of the thread that is interpreted."""
        if run.thread and function.parameters and function.is_defined:
            root = run.analysis.contexts.root(run.thread, function.name)
            self._argument = Token(root.number, function.parameters[0].index)

    # --- creation ------------------------------------------------------------

    def given(
        self, act: Activation, state: ThreadState, value: Value | None
    ) -> tuple[RunningLoop | None, LoopArgument] | None:
        """The argument that is about to be given to a new thread, if it may be its own."""
        if value is None:
            return None
        place = place_of(self.run, act, state, value)
        loop = loop_of(state, place)
        if place is not None and loop is not None:
            if not place.is_exact or not place.slots.stride:
                return None
            if state.pools.counts[loop].may_wrap:
                return None
            return loop, LoopArgument("element", place.slots, place.shift, abs(place.slots.stride))
        number = number_of(act, state, value)
        if number is not None and isinstance(number.root, Token) and number.constant == 0:
            keeping = state.pools.kept.get(number.root)
            if keeping is not None:
                return keeping.loop, LoopArgument("object", keeping.slots, keeping.shift)
            if any(token == number.root for token, _ in state.facets.fresh_objects):
                return None, LoopArgument("object")
        return self._number(act, state, value)

    def _number(
        self, act: Activation, state: ThreadState, value: Value
    ) -> tuple[RunningLoop, LoopArgument] | None:
        """The counter of a loop, as wide as an address."""
        counters = {
            count.counter: loop for loop, count in state.pools.counts.items() if not count.may_wrap
        }
        shift = 0
        while counters and isinstance(value, Register):
            definition = act.flow.definitions.get(value.index)
            if isinstance(definition, Cast) and definition.operation in _THROUGH_CASTS:
                value = definition.value
                continue
            number = resolved(act, state, value.index)
            if number.root in counters and isinstance(value.type, IntType):
                assert number.root is not None
                shift += number.constant
                return counters[number.root], LoopArgument("number", None, shift, value.type.bits)
            step = constant_added(definition)
            if step is None or "nsw" not in getattr(definition, "flags", ()):
                return None
            value = step[0]
            shift += step[1]
        return None

    def handed(
        self,
        state: ThreadState,
        before: ThreadPools,
        running: int,
        infos: list[ThreadInfo],
        given: tuple[RunningLoop | None, LoopArgument] | None,
    ) -> None:
        """The threads were created with that argument, while those were running. No object is
        handed over twice."""
        threads = self.analysis.threads
        if state.pools.kept:
            state.pools = replace(state.pools, kept={})
        if given is None:
            for info in infos:
                threads.shares(info)
            return
        loop, argument = given
        for info in infos:
            threads.owns(info, (argument.kind, argument.size))
        if loop is None or argument.kind == "object":
            return
        fact = Handing(loop, argument, False)
        old = before.facts.get(fact, Members(0, frozenset()))
        is_second = replace(fact, is_done=True) in before.facts
        created = 0
        for info in infos:
            created |= info.bit
            if is_second:
                threads.shares(info)
            threads.mixes(info, running & ~old.threads)
        facts: dict[Fact, Members] = dict(state.pools.facts)
        facts.pop(fact, None)
        facts[replace(fact, is_done=True)] = Members(old.threads | created, frozenset())
        state.pools = replace(state.pools, facts=facts)

    # --- accesses ------------------------------------------------------------

    def of(
        self, act: Activation, state: ThreadState, pointer: Value, address: AbstractValue
    ) -> OwnAccess | None:
        """How an access has to do with arguments."""
        if self._argument is not None:
            found = self._at_argument(act, pointer)
            if found is None:
                found = self._at_index(act, state, pointer)
            if found is not None:
                return found
        if state.pools.counts:
            return self._of_creator(act, state, pointer)
        return None

    def _at_argument(self, act: Activation, pointer: Value) -> OwnAccess | None:
        symbol = symbol_of(self.run, act, pointer)
        if symbol is None or symbol.root != self._argument:
            return None
        return OwnAccess("argument", None if symbol.terms else symbol.constant)

    def _at_index(self, act: Activation, state: ThreadState, pointer: Value) -> OwnAccess | None:
        """`table[argument + 1]`, with the place of `table[argument]`."""
        constant = 0
        found: tuple[int, int] | None = None
        while isinstance(pointer, Register):
            definition = act.flow.definitions.get(pointer.index)
            if not isinstance(definition, Offset):
                break
            constant += definition.constant
            for value, scale in definition.terms:
                index = self._index(act, value)
                if index is None or found is not None:
                    return None
                constant += index[0] * scale
                found = scale, index[1]
            pointer = definition.base
        if found is None:
            return None
        base = self.run.value(act, state, pointer)
        place = base.only_address if isinstance(base, AbstractValue) else None
        if place is None or self.analysis.objects.is_weak(place[0]):
            return None
        return OwnAccess("index", place[1] + constant, found[0], found[1])

    def _index(self, act: Activation, value: Value) -> tuple[int, int] | None:
        """The argument plus a number, and the fewest bits that it was squeezed through."""
        bits = self.analysis.program.layout.pointer_size * 8
        shift = 0
        while isinstance(value, Register):
            definition = act.flow.definitions.get(value.index)
            if isinstance(definition, Freeze):
                value = definition.value
                continue
            if isinstance(definition, Cast):
                if definition.operation == "trunc" and isinstance(value.type, IntType):
                    bits = min(bits, value.type.bits)
                elif definition.operation not in _THROUGH_CASTS:
                    return None
                value = definition.value
                continue
            step = constant_added(definition)
            if step is not None and "nsw" in getattr(definition, "flags", ()):
                value = step[0]
                shift += step[1]
                continue
            leaf = leaf_of(act, value)
            return (shift, bits) if leaf == (self._argument, 0) else None
        return None

    def _of_creator(self, act: Activation, state: ThreadState, pointer: Value) -> OwnAccess | None:
        number = number_of(act, state, pointer)
        if number is not None and number.root in state.pools.kept:
            return OwnAccess("argument", number.constant, threads=_EVERYBODY, of="object")
        leaf = leaf_of(act, pointer)
        if leaf is not None:
            pick = state.pools.picks.get(leaf[0])
            if pick is not None and pick.is_argument:
                return self._of_member(state, pick, leaf[1])
        place = place_of(self.run, act, state, pointer)
        loop = loop_of(state, place)
        if place is None or loop is None or not place.is_exact:
            return None
        for fact, members in state.pools.facts.items():
            if isinstance(fact, Handing) and fact.loop == loop and not fact.is_done:
                found = _beside(place, fact.argument, members.threads)
            elif isinstance(fact, JoinLoop) and fact.loop == loop and fact.is_done:
                argument = fact.pool.argument
                if argument is None:
                    continue
                argument = replace(argument, shift=argument.shift + fact.shift)
                found = _beside(place, argument, members.threads)
            else:
                continue
            if found is not None:
                return found
        return None

    def _of_member(self, state: ThreadState, pick: Pick, offset: int) -> OwnAccess:
        """An access at the argument of a thread that has been waited for in this round, or not."""
        waited = state.pools.facts.get(JoinLoop(pick.loop, pick.pool, pick.shift, True))
        if waited is not None:
            return OwnAccess("argument", offset, threads=waited.threads, of="object")
        threads = state.pools.facts[pick.pool].threads
        return OwnAccess("argument", offset, threads=threads, of="object", may_be_same=True)


def _beside(place: Place, argument: LoopArgument, threads: int) -> OwnAccess | None:
    """An access to an element, told from the argument that belongs to the same counter."""
    distance = (place.shift - argument.shift) * place.slots.stride
    if argument.kind == "number":
        if not isinstance(place.slots.root, int):
            return None
        start = place.slots.constant + distance
        return OwnAccess("index", start, place.slots.stride, 64, threads, "number")
    if argument.kind == "object" or argument.slots is None:
        return None
    if not _same_array(place.slots, argument.slots):
        return None
    offset = place.slots.constant - argument.slots.constant + distance
    return OwnAccess("argument", offset, threads=threads, of="element")


def _same_array(a: Slots, b: Slots) -> bool:
    return (a.root, a.stride, a.extension) == (b.root, b.stride, b.extension)
