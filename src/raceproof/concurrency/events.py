"""What the calls of a program mean: threads, locks, conditions, allocation, ...

`event(call, program, models)` pairs the model of the called function with the operands of the
call, so an engine reads `event.lock` and never an argument number:

    match event(call, program, models):
        case LockAcquire(lock=lock, mode=mode, success=Success.ALWAYS): ...
        case ThreadCreate(entry=entry, argument=argument): ...
        case None: ...  # the program's own function, or an unknown one

A field named after a synchronisation object (`lock`, `condition`, `semaphore`, ...) is the
*address* of that object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raceproof.concurrency.model import (
    ANYTHING,
    OF_ARGUMENT,
    AtomicOperationKind,
    CallbackTime,
    CallbackValue,
    FunctionModel,
    LockKind,
    LockMode,
    ReturnKind,
    Returns,
    Success,
    Wait,
)
from raceproof.concurrency.record import Record
from raceproof.ir import Call, Function, Value

if TYPE_CHECKING:
    from raceproof.concurrency.effects import MemoryEffect, Size


@dataclass(frozen=True, slots=True, eq=False)
class CallbackOperand:
    """What a callback is given: `value` itself, a pointer into its object, what it points to, or
    (`how` is `ANY`, `value` is None) something unknown."""

    how: CallbackValue
    value: Value | None


@dataclass(frozen=True, slots=True, eq=False)
class Callback:
    """The called function calls `function`, or has it called later.

    With `is_indirect` the function's address is stored at `function`.
    """

    function: Value
    arguments: tuple[CallbackOperand, ...]
    time: CallbackTime
    is_indirect: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PointerStore:
    """The called function stores a pointer: `*pointer = value`."""

    pointer: Value
    value: Returns


@dataclass(frozen=True, slots=True, eq=False)
class ContentCopy:
    """The called function copies bytes, and the pointers in them, between two objects."""

    target: Value
    source: Value


class Event(Record):
    """One call of a function with a model."""

    call: Call
    model: FunctionModel
    effects: tuple[MemoryEffect, ...] = ()
    """What it reads and writes through its arguments; never the bytes of a lock and the like."""
    returns: Returns = ANYTHING
    """What it returns, in terms of the call's arguments."""
    callbacks: tuple[Callback, ...] = ()
    stores: tuple[PointerStore, ...] = ()
    """The pointers it writes; whatever else it writes is no pointer to an object of the program."""
    copies: tuple[ContentCopy, ...] = ()
    no_return: bool = False

    @property
    def hidden_object(self) -> str:
        """The object of the library that the call changes unseen: threads must not make such calls
        at the same time. Empty if they may."""
        if self.model.thread_safe:
            return ""
        if self.model.hidden_object or self.returns.kind is not ReturnKind.STATIC:
            return self.model.hidden_object or self.model.name
        return self.returns.name

    @property
    def returned(self) -> Value | None:
        """The argument that its result is made of."""
        return self.argument_of(self.returns)

    def argument_of(self, returns: Returns) -> Value | None:
        """The argument that a result or a stored pointer is made of."""
        return self.call.arguments[returns.index] if returns.kind in OF_ARGUMENT else None


class LibraryCall(Event):
    """Does nothing but its `effects`, `callbacks` and `returns`."""


# --- threads ------------------------------------------------------------


class ThreadCreate(Event):
    """Starts `entry(argument)`. The id goes to `*id_pointer`, or is the result, or is lost.

    The effects, the id's writing among them, come before the new thread's first step.

    With a `virtual_slot`, `*entry` is the address of a C++ object, and the thread runs the object's
    virtual function of that number with the object as argument.
    """

    entry: Value
    argument: Value | None = None
    id_pointer: Value | None = None
    id_is_result: bool = False
    virtual_slot: int | None = None
    attribute: Value | None = None
    success: Success = Success.ZERO


class ThreadJoin(Event):
    """Waits for the end of `thread`; its result goes to `*result_pointer`.

    With `is_indirect` the id is stored at the address `thread`.
    """

    thread: Value
    is_indirect: bool = False
    result_pointer: Value | None = None
    wait: Wait = Wait.BLOCK
    success: Success = Success.ALWAYS


class ThreadDetach(Event):
    thread: Value
    is_indirect: bool = False


class ThreadExit(Event):
    """Ends the calling thread."""

    value: Value | None = None


class ProcessExit(Event):
    """Ends every thread. `status` is None for `abort` and failed assertions."""

    status: Value | None = None


class ThreadCancel(Event):
    """Asks `thread` to end at its next cancellation point."""

    thread: Value
    is_indirect: bool = False


class CancelState(Event):
    """Sets whether (or, as a `type`, when) the calling thread can be cancelled."""

    state: Value | None = None
    type: Value | None = None


class CancelPoint(Event):
    """Does nothing but end the thread if it was cancelled."""


class CleanupPush(Event):
    """`routine(argument)` runs if the thread ends before the matching `CleanupPop`."""

    routine: Value
    argument: Value | None = None


class CleanupPop(Event):
    """Takes back the last `CleanupPush`, and runs its routine if `execute` is not zero."""

    execute: Value


