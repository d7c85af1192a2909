"""What the user asked for: one frozen value, made once by the command line, read on every floor.

The field names are the option vocabulary of the whole tool. The defaults stand here and nowhere
else; ``None`` and ``()`` mean "not said", and the floor that reads the field decides what that is.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class DataModel(StrEnum):
    """How wide ``int``, ``long`` and pointers are."""

    ILP32 = "ilp32"
    LP64 = "lp64"


class BackendChoice(StrEnum):
    """Which sequential analysis the modular engine stands on."""

    VALUE = "value"
    ALIAS = "alias"
    SYNTACTIC = "syntactic"


class Strategy(StrEnum):
    """What a thread is taken to see of the other threads' writes."""

    UNDER = "under"
    OVER = "over"
    COMBINED = "combined"


class MutexRules(StrEnum):
    """Whose mutex it is: POSIX lets only the owner unlock, Linux lets anyone."""

    POSIX = "posix"
    LINUX = "linux"


class UnknownCallbacks(StrEnum):
    """What becomes of functions that are given to unknown code."""

    THREAD = "thread"
    """The thread that gave them calls them, then or in later calls of unknown code."""
    ANY_THREAD = "any-thread"
    """Threads of their own call them, at any time from then on."""
    IGNORE = "ignore"
    """They are not called."""


class MemoryModel(StrEnum):
    """What orders two accesses: happens-before as C11 has it, or, in the sequentially consistent
    meaning of SV-COMP, that they never happen at once."""

    C11 = "c11"
    SC = "sc"


class ReportFormat(StrEnum):
    """How a verdict is written down."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    HTML = "html"
    GITHUB = "github"


class FailOn(StrEnum):
    """The least confidence of a finding that makes ``check`` end with exit code 1; `unknown`: also
    a program that is not proved race-free."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Findings that do not count: those whose location and file match both patterns."""

    location: str = "*"
    file: str = "*"
    reason: str = ""


DEFAULT_THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Every option of every command."""

    # What to read and how to compile it.
    data_model: DataModel = DataModel.LP64
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    """Macros as written after ``-D``: ``NAME`` or ``NAME=VALUE``."""
    std: str | None = None
    clang_args: tuple[str, ...] = ()
    clang: Path | None = None
    database: Path | None = None
    """A ``compile_commands.json``."""
    target: str | None = None
    """Which program of the database, by the name of its linked output."""
    file_filter: str | None = None
    """A glob that the database's source files must match."""
    entry: str | None = None
    """The function where the program starts, if not ``main``."""
    models: tuple[Path, ...] = ()
    callbacks: UnknownCallbacks = UnknownCallbacks.THREAD

    # A whole project (``scan``).
    exclude: tuple[str, ...] = ()
    """Patterns of folders and files whose code is not ours to report on."""
    changed_since: str | None = None
    """Report only what the changes since this Git revision touch."""
    cache: Path | None = None
    """Where to remember what was found out."""
    no_cache: bool = False
    refine: bool = False
    """Have the findings confirmed or refuted."""

    # How much to spend.
    timeout: float | None = None
    """Seconds."""
    memory: float | None = None
    """GiB."""
    jobs: int | None = None
    seed: int = 0

    # How to look.
    engine: str = "auto"
    backend: BackendChoice = BackendChoice.VALUE
    strategy: Strategy = Strategy.COMBINED
    context_depth: int | None = None
    """How many of the latest calls tell contexts apart; None: all for the value backend."""
    unroll: int = 0
    """Loop iterations the value backend keeps apart before it joins them."""
    all_pairs: bool = False
    """Report every racing pair of a location, not one for each."""
    unwind: int = 2
    """Loop iterations of the bounded engine."""
    unwind_loops: tuple[str, ...] = ()
    """Other numbers for some loops, as ``FUNCTION=N`` or ``FUNCTION:LINE=N``."""
    rounds: int = 2
    """Round-robin rounds of the bounded engine."""
    threads: int | None = None
    """Threads that are created at most at one creation site; not said: `DEFAULT_THREADS` where a
    bound is needed (interleave, sequentialize), none of the user's for bounded."""
    mutex_rules: MutexRules = MutexRules.POSIX
    memory_model: MemoryModel = MemoryModel.C11
    layers: bool = False
    """Show what each layer of the interleave engine left open."""
    stop_at_first: bool = False
    """One confirmed race is enough; do not look at the other candidates."""

    @property
    def latest_calls(self) -> int:
        """How many of the latest calls are told, and tell the contexts of cheap backends apart."""
        return 2 if self.context_depth is None else self.context_depth

    # What to say.
    verbosity: int = 0
    """-1 quiet, 0 normal, 1 and more: tell what is being done."""
    format: ReportFormat = ReportFormat.TEXT
    output: Path | None = None
    also: tuple[tuple[ReportFormat, Path], ...] = ()
    """Further formats, and the files to write them to."""
    schedules: Path | None = None
    """A folder for the schedules of confirmed races."""
    fail_on: FailOn = FailOn.LIKELY
    suppressions: tuple[Suppression, ...] = ()
    baseline: Path | None = None
    """A file of findings that are known already."""
    write_baseline: Path | None = None
    cross_check: bool = False
    """Ask every engine about the whole program, and compare what they say."""
    explain_pipeline: bool = False
    """Say which engine decided what, and how long it took."""
