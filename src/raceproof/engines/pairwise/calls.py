"""Calls in a symbolic execution: of the program's functions, and of modelled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode, Success
from raceproof.engines.pairwise.execution_log import Creation
from raceproof.engines.pairwise.instructions import Content, PairActivation
from raceproof.engines.pairwise.shared import NotModelled
from raceproof.engines.pairwise.state import ATOMIC, LockName, PairState
from raceproof.engines.pairwise.values import PairValue
from raceproof.ir import Call, Function, FunctionAddress, NullPointer
from raceproof.ir import Value as Operand
from raceproof.smt.terms import Term, signed

if TYPE_CHECKING:
    from raceproof.engines.pairwise.execution import Execution

_STRANGE = (
    ev.CleanupPush,
    ev.CleanupPop,
    ev.Once,
    ev.OnceBegin,
    ev.OnceEnd,
    ev.OnceAbort,
    ev.ThreadCancel,
    ev.AtomicOperation,
)
"""What is not modelled here."""
_BLOCKING = (
    ev.LockAcquire,
    ev.ConditionWait,
    ev.ThreadJoin,
    ev.BarrierWait,
    ev.SemaphoreWait,
)
"""Who waits lets others run."""


class PairCalls:
    def __init__(self, run: Execution) -> None:
        self.run = run
        self.log = run.log
        self.terms = run.log.terms
        self.world = run.log.world

    def call(self, act: PairActivation, call: Call, state: PairState) -> PairState | None:
        """The state after the call; None if it does not return."""
        if not isinstance(call.callee, FunctionAddress):
            raise NotModelled("a call through a pointer")
        event = self.run.events.of(call, call.callee.name)
        if isinstance(event, ev.AtomicFunction):
            return self._atomic_function(act, call, event, state)
        if event is not None:
            return self._event(act, call, event, state)
        function = self.world.program.functions.get(call.callee.name)
        if function is not None and function.is_defined:
            return self._enter(act, call, function, state)
        return self._stranger(act, call, state)

    def _enter(
        self, act: PairActivation, call: Call, function: Function, state: PairState
    ) -> PairState | None:
        self.run.instructions.effects(act, call, state)
        arguments = [self.run.instructions.content(act, a) for a in call.arguments]
        for index, _ in call.by_value:
            key = ("copy", self.log.name, (*act.path, call.number), index)
            arguments[index] = self.log.new_object(key, self.run.identity)
        path = (*act.path, call.number)
        ended = self.run.function(function, arguments, state, path, act.functions)
        if ended is None:
            return None
        after, value = ended
        self._result(act, call, value)
        return after

    def _result(self, act: PairActivation, call: Call, value: Content) -> None:
        if call.result is None:
            return
        width = self.run.instructions.width(call.result.type)
        if value is None or (isinstance(value, PairValue) and value.bits.width != width):
            value = self.run.instructions.anything(call.result.type)
        act.registers[call.result.index] = value

    def _stranger(self, act: PairActivation, call: Call, state: PairState) -> PairState | None:
        """Unknown code may write what it is given, as far as the analysis sees."""
        if call.no_return:
            return None
        for argument in call.arguments:
            content = self.run.instructions.content(act, argument)
            if isinstance(content, PairValue):
                self.run.memory.record(state, call.number, PairValue(content.bits), None, True)
                self.run.memory.write(state, call.number, content, None, None)
        self.run.memory.write(
            state, call.number, PairValue(self.log.fresh("stranger", 8)), None, None
        )
        self._result(act, call, None)
        return state

    # --- events ------------------------------------------------------------

    def _event(
        self, act: PairActivation, call: Call, event: ev.Event, state: PairState
    ) -> PairState | None:
        if isinstance(event, _STRANGE) or event.callbacks or event.model.returns_twice:
            raise NotModelled(type(event).__name__)
        if event.model.not_followed:
            raise NotModelled(event.model.not_followed)
        if isinstance(event, ev.SpecificCreate) and event.destructor is not None:
            if not isinstance(event.destructor, NullPointer):
                raise NotModelled("a destructor")
        if isinstance(event, _BLOCKING):
            if self.run.locking.holds(state, ATOMIC) is not self.terms.false:
                raise NotModelled("waiting in an atomic section")
        self.run.instructions.effects(act, call, state)
        value: Content = None
        match event:
            case ev.ThreadCreate():
                self._create(act, call, event, state)
            case ev.ThreadExit() | ev.ProcessExit():
                return None
            case ev.LockAcquire():
                value = self._acquire(act, call, event, state)
            case ev.LockRelease():
                self._release(act, event.lock, event.is_indirect, state)
            case ev.ConditionWait():
                self._release(act, event.lock, event.is_indirect, state)
                self._take(act, call, event.lock, event.is_indirect, self.terms.true, True, state)
            case ev.AtomicBegin():
                outside = self.terms.not_(self.run.locking.holds(state, ATOMIC))
                self.run.locking.acquire(state, ATOMIC, outside, self.terms.true)
            case ev.AtomicEnd():
                self.run.locking.release(state, ATOMIC, self.terms.true)
            case ev.Allocate(pointer_to=None, zeroed=is_zeroed):
                value = self._allocate(act, call, is_zeroed)
            case ev.Nondeterministic(range=limits) if limits is not None:
                value = self._within(call, limits, state)
            case ev.Assume(condition=condition):
                asked = self.run.instructions.scalar(act, condition).bits
                zero = self.terms.const(0, asked.width)
                guard = self.terms.and_(state.guard, self.terms.not_(self.terms.eq(asked, zero)))
                return None if guard is self.terms.false else state.copy(guard)
        if event.no_return or call.no_return:
            return None
        self._result(act, call, value)
        return state

    def _within(self, call: Call, limits: tuple[int, int], state: PairState) -> Content:
        assert call.result is not None
        value = self.run.instructions.anything(call.result.type)
        if isinstance(value, PairValue) and value.bits.width > 1:
            low, high = (self.terms.const(limit, value.bits.width) for limit in limits)
            if limits[0] >= 0:
                fits = self.terms.and_(
                    self.terms.compare("uge", value.bits, low),
                    self.terms.compare("ule", value.bits, high),
                )
                self.log.learn(state.guard, fits)
        return value

    def _atomic_function(
        self, act: PairActivation, call: Call, event: ev.AtomicFunction, state: PairState
    ) -> PairState | None:
        outside = self.run.locking.atomically(state)
        after = self._enter(act, call, event.function, state)
        if after is not None:
            self.run.locking.release(after, ATOMIC, outside)
        return after

    def _allocate(self, act: PairActivation, call: Call, is_zeroed: bool) -> PairValue:
        identity = self.log.fresh("object", 32)
        self.log.heap[identity] = None
        key = ("heap", self.log.name, act.path, call.number)
        if self.log.is_main and not self.log.nest:
            self.world.sightings.single[key] = is_zeroed
        return self.log.new_object(key, identity)

    def _create(
        self, act: PairActivation, call: Call, event: ev.ThreadCreate, state: PairState
    ) -> None:
        argument: Content = None
        if event.argument is not None and event.virtual_slot is None:
            argument = self.run.instructions.content(act, event.argument)
        self.run.locking.publish(state, self.terms.true)
        state.alone = self.terms.false
        for ghost in self.run.locking.ghosts:
            ghost.created(state, call.number)
        self.log.creations.setdefault(call.number, []).append(
            Creation(
                call.number,
                self.log.order,
                self.log.nest,
                state.guard,
                self.log.facts,
                argument if isinstance(argument, PairValue) else None,
                {cell: self.run.locking.view(state, cell) for cell in self.world.cells},
            )
        )

    # --- locks ------------------------------------------------------------

    def _acquire(
        self, act: PairActivation, call: Call, event: ev.LockAcquire, state: PairState
    ) -> Content:
        terms = self.terms
        value: Content = None
        condition = terms.true
        if call.result is not None:
            value = self.run.instructions.anything(call.result.type)
        if event.success is not Success.ALWAYS:
            if not isinstance(value, PairValue):
                raise NotModelled("a lock that may fail, without a result")
            zero = terms.const(0, value.bits.width)
            condition = terms.eq(value.bits, zero)
            if event.success is Success.NONZERO:
                condition = terms.not_(condition)
        elif isinstance(value, PairValue):
            value = PairValue(terms.const(0, value.bits.width))
        is_write = event.mode is not LockMode.READ
        self._take(act, call, event.lock, event.is_indirect, condition, is_write, state)
        return value

    def _lock(
        self, act: PairActivation, lock: Operand, is_indirect: bool, state: PairState
    ) -> tuple[PairValue, LockName | None]:
        """Its address, and its name if it has one."""
        address = self.run.instructions.scalar(act, lock)
        if is_indirect:
            bits = self.run.instructions.bits
            address = self.run.memory.read(state, address, bits // 8, bits)
        if len(address.places) == 1:
            (place,) = address.places
            key = place.object.key
            if place.condition is self.terms.true and place.offset.is_constant:
                if key[0] == "global":
                    offset = signed(place.offset.constant, place.offset.width)
                    return address, LockName("lock", str(key[1]), offset)
        return address, None

    def _take(
        self,
        act: PairActivation,
        call: Call,
        lock: Operand,
        is_indirect: bool,
        condition: Term,
        is_write: bool,
        state: PairState,
    ) -> None:
        address, name = self._lock(act, lock, is_indirect, state)
        if name is not None:
            self.run.locking.acquire(state, name, condition, self.terms.truth(is_write))
        else:
            place = (act.path, call.number)
            self.run.locking.acquire_addressed(state, place, address, condition, is_write)

    def _release(
        self, act: PairActivation, lock: Operand, is_indirect: bool, state: PairState
    ) -> None:
        address, name = self._lock(act, lock, is_indirect, state)
        self.run.locking.release_addressed(state, address, name)
        if name is not None:
            self.run.locking.release(state, name, self.terms.true)
