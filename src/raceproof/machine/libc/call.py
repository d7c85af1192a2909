"""The operation that calls a function of the C library.

What it returns and writes is computed if we can; else it is an input: a genuine one if the model
says that it comes from outside, an invented one if the function has a fixed meaning or if no model
knows the function (see `confirming`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import (
    CallbackTime,
    FunctionModel,
    ResultRange,
    ReturnKind,
    SameIn,
)
from raceproof.ir import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType
from raceproof.machine.codec import decode
from raceproof.machine.control import COMPUTED_ERROR
from raceproof.machine.faults import UnknownBytes, Unsupported
from raceproof.machine.indeterminate import INDETERMINATE
from raceproof.machine.libc.errors import certain_error
from raceproof.machine.libc.registry import FUNCTIONS, INPUTS, UNREHEARSED
from raceproof.machine.libc.rehearsal import rehearse
from raceproof.machine.operation import Operation
from raceproof.machine.segments import WRITE, AccessRange
from raceproof.machine.unknown import UNKNOWN, Unknown
from raceproof.semantics.floats import bits_float

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

CANCEL_POINTS = frozenset(
    {
        *("accept", "close", "connect", "creat", "fcntl", "fsync", "msync", "nanosleep", "open"),
        *("pause", "poll", "pread", "pselect", "pwrite", "read", "readv", "recv", "recvfrom"),
        *("recvmsg", "select", "send", "sendmsg", "sendto", "sigpause", "sigsuspend"),
        *("sigtimedwait", "sigwait", "sleep", "system", "tcdrain", "usleep", "wait", "waitpid"),
        *("write", "writev", "clock_nanosleep", "openat"),
    }
)
"""Where a cancelled thread finds out, besides the operations of the thread library."""
_HANDLERS = "signal handlers"
_IGNORE = 1
"""`SIG_DFL` and `SIG_IGN`, which are no handlers, are at most this."""
_MEETS_HANDLERS = frozenset(
    {
        *("raise", "kill", "killpg", "pthread_kill", "sigqueue", "pthread_sigqueue", "tgkill"),
        *("pause", "sigsuspend", "sigpause"),
    }
)
"""Where a handler runs before the call comes back."""

_OBJECTS = (
    ReturnKind.ARGUMENT,
    ReturnKind.FRESH,
    ReturnKind.STATIC,
    ReturnKind.THREAD_LOCAL,
)
"""Results that are one object, or none."""
_UNKNOWN_SIZE = 256


class Unspecified(Operation):
    """`raceproof_unspecified()`: what the standards leave open.

    After a call that was computed, it is whether that one has left something in `errno`.
    """

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        known = thread.thread_locals.get(COMPUTED_ERROR)
        if known is not None:
            return int(known != 0)
        return any_value(machine, IntType(32), self.name)


class LibraryCall(Operation):
    """A function that threads do not meet in: it reads, writes and returns."""

    def __init__(self, name: str, model: FunctionModel | None, type_: Type | None) -> None:
        super().__init__(name, model)
        self._function = FUNCTIONS.get(name)
        self._type = type_
        self._is_known = model is not None or self._function is not None
        self._inventor = "" if self.model.input else name
        self.is_cancel_point = self.is_sync = name in CANCEL_POINTS

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        """Exactly what it will do if we compute it, else as the model says."""
        if certain_error(machine, self.name, arguments):
            return ()
        if (
            self._function is not None
            and self.name not in UNREHEARSED
            and not any(isinstance(argument, Unknown) for argument in arguments)
        ):
            found = rehearse(machine, self._function, arguments)
            if found is not None:
                return found
        return machine.effects(self.model, arguments)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        error = certain_error(machine, self.name, arguments)
        if error:
            machine.note_computed(True)
            machine.set_errno(error)
            return self._failed(error)
        if self._function is not None and not any(
            isinstance(argument, Unknown) for argument in arguments
        ):
            machine.note_computed(self.name not in INPUTS)
            try:
                result = self._function(machine, *arguments)
            except UnknownBytes:
                result = None  # not computed, but its model tells what it may do
            if result is not None:
                return self._as_result(machine, result)
        machine.note_computed(False)
        return self.guess(machine, thread, arguments)

    def guess(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        """What is not computed: as the model says."""
        if not self._is_known:
            machine.assume(f"{self.name} has no effect on threads, locks and memory")
            machine.distrust(self.name, arguments)
        if self.model.stores or self.model.copies:
            raise Unsupported(f"the library function {self.name}")
        self._hand_over(machine, arguments)
        for first, end, flags in machine.effects(self.model, arguments):
            if flags & WRITE:
                machine.forget(first, end - first, self._inventor)
        return self._returned(machine, thread, arguments)

    def _failed(self, error: int) -> int:
        """What a call returns that sets errno, or is the error itself."""
        if self.name == "isatty":
            return 0
        return error if self.name == "clock_nanosleep" else self.cut(-1)

    def _hand_over(self, machine: Machine, arguments: tuple[Any, ...]) -> None:
        """A signal that never arrives is possible, so a handler may be left out."""
        for callback in self.model.callbacks:
            if callback.is_lowered:
                continue
            if callback.time is not CallbackTime.SIGNAL:
                raise Unsupported(f"the library function {self.name}")
            given = arguments[callback.function.index]
            if callback.function.indirect and given:
                given = machine.read_pointer(given)
            if isinstance(given, Unknown) or given > _IGNORE:
                machine.left_out.add(_HANDLERS)
        if self.name in _MEETS_HANDLERS and _HANDLERS in machine.left_out:
            raise Unsupported("a signal that comes for sure")

    def _as_result(self, machine: Machine, value: Any) -> Any:
        """What was computed, as a value of the result's type; bytes are its representation."""
        if type(value) is int:
            return self.cut(value)
        if isinstance(value, bytes):
            layout = machine.program.layout
            return 0 if self._type is None else decode(layout, self._type, value)
        return value

    def cut(self, value: int) -> int:
        """An integer in the width of the result."""
        type_ = self._type
        return value & (1 << (type_.bits if isinstance(type_, IntType) else 64)) - 1

    def _fresh(self, machine: Machine, thread: ConcreteThread) -> int:
        source = f"call:{self.name}"
        block = machine.memory.allocate(thread.arena, _UNKNOWN_SIZE, self.name, source)
        block.is_partial = True
        return block.base

    def _returned(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> Any:
        returns = self.model.returns
        if returns.or_null and returns.kind in _OBJECTS and machine.input_is_null():
            return 0
        match returns.kind:
            case ReturnKind.CONSTANT:
                return self.cut(returns.constant)
            case ReturnKind.ARGUMENT:
                given = arguments[returns.index]
                return self._fresh(machine, thread) if returns.or_fresh and given == 0 else given
            case ReturnKind.INTO:
                index = returns.index
                return machine.input_within(arguments[index], returns.or_null, self._inventor)
            case ReturnKind.FRESH:
                return self._fresh(machine, thread)
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                return machine.library_object(thread, returns, self._inventor)
            case ReturnKind.POINTEE | ReturnKind.REACHABLE:
                raise Unsupported(f"the library function {self.name}")
        if self._type is None or not machine.wants_result():
            return 0
        if self.model.same_in is None or machine.is_open:
            return self._any(machine, arguments)
        number = thread.number if self.model.same_in is SameIn.THREAD else -1
        key = ("same", self.name, number)
        if key not in machine.sync:
            machine.sync[key] = self._any(machine, arguments)
        return machine.sync[key]

    def _any(self, machine: Machine, arguments: tuple[Any, ...]) -> Any:
        """Some value of the result's type, within its range."""
        assert self._type is not None
        return any_value(machine, self._type, self._inventor, self.model.returns.values, arguments)


def any_value(
    machine: Machine,
    type_: Type,
    inventor: str = "",
    range_: ResultRange | None = None,
    arguments: tuple[Any, ...] = (),
) -> Any:
    """An input of any type; see `Machine.input`."""
    match type_:
        case IntType(bits):
            return machine.input(bits, _limits(range_, bits, arguments), inventor)
        case PointerType():
            return machine.input(8 * machine.program.layout.pointer_size, None, inventor)
        case FloatType(bits):
            return _any_float(machine, bits, range_, inventor)
        case StructType():
            return tuple(any_value(machine, field, inventor) for field in type_.fields)
        case ArrayType() | VectorType():
            return tuple(any_value(machine, type_.element, inventor) for _ in range(type_.count))
    raise Unsupported(f"a result of type {type_}")


def _limits(
    range_: ResultRange | None, bits: int, arguments: tuple[Any, ...]
) -> tuple[int, int] | None:
    if range_ is None:
        return None
    most = (1 << bits - 1) - 1
    if range_.most is not None:
        most = min(range_.most, most)
    product = 1
    for index in range_.arguments:
        if index >= len(arguments) or isinstance(arguments[index], Unknown):
            break
        product *= arguments[index]
    else:
        most = min(most, product) if range_.arguments else most
    return range_.least, max(most, range_.least)


_STEPS = 1 << 20


def _any_float(machine: Machine, bits: int, range_: ResultRange | None, inventor: str) -> Any:
    """Within a range: one of many steps from its least to below its greatest number."""
    if range_ is None or range_.most is None:
        value = machine.input(bits, None, inventor)
        if isinstance(value, Unknown):
            return UNKNOWN
        return value if value is INDETERMINATE else bits_float(bits, value)
    step = machine.input(32, (0, _STEPS - 1), inventor)
    if isinstance(step, Unknown):
        return UNKNOWN
    if step is INDETERMINATE:
        return step
    return range_.least + (range_.most - range_.least) * step / _STEPS
