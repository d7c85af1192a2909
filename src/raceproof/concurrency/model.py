"""What a function means, as read from a model file.

A `FunctionModel` speaks of argument positions only; `events.event` pairs it with the operands of
one call. The TOML schema behind it is described in `docs/models.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum


class Role(StrEnum):
    """What a call does besides reading and writing memory."""

    CREATE = "create"
    JOIN = "join"
    DETACH = "detach"
    EXIT_THREAD = "exit-thread"
    EXIT_PROCESS = "exit-process"
    CANCEL = "cancel"
    CANCEL_STATE = "cancel-state"
    CANCEL_POINT = "cancel-point"
    CLEANUP_PUSH = "cleanup-push"
    CLEANUP_POP = "cleanup-pop"
    SELF = "self"

    LOCK = "lock"
    UNLOCK = "unlock"
    LOCK_INIT = "lock-init"
    LOCK_DESTROY = "lock-destroy"
    LOCK_ATTRIBUTE = "lock-attribute"

    CONDITION_WAIT = "condition-wait"
    CONDITION_SIGNAL = "condition-signal"
    CONDITION_INIT = "condition-init"
    CONDITION_DESTROY = "condition-destroy"

    BARRIER_INIT = "barrier-init"
    BARRIER_WAIT = "barrier-wait"
    BARRIER_DESTROY = "barrier-destroy"

    SEMAPHORE_INIT = "semaphore-init"
    SEMAPHORE_WAIT = "semaphore-wait"
    SEMAPHORE_POST = "semaphore-post"
    SEMAPHORE_VALUE = "semaphore-value"
    SEMAPHORE_DESTROY = "semaphore-destroy"

    ONCE = "once"
    ONCE_BEGIN = "once-begin"
    ONCE_END = "once-end"
    ONCE_ABORT = "once-abort"

    ATOMIC_BEGIN = "atomic-begin"
    ATOMIC_END = "atomic-end"
    ATOMIC_FUNCTION = "atomic-function"
    ATOMIC_OPERATION = "atomic-operation"

    ALLOCATE = "allocate"
    REALLOCATE = "reallocate"
    FREE = "free"

    SPECIFIC_CREATE = "specific-create"
    SPECIFIC_DELETE = "specific-delete"
    SPECIFIC_GET = "specific-get"
    SPECIFIC_SET = "specific-set"

    NONDETERMINISTIC = "nondeterministic"
    ASSUME = "assume"


class LockKind(StrEnum):
    MUTEX = "mutex"
    READ_WRITE = "read-write"
    SPIN = "spin"


class LockMode(StrEnum):
    """How a lock is held. An unlock with mode `ANY` gives back whichever mode is held."""

    WRITE = "write"
    READ = "read"
    ANY = "any"


class Wait(StrEnum):
    """What a call does when it cannot have what it wants at once."""

    BLOCK = "block"
    """Waits as long as it takes."""
    TRY = "try"
    """Fails at once."""
    TIMED = "timed"
    """Waits, but may give up at any time (a deadline, an interrupt)."""


class Success(StrEnum):
    """Which results of a call mean that it did what its role says."""

    ALWAYS = "always"
    ZERO = "zero"
    NONZERO = "nonzero"

    def holds(self, result: int) -> bool:
        return self is Success.ALWAYS or (result == 0) == (self is Success.ZERO)


class AtomicOperationKind(StrEnum):
    LOAD = "load"
    STORE = "store"
    EXCHANGE = "exchange"
    COMPARE_EXCHANGE = "compare-exchange"
    ADD = "add"
    SUB = "sub"
    AND = "and"
    OR = "or"
    XOR = "xor"
    NAND = "nand"
    TEST_AND_SET = "test-and-set"
    CLEAR = "clear"


class CallbackTime(StrEnum):
    """When a function that was handed over is called."""

    NOW = "now"
    """During the call, any number of times, by the calling thread."""
    THREAD_EXIT = "thread-exit"
    PROCESS_EXIT = "process-exit"
    SIGNAL = "signal"
    """At any later time, by any thread, when a signal arrives."""
    LOOP = "loop"
    """Any number of times, by every thread that runs the loop of that name from then on."""
    THREAD = "thread"
    """On threads of the library's own, from then on."""

    @property
    def is_lowered(self) -> bool:
        """`raceproof.concurrency.callbacks` puts such calls into the program itself."""
        return self in (CallbackTime.LOOP, CallbackTime.THREAD)


