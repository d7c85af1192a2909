"""The words of an answer: accesses, candidates, findings, evidence, verdicts.

Plain data, the same from every engine: it can be pickled, compared and printed. Instructions are
named by their program-wide number, so an answer makes sense in any process that loaded the same
program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum

from raceproof.ir import Position


class Confidence(IntEnum):
    """How sure a finding is; ordered."""

    POSSIBLE = 1
    """Only the may-conditions hold."""
    LIKELY = 2
    """All must-conditions hold."""
    CONFIRMED = 3
    """A schedule was replayed and ended with both accesses enabled at once; every value on it was
    computed or is a genuine input (`machine.confirming`)."""

    def __str__(self) -> str:
        return self.name.lower()


class Outcome(Enum):
    RACE = "race"
    RACE_FREE = "race-free"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the program: an instruction (a call, a creation) and where the source has it."""

    instruction: int
    function: str
    position: Position | None


@dataclass(frozen=True, slots=True)
class Thread:
    """An abstract thread: its chain of creation sites from `main` (empty for `main` itself)."""

    entry: str
    chain: tuple[Site, ...] = ()
    is_unique: bool = True

    @property
    def name(self) -> str:
        """`worker (created at main.c:88)`."""
        if not self.chain:
            return self.entry
        return f"{self.entry} (created at {self.chain[-1].position or self.chain[-1].function})"


class BaseKind(Enum):
    GLOBAL = "global"
    STACK = "stack"
    HEAP = "heap"
    THREAD_LOCAL = "thread-local"
    STRING = "string"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Location:
    """Bytes `start` to `end` (exclusive; None: unknown) of a base.

    `base` identifies the object among all of its program; `name` is for people, and says more where
    an execution showed which part of the object it was.
    """

    kind: BaseKind
    base: str
    name: str = field(compare=False)
    start: int | None = None
    end: int | None = None
    member: str = field(default="", compare=False)
    """The type and member that it is, `struct conn.state`, the same for all objects of a type."""


class LockMode(Enum):
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock at an access: `is_sure` if held on every way there."""

    name: str
    mode: LockMode = LockMode.WRITE
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class Access:
    thread: Thread
    instruction: int
    function: str
    position: Position | None
    location: Location
    is_write: bool
    is_atomic: bool = False
    locks: tuple[HeldLock, ...] = ()
    calls: tuple[Site, ...] = ()
    """The call stack from the thread's entry, outermost first; the latest n of it."""
    expression: str = ""
    """What the access reads or writes in the source's words, e.g. `p->next`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two accesses that may race."""

    location: Location
    first: Access
    second: Access


@dataclass(frozen=True, slots=True)
class Step:
    """One choice of the scheduler: `thread` runs up to (not including) its next visible step.

    Threads are numbered by creation, `main` is 0.
    """

    thread: int
    instruction: int | None = None
    """The visible instruction executed, for people and for checking."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How to reach the race on the concrete machine: choices and inputs in their order.

    `inputs` are the values of nondeterministic calls and uninitialised data, as they are asked for.
    At the end threads `first` and `second` stand before `instructions`; with `is_past`, `first` has
    done its instruction, `second` stands before the other, and nothing orders one before the other.
    """

    steps: tuple[Step, ...]
    inputs: tuple[int, ...] = ()
    first: int = 0
    second: int = 0
    instructions: tuple[int, int] = (0, 0)
    births: tuple[tuple[int, Step], ...] = ()
    """Creations of threads that were no choice, as `main` was alone: each with the number of steps
    before it. For people and witnesses; a replay needs them not."""
    is_past: bool = False

    @property
    def shown_steps(self) -> tuple[Step, ...]:
        """The steps, with the creations that were no choice where they belong."""
        steps = list(self.steps)
        for index, step in reversed(self.births):
            steps.insert(index, step)
        return tuple(steps)


class SuppressionKind(Enum):
    """Where the user said that a finding is to be left out of the count."""

    COMMENT = "comment"
    """Beside the access, in the source."""
    SETTING = "setting"
    """`suppressions` in the configuration file."""
    BASELINE = "baseline"
    """It was there before, and is known."""


@dataclass(frozen=True, slots=True)
class SuppressedBy:
    """Why a finding does not count, in the words of who said so."""

    kind: SuppressionKind
    reason: str = ""


