"""Calls: the program's own functions and the library's by their models."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import events as meaning
from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.atomics import AtomicsWalker
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import State, Value
from raceproof.ir import Call, Function
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind


class CallingWalker(AtomicsWalker):
    """Who is called, and what that means."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.ends: list[tuple[State, Value | None]] = []

    def call_instruction(self, call: Call) -> None:
        callee = self.term(call.callee)
        functions = self.functions_at(callee)
        if not functions:
            self.cut("a call through an unknown pointer")
            self.set_result(None)
            return
        if len(functions) == 1 and callee.is_constant:
            self._call_one(call, functions[0][0])
            return
        is_known = self.terms.any(self.terms.eq(callee, pointer) for _, pointer in functions)
        if UNKNOWN in self.sharing.targets(callee):
            self.cut("a call through an unknown pointer", self.terms.not_(is_known))
        self.require(is_known)
        ended: list[State] = []
        base = self.state
        label = self.label
        for number, (function, pointer) in enumerate(functions):
            guard = self.terms.and_(base.guard, self.terms.eq(callee, pointer))
            if guard is self.terms.false:
                continue
            self.state = base.copy(guard)
            self.label = f"{label}:{number}"
            try:
                self._call_one(call, function)
                ended.append(self.state)
            except PathEnds:
                pass
        self.label = label
        if not ended:
            raise PathEnds
        self.state = self.merge(ended)

    def _call_one(self, call: Call, function: Function) -> None:
        event = self.unfolder.events.of(call, function.name)
        if isinstance(event, meaning.AtomicFunction):
            self.begin_section()
            self._call_body(call, event.function)
            self.end_section()
        elif event is not None:
            self._call_library(event)
        elif function.is_defined:
            self._call_body(call, function)
        else:
            self.unfolder.assume_once(f"{function.display} has no effect and returns any value")
            if call.no_return or function.no_return:
                self.cut(f"{function.display} does not return")
                self.fatal()
            self.set_result(None)

    def _call_body(self, call: Call, function: Function) -> None:
        arguments = [self.value(argument) for argument in call.arguments]
        for index, type_ in call.by_value:
            size = self.space.program.layout.size(type_)
            copy = self.new_object(f"argument {index}", size, zeroed=False, kind=BaseKind.STACK)
            self.state.forget(copy)
            source = arguments[index]
            assert isinstance(source, Term)
            with self.step("copy"):
                self.copy_bytes(self.space.pointer(copy), source, size)
            arguments[index] = self.space.pointer(copy)
        result = self.call(function, arguments)
        if call.result is not None:
            if isinstance(result, Term) and not call.result.type.is_aggregate:
                result = self.terms.resize(result, self.space.width(call.result.type))
            self.set_result(result)

    def call_pointer(self, callee: Term, arguments: list[Value]) -> Value | None:
        functions = [function for function, _ in self.functions_at(callee) if function.is_defined]
        if len(functions) == 1 and callee.is_constant:
            return self.call(functions[0], arguments)
        self.cut("a library function that calls an unknown function")
        return None

    # --- the library ------------------------------------------------------------

    def _call_library(self, event: meaning.Event) -> None:
        handler = _HANDLERS.get(type(event))
        if event.callbacks:
            self.cut(f"{event.model.name} calls functions of the program")
        if event.model.opens_channel:  # The machine knows who waits for whom, we do not.
            self.unfolder.result.is_exact = False
        if event.effects and not isinstance(event, _OWN_EFFECTS):
            self._effects(event)
        if handler is not None:
            handler(self, event)
        else:
            self._plain(event)
        if event.no_return:
            self.cut(f"{event.model.name} does not return")
            self.fatal()

    def exit_thread(self, event: meaning.ThreadExit) -> None:
        value = self.value(event.value) if event.value is not None else None
        while self.state.cleanups:
            self._run_cleanup()
        self.ends.append((self.state, value))
        raise PathEnds

    def _push_cleanup(self, event: meaning.CleanupPush) -> None:
        argument = self.term(event.argument) if event.argument is not None else None
        self.state.cleanups = (*self.state.cleanups, (self.term(event.routine), argument))
        self.set_result(self.result_of(event, True))

    def _pop_cleanup(self, event: meaning.CleanupPop) -> None:
        if not self.state.cleanups:
            self.cut("a clean-up handler that we don't know")
            return
        execute = self.term(event.execute)
        if not execute.is_constant:
            self.cut("a clean-up handler that may or may not run")
        if execute.is_constant and execute.constant == 0:
            self.state.cleanups = self.state.cleanups[:-1]
        else:
            self._run_cleanup()
        self.set_result(self.result_of(event, True))

    def _run_cleanup(self) -> None:
        routine, argument = self.state.cleanups[-1]
        self.state.cleanups = self.state.cleanups[:-1]
        self.call_pointer(routine, [argument] if argument is not None else [])

    def _assume(self, event: meaning.Assume) -> None:
        condition = self.term(event.condition)
        holds = self.terms.not_(self.terms.eq(condition, self.terms.const(0, condition.width)))
        self.require(holds)
        if holds is self.terms.false:
            raise PathEnds

    def _nondeterministic(self, event: meaning.Nondeterministic) -> None:
        result = event.call.result
        if result is None:
            return
        width = self.space.width(result.type)
        value = self.fresh_input("nondet", width)
        if event.range is not None:
            low, high = (self.terms.const(bound, width) for bound in event.range)
            prefix = "s" if event.signed else "u"
            self.require(self.terms.compare(prefix + "le", low, value))
            self.require(self.terms.compare(prefix + "le", value, high))
        self.set_result(value)

    def begin_section(self) -> None:
        if self.state.section == 0 and self.state.is_threaded:
            with self.step("atomic", always=True):
                pass
        self.state.section += 1

    def end_section(self) -> None:
        self.state.section = max(0, self.state.section - 1)

    def _begin(self, event: meaning.AtomicBegin) -> None:
        self.begin_section()

    def _end(self, event: meaning.AtomicEnd) -> None:
        self.end_section()

    def _self(self, event: meaning.ThreadSelf) -> None:
        if event.call.result is not None:
            width = self.space.width(event.call.result.type)
            self.set_result(self.terms.const(self.thread, width))

    def _exit(self, event: meaning.ProcessExit) -> None:
        self.fatal()

    def _delete_key(self, event: meaning.SpecificDelete) -> None:
        """A new key may get the number of this one; ours never do."""
        self.cut("a key that may be used again")
        self._succeed(event)

    def _succeed(self, event: meaning.Event) -> None:
        self.set_result(self.result_of(event, True))


