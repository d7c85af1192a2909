"""What loads, stores, creations and joins mean for the facts of `pools`.

All of it is skipped in programs that create no threads in loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof.analysis.facets.thread_pools import (
    CreateLoop,
    Fact,
    Handing,
    JoinLoop,
    Keeping,
    LoopArgument,
    Members,
    Pick,
    RunningLoop,
    Slots,
    ThreadPool,
    ThreadPools,
)
from raceproof.analysis.linear import (
    Place,
    cell_at,
    content_of,
    leaf_of,
    loop_of,
    name,
    number_of,
    place_of,
)
from raceproof.analysis.names import ByteRegion, Linear, Token
from raceproof.analysis.state import ThreadState
from raceproof.domains.values import AbstractValue
from raceproof.ir import Load, Register, Store, Value

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter


class ThreadPoolEvents:
    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.analysis = run.analysis
        self.bytes = run.analysis.program.layout.pointer_size

    # --- registers and cells ------------------------------------------------------------

    def loaded(
        self, act: Activation, load: Load, state: ThreadState, address: AbstractValue
    ) -> None:
        """Call it after the register is assigned."""
        assert load.result is not None
        if load.volatile or load.atomic:
            return
        size = self.analysis.program.layout.store_size(load.type)
        token = act.token(load.result.index)
        cell = cell_at(self.run, state, address, size)
        if cell is not None:
            content = content_of(state, cell)
            if content.root != token:
                aliases = {**state.pools.aliases, token: content}
                state.pools = replace(state.pools, aliases=aliases)
        known = state.pools
        if known.counts and (known.facts or known.kept) and size == self.bytes:
            self._loaded_element(act, load, state, token)

    def _loaded_element(
        self, act: Activation, load: Load, state: ThreadState, token: Token
    ) -> None:
        known = state.pools
        pick = self._pick(act, state, load.pointer)
        if pick is not None:
            state.pools = replace(known, picks={**known.picks, token: pick})
            return
        place = place_of(self.run, act, state, load.pointer)
        loop = loop_of(state, place)
        for root, keeping in known.kept.items():
            if place is not None and keeping[:3] == (loop, place.slots, place.shift):
                state.pools = replace(known, aliases={**known.aliases, token: Linear(root, 0)})
                same = state.registers.get(root.register)
                if same is not None and root.context == act.context.number:
                    state.registers[token.register] = same
                return

    def store(
        self, act: Activation, store: Store, state: ThreadState, write: Callable[[], bool]
    ) -> bool:
        """Does a write and says what is known after it."""
        before = state.pools
        number = number_of(act, state, store.value)
        address = self.run.calls.memory.address(act, state, store.pointer)
        place = place_of(self.run, act, state, store.pointer) if before.counts else None
        loop = loop_of(state, place)
        fresh = {token for token, _ in state.facets.fresh_objects}
        if not write():
            return False
        size = self.analysis.program.layout.store_size(store.value.type)
        if place is not None and loop is not None and size <= abs(place.slots.stride):
            self._spare(state, before, loop, place, self._regions(place.slots, address, size))
            if number is not None and number.root in fresh and number.constant == 0:
                assert isinstance(number.root, Token)
                regions = self._regions(place.slots, address, size)
                kept = Keeping(loop, place.slots, place.shift, regions)
                known = state.pools
                state.pools = replace(known, kept={**known.kept, number.root: kept})
        if number is not None and not store.volatile:
            cell = cell_at(self.run, state, address, size)
            if cell is not None and number.root != cell:
                name(state, cell, number)
        return True

    def _spare(
        self,
        state: ThreadState,
        before: ThreadPools,
        loop: RunningLoop,
        place: Place,
        written: frozenset[ByteRegion],
    ) -> None:
        """A write to the element of a round leaves those of other rounds alone. In a create loop
        these are all that matter until the round's thread is created; of a pool, once the round's
        thread has been waited for."""
        facts = dict(state.pools.facts)
        for fact, members in before.facts.items():
            if isinstance(fact, ThreadPool | Handing) or fact.loop != loop:
                continue
            if fact.is_done is isinstance(fact, CreateLoop) or not _is_round(fact, place):
                continue
            if any(
                region not in written and region.may_touch(other.base, None, None)
                for region in members.regions
                for other in written
            ):
                continue
            if isinstance(fact, CreateLoop):
                facts[fact] = members
            elif fact.pool in before.facts:
                facts[fact] = members
                facts[fact.pool] = before.facts[fact.pool]
        state.pools = replace(state.pools, facts=facts)

    # --- creating and joining ------------------------------------------------------------

    def create_loop(
        self,
        act: Activation,
        state: ThreadState,
        pointer: Value,
        given: tuple[RunningLoop | None, LoopArgument] | None,
    ) -> CreateLoop | None:
        """The create loop that an id belongs to which is about to be stored at the address, of a
        thread with such an argument."""
        found = self._filling(act, state, pointer)
        if found is None or given is None or given[0] != found.loop:
            return found
        argument = replace(given[1], shift=given[1].shift - found.shift)
        return replace(found, argument=argument)

    def _filling(self, act: Activation, state: ThreadState, pointer: Value) -> CreateLoop | None:
        place = place_of(self.run, act, state, pointer)
        loop = loop_of(state, place)
        if place is None:
            number = number_of(act, state, pointer)
            if number is not None and isinstance(number.root, Token):
                keeping = state.pools.kept.get(number.root)
                if keeping is not None:
                    slots = replace(keeping.slots, through=number.constant)
                    return CreateLoop(keeping.loop, slots, keeping.shift, False)
            return None
        if loop is None or abs(place.slots.stride) < self.bytes or not _is_consistent(place):
            return None
        return CreateLoop(loop, place.slots, place.shift, False)

    def created(
        self,
        state: ThreadState,
        before: ThreadPools,
        running: int,
        threads: int,
        create_loop: CreateLoop | None,
        address: AbstractValue | None,
    ) -> None:
        """These threads were created while those were running, and their id was stored."""
        facts: dict[Fact, Members] = {}
        for fact, members in state.pools.facts.items():
            if members.threads & ~threads:
                facts[fact] = Members(members.threads & ~threads, members.regions)
        if create_loop is not None and address is not None and not address.is_unknown:
            old = before.facts.get(create_loop, Members(0, frozenset()))
            is_second = replace(create_loop, is_done=True) in before.facts
            if threads and not (is_second or threads & running & ~old.threads):
                regions = old.regions | self._where(before, create_loop, address)
                facts[replace(create_loop, is_done=True)] = Members(old.threads | threads, regions)
        state.pools = state.pools.with_facts(facts)

    def _where(
        self, known: ThreadPools, create_loop: CreateLoop, address: AbstractValue
    ) -> frozenset[ByteRegion]:
        """Where the id is that is stored at the address, and all that leads there."""
        through = create_loop.slots.through
        if through is None:
            regions = self._regions(create_loop.slots, address, self.bytes)
        else:
            regions = frozenset(
                ByteRegion(base, through, 0, self.bytes) for base in address.pointers
            )
        arrays = [_array(create_loop.slots)]
        if create_loop.argument is not None and create_loop.argument.kind == "object":
            assert create_loop.argument.slots is not None
            arrays.append(create_loop.argument.slots)
        return regions.union(
            *(keeping.regions for keeping in known.kept.values() if keeping.slots in arrays)
        )

    def _regions(self, slots: Slots, address: AbstractValue, size: int) -> frozenset[ByteRegion]:
        """All elements of an array, one of which is at the address."""
        if isinstance(slots.root, int):
            return frozenset({ByteRegion(slots.root, slots.constant, abs(slots.stride), size)})
        return frozenset(ByteRegion(base, 0, 0, 0) for base in address.pointers)

    def waited(self, act: Activation, state: ThreadState, thread: Value, is_indirect: bool) -> None:
        """It was waited for the thread with this id (or an id that is stored at this address)."""
        if not state.pools.facts:
            return
        pick: Pick | None = None
        if is_indirect:
            pick = self._pick(act, state, thread)
        elif isinstance(thread, Register):
            known = act.symbols.get(thread.index)
            token = act.token(thread.index)
            if known is not None and isinstance(known.root, tuple):
                if known.constant or known.terms:
                    return
                token = Token(*known.root)
            pick = state.pools.picks.get(token)
        if (
            pick is None
            or pick.is_address
            or pick.is_argument
            or not self._is_own(state, pick.pool)
        ):
            return
        count = state.pools.counts[pick.loop]
        waiting = JoinLoop(pick.loop, pick.pool, pick.shift, False)
        facts = dict(state.pools.facts)
        members = facts.pop(waiting, None)
        if members is None and count.is_first:
            members = facts[pick.pool]
        if members is not None:
            facts[replace(waiting, is_done=True)] = members
            state.pools = replace(state.pools, facts=facts)

    def _pick(self, act: Activation, state: ThreadState, pointer: Value) -> Pick | None:
        """Which element of which pool's array is at an address, or is found through it."""
        leaf = leaf_of(act, pointer)
        if leaf is not None:
            pick = state.pools.picks.get(leaf[0])
            if pick is not None and pick.is_address:
                is_it = leaf[1] == pick.pool.slots.through
                return Pick(pick.pool, pick.loop, pick.shift) if is_it else None
        place = place_of(self.run, act, state, pointer)
        loop = loop_of(state, place)
        if place is None or loop is None or not _is_consistent(place):
            return None
        for fact in state.pools.facts:
            if not isinstance(fact, ThreadPool) or not self._is_own(state, fact):
                continue
            argument = fact.argument
            is_argument = (
                argument is not None and argument.kind == "object" and argument.slots == place.slots
            )
            if _array(fact.slots) == place.slots:
                is_argument = is_argument and argument is not None and argument.shift == 0
                is_address = fact.slots.through is not None
                return Pick(fact, loop, place.shift, is_address, is_argument)
            if is_argument and argument is not None:
                return Pick(fact, loop, place.shift - argument.shift, False, True)
        return None

    def _is_own(self, state: ThreadState, pool: ThreadPool) -> bool:
        """Does no running thread write to the array of ids?"""
        return not any(
            region.may_touch(region.base, offsets, size)
            for region in state.pools.facts[pool].regions
            for offsets, size in self.analysis.interference.writes(
                region.base, state.facets.may_parallel
            )
        )


def _array(slots: Slots) -> Slots:
    return slots if slots.through is None else replace(slots, through=None)


def _is_round(fact: CreateLoop | JoinLoop, place: Place) -> bool:
    """Does a fact speak about the element in this round, as that of an id or of an argument?"""
    source = fact if isinstance(fact, CreateLoop) else fact.pool
    if (_array(source.slots), fact.shift) == (place.slots, place.shift):
        return True
    argument = source.argument
    if argument is None or argument.kind != "object":
        return False
    return (argument.slots, fact.shift + argument.shift) == (place.slots, place.shift)


def _is_consistent(place: Place) -> bool:
    return place.slots.stride != 0 and (place.is_exact or place.shift == -1)