class Habit(Enum):
    """How a location is used by threads that run at the same time."""

    GUARDED = "guarded"
    """Most accesses hold one lock: the others forgot it."""
    MIXED = "mixed"
    """Some accesses hold a lock."""
    UNCLEAR = "unclear"
    """All accesses hold a lock of the same name, but it may be another one each time."""
    OPEN = "open"
    """No access holds a lock."""
    COUNTER = "counter"
    """Only counted up or down, never under a lock."""
    FLAG = "flag"
    """Only set to constants, never under a lock."""
    FREED = "freed"
    """Given back while others may use it."""
    LIBRARY = "library"
    """Memory of a library, or that only a library knows."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the other accesses of a location say: `guarded` of `total` hold the lock `guard`."""

    habit: Habit
    guard: str = ""
    guarded: int = 0
    total: int = 0
    lacking: str = ""
    """The function of all accesses without the lock, if it is one."""

    @property
    def strength(self) -> float:
        """How much it speaks for a mistake; the order of the list. A lock that all other accesses
        hold says most, a counter that nothing protects was most often meant so."""
        share = self.guarded / self.total if self.total else 0.0
        few = min(self.guarded, 5) / 5
        return _STRENGTH[self.habit] + share * few


_STRENGTH = {
    Habit.GUARDED: 4.0,
    Habit.MIXED: 3.0,
    Habit.OPEN: 2.0,
    Habit.FLAG: 1.5,
    Habit.COUNTER: 1.4,
    Habit.UNCLEAR: 0.2,
    Habit.FREED: 1.0,
    Habit.LIBRARY: 0.0,
}


@dataclass(frozen=True, slots=True)
class NativeRun:
    """What came of a finding when the program itself ran under ThreadSanitizer."""

    is_confirmed: bool
    way: str
    """`scheduled`, or `noise`."""
    runs: int
    seconds: float
    detail: str = ""
    """If not confirmed: how far it came."""
    report: str = ""
    """ThreadSanitizer's own words about the race."""


@dataclass(frozen=True, slots=True)
class Finding:
    location: Location
    confidence: Confidence
    accesses: tuple[Access, Access]
    message: str = ""
    schedule: Schedule | None = None
    engine: str = ""
    others: tuple[tuple[Access, Access], ...] = ()
    """Further pairs on the same location (`--all-pairs`), or for the same cause."""
    suppressed_by: SuppressedBy | None = None
    """Not None: suppressed; it is told, but does not count."""
    evidence: Evidence | None = None
    also: tuple[Location, ...] = ()
    """Further locations that race for the same cause."""
    native: NativeRun | None = None
    """Not None: somebody asked for it to be seen in the real program."""


@dataclass(frozen=True, slots=True)
class Protection:
    """Why a shared location is safe: `reason` is a short key, `detail` a sentence for people."""

    location: Location
    reason: str
    detail: str
    accesses: int = 0


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What one layer of an engine was given (`candidates`: variables), and what it left open."""

    name: str
    candidates: int
    left: int
    confirmed: int
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class EngineRun:
    """What one engine answered, and in how long."""

    name: str
    answer: str
    seconds: float
    detail: str = ""
    layers: tuple[LayerResult, ...] = ()


NOT_FOLLOWED = "not followed"
"""How an assumption starts that says which step of the program an engine could not follow."""
NOT_SEEN = "not seen"
"""How an assumption begins that names code which may run but which no engine has looked at."""


class Covered(Enum):
    """What an engine has seen to itself; else the pipeline does (`pipeline.proofs`)."""

    PATHS = "paths"
    """It followed every execution to its end: none was ended at something undefined."""
    LAYOUTS = "layouts"
    """The proof holds wherever objects lie in memory."""
    CALLBACKS = "callbacks"
    """It followed the functions that are handed to code outside of the program."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one engine says: `open` are the candidates that it could not decide."""

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    open: tuple[Candidate, ...] = ()
    protections: tuple[Protection, ...] = ()
    assumptions: tuple[str, ...] = ()
    threads: tuple[Thread, ...] = ()
    shared: tuple[Location, ...] = ()
    detail: str = ""
    statistics: tuple[tuple[str, int | float | str], ...] = ()
    notices: tuple[str, ...] = ()
    """What the user should know of how the answer was found."""
    is_complete: bool = False
    """Whether every race of the program is among `findings` and `open`, whatever was asked: the
    engine has looked at all of it, and left none out of its lists."""
    layers: tuple[LayerResult, ...] = ()
    """What its layers did, if asked for (`--layers`)."""
    covered: tuple[Covered, ...] = ()
    lost: tuple[str, ...] | None = None
    """Code that the analysis of values never reached since executions end before it at something
    undefined, and where; None: it was not asked."""


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    protections: tuple[Protection, ...] = ()
    assumptions: tuple[str, ...] = ()
    engines: tuple[EngineRun, ...] = ()
    threads: tuple[Thread, ...] = ()
    shared: tuple[Location, ...] = ()
    seconds: float = 0.0
    notices: tuple[str, ...] = field(default=())
    """What went wrong on the way: an engine that crashed, a budget that ran out."""
    files: tuple[int, int] | None = None
    """How many files of the project it is about, and how many there are."""