@dataclass(frozen=True, slots=True)
class Argument:
    """A position in the argument list, from 0.

    `indirect`: what is meant is the value stored where the argument points to (written `"*0"`), or
    `offset` bytes behind that (`"*0 + 8"`).
    """

    index: int
    indirect: bool = False
    offset: BytesSize | None = None


# --- sizes ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BytesSize:
    """A constant number of bytes, by data model."""

    ilp32: int
    lp64: int

    def of(self, pointer_size: int) -> int:
        return self.ilp32 if pointer_size == 4 else self.lp64


@dataclass(frozen=True, slots=True)
class ArgumentSize:
    """The product of some arguments and a constant."""

    arguments: tuple[int, ...]
    scale: BytesSize


@dataclass(frozen=True, slots=True)
class StringSize:
    """The string at an argument with its final zero, or at most `limit` (an argument) characters.

    `width` is the size of a character.
    """

    argument: int
    limit: int | None
    width: int = 1


class WordSize(Enum):
    OBJECT = "object"
    """From the pointer to the end of the object it points into."""
    REACHABLE = "reachable"
    """The object and all that can be reached from it by pointers."""
    UNKNOWN = "unknown"
    """From the pointer on, it is unknown how far."""


SizeModel = BytesSize | ArgumentSize | StringSize | WordSize


# --- effects, results, callbacks ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EffectModel:
    """The call reads or writes memory through an argument.

    With `rest`, through this and every later pointer argument.
    """

    argument: int
    size: SizeModel
    is_write: bool
    is_atomic: bool = False
    rest: bool = False
    is_may: bool = False
    """Perhaps all of it, some of it or nothing: it may race, but proves no race."""


class ReturnKind(StrEnum):
    ANY = "any"
    """Any value of the type."""
    CONSTANT = "constant"
    ARGUMENT = "argument"
    """Argument `index` itself."""
    INTO = "into"
    """A pointer into the object that argument `index` points into."""
    POINTEE = "pointee"
    """A pointer into the same object as the pointer stored where argument `index` points to."""
    REACHABLE = "reachable"
    """A pointer to something that can be reached from argument `index`."""
    FRESH = "fresh"
    """A new object at each call."""
    STATIC = "static"
    """A pointer into an object of the library called `name`, the same for all threads."""
    THREAD_LOCAL = "thread-local"
    """A pointer into an object of the library called `name`, one for each thread."""


OF_ARGUMENT = frozenset(
    {ReturnKind.ARGUMENT, ReturnKind.INTO, ReturnKind.POINTEE, ReturnKind.REACHABLE}
)
"""The kinds that speak of an argument."""


@dataclass(frozen=True, slots=True)
class ResultRange:
    """The numbers from `least` to `most`; with `arguments`, to the product of these arguments.

    `most` None: to the largest of the type. A floating-point result stays below `most`.
    """

    least: int
    most: int | None = None
    arguments: tuple[int, ...] = ()


class SameIn(StrEnum):
    """How far a result stays the same from call to call."""

    PROCESS = "process"
    THREAD = "thread"


@dataclass(frozen=True, slots=True)
class Returns:
    """What a call returns. `or_null`: or else a null pointer.

    In a model, `or_fresh` with an argument: a new object if the argument is null. In an event that
    has been decided as far as the call's operands tell.
    """

    kind: ReturnKind = ReturnKind.ANY
    index: int = 0
    constant: int = 0
    name: str = ""
    or_null: bool = False
    or_fresh: bool = False
    values: ResultRange | None = None
    """Which numbers an `ANY` can be."""


ANYTHING = Returns()


@dataclass(frozen=True, slots=True)
class StoreModel:
    """The call stores a pointer where argument `to` points to; `value` as for a result."""

    to: int
    value: Returns


@dataclass(frozen=True, slots=True)
class CopyModel:
    """The call copies bytes, and the pointers in them, from one argument's object to another's."""

    to: int
    source: int


class ErrnoWhen(StrEnum):
    """Which result says that a call has set errno."""

    MINUS_ONE = "-1"
    NULL = "null"
    ANY = "any"
    """No result does."""


@dataclass(frozen=True, slots=True)
class KeepModel:
    """The call keeps its argument, under a name, for calls of functions that use it."""

    argument: int
    name: str


class CallbackValue(StrEnum):
    """How an operand of the outer call is passed on."""

    ITSELF = "itself"
    INTO = "into"
    """A pointer somewhere into the object it points to."""
    POINTEE = "pointee"
    """The value stored where it points to."""
    ANY = "any"
    """Something unknown."""


