"""The table of synchronisation: locks, conditions, barriers, semaphores and once controls.

What a call of the thread library does to the object that it names is a guarded command, said here
once for all executors:

    lock     owner == 0 and readers == 0          ->  owner = me; depth = 1
             owner == me and kind == RECURSIVE    ->  depth = depth + 1
             owner == me and kind == CHECKING     ->  fails: DEADLOCK
             otherwise                                blocks; as a trial it fails: BUSY

An object is a record of fields, all zero at first. A command is a list of cases, of which the first
that applies is done in one step. If none does, the call blocks; a call that does not wait fails
with what `otherwise` says. Some calls take several steps (`CALLS`): a condition wait gives its lock
back in the first and takes it again in the second.

The expressions are in the syntax of Python. Besides the fields they speak of

    me                  the thread's number plus one
    own                 a field of which the object has one for each thread
    recursive, tries, timed, broadcast, anyone, spurious
                        flags of the call, or of how the program is executed
    number, type, count, value
                        operands of the call

`sync_expressions` reads them: as functions on numbers, which the machine uses, and for what else
executes programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CONSTANTS: Final[Mapping[str, int]] = {
    # kinds of mutexes; a field of zero: as the bytes of the object say
    "NORMAL": 1,
    "RECURSIVE": 2,
    "CHECKING": 3,
    # how the C library numbers them, in attributes and in static initialisers
    "RECURSIVE_TYPE": 1,
    "CHECKING_TYPE": 2,
    "LAST_TYPE": 3,
    # own field at a barrier
    "WAITING": 1,
    "LEAVING": 2,
    # once controls
    "RUNNING": 1,
    "DONE": 2,
    # `SEM_VALUE_MAX`
    "MOST": 0x7FFFFFFF,
    # what calls return
    "SERIAL_THREAD": -1,
    "NOT_OWNER": 1,  # EPERM
    "AGAIN": 11,
    "BUSY": 16,
    "INVALID": 22,
    "DEADLOCK": 35,
    "OVERFLOW": 75,
    "TIMED_OUT": 110,
}

OBJECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "lock": ("owner", "depth", "readers", "kind"),
    "attribute": ("type",),
    "condition": ("waiting", "tokens"),
    "barrier": ("parties", "waiting"),
    "semaphore": ("tokens",),
    "control": ("state",),
}
"""The fields of each kind of object. `own` is how often the thread holds a lock for reading, or
whether it waits at a barrier."""

FLAGS: Final = ("recursive", "tries", "timed", "broadcast", "anyone", "spurious")
OPERANDS: Final = ("number", "type", "count", "value")


@dataclass(frozen=True, slots=True)
class Case:
    """If `when` holds: the assignments of `then`, to all threads' own fields what `everyone` says,
    and the result."""

    when: str
    then: str = ""
    everyone: str = ""
    """The new value of each `own`."""
    error: str = ""
    """Why the call fails; empty if it does what it is for."""
    value: str = ""
    """What the call returns, if that is more than whether it succeeded."""
    goes_on: bool = False
    """The call is not over: its next step follows."""


@dataclass(frozen=True, slots=True)
class Command:
    object: str
    cases: tuple[Case, ...]
    otherwise: str = ""
    """Why a call fails that does not wait; empty if one case always applies or the call waits."""


def _command(object_: str, *cases: Case, otherwise: str = "") -> Command:
    return Command(object_, cases, otherwise)


KIND_OF_TYPE: Final = (
    "RECURSIVE if type == RECURSIVE_TYPE else CHECKING if type == CHECKING_TYPE else NORMAL"
)
"""The kind of mutex that a number of the C library means."""
_GIVES_UP = "TIMED_OUT if timed else BUSY"

COMMANDS: Final[Mapping[str, Command]] = {
    # --- locks: mutexes and spin locks have an owner, read-write locks readers, too
    "lock": _command(
        "lock",
        Case("owner == 0 and readers == 0", "owner = me; depth = 1"),
        Case("owner == me and (recursive or kind == RECURSIVE)", "depth = depth + 1"),
        Case("owner == me and kind == CHECKING and not tries", error="DEADLOCK"),
        otherwise=_GIVES_UP,
    ),
    "lock shared": _command(
        "lock",
        Case("owner == 0", "readers = readers + 1; own = own + 1"),
        Case("owner == me and not tries", error="DEADLOCK"),
        otherwise=_GIVES_UP,
    ),
    "lock exclusive": _command(
        "lock",
        Case("owner == 0 and readers == 0", "owner = me; depth = 1"),
        Case("owner == me and not tries", error="DEADLOCK"),
        otherwise=_GIVES_UP,
    ),
    "unlock": _command(
        "lock",
        Case("own > 0", "readers = readers - 1; own = own - 1"),
        Case("owner == me and depth > 1", "depth = depth - 1"),
        Case("owner == me or anyone and owner != 0", "owner = 0; depth = 0"),
        Case("kind != NORMAL", error="NOT_OWNER"),
        Case("True"),  # undefined, and goes unnoticed
    ),
    "initialise lock": _command(
        "lock",
        Case(
            "True",
            f"owner = 0; depth = 0; readers = 0; kind = RECURSIVE if recursive else {KIND_OF_TYPE}",
            everyone="0",
        ),
    ),
    "destroy mutex": _command(
        "lock",
        Case("owner != 0", error="BUSY"),
        Case("True", "kind = 0"),
    ),
    "destroy lock": _command(
        "lock", Case("True", "owner = 0; depth = 0; readers = 0; kind = 0", everyone="0")
    ),
    "set attribute": _command(
        "attribute",
        Case("recursive", "type = RECURSIVE_TYPE"),
        Case("number <= LAST_TYPE", "type = number"),
        Case("True", error="INVALID"),
    ),
    # --- conditions: a token lets one of those that wait go on, whoever comes first
    "wait": _command("condition", Case("True", "waiting = waiting + 1", goes_on=True)),
    "wake": _command(
        "condition",
        Case("tokens > 0", "waiting = waiting - 1; tokens = tokens - 1"),
        Case("timed", "waiting = waiting - 1", error="TIMED_OUT"),
        Case("spurious", "waiting = waiting - 1"),
    ),
    "signal": _command(
        "condition",
        Case(
            "True",
            "tokens = waiting if broadcast or tokens + 1 > waiting else tokens + 1",
        ),
    ),
    "reset condition": _command("condition", Case("True", "waiting = 0; tokens = 0")),
    # --- barriers
    "initialise barrier": _command(
        "barrier", Case("True", "parties = count; waiting = 0", everyone="0")
    ),
    "arrive": _command(
        "barrier",
        Case(
            "waiting + 1 >= parties",
            "waiting = 0",
            everyone="LEAVING if own == WAITING else own",
            value="SERIAL_THREAD",
        ),
        Case("True", "waiting = waiting + 1; own = WAITING", goes_on=True),
    ),
    "leave": _command("barrier", Case("own == LEAVING", "own = 0", value="0")),
    "destroy barrier": _command("barrier", Case("True", "parties = 0; waiting = 0", everyone="0")),
    # --- semaphores
    "initialise semaphore": _command("semaphore", Case("True", "tokens = value")),
    "take": _command(
        "semaphore",
        Case("tokens > 0", "tokens = tokens - 1"),
        otherwise="TIMED_OUT if timed else AGAIN",
    ),
    "post": _command(
        "semaphore",
        Case("tokens < MOST", "tokens = tokens + 1"),
        Case("True", error="OVERFLOW"),
    ),
    "count": _command("semaphore", Case("True", value="tokens")),
    "destroy semaphore": _command("semaphore", Case("True", "tokens = 0")),
    # --- once: who finds it neither done nor begun has to do it
    "begin once": _command(
        "control",
        Case("state == DONE", value="0"),
        Case("state == 0", "state = RUNNING", value="1"),
    ),
    "end once": _command("control", Case("True", "state = DONE")),
    "abort once": _command("control", Case("True", "state = 0")),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A command on the object that an operand of the call leads to."""

    command: str
    operand: str

    @property
    def meaning(self) -> Command:
        return COMMANDS[self.command]


