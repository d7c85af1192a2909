"""Which names of the C library we can compute, and the operation that calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from raceproof.concurrency.model import CallbackTime, FunctionModel, ReturnKind
from raceproof.machine.faults import UnknownBytes, Unsupported
from raceproof.machine.operation import Operation
from raceproof.machine.operators import bits_float
from raceproof.machine.segments import UNSURE, WRITE, AccessRange
from raceproof.machine.unknown import UNKNOWN, Unknown

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

FUNCTIONS: dict[str, Callable[..., Any]] = {}
WRITTEN: dict[str, Callable[..., tuple[int, int]]] = {}
"""Where these functions write how many bytes, if their models cannot say it."""
_F = TypeVar("_F", bound=Callable[..., Any])


def library(*names: str) -> Callable[[_F], _F]:
    """Registers what these functions compute: `f(machine, *arguments)`."""

    def register(function: _F) -> _F:
        for name in names:
            FUNCTIONS[name] = function
        return function

    return register


def writes(*names: str) -> Callable[[_F], _F]:
    """Registers where these functions write: `f(machine, *arguments)` gives address and size."""

    def register(function: _F) -> _F:
        for name in names:
            WRITTEN[name] = function
        return function

    return register


_OBJECTS = (
    ReturnKind.ARGUMENT,
    ReturnKind.FRESH,
    ReturnKind.STATIC,
    ReturnKind.THREAD_LOCAL,
)
"""Results that are one object, or none."""


class LibraryCall(Operation):
    """A function that threads do not meet in: it reads, writes and returns.

    One that we cannot compute returns an input and makes what it writes unknown, as far as its
    model says all that it does; else the execution cannot go on.
    """

    def __init__(
        self, name: str, model: FunctionModel | None, bits: int, *, is_float: bool = False
    ) -> None:
        super().__init__(name, model)
        self._function = FUNCTIONS.get(name)
        self._bits = bits
        self._is_float = is_float
        self._is_known = model is not None or self._function is not None
        self.is_cancel_point = self.is_sync = name in CANCEL_POINTS

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        """As the model says, but exactly where we know the text that will be written."""
        found = machine.effects(self.model, arguments)
        written = WRITTEN.get(self.name)
        if written is None or any(isinstance(argument, Unknown) for argument in arguments):
            return found
        try:
            first, size = written(machine, *arguments)
        except UnknownBytes:
            return found
        sure = tuple(access for access in found if not access[2] & UNSURE)
        return (*sure, (first, first + size, WRITE)) if size else sure

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if self._function is not None and not any(
            isinstance(argument, Unknown) for argument in arguments
        ):
            try:
                result = self._function(machine, *arguments)
            except UnknownBytes:
                result = None  # not computed, but its model tells what it may do
            if result is not None:
                return self._cut(result) if type(result) is int else result
        if not self._is_known:
            machine.assume(f"{self.name} has no effect on threads, locks and memory")
        if self.model.stores or self.model.copies:
            raise Unsupported(f"the library function {self.name}")
        self._hand_over(machine, arguments)
        for first, end, flags in machine.effects(self.model, arguments):
            if flags & WRITE:
                machine.forget(first, end - first)
        return self._returned(machine, thread, arguments)

    def _hand_over(self, machine: Machine, arguments: tuple[Any, ...]) -> None:
        """A signal that never arrives is possible, so a handler may be left out."""
        for callback in self.model.callbacks:
            if callback.time is not CallbackTime.SIGNAL:
                raise Unsupported(f"the library function {self.name}")
            given = arguments[callback.function.index]
            if callback.function.indirect and given:
                given = machine.read_pointer(given)
            if isinstance(given, Unknown) or given > _IGNORE:
                machine.left_out.add(_HANDLERS)
        if self.name in _MEETS_HANDLERS and _HANDLERS in machine.left_out:
            raise Unsupported("a signal that comes for sure")

    def _cut(self, value: int) -> int:
        return value & (1 << (self._bits or 64)) - 1

    def _fresh(self, machine: Machine, thread: ConcreteThread) -> Any:
        block = machine.memory.allocate(thread.arena, 256, self.name, f"call:{self.name}")
        return block.base

    def _returned(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> Any:
        returns = self.model.returns
        if returns.or_null and returns.kind in _OBJECTS and machine.input_is_null():
            return 0
        match returns.kind:
            case ReturnKind.CONSTANT:
                return self._cut(returns.constant)
            case ReturnKind.ARGUMENT:
                given = arguments[returns.index]
                return self._fresh(machine, thread) if returns.or_fresh and given == 0 else given
            case ReturnKind.INTO:
                return machine.input_within(arguments[returns.index], returns.or_null)
            case ReturnKind.FRESH:
                return self._fresh(machine, thread)
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                return machine.library_object(thread, returns)
            case ReturnKind.POINTEE | ReturnKind.REACHABLE:
                raise Unsupported(f"the library function {self.name}")
        if not self._bits:
            return 0
        value = machine.input(self._bits, None)
        if self._is_float:
            return UNKNOWN if isinstance(value, Unknown) else bits_float(self._bits, value)
        return value