_OWN_EFFECTS = (
    meaning.AtomicOperation,
    meaning.Free,
    meaning.Reallocate,
    meaning.ThreadCreate,
    meaning.ThreadJoin,
    meaning.SemaphoreValue,
)
_W = CallingWalker
_HANDLERS: dict[type, Callable[..., None]] = {
    meaning.ThreadCreate: _W.create_thread,
    meaning.ThreadJoin: _W.join_thread,
    meaning.ThreadDetach: _W._succeed,
    meaning.ThreadExit: _W.exit_thread,
    meaning.ProcessExit: _W._exit,
    meaning.ThreadCancel: _W._unsupported,
    meaning.CleanupPush: _W._push_cleanup,
    meaning.CleanupPop: _W._pop_cleanup,
    meaning.ThreadSelf: _W._self,
    meaning.LockAcquire: _W.acquire,
    meaning.LockRelease: _W.release,
    meaning.LockInit: _W.initialise_lock,
    meaning.LockDestroy: _W._succeed,
    meaning.LockAttribute: _W.set_attribute,
    meaning.ConditionWait: _W.wait,
    meaning.ConditionSignal: _W.signal,
    meaning.ConditionInit: _W._succeed,
    meaning.ConditionDestroy: _W._succeed,
    meaning.BarrierInit: _W.initialise_barrier,
    meaning.BarrierWait: _W.wait_at_barrier,
    meaning.BarrierDestroy: _W._succeed,
    meaning.SemaphoreInit: _W.initialise_semaphore,
    meaning.SemaphoreWait: _W.wait_semaphore,
    meaning.SemaphorePost: _W.post_semaphore,
    meaning.SemaphoreValue: _W.semaphore_value,
    meaning.SemaphoreDestroy: _W._succeed,
    meaning.Once: _W.once,
    meaning.OnceBegin: _W._unsupported,
    meaning.OnceEnd: _W._unsupported,
    meaning.OnceAbort: _W._unsupported,
    meaning.AtomicBegin: _W._begin,
    meaning.AtomicEnd: _W._end,
    meaning.AtomicOperation: _W._atomic,
    meaning.Allocate: _W._allocate,
    meaning.Reallocate: _W._reallocate,
    meaning.Free: _W._free,
    meaning.SpecificCreate: _W._specific_create,
    meaning.SpecificDelete: _W._delete_key,
    meaning.SpecificGet: _W._specific_get,
    meaning.SpecificSet: _W._specific_set,
    meaning.Nondeterministic: _W._nondeterministic,
    meaning.Assume: _W._assume,
}
