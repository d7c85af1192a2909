"""Calls: the program's own functions and the library's by their models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import UnfoldState, Value
from raceproof.ir import Call, Function
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class LibraryCalls(Part):
    """Who is called, and what that means."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.operands = walker.operands
        self.instructions = walker.instructions
        self.functions = walker.functions
        self.hidden = walker.hidden
        self.allocation = walker.allocation
        self.threads = walker.threads
        self.ends: list[tuple[UnfoldState, Value | None]] = []
        """How the thread ends."""
        self._handlers: dict[type, Callable[..., None]] = {
            meaning.ThreadDetach: self._succeed,
            meaning.ThreadExit: self.exit_thread,
            meaning.ProcessExit: self._exit,
            meaning.CleanupPush: self._push_cleanup,
            meaning.CleanupPop: self._pop_cleanup,
            meaning.ThreadSelf: self._self,
            meaning.AtomicBegin: self._begin,
            meaning.AtomicEnd: self._end,
            meaning.SpecificDelete: self._delete_key,
            meaning.Nondeterministic: self._nondeterministic,
            meaning.Assume: self._assume,
        }
        for part in (
            walker.allocation,
            walker.atomics,
            walker.sync_objects,
            walker.threads,
        ):
            self._handlers |= part.handlers()

    def call_instruction(self, call: Call) -> None:
        callee = self.operands.term(call.callee)
        functions = self.threads.functions_at(callee)
        if not functions:
            self.cursor.cut("a call through an unknown pointer")
            self.operands.set_result(None)
            return
        if len(functions) == 1 and callee.is_constant:
            self._call_one(call, functions[0][0])
            return
        is_known = self.terms.any(self.terms.eq(callee, pointer) for _, pointer in functions)
        if UNKNOWN in self.sharing.targets(callee):
            self.cursor.cut("a call through an unknown pointer", self.terms.not_(is_known))
        self.cursor.require(is_known)
        ended: list[UnfoldState] = []
        base = self.cursor.state
        label = self.cursor.label
        for number, (function, pointer) in enumerate(functions):
            guard = self.terms.and_(base.guard, self.terms.eq(callee, pointer))
            if guard is self.terms.false:
                continue
            self.cursor.state = base.copy(guard)
            self.cursor.label = f"{label}:{number}"
            try:
                self._call_one(call, function)
                ended.append(self.cursor.state)
            except PathEnds:
                pass
        self.cursor.label = label
        if not ended:
            raise PathEnds
        self.cursor.state = self.functions.merge(ended)

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
                self.cursor.cut(f"{function.display} does not return")
                self.instructions.fatal()
            self.operands.set_result(None)

    def _call_body(self, call: Call, function: Function) -> None:
        arguments = [self.operands.value(argument) for argument in call.arguments]
        for index, type_ in call.by_value:
            size = self.space.program.layout.size(type_)
            copy = self.allocation.new_object(
                f"argument {index}", size, zeroed=False, kind=BaseKind.STACK
            )
            self.cursor.state.forget(copy)
            source = arguments[index]
            assert isinstance(source, Term)
            with self.cursor.step("copy"):
                self.instructions.copy_bytes(self.space.pointer(copy), source, size)
            arguments[index] = self.space.pointer(copy)
        result = self.functions.call(function, arguments)
        if call.result is not None:
            if isinstance(result, Term) and not call.result.type.is_aggregate:
                result = self.terms.resize(result, self.space.width(call.result.type))
            self.operands.set_result(result)

    def call_pointer(self, callee: Term, arguments: list[Value]) -> Value | None:
        functions = [
            function for function, _ in self.threads.functions_at(callee) if function.is_defined
        ]
        if len(functions) == 1 and callee.is_constant:
            return self.functions.call(functions[0], arguments)
        self.cursor.cut("a library function that calls an unknown function")
        return None

    # --- the library ------------------------------------------------------------

    def _call_library(self, event: meaning.Event) -> None:
        handler = self._handlers.get(type(event))
        if event.callbacks:
            self.cursor.cut(f"{event.model.name} calls functions of the program")
        if event.model.not_followed:
            self.cursor.cut(event.model.not_followed)
        if event.model.opens_channel:  # The machine knows who waits for whom, we do not.
            self.unfolder.result.is_exact = False
        if event.effects and not isinstance(event, _OWN_EFFECTS):
            self.allocation.effects(event, is_written=handler is not None)
        if handler is not None:
            handler(event)
        else:
            self.allocation.plain(event)
        if event.no_return:
            self.cursor.cut(f"{event.model.name} does not return")
            self.instructions.fatal()

    def exit_thread(self, event: meaning.ThreadExit) -> None:
        value = self.operands.value(event.value) if event.value is not None else None
        while self.cursor.state.cleanups:
            self._run_cleanup()
        self.ends.append((self.cursor.state, value))
        raise PathEnds

    def _push_cleanup(self, event: meaning.CleanupPush) -> None:
        argument = self.operands.term(event.argument) if event.argument is not None else None
        self.cursor.state.cleanups = (
            *self.cursor.state.cleanups,
            (self.operands.term(event.routine), argument),
        )
        self.operands.set_result(self.hidden.result_of(event, True))

    def _pop_cleanup(self, event: meaning.CleanupPop) -> None:
        if not self.cursor.state.cleanups:
            self.cursor.cut("a clean-up handler that we don't know")
            return
        execute = self.operands.term(event.execute)
        if not execute.is_constant:
            self.cursor.cut("a clean-up handler that may or may not run")
        if execute.is_constant and execute.constant == 0:
            self.cursor.state.cleanups = self.cursor.state.cleanups[:-1]
        else:
            self._run_cleanup()
        self.operands.set_result(self.hidden.result_of(event, True))

    def _run_cleanup(self) -> None:
        routine, argument = self.cursor.state.cleanups[-1]
        self.cursor.state.cleanups = self.cursor.state.cleanups[:-1]
        self.call_pointer(routine, [argument] if argument is not None else [])

    def _assume(self, event: meaning.Assume) -> None:
        condition = self.operands.term(event.condition)
        holds = self.terms.not_(self.terms.eq(condition, self.terms.const(0, condition.width)))
        self.cursor.require(holds)
        if holds is self.terms.false:
            raise PathEnds

    def _nondeterministic(self, event: meaning.Nondeterministic) -> None:
        result = event.call.result
        if result is None:
            return
        width = self.space.width(result.type)
        value = self.operands.fresh_input("nondet", width)
        if event.range is not None:
            low, high = (self.terms.const(bound, width) for bound in event.range)
            prefix = "s" if event.signed else "u"
            self.cursor.require(self.terms.compare(prefix + "le", low, value))
            self.cursor.require(self.terms.compare(prefix + "le", value, high))
        self.operands.set_result(value)

    def begin_section(self) -> None:
        if self.cursor.state.section == 0 and self.cursor.state.is_threaded:
            with self.cursor.step("atomic", always=True):
                pass
        self.cursor.state.section += 1

    def end_section(self) -> None:
        self.cursor.state.section = max(0, self.cursor.state.section - 1)

    def _begin(self, event: meaning.AtomicBegin) -> None:
        self.begin_section()

    def _end(self, event: meaning.AtomicEnd) -> None:
        self.end_section()

    def _self(self, event: meaning.ThreadSelf) -> None:
        if event.call.result is not None:
            width = self.space.width(event.call.result.type)
            self.operands.set_result(self.terms.const(self.thread, width))

    def _exit(self, event: meaning.ProcessExit) -> None:
        self.instructions.fatal()

    def _delete_key(self, event: meaning.SpecificDelete) -> None:
        """A new key may get the number of this one; ours never do."""
        self.cursor.cut("a key that may be used again")
        self._succeed(event)

    def _succeed(self, event: meaning.Event) -> None:
        self.operands.set_result(self.hidden.result_of(event, True))


_OWN_EFFECTS = (
    meaning.AtomicOperation,
    meaning.Free,
    meaning.Reallocate,
    meaning.ThreadCreate,
    meaning.ThreadJoin,
    meaning.SemaphoreValue,
)
