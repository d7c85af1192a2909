"""Calls: of the program's own functions, of modelled ones, of unknown ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from raceproof.analysis.atomic_events import AtomicEvents
from raceproof.analysis.contexts import Context
from raceproof.analysis.endings import EndingEvents
from raceproof.analysis.facets import EVENT_HOOKS
from raceproof.analysis.library_events import LibraryEvents
from raceproof.analysis.lock_events import LockEvents
from raceproof.analysis.locks import LockKey, Symbol
from raceproof.analysis.memory_ranges import MemoryAccess
from raceproof.analysis.names import RETURNED, Token
from raceproof.analysis.state import Content, ThreadState
from raceproof.analysis.symbols import symbol_of
from raceproof.analysis.thread_events import ThreadEvents
from raceproof.analysis.transfer import scalar
from raceproof.analysis.varargs import VariableArguments
from raceproof.concurrency import events as ev
from raceproof.concurrency.callbacks.sites import is_synthesized
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, Function, FunctionAddress, PointerType, StructType, Type, Value

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter

Handler = Callable[["Activation", Call, Any, ThreadState], list[ThreadState]]
N = TypeVar("N")

_MANGLED = "_Z"
"""So begin the names of C++ functions; an unknown one may throw."""


class CallContext:
    """A call of a library function, as facets see it."""

    def __init__(self, calls: Calls, act: Activation, call: Call, state: ThreadState) -> None:
        self._calls, self._act, self._state = calls, act, state
        self.thread = calls.run.thread
        self.call = call.number
        self.context = act.context.number

    @property
    def is_repeated(self) -> bool:
        return self._calls.run.is_repeated(self._act)

    def key(self, operand: Value) -> LockKey | None:
        return self._calls.locks.exact(self._address(operand))

    def bases(self, operand: Value) -> set[int]:
        address = self._address(operand)
        if address.is_unknown or self._calls.analysis.objects.external in address.pointers:
            return set()
        return set(address.pointers)

    def constant(self, operand: Value) -> int | None:
        return scalar(self._calls.run.value(self._act, self._state, operand)).constant

    def notes(self, kind: type[N]) -> N:
        return self._calls.analysis.notes.of(kind)

    def _address(self, operand: Value) -> AbstractValue:
        return self._calls.memory.address(self._act, self._state, operand)


class Calls:
    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.analysis = run.analysis
        self.memory = MemoryAccess(run)
        self.varargs = VariableArguments(run)
        self.locks = LockEvents(self)
        self.threads = ThreadEvents(self)
        self.library = LibraryEvents(self)
        self.endings = EndingEvents(self)
        self.atomics = AtomicEvents(self)
        self.handlers: dict[type[ev.Event], Handler] = {
            **self.locks.handlers(),
            **self.threads.handlers(),
            **self.library.handlers(),
            **self.endings.handlers(),
            **self.atomics.handlers(),
        }

    def call(self, act: Activation, call: Call, state: ThreadState) -> list[ThreadState]:
        if isinstance(call.callee, FunctionAddress):
            return self._call_named(act, call, call.callee.name, state)
        target = scalar(self.run.value(act, state, call.callee))
        names = [
            name
            for base in target.pointers
            if (name := self.analysis.objects[base].function) is not None
        ]
        names = [name for name in names if self._fits(name, call)]
        is_foreign = self._may_be_foreign(target)
        if target.is_unknown:
            self.analysis.records.not_followed(
                "a call through a pointer that may point anywhere", call.number
            )
        elif is_foreign:
            self.analysis.records.assume(
                f"the function called through a pointer at {call.position or act.function.display} "
                "neither starts threads nor accesses shared memory"
            )
        after: list[ThreadState] = []
        if not names and not is_foreign:
            self.analysis.records.stopped[call.number] = (
                "the pointer leads to no function that fits"
            )
        if is_foreign or (self.analysis.goes_on and not names):
            after += self.unknown(act, call, state.copy())
        for name in sorted(names):
            after += self._call_named(act, call, name, state.copy())
        return after

    def _may_be_foreign(self, target: AbstractValue) -> bool:
        """May it be the address of code outside of the program?"""
        if target.is_unknown or self.analysis.objects.external in target.pointers:
            return True
        if target.pointers or target.integers is None:
            return False
        return target.integers.unsigned_range()[1] >= domain.LOWEST_ADDRESS

    def _fits(self, name: str, call: Call) -> bool:
        """Could a call with these arguments mean this function? Else it is undefined."""
        function = self.analysis.program.functions.get(name)
        if function is None:
            return True
        wanted, given = len(function.type.parameters), len(call.arguments)
        return wanted <= given or function.type.variadic or call.function_type.variadic

    def _call_named(
        self, act: Activation, call: Call, name: str, state: ThreadState
    ) -> list[ThreadState]:
        event = self.analysis.events.of(call, name)
        if event is not None:
            if event.model.caveat:
                self.analysis.records.assume(event.model.caveat)
            if event.model.not_followed:
                self.analysis.records.not_followed(event.model.not_followed, call.number)
            if event.model.caveat or any(one.is_lowered for one in event.model.callbacks):
                for given in self._functions_handed_over(act, call, state):
                    self.analysis.given_away.setdefault(given, (call.number, name))
            if event.hidden_object:
                self.memory.record_hidden(act, call, state, event.hidden_object)
            if type(event) in EVENT_HOOKS:
                at = CallContext(self, act, call, state)
                state.facets = state.facets.at_event(event, at)
            handler = self.handlers.get(type(event))
            if handler is None:
                return self.library.plain(act, call, event, state)
            return handler(act, call, event, state)
        function = self.analysis.program.functions.get(name)
        if function is not None and function.is_defined:
            return self.enter(act, call, function, state)
        self.analysis.note_unknown(name)
        for given in self._functions_handed_over(act, call, state):
            if not is_synthesized(act.function.name):
                self.analysis.records.assume(f"`{name}` does not call the functions it is given")
            self.analysis.given_away.setdefault(given, (call.number, name))
        if name.startswith(_MANGLED):
            act.raised.append(state.copy())
        return self.unknown(act, call, state)

    def _functions_handed_over(self, act: Activation, call: Call, state: ThreadState) -> list[str]:
        """The program's functions among the arguments, or in the objects they point to."""
        found: dict[str, None] = {}
        for argument in call.arguments:
            value = scalar(self.run.value(act, state, argument))
            for base in value.pointers:
                contents = state.memory.get(base)
                reached = {base} if contents is None else {base, *contents.any_byte().pointers}
                for each in reached:
                    name = self.analysis.objects[each].function
                    function = self.analysis.program.functions.get(name) if name else None
                    if function is not None and function.is_defined:
                        found[function.name] = None
        return sorted(found)

    def is_local(self, call: Call) -> bool:
        """Does the result of a call say nothing about other threads?"""
        event = self.analysis.events.of(call)
        return isinstance(
            event, ev.Nondeterministic | ev.LibraryCall | ev.Allocate | ev.ThreadCreate
        )

    def writes_nothing(self, call: Call) -> bool:
        return isinstance(self.analysis.events.of(call), ev.Nondeterministic | ev.Assume)

    # --- the program's own functions -----------------------------------------------------------

    def enter(
        self,
        act: Activation,
        call: Call,
        function: Function,
        state: ThreadState,
        arguments: tuple[Content, ...] | None = None,
    ) -> list[ThreadState]:
        """Runs a function of the program."""
        run = self.run
        is_capped = act.is_capped or function.name in self.analysis.recursive
        context = self.analysis.contexts.enter(
            act.context, call.number, act.counters, function.name, is_capped
        )
        symbols: dict[int, Symbol] = {}
        is_plain = arguments is None
        if arguments is None:
            arguments = self._arguments(act, call, function, state, context)
            for parameter, value in zip(function.parameters, call.arguments, strict=False):
                symbol = symbol_of(run, act, value, state)
                if symbol is not None:
                    symbols[parameter.index] = symbol
        registers = state.registers
        run.origin = (act, call, registers) if is_plain else None
        raised: list[ThreadState] = []
        exits = run.run(function, arguments, symbols, state, context, raised)
        for left in raised:
            left.registers = dict(registers)
            left.facets = left.facets.leave(context.number)
        act.raised += raised
        after: list[ThreadState] = []
        for left, result in exits:
            left = left.copy()
            left.registers = dict(registers)
            returned = Token(context.number, RETURNED)
            fresh = [base for token, base in left.facets.fresh_objects if token == returned]
            left.facets = left.facets.leave(context.number)
            if call.result is not None:
                run.assign(act, call, left, _fitting(run, call.result.type, result))
                left.facets = left.facets._replace(
                    fresh_objects=left.facets.fresh_objects
                    | {(act.token(call.result.index), base) for base in fresh}
                )
            after.append(left)
        return after

    def _arguments(
        self, act: Activation, call: Call, function: Function, state: ThreadState, context: Context
    ) -> tuple[Content, ...]:
        run = self.run
        arguments = [run.value(act, state, value) for value in call.arguments]
        copies = dict(call.by_value)
        for index, type_ in copies.items():
            size = self.analysis.program.layout.size(type_)
            name = function.parameters[index].name if index < len(function.parameters) else ""
            base = self.analysis.objects.by_value_copy(
                context,
                index,
                size,
                name or "parameter",
                context.is_capped or run.is_repeated(act),
            )
            address = domain.address(base, 0, self.memory.bits)
            source = scalar(arguments[index])
            self.memory.record(act, call, state, call.arguments[index], source, size, False, False)
            self.memory.ensure(state, base)
            self.memory.copy_bytes(state, address, source, size)
            arguments[index] = address
        extra = arguments[len(function.parameters) :]
        if extra and function.type.variadic:
            self.varargs.pass_on(context, [scalar(value) for value in extra])
        return tuple(arguments[: len(function.parameters)])

    # --- unknown functions ------------------------------------------------------------

    def unknown(self, act: Activation, call: Call, state: ThreadState) -> list[ThreadState]:
        """An unknown function: may write what its arguments point to, and returns
        anything, perhaps a pointer into what it was given."""
        if call.no_return:
            return []
        given = domain.BOTTOM
        for argument in call.arguments:
            if isinstance(argument.type, PointerType):
                address = scalar(self.run.value(act, state, argument))
                if any(self.analysis.objects[b].function is None for b in address.pointers):
                    given = domain.join(given, domain.garbled(address, self.memory.bits))
                    self.memory.havoc(act, call, state, argument)
        value: AbstractValue | None = None
        if call.result is not None and isinstance(call.result.type, PointerType) and given.pointers:
            value = domain.join(self.analysis.external_pointer, given)
        self.result(act, call, state, value)
        return [state]

    def result(
        self, act: Activation, call: Call, state: ThreadState, value: AbstractValue | None
    ) -> None:
        """Assigns the result of a call; None: anything of its type."""
        if call.result is None:
            return
        content: Content = anything(self.run, call.result.type) if value is None else value
        self.run.assign(act, call, state, _fitting(self.run, call.result.type, content))


def anything(run: Interpreter, type_: Type) -> Content:
    if isinstance(type_, StructType):
        return tuple(anything(run, field) for field in type_.fields)
    if isinstance(type_, PointerType):
        return run.analysis.external_pointer
    return domain.any_integer(run.evaluator.width(type_) or 64)


def _fitting(run: Interpreter, type_: Type, value: Content | None) -> Content:
    """A result as the caller declared it; callers and callees may disagree in old C."""
    if value is None:
        return anything(run, type_)
    if isinstance(value, AbstractValue) and value.integers is not None:
        width = run.evaluator.width(type_)
        if width is not None and value.integers.width != width:
            return domain.garbled(value, width)
    return value
