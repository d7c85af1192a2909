"""Which operation a function's name means, from its model."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import Models
from raceproof.concurrency.model import FunctionModel, Role
from raceproof.concurrency.purity import leaves_no_trace
from raceproof.concurrency.synchronisation import SYNCHRONISING
from raceproof.ir import AfterInvoke, Call, Program, Type, VoidType
from raceproof.machine import channels, control, ending, handlers, heap, jumps
from raceproof.machine.libc import LibraryCall, sorting
from raceproof.machine.libc.call import Unspecified
from raceproof.machine.operation import Operation
from raceproof.machine.synchronisation import Synchronise

_BY_ROLE: dict[Role, Callable[[str, FunctionModel], Operation]] = {
    Role.CREATE: control.Create,
    Role.JOIN: control.Join,
    Role.DETACH: control.Nothing,
    Role.EXIT_THREAD: ending.ExitThread,
    Role.EXIT_PROCESS: ending.ExitProcess,
    Role.CANCEL: control.Cancel,
    Role.CANCEL_STATE: control.CancelState,
    Role.CANCEL_POINT: control.CancelPoint,
    Role.CLEANUP_PUSH: ending.CleanupPush,
    Role.CLEANUP_POP: ending.CleanupPop,
    Role.SELF: control.Self,
    **dict.fromkeys(SYNCHRONISING, Synchronise),
    Role.ATOMIC_BEGIN: control.AtomicBegin,
    Role.ATOMIC_END: control.AtomicEnd,
    Role.ATOMIC_OPERATION: heap.AtomicCall,
    Role.ALLOCATE: heap.Allocate,
    Role.REALLOCATE: heap.Reallocate,
    Role.FREE: heap.Free,
    Role.SPECIFIC_CREATE: control.SpecificCreate,
    Role.SPECIFIC_DELETE: control.SpecificDelete,
    Role.SPECIFIC_GET: control.SpecificGet,
    Role.SPECIFIC_SET: control.SpecificSet,
    Role.ASSUME: control.Assume,
}

_BY_NAME: dict[str, Callable[[str, FunctionModel], Operation]] = {
    **dict.fromkeys(("setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp"), jumps.SetJump),
    **dict.fromkeys(("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"), jumps.LongJump),
    **dict.fromkeys(
        ("__pthread_register_cancel", "__pthread_register_cancel_defer"), ending.RegisterCancel
    ),
    **dict.fromkeys(
        ("__pthread_unregister_cancel", "__pthread_unregister_cancel_restore"),
        ending.UnregisterCancel,
    ),
    **dict.fromkeys(("atexit", "__cxa_atexit"), ending.AtExit),
    **dict.fromkeys(("qsort", "qsort_r"), sorting.Sort),
    "bsearch": sorting.Search,
    **dict.fromkeys(("signal", "bsd_signal", "__sysv_signal"), handlers.Signal),
    "sigaction": handlers.SignalAction,
    "raise": handlers.Raise,
    "pthread_kill": handlers.Kill,
    **dict.fromkeys(("fork", "vfork", "__fork", "_Fork"), control.Fork),
    **dict.fromkeys(("error", "error_at_line"), ending.ExitOnError),
    "pause": control.Forever,
}
"""Functions whose models speak of their effects only."""


_DUPLICATES = ("strdup", "__strdup", "strndup", "__strndup")


class Library:
    """The operations of one program."""

    def __init__(self, program: Program, models: Models) -> None:
        self._program = program
        self._models = models
        self._quiet: dict[str, bool] = {}
        self._begin = control.AtomicBegin("atomic section")
        self._end = control.AtomicEnd("atomic section")
        self._has_channels = channels.has_channels(program)
        self._has_landing_pads = any(
            isinstance(instruction, AfterInvoke) for _, instruction in program.all_instructions()
        )

    def operation(self, name: str, call: Call | None) -> Operation | None:
        """What a call of `name` does; None if the program's own body says it."""
        model = self._models.applicable(name, self._program)
        if model is not None and model.role is not None:
            if model.role is Role.ATOMIC_FUNCTION:
                return (
                    None if self._is_defined(name) else LibraryCall(name, None, _result_type(call))
                )
            if name == "raceproof_error_number":
                return control.ErrorNumber(name, model, call)
            if model.role is Role.NONDETERMINISTIC:
                return control.Nondeterministic(name, model, call)
            if name == "munmap":
                return heap.Unmap(name, model)
            if name in _DUPLICATES:
                return heap.Duplicate(name, model)
            return _BY_ROLE[model.role](name, model)
        if self._is_defined(name) and (model is None or not model.override):
            return None
        if name == "raceproof_unspecified":
            return Unspecified(name, model)
        if name in _BY_NAME:
            return _BY_NAME[name](name, model or FunctionModel(name=name))
        if model is not None and model.no_return:
            if self._has_landing_pads:
                return ending.Throw(name, model)
            return ending.ExitProcess(name, model)
        if self._has_channels and name in channels.OPENING:
            return channels.OPENING[name](name, model)
        if name == "kill":
            return handlers.KillProcess(name, model, _result_type(call))
        kind = channels.USING.get(name, LibraryCall) if self._has_channels else LibraryCall
        return kind(name, model, _result_type(call))

    def atomic_section(self, name: str) -> tuple[Operation, Operation] | None:
        """What begins and ends the atomic section that the body of `name` is."""
        model = self._models.applicable(name, self._program)
        if model is not None and model.role is Role.ATOMIC_FUNCTION and self._is_defined(name):
            return self._begin, self._end
        return None

    def keeps(self, name: str, index: int) -> bool:
        """Whether an external function may hand its argument to another thread, or keep it."""
        model = self._models.applicable(name, self._program)
        if model is None:
            return True
        if model.callbacks or model.role is Role.SPECIFIC_SET:
            return True
        return any(
            place.index == index and operand in ("argument", "value")
            for operand, place in model.operands.items()
        )

    def is_modelled(self, name: str) -> bool:
        """Is it a function of the library of which we know what it does?"""
        return self._models.applicable(name, self._program) is not None

    def leaves_no_trace(self, name: str) -> bool:
        """See `concurrency.purity`."""
        known = self._quiet.get(name)
        if known is None:
            known = self._quiet[name] = leaves_no_trace(self._program, self._models, name)
        return known

    def _is_defined(self, name: str) -> bool:
        function = self._program.functions.get(name)
        return function is not None and function.is_defined


def _result_type(call: Call | None) -> Type | None:
    """None if there is no result."""
    if call is None or call.result is None or isinstance(call.result.type, VoidType):
        return None
    return call.result.type