@dataclass(frozen=True, slots=True)
class SyncStep:
    """What happens at once: all parts, if none has to wait. The first says what the call returns.

    Named as the bounded engine names its events.
    """

    name: str
    parts: tuple[Part, ...]
    is_cancel_point: bool = False
    completes_when_cancelled: bool = False
    """A cancelled thread does all but the first part before it ends."""


@dataclass(frozen=True, slots=True)
class SyncCall:
    """A call: its steps, one after the other as far as the cases say."""

    steps: tuple[SyncStep, ...]
    runs: str = ""
    """The operand with the routine that is called between the two steps, if the first returns 1;
    the second step follows only then, and the call returns zero."""
    is_visible: bool = True
    """Threads meet there."""


def _call(name: str, command: str, operand: str, **flags: bool) -> SyncCall:
    return SyncCall((SyncStep(name, (Part(command, operand),), **flags),))


CALLS: Final[Mapping[str, SyncCall]] = {
    "lock": _call("lock", "lock", "lock"),
    "lock shared": _call("lock", "lock shared", "lock"),
    "lock exclusive": _call("lock", "lock exclusive", "lock"),
    "unlock": _call("unlock", "unlock", "lock"),
    "lock-init": _call("init", "initialise lock", "lock"),
    "lock-destroy": _call("destroy", "destroy lock", "lock"),
    "mutex-destroy": _call("destroy", "destroy mutex", "lock"),
    "lock-attribute": SyncCall(
        (SyncStep("init", (Part("set attribute", "attribute"),)),), is_visible=False
    ),
    "condition-wait": SyncCall(
        (
            SyncStep(
                "wait",
                (Part("wait", "condition"), Part("unlock", "lock")),
                is_cancel_point=True,
            ),
            SyncStep(
                "wake",
                (Part("wake", "condition"), Part("lock", "lock")),
                is_cancel_point=True,
                completes_when_cancelled=True,
            ),
        )
    ),
    "condition-signal": _call("signal", "signal", "condition"),
    "condition-init": _call("init", "reset condition", "condition"),
    "condition-destroy": _call("destroy", "reset condition", "condition"),
    "barrier-init": _call("init", "initialise barrier", "barrier"),
    "barrier-wait": SyncCall(
        (
            SyncStep("arrive", (Part("arrive", "barrier"),)),
            SyncStep("leave", (Part("leave", "barrier"),)),
        )
    ),
    "barrier-destroy": _call("destroy", "destroy barrier", "barrier"),
    "semaphore-init": _call("init", "initialise semaphore", "semaphore"),
    "semaphore-wait": _call("semaphore-wait", "take", "semaphore", is_cancel_point=True),
    "semaphore-post": _call("semaphore-post", "post", "semaphore"),
    "semaphore-value": _call("semaphore-value", "count", "semaphore"),
    "semaphore-destroy": _call("destroy", "destroy semaphore", "semaphore"),
    "once": SyncCall(
        (
            SyncStep("once", (Part("begin once", "control"),)),
            SyncStep("once-end", (Part("end once", "control"),)),
        ),
        runs="routine",
    ),
    "once-begin": _call("once", "begin once", "control"),
    "once-end": _call("once-end", "end once", "control"),
    "once-abort": _call("once-end", "abort once", "control"),
}
"""By the role of the called function; locks by their kind and mode, too."""
