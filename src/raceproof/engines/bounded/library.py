"""Calls: the program's own functions, the library's by their models, a thread from start to end."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import events as meaning
from raceproof.concurrency.effects import Product, Reachable, Size
from raceproof.concurrency.model import AtomicOperationKind, ReturnKind
from raceproof.engines.bounded import compute
from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.objects import MemoryObject
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import State, Value
from raceproof.engines.bounded.synchronisation import SynchronisingWalker
from raceproof.engines.bounded.terms import Term
from raceproof.ir import Call, Function, IntType
from raceproof.ir import Value as Operand
from raceproof.verdict import BaseKind

_UNKNOWN_SIZE = 64
_HAVOC_LIMIT = 64
_COPIED_LIMIT = 1024
"""Bytes that `realloc` is followed to copy."""


class ThreadWalker(SynchronisingWalker):
    """One thread from its first step to its last."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.ends: list[tuple[State, Value | None]] = []

    # --- the life of a thread ------------------------------------------------------------

    def run_main(self, function: Function) -> None:
        self.label = "0"
        arguments: list[Value] = []
        for parameter in function.parameters:
            self.unfolder.has_choices = True
            if isinstance(parameter.type, IntType):
                arguments.append(self._argument_count(self.space.width(parameter.type)))
            else:
                vector = self.space.make(
                    ("arguments", parameter.index),
                    BaseKind.EXTERNAL,
                    parameter.name,
                    64,
                    is_defined=not self.unfolder.limits.cautious,
                )
                vector.is_partial = self.unfolder.limits.cautious
                arguments.append(self.space.pointer(vector))
        try:
            for name in self.unfolder.program.constructors:
                constructor = self.unfolder.program.functions.get(name)
                if constructor is not None and constructor.is_defined:
                    self.call(constructor, [])
            self.call(function, arguments)
            self.fatal()
        except PathEnds:
            pass
        self._finish()

    def _argument_count(self, width: int) -> Term:
        """Like the machine, we call `main` with its name only; a proof takes any number."""
        if not self.unfolder.limits.cautious:
            return self.terms.const(1, width)
        count = self.fresh_input("argc", width)
        self.require(self.terms.compare("sle", self.terms.const(0, width), count))
        return count

    def run_thread(self, function: Function, argument: Value | None) -> None:
        self.label = str(self.thread)
        self.state = self.unfolder.start_state()
        with self.step("start", always=True):
            started = self.peek(self.control("started", self.thread))
            if self.event is not None and self.event.operations:
                self.event.assume = self.terms.eq(started, self.byte(1))
        arguments = [argument] if argument is not None else []
        if function.parameters and arguments:
            width = self.space.width(function.parameters[0].type)
            if isinstance(arguments[0], Term):
                arguments[0] = self.terms.resize(arguments[0], width)
        try:
            result = self.call(function, arguments) if function.is_defined else None
            self.ends.append((self.state, result))
        except PathEnds:
            pass
        self._finish()

    def _finish(self) -> None:
        """One last step for all the ways in which the thread may end."""
        if not self.ends:
            return
        self.state = self.ends[0][0]
        width = self.space.pointer_width
        results: list[tuple[Term, Term]] = []
        for state, value in self.ends:
            if isinstance(value, Term):
                results.append((state.guard, self.terms.resize(value, width)))
        self.state = self.merge([state.copy(state.guard) for state, _ in self.ends])
        if not self.state.is_threaded:
            return
        result = self.terms.const(0, width)
        for guard, value in results:
            result = self.terms.ite(guard, value, result)
        self.instruction = None
        self.state.section = 0
        with self.step("end", always=True):
            self.poke(self.control("finished", self.thread), self.byte(1))
            self.poke(self.control("result", self.thread), result)

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

    # --- calls ------------------------------------------------------------

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

    def _effects(self, event: meaning.Event) -> None:
        with self.step("call"):
            for effect in event.effects:
                size = self._bytes(effect.size)
                address = self.term(effect.pointer)
                if isinstance(effect.size, Reachable):
                    self.cut(f"{event.model.name} follows pointers")
                if size is None:
                    self.unfolder.result.is_exact = False
                if effect.is_read:
                    self.touch(address, size, is_write=False, is_atomic=effect.is_atomic)
                if effect.is_write:
                    self.touch(address, size, is_write=True, is_atomic=effect.is_atomic)
                    if isinstance(event, meaning.LibraryCall):
                        self._havoc(address, size)

    def _havoc(self, address: Term, size: int | None) -> None:
        """The library wrote something here: an input, when it is read."""
        self.unfolder.result.is_exact = False
        for (target, start), length, condition in self.extents(address, size):
            if length > _HAVOC_LIMIT:
                self.cut("a library function that writes a large object")
            end = start + min(length, _HAVOC_LIMIT)
            while start < end:
                left = end - start
                step = left if left in (1, 2, 8) else min(left, 4) if left > 3 else 1
                value = self.terms.var(f"uninitialised by {self.name('library')}", step * 8)
                if value.width == self.space.pointer_width:
                    self.sharing.define(value, frozenset([UNKNOWN]))
                pointer = self.space.pointer(target, start)
                self.write(pointer, value, is_access=False, condition=condition)
                start += step

    def _bytes(self, size: Size) -> int | None:
        """How many bytes, if that is known."""
        match size:
            case int():
                return size
            case Operand():
                term = self.term(size)
                return term.constant if term.is_constant else None
            case Product(factors=factors, scale=scale):
                total = scale
                for factor in factors:
                    term = self.term(factor)
                    if not term.is_constant:
                        return None
                    total *= term.constant
                return total
        return None

    def _length(self, size: Size) -> Term | None:
        """The size of an allocation as a term."""
        factors: tuple[Operand, ...] = ()
        scale = 1
        if isinstance(size, Product):
            factors, scale = size.factors, size.scale
        elif isinstance(size, Operand):
            factors = (size,)
        width = self.space.pointer_width
        result = self.terms.const(scale, width)
        limit = self.terms.const(_UNKNOWN_SIZE, width)
        for factor in factors:
            term = self.terms.resize(self.term(factor), width)
            self.require(self.terms.compare("ule", term, limit))
            result = self.terms.binary("mul", term, result)
        return result if factors else None

    def _plain(self, event: meaning.Event) -> None:
        """A call that returns something and does no more."""
        result = event.call.result
        if result is None:
            return
        returns = event.returns
        width = self.space.width(result.type)
        match returns.kind:
            case ReturnKind.CONSTANT:
                self.set_result(self.terms.const(returns.constant, width))
            case ReturnKind.ARGUMENT:
                assert event.returned is not None
                self.set_result(self.terms.resize(self.term(event.returned), width))
            case ReturnKind.FRESH:
                fresh = self.new_object(event.model.name, _UNKNOWN_SIZE, zeroed=False)
                fresh.is_partial = True
                self.set_result(self.space.pointer(fresh))
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                key = ("library", returns.name)
                if returns.kind is ReturnKind.THREAD_LOCAL:
                    key = ("library", f"{returns.name} {self.thread}")
                known = self.space.make(key, BaseKind.EXTERNAL, returns.name, _UNKNOWN_SIZE)
                known.is_partial = True
                self.set_result(self.space.pointer(known))
            case _:
                self.set_result(None)

    def new_object(
        self, what: str, size: int, *, zeroed: bool, kind: BaseKind = BaseKind.HEAP
    ) -> MemoryObject:
        assert self.instruction is not None
        key = (what, self.thread, self.label, self.instruction.number)
        new = self.space.make(key, kind, what, size, self.instruction.position, is_defined=zeroed)
        self.born.append(new.number)
        return new

    def _allocate(self, event: meaning.Allocate) -> None:
        size = self._bytes(event.size)
        length = None
        if size is None or size > 1 << 20:
            self.cut("an allocation whose size depends on data")
            length = self._length(event.size)
            size = _UNKNOWN_SIZE
        target = self.new_object("malloc", size, zeroed=event.zeroed)
        target.length = length
        if length is not None:
            self.require(self.terms.compare("ule", length, self.terms.const(size, length.width)))
        new = self.space.pointer(target)
        if event.pointer_to is not None:
            self.write(self.term(event.pointer_to), new)
            self.set_result(self.result_of(event, True))
        else:
            self.set_result(new)

    def _reallocate(self, event: meaning.Reallocate) -> None:
        size = self._bytes(event.size)
        if size is None or size > _COPIED_LIMIT:
            self.cut("an allocation whose size depends on data")
            size = _UNKNOWN_SIZE
        old = self.term(event.pointer)
        new = self.new_object("realloc", size, zeroed=event.zeroed)
        sources = self.extents(old, None)
        if len(sources) > 1:
            self.cut("a block of memory among several")
        with self.step("copy"):
            for (source, offset), length, _ in sources:
                pointer = self.space.pointer(source, offset)
                self.copy_bytes(
                    self.space.pointer(new), pointer, min(length, size), is_access=False
                )
            self.touch(old, None, is_write=True)
        self.set_result(self.space.pointer(new))

    def _free(self, event: meaning.Free) -> None:
        self.touch(self.term(event.pointer), None, is_write=True)

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

    @property
    def null(self) -> Term:
        return self.terms.const(0, self.space.pointer_width)

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

    def _succeed(self, event: meaning.Event) -> None:
        self.set_result(self.result_of(event, True))

    def _unsupported(self, event: meaning.Event) -> None:
        self.cut(f"{event.model.name} is not supported by this engine")
        self.set_result(self.result_of(event, True))

    # --- thread-specific data, atomic operations --------------------------------------------------

    def _specific_create(self, event: meaning.SpecificCreate) -> None:
        assert self.instruction is not None
        if event.destructor is not None and self.term(event.destructor) is not self.null:
            self.cut("a destructor of thread-specific data")
        key = self.terms.const(self.instruction.number + 1, 32)
        self.write(self.term(event.key_pointer), key, is_access=False)
        self.set_result(self.result_of(event, True))

    def _specific(self, key: Term) -> MemoryObject | None:
        if not key.is_constant:
            return None
        name = ("specific", self.thread, key.constant)
        return self.space.make(name, BaseKind.THREAD_LOCAL, "specific", 8, is_defined=True)

    def _specific_get(self, event: meaning.SpecificGet) -> None:
        slot = self._specific(self.term(event.key))
        if slot is None:
            self._unsupported(event)
        else:
            self.set_result(self.read_own((slot, 0), self.space.pointer_width // 8))

    def _specific_set(self, event: meaning.SpecificSet) -> None:
        slot = self._specific(self.term(event.key))
        if slot is None:
            self._unsupported(event)
            return
        self.write_own((slot, 0), self.term(event.value))
        self.set_result(self.result_of(event, True))

    def _atomic(self, event: meaning.AtomicOperation) -> None:
        size = self._bytes(event.size) or 4
        address, terms = self.term(event.pointer), self.terms
        kind = event.operation
        with self.step("update"):
            old = self.read(address, size, is_atomic=True) if kind not in _NO_READ else None
            value = self._atomic_operand(event.value, event.value_pointer, size)
            new, success = self._atomic_result(event, kind, old, value, size)
            if new is not None:
                condition = success
                if success is None and old is not None:
                    condition = self.changes(old, new)
                self.write(address, new, is_atomic=True, condition=condition)
        if event.expected_pointer is not None and success is not None and old is not None:
            expected = self.term(event.expected_pointer)
            before = self.read(expected, size)
            self.write(expected, terms.ite(success, before, old))
        if event.result_pointer is not None and old is not None:
            self.write(self.term(event.result_pointer), old)
        result = event.call.result
        if result is None:
            return
        width = self.space.width(result.type)
        if event.returns_success and success is not None:
            self.set_result(terms.resize(terms.zext(success, 8), width))
        elif kind is AtomicOperationKind.TEST_AND_SET and old is not None:
            is_set = terms.not_(terms.eq(old, terms.const(0, old.width)))
            self.set_result(terms.zext(is_set, width) if width > 1 else is_set)
        else:
            chosen = new if event.returns_new and new is not None else old
            self.set_result(terms.resize(chosen, width) if chosen is not None else None)

    def _atomic_operand(
        self, value: Operand | None, pointer: Operand | None, size: int
    ) -> Term | None:
        if value is not None:
            return self.terms.resize(self.term(value), size * 8)
        return self.read(self.term(pointer), size) if pointer is not None else None

    def _atomic_result(
        self,
        event: meaning.AtomicOperation,
        kind: AtomicOperationKind,
        old: Term | None,
        value: Term | None,
        size: int,
    ) -> tuple[Term | None, Term | None]:
        """The value to write (None: nothing) and the condition for it."""
        if kind is AtomicOperationKind.LOAD:
            return None, None
        if kind is AtomicOperationKind.CLEAR:
            return self.terms.const(0, size * 8), None
        if kind is AtomicOperationKind.TEST_AND_SET:
            return self.terms.const(1, size * 8), None
        if kind in (AtomicOperationKind.STORE, AtomicOperationKind.EXCHANGE):
            return value, None
        if kind is AtomicOperationKind.COMPARE_EXCHANGE:
            expected = self._atomic_operand(event.expected, event.expected_pointer, size)
            assert old is not None and expected is not None
            return value, self.terms.eq(old, expected)
        assert old is not None and value is not None
        return compute.update(self.terms, kind.value, old, value), None


_NO_READ = (AtomicOperationKind.STORE, AtomicOperationKind.CLEAR)
_OWN_EFFECTS = (
    meaning.AtomicOperation,
    meaning.Free,
    meaning.Reallocate,
    meaning.ThreadCreate,
    meaning.ThreadJoin,
    meaning.SemaphoreValue,
)
_W = ThreadWalker
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
    meaning.SpecificDelete: _W._succeed,
    meaning.SpecificGet: _W._specific_get,
    meaning.SpecificSet: _W._specific_set,
    meaning.Nondeterministic: _W._nondeterministic,
    meaning.Assume: _W._assume,
}