class ThreadSelf(Event):
    """Returns the id of the calling thread."""


# --- locks ------------------------------------------------------------


class LockEvent(Event):
    """Something about one lock.

    With `is_indirect` the lock's address is stored at `lock`. A function that stands for one lock
    of the library has as `lock` the address of a global that is not in the program, named `$...`.
    """

    lock: Value
    kind: LockKind = LockKind.MUTEX
    is_indirect: bool = False


class LockAcquire(LockEvent):
    """The lock is held after the call if its result fits `success`.

    `recursive`: True if the function is only for recursive locks.
    """

    mode: LockMode = LockMode.WRITE
    wait: Wait = Wait.BLOCK
    success: Success = Success.ALWAYS
    recursive: bool = False


class LockRelease(LockEvent):
    mode: LockMode = LockMode.ANY
    recursive: bool = False


class LockInit(LockEvent):
    """`recursive` is None if the attribute object decides, or a value that is not constant."""

    attribute: Value | None = None
    recursive: bool | None = False


class LockDestroy(LockEvent):
    pass


class LockAttribute(Event):
    """Makes the locks that are initialised with `attribute` recursive, or not; None: unknown."""

    attribute: Value
    recursive: bool | None


# --- conditions, barriers, semaphores ------------------------------------------------------------


class ConditionWait(Event):
    """Releases `lock`, waits, takes `lock` again; may wake up for no reason.

    The lock is held after the call whatever it returns: no `success` means that it gave up waiting.

    With `is_indirect` the lock's address is stored at `lock`.
    """

    condition: Value
    lock: Value
    is_indirect: bool = False
    wait: Wait = Wait.BLOCK
    success: Success = Success.ALWAYS


class ConditionSignal(Event):
    condition: Value
    broadcast: bool = False


class ConditionInit(Event):
    condition: Value


class ConditionDestroy(Event):
    condition: Value


class BarrierInit(Event):
    barrier: Value
    count: Value


class BarrierWait(Event):
    barrier: Value


class BarrierDestroy(Event):
    barrier: Value


class SemaphoreInit(Event):
    """Sets the count to `value`, or if that is None to `initial`.

    With `is_result` the call returns the semaphore's address and `semaphore` is None.
    """

    semaphore: Value | None
    value: Value | None = None
    initial: int = 0
    is_result: bool = False


class SemaphoreWait(Event):
    semaphore: Value
    wait: Wait = Wait.BLOCK
    success: Success = Success.ALWAYS


class SemaphorePost(Event):
    semaphore: Value


class SemaphoreValue(Event):
    """Reads the count, to `*result_pointer`."""

    semaphore: Value
    result_pointer: Value | None = None


class SemaphoreDestroy(Event):
    semaphore: Value


# --- once and atomic ------------------------------------------------------------


class Once(Event):
    """Runs `routine(argument)` if no call with this `control` has; returns when it is done."""

    control: Value
    routine: Value
    argument: Value | None = None


class OnceBegin(Event):
    """Returns nonzero to the one caller that must initialise what `control` guards; the others
    wait for its `OnceEnd` (or, to try again, its `OnceAbort`) and get zero."""

    control: Value


class OnceEnd(Event):
    control: Value


class OnceAbort(Event):
    control: Value


class AtomicBegin(Event):
    """No other thread runs until the matching `AtomicEnd`."""


class AtomicEnd(Event):
    pass


class AtomicFunction(Event):
    """The body of the program's own `function` runs in an atomic section."""

    function: Function


class AtomicOperation(Event):
    """An atomic access that stayed a call.

    The generic forms take operands by address: `value_pointer` and `expected_pointer` are
    addresses, `result_pointer` receives the old value. `expected_pointer` also receives the old
    value if the comparison fails. Otherwise `value` and `expected` are the operands, and the call
    returns the old value, or the new one with `returns_new`, or (with `returns_success`) whether
    the exchange took place.
    """

    operation: AtomicOperationKind
    pointer: Value
    size: Size
    value: Value | None = None
    value_pointer: Value | None = None
    expected: Value | None = None
    expected_pointer: Value | None = None
    result_pointer: Value | None = None
    returns_new: bool = False
    returns_success: bool = False


# --- memory and values ------------------------------------------------------------


class Allocate(Event):
    """A new heap object of `size` bytes; its address is the result, or goes to `*pointer_to`."""

    size: Size
    zeroed: bool = False
    pointer_to: Value | None = None


class Reallocate(Event):
    """A new object with the contents of the old one, which is freed; `pointer` may be null."""

    pointer: Value
    size: Size
    zeroed: bool = False


class Free(Event):
    pointer: Value


class SpecificCreate(Event):
    """A new key, to `*key_pointer`; `destructor(value)` runs at thread exit if value is not 0."""

    key_pointer: Value
    destructor: Value | None = None


class SpecificDelete(Event):
    key: Value


class SpecificGet(Event):
    key: Value


class SpecificSet(Event):
    key: Value
    value: Value


class Nondeterministic(Event):
    """Returns any value of the call's type, within `range` (inclusive) if given."""

    signed: bool
    range: tuple[int, int] | None = None


class Assume(Event):
    """Executions in which `condition` is zero don't count."""

    condition: Value
