"""Allocation, atomic operations, and what library functions read, write and return."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from raceproof.analysis.state import Content, ThreadState, join_states
from raceproof.analysis.transfer import scalar
from raceproof.concurrency import effects as fx
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import (
    CallbackTime,
    CallbackValue,
    ReturnKind,
    Returns,
)
from raceproof.domains import integers as ints
from raceproof.domains import objects as contents_of
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import POINTER, Call, IntType, NullPointer, PointerType, Value

if TYPE_CHECKING:
    from raceproof.analysis.calls import Calls
    from raceproof.analysis.interpreter import Activation


_PATIENCE = 3
"""Calls of a callback that are joined before the states are widened."""
_THROWING = ("__cxa_bad", "_Unwind_Resume")


class LibraryEvents:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.run = calls.run
        self.analysis = calls.analysis

    def handlers(self) -> dict[type[ev.Event], Any]:
        return {
            ev.Allocate: self._allocate,
            ev.Reallocate: self._reallocate,
            ev.Nondeterministic: self._nondeterministic,
            ev.Assume: self._assume,
            ev.SpecificGet: self._specific_get,
            ev.SpecificSet: self._specific_set,
        }

    # --- everything that has only effects ------------------------------------------------------

    def plain(
        self, act: Activation, call: Call, event: ev.Event, state: ThreadState
    ) -> list[ThreadState]:
        """Effects, copies, stored pointers, callbacks, result."""
        self.effects(act, call, event, state)
        for copy in event.copies:
            self.calls.memory.copy(act, call, state, copy.target, copy.source, None)
        for store in event.stores:
            self._store_pointer(act, call, store, state)
        states = [state]
        for callback in event.callbacks:
            states = [s for old in states for s in self._callback(act, call, callback, old)]
        if event.no_return:
            if event.model.name.startswith(_THROWING) or "throw" in event.model.name:
                act.raised += states
            return []
        for left in states:
            self.calls.result(act, call, left, self.returned(act, call, event.returns, left))
        if event.model.returns_twice:
            states = [*states, *(self._second_return(act, call, left) for left in states)]
        return states

    def _second_return(self, act: Activation, call: Call, first: ThreadState) -> ThreadState:
        """Back at `setjmp`, from anywhere later in this thread: no lock is held for sure, all that
        the thread ever writes may stand in memory, all that it creates may run."""
        state = first.copy()
        info = self.analysis.threads[self.run.thread]
        state.facets = state.facets.return_again(info.children)
        self.calls.memory.absorb(state, info.bit)
        self.calls.result(act, call, state, None)
        return state

    def effects(
        self,
        act: Activation,
        call: Call,
        event: ev.Event,
        state: ThreadState,
        is_written: bool = True,
    ) -> None:
        """Records the accesses; what is written is unknown, unless the caller sees to it."""
        memory = self.calls.memory
        depends = state.depends_on_others
        for effect in event.effects:
            state.depends_on_others = depends or effect.is_may
            address = memory.address(act, state, effect.pointer)
            if isinstance(effect.size, fx.WholeObject):
                address = _whole(address, memory.bits)
            size = self._size(act, state, effect.size)
            if effect.is_read:
                memory.record(
                    act, call, state, effect.pointer, address, size, False, effect.is_atomic
                )
            if effect.is_write:
                memory.record(
                    act,
                    call,
                    state,
                    effect.pointer,
                    address,
                    size,
                    True,
                    effect.is_atomic,
                    isinstance(event, ev.Free),
                )
                if is_written and not isinstance(event, ev.Free):
                    memory.havoc(
                        act, call, state, effect.pointer, size, is_moved=_is_read(event, effect)
                    )
            if isinstance(effect.size, fx.Reachable):
                self._beyond(act, call, effect, address, state)
        state.depends_on_others = depends

    def _beyond(
        self,
        act: Activation,
        call: Call,
        effect: fx.MemoryEffect,
        address: AbstractValue,
        state: ThreadState,
    ) -> None:
        """The objects whose addresses are stored in what the pointer leads to, and so on. They are
        not at the pointer: that it is fresh, or beside a lock, says nothing about them."""
        memory = self.calls.memory
        beyond = self._reachable(address)
        if not beyond:
            return
        there = domain.make(None, beyond, False)
        nowhere = NullPointer(POINTER)
        for is_write in (False, True):
            if effect.is_write if is_write else effect.is_read:
                memory.record(act, call, state, nowhere, there, None, is_write, False)
        if effect.is_write:
            memory.havoc_at(state, there, domain.join(there, _whole(address, memory.bits)))

    def _reachable(self, address: AbstractValue) -> dict[int, ints.Integers]:
        """Anywhere in the objects behind those that an address points into."""
        stored = self.run.analysis.stored
        found, work = set(address.pointers), list(address.pointers)
        while work:
            new = stored.get(work.pop(), set()) - found
            found |= new
            work.extend(new)
        anywhere = ints.top(self.calls.memory.bits)
        return dict.fromkeys(sorted(found - set(address.pointers)), anywhere)

    def _size(self, act: Activation, state: ThreadState, size: fx.Size) -> int | None:
        """The number of bytes if it is clear."""
        if isinstance(size, int):
            return size
        if isinstance(size, Value):
            return self.calls.memory.sizes(act, state, size).constant
        if isinstance(size, fx.Product):
            product = size.scale
            for factor in size.factors:
                number = self.calls.memory.sizes(act, state, factor).constant
                if number is None:
                    return None
                product *= number
            return product
        return None

    def _store_pointer(
        self, act: Activation, call: Call, store: ev.PointerStore, state: ThreadState
    ) -> None:
        memory = self.calls.memory
        address = memory.address(act, state, store.pointer)
        value = self.returned(act, call, store.value, state)
        if value is None:
            value = self.analysis.external_pointer
        size = self.analysis.program.layout.pointer_size
        memory.record(act, call, state, store.pointer, address, size, True, False)
        memory.write(state, address, 0, size, value)

    def _fresh(self, act: Activation, call: Call, state: ThreadState) -> AbstractValue:
        """A new object that the library has filled."""
        base = self._new_object(act, call, None, state, contents_of.unknown(None))
        state.memory = state.memory.set(base, contents_of.unknown(None, domain.any_integer(8)))
        return domain.address(base, 0, self.calls.memory.bits)

    def returned(
        self, act: Activation, call: Call, returns: Returns, state: ThreadState
    ) -> AbstractValue | None:
        """What a call returns; None: anything of its type."""
        memory = self.calls.memory
        found: AbstractValue | None = None
        match returns.kind:
            case ReturnKind.ARGUMENT:
                found = scalar(self.run.value(act, state, call.arguments[returns.index]))
                if returns.or_fresh and _may_be_null(found):
                    found = domain.join(found, self._fresh(act, call, state))
            case ReturnKind.CONSTANT:
                width = self.run.evaluator.width(call.result.type) if call.result else None
                return domain.constant(returns.constant, width) if width else None
            case ReturnKind.INTO:
                argument = scalar(self.run.value(act, state, call.arguments[returns.index]))
                found = _whole(argument, memory.bits)
            case ReturnKind.POINTEE:
                argument = scalar(self.run.value(act, state, call.arguments[returns.index]))
                stored = memory.read(state, argument, 0, memory.bits // 8, memory.bits)
                found = _whole(stored, memory.bits)
            case ReturnKind.REACHABLE:
                argument = scalar(self.run.value(act, state, call.arguments[returns.index]))
                found = domain.join(
                    _whole(argument, memory.bits),
                    domain.make(None, self._reachable(argument), argument.is_unknown),
                )
            case ReturnKind.FRESH:
                found = self._fresh(act, call, state)
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                thread = self.run.thread if returns.kind is ReturnKind.THREAD_LOCAL else None
                base = self.analysis.objects.library_object(returns.name, thread)
                if state.memory.get(base) is None:
                    contents = contents_of.unknown(None, domain.any_integer(8))
                    state.memory = state.memory.set(base, contents)
                found = domain.address(base, 0, memory.bits)
        if found is not None and returns.or_null:
            found = domain.join(found, domain.constant(0, memory.bits))
        return found

    # --- callbacks ------------------------------------------------------------

    def _callback(
        self, act: Activation, call: Call, callback: ev.Callback, state: ThreadState
    ) -> list[ThreadState]:
        """The function may be called later, or during the call: any number of times, or not at
        all. What is left is then the least state that holds before and after each call."""
        arguments = tuple(self._passed(act, operand, state) for operand in callback.arguments)
        if callback.time is not CallbackTime.NOW:
            values = tuple(a for a in arguments if isinstance(a, AbstractValue))
            self.calls.endings.later(act, call, callback, values, state)
            return [state]
        is_capped = act.is_capped
        for calls in count(1):
            joined = state
            after = self.call_back(act, call, callback.function, arguments, state.copy())
            for left in after:
                if call.result is not None:
                    left.registers.pop(call.result.index, None)
                joined = join_states(joined, left, (0,) if calls > _PATIENCE else None)
            if joined is state:
                break
            state = joined.copy()
            act.is_capped = True  # what it makes from now on is made more than once
        act.is_capped = is_capped
        return [state]

    def _passed(
        self, act: Activation, operand: ev.CallbackOperand, state: ThreadState
    ) -> AbstractValue | Value:
        if operand.value is None or operand.how is CallbackValue.ANY:
            return self.analysis.external_pointer
        value = scalar(self.run.value(act, state, operand.value))
        if operand.how is CallbackValue.INTO:
            return _whole(value, self.calls.memory.bits)
        if operand.how is CallbackValue.POINTEE:
            memory = self.calls.memory
            return memory.read(state, value, 0, memory.bits // 8, memory.bits)
        return value

    def call_back(
        self,
        act: Activation,
        call: Call,
        function: Value,
        arguments: tuple[AbstractValue | Value, ...],
        state: ThreadState,
    ) -> list[ThreadState]:
        """Calls the functions that a value may point to, as part of another call."""
        target = scalar(self.run.value(act, state, function))
        contents: tuple[Content, ...] = tuple(
            self.run.value(act, state, a) if isinstance(a, Value) else a for a in arguments
        )
        after: list[ThreadState] = []
        for base in sorted(target.pointers):
            name = self.analysis.objects[base].function
            callee = self.analysis.program.functions.get(name) if name else None
            if callee is not None and callee.is_defined:
                given = contents + tuple(
                    self.analysis.external_pointer for _ in callee.parameters[len(contents) :]
                )
                after += self.calls.enter(
                    act, call, callee, state.copy(), given[: len(callee.parameters)]
                )
        return after or [state]

    # --- allocation ------------------------------------------------------------

    def _new_object(
        self,
        act: Activation,
        call: Call,
        size: int | None,
        state: ThreadState,
        contents: contents_of.Contents,
    ) -> int:
        is_weak = self.run.is_repeated(act)
        base = self.analysis.objects.heap(call.number, act.context, act.counters, size, is_weak)
        old = state.memory.get(base)
        if is_weak and old is not None:
            from raceproof.domains import object_lattice

            contents = object_lattice.join(old, contents)
        state.memory = state.memory.set(base, contents)
        if state.facets.may_parallel:
            byte = contents.any_byte()
            zero = ints.constant(0, self.calls.memory.bits)
            self.analysis.interference.add(self.run.thread, base, zero, None, byte)
        return base

    def _allocate(
        self, act: Activation, call: Call, event: ev.Allocate, state: ThreadState
    ) -> list[ThreadState]:
        size = self._size(act, state, event.size)
        contents = contents_of.zeroed(size) if event.zeroed else contents_of.uninitialised(size)
        base = self._new_object(act, call, size, state, contents)
        address = domain.address(base, 0, self.calls.memory.bits)
        if event.pointer_to is not None:
            memory = self.calls.memory
            target = memory.address(act, state, event.pointer_to)
            width = self.analysis.program.layout.pointer_size
            memory.record(act, call, state, event.pointer_to, target, width, True, False)
            memory.write(state, target, 0, width, address)
            self.calls.result(act, call, state, domain.constant(0, 32))
            return [state]
        if call.result is not None:
            self.run.assign(act, call, state, address)
            state.facets = state.facets._replace(
                fresh_objects=state.facets.fresh_objects | {(act.token(call.result.index), base)}
            )
        return [state]

    def _reallocate(
        self, act: Activation, call: Call, event: ev.Reallocate, state: ThreadState
    ) -> list[ThreadState]:
        self.effects_only(act, call, event, state)
        size = self._size(act, state, event.size)
        old = self.calls.memory.address(act, state, event.pointer)
        base = self._new_object(act, call, size, state, contents_of.uninitialised(size))
        address = domain.address(base, 0, self.calls.memory.bits)
        if old.pointers or old.is_unknown:
            self.calls.memory.copy_bytes(state, address, old, None)
        self.calls.result(act, call, state, address)
        return [state]

    def effects_only(
        self, act: Activation, call: Call, event: ev.Event, state: ThreadState
    ) -> None:
        """Records accesses without changing memory."""
        memory = self.calls.memory
        for effect in event.effects:
            address = _whole(memory.address(act, state, effect.pointer), memory.bits)
            memory.record(
                act, call, state, effect.pointer, address, None, effect.is_write, effect.is_atomic
            )

    # --- values ------------------------------------------------------------

    def _nondeterministic(
        self, act: Activation, call: Call, event: ev.Nondeterministic, state: ThreadState
    ) -> list[ThreadState]:
        value: AbstractValue | None = None
        if call.result is not None and not isinstance(call.result.type, PointerType):
            width = self.run.evaluator.width(call.result.type)
            if width is not None:
                value = domain.any_integer(width)
                if event.range is not None and isinstance(call.result.type, IntType):
                    low, high = event.range
                    value = domain.integer(ints.from_range(low, high, 1, width))
        self.calls.result(act, call, state, value)
        return [state]

    def _assume(
        self, act: Activation, call: Call, event: ev.Assume, state: ThreadState
    ) -> list[ThreadState]:
        from raceproof.analysis.refine import assume_nonzero, depends_on_others, is_understood

        if not is_understood(act, event.condition):
            state.depends_on_others = True
        if state.facets.may_parallel and not state.depends_on_others:
            state.depends_on_others = depends_on_others(self.run, act, state, event.condition, True)
        act.deciding = call
        if not assume_nonzero(self.run, act, state, event.condition):
            return []
        self.calls.result(act, call, state, None)
        return [state]

    def _specific(self, act: Activation, key: Value, state: ThreadState) -> int:
        """The thread's own slot for a key; all keys of a thread share one."""
        base = self.analysis.objects.library_object("thread-specific data", self.run.thread)
        if state.memory.get(base) is None:
            state.memory = state.memory.set(base, contents_of.zeroed(self.calls.memory.bits // 8))
        return base

    def _specific_get(
        self, act: Activation, call: Call, event: ev.SpecificGet, state: ThreadState
    ) -> list[ThreadState]:
        base = self._specific(act, event.key, state)
        bits = self.calls.memory.bits
        value = state.memory.read(base, ints.constant(0, bits), bits // 8)
        self.calls.result(act, call, state, value)
        return [state]

    def _specific_set(
        self, act: Activation, call: Call, event: ev.SpecificSet, state: ThreadState
    ) -> list[ThreadState]:
        base = self._specific(act, event.key, state)
        bits = self.calls.memory.bits
        value = scalar(self.run.value(act, state, event.value))
        state.memory = state.memory.write(base, ints.constant(0, bits), bits // 8, value, False)
        self.calls.result(act, call, state, domain.constant(0, 32))
        return [state]


def _is_read(event: ev.Event, effect: fx.MemoryEffect) -> bool:
    """May what is written be made of what was there, as when sorting?"""
    return any(e.is_read and e.pointer is effect.pointer for e in event.effects)


def _may_be_null(value: AbstractValue) -> bool:
    if value.integers is None:
        return value.is_unknown or value.is_uninitialised
    return value.integers.unsigned_range()[0] == 0


def _whole(address: AbstractValue, bits: int) -> AbstractValue:
    """Anywhere in the objects that an address points into."""
    if not address.pointers:
        return address
    return domain.make(
        address.integers,
        {base: ints.top(bits) for base in address.pointers},
        address.is_unknown,
    )