@dataclass(frozen=True, slots=True)
class CallbackArgument:
    how: CallbackValue
    index: int = 0
    offset: BytesSize | None = None
    """Of a `POINTEE`: how far behind the address it is stored."""


@dataclass(frozen=True, slots=True)
class CallbackModel:
    """The call makes the function at `function` be called with `arguments`."""

    function: Argument
    arguments: tuple[CallbackArgument, ...]
    time: CallbackTime = CallbackTime.NOW
    loop: str = ""
    """Whose handlers it joins, if `time` is `LOOP`."""
    once: bool = False
    """It is called once at most for each call of the outer function."""
    after: bool = False
    """Only after the callback that stands before it in the model has returned."""
    when: ArgumentCondition | None = None
    """Only if an argument has a certain value."""

    @property
    def is_lowered(self) -> bool:
        return self.time.is_lowered or self.function.offset is not None or self.when is not None


@dataclass(frozen=True, slots=True)
class ArgumentCondition:
    """The argument, or the `int` that it leads to, equals one of the values."""

    argument: Argument
    values: tuple[int, ...]


class FormatFamily(StrEnum):
    PRINTF = "printf"
    SCANF = "scanf"


@dataclass(frozen=True, slots=True)
class FormatModel:
    """Argument `format` is a format string; what it speaks of starts at argument `first`."""

    family: FormatFamily
    format: int
    first: int


@dataclass(frozen=True, slots=True)
class RecursiveWhen:
    """A lock is recursive if the argument, masked, equals the value."""

    argument: int
    equals: int
    mask: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionModel:
    """What calling a function means. `name` is as written in the file, perhaps a pattern."""

    name: str
    role: Role | None = None
    operands: Mapping[str, Argument] = field(default_factory=dict)
    """Where the things that the role speaks of stand: `lock`, `thread`, `entry`, ..."""
    kind: LockKind = LockKind.MUTEX
    mode: LockMode = LockMode.WRITE
    wait: Wait = Wait.BLOCK
    success: Success = Success.ALWAYS
    recursive: bool = False
    recursive_when: RecursiveWhen | None = None
    broadcast: bool = False
    zeroed: bool = False
    size: SizeModel | None = None
    """Of an allocation or an atomic operation."""
    operation: AtomicOperationKind | None = None
    returns_new: bool = False
    """An atomic update returns the new value, not the old."""
    returns_success: bool = False
    """A compare-exchange returns whether it took place."""
    id_is_result: bool = False
    """The new thread's id is what the call returns."""
    is_result: bool = False
    """The new semaphore's address is what the call returns."""
    initial: int = 0
    """The count of a new semaphore if no operand says it."""
    virtual_slot: int | None = None
    """A new thread runs this virtual function of an object."""
    object: str = ""
    """The name of the one lock that a lock function without arguments means."""
    signed: bool = False
    range: tuple[int, int] | None = None
    reads: tuple[EffectModel, ...] = ()
    writes: tuple[EffectModel, ...] = ()
    stores: tuple[StoreModel, ...] = ()
    copies: tuple[CopyModel, ...] = ()
    format: FormatModel | None = None
    returns: Returns = ANYTHING
    callbacks: tuple[CallbackModel, ...] = ()
    runs: tuple[str, ...] = ()
    """The loops whose handlers it calls, any number of times and in any order."""
    no_return: bool = False
    exits_if: int | None = None
    """The process ends if this argument is not 0."""
    returns_twice: bool = False
    thread_safe: bool = True
    """The function may be called by several threads at once."""
    hidden_object: str = ""
    """What one that may not changes unseen; if not said, its static result, or one of its own."""
    opens_channel: bool = False
    """Threads can wait for each other through what the function opens, as through a pipe."""
    input: bool = False
    """What it returns and writes comes from outside: each value is one that can be."""
    same_in: SameIn | None = None
    """It returns the same each time, within one thread or within the process."""
    errno: ErrnoWhen | None = None
    """Sets errno, when the result says so."""
    keeps: tuple[KeepModel, ...] = ()
    uses: tuple[str, ...] = ()
    """What other functions keep, and this one may read and write. These three become code when
    the program is loaded (`frontend/library`): an engine need not look at them."""
    override: bool = False
    """Holds even if the program defines the function."""
    caveat: str = ""
    """What a verdict has to assume when the function is called."""
    not_followed: str = ""
    """What the call may do that no engine follows: nothing is proved if it may be reached."""
