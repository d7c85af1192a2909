"""The threads of a program, found while it is interpreted.

An abstract thread is where it was created (thread, calling context, call) and what it runs. It is
*unique* if at most one instance runs at a time. For each thread we keep the state it starts in, the
threads that may run beside it, and what is left when it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.analysis.contexts import Context
from raceproof.analysis.interference import Consulted
from raceproof.analysis.locks import LockKey
from raceproof.analysis.records import Records
from raceproof.analysis.state import ThreadState, join_states
from raceproof.domains.values import AbstractValue
from raceproof.domains.values import join as join_values
from raceproof.domains.values import widen as widen_values


@dataclass(eq=False)
class ThreadInfo:
    index: int
    entry: str
    parent: int | None
    site: Context | None
    """The context of the creating call."""
    call: int
    """The creating call."""
    is_unique: bool = True
    is_repeated: bool = False
    """May instances run one after the other? Then what it makes is made more than once."""
    is_adopted: bool = False
    """May it be created by others than its parent? A thread that creates itself, say."""
    own: tuple[str, int] | None = None
    """What kind of argument its instances have, and the size of it; see `own_arguments`."""
    is_shared: bool = False
    """May two of its instances have the same argument?"""
    mixed: int = 0
    """Bit set of threads whose arguments, of the same kind, may be among its own."""
    is_detached: bool = False
    """May it be detached, so that no thread can wait for it?"""
    is_handler: bool = False
    """A signal handler, which runs on some thread's behalf."""
    start: ThreadState | None = None
    argument: AbstractValue | None = None
    starts: int = 0
    """How often the start grew."""
    beside: int = 0
    """Bit set: threads that may run at the same time, as far as others tell."""
    surely_beside: int = 0
    """Bit set: threads that were running for sure when it was created, or were created then."""
    created_under: frozenset[LockKey] = frozenset()
    """Locks that the creator may hold when it creates it."""
    children: int = 0
    """Bit set of all threads created by it, or by those."""
    inherited: int = 0
    """Those of them that an earlier instance may have left running."""
    waits_for: int = 0
    """Bit set of threads that it may join, or that those may join."""
    left: int | None = None
    """Bit set of threads that may still run when it ends; None if it was never seen to end."""
    result: AbstractValue | None = None
    joins: dict[int, None] = field(default_factory=dict)
    """Calls that waited for it, and nothing else."""
    start_version: int = 0
    """How often something has changed that it depends on itself: how it starts, what runs beside
    it, what it has created."""
    end_version: int = 0
    """How often something has changed that those depend on who create or join it: its children,
    how it ends."""
    consulted: int = 0
    """Bit set of the threads that its latest interpretation created or joined, or may have."""
    heard: Consulted | None = None
    """What its latest interpretation asked for of what others wrote."""
    runs: int = 0
    """How often it was interpreted."""
    records: Records = field(default_factory=Records)
    """What its latest interpretation noted."""

    @property
    def bit(self) -> int:
        return 1 << self.index

    def starts_anew(self) -> None:
        self.start_version += 1

    def ends_anew(self) -> None:
        self.end_version += 1

    def not_unique(self) -> None:
        if self.is_unique:
            self.is_unique = False
            self.starts_anew()
            self.ends_anew()


class Threads:
    """All threads; index 0 is the one that runs the program's entry."""

    def __init__(self, entry: str) -> None:
        self.all: list[ThreadInfo] = [ThreadInfo(0, entry, None, None, -1)]
        self._known: dict[tuple[object, ...], ThreadInfo] = {}
        self.version = 0
        """How often something has changed that every thread depends on."""

    @property
    def changes(self) -> int:
        """How often anything has changed, for those who interpret all threads again then."""
        return self.version + sum(info.start_version + info.end_version for info in self.all)

    @property
    def main(self) -> ThreadInfo:
        return self.all[0]

    @property
    def reached(self) -> dict[tuple[str, int], int]:
        """Function and block -> the last of its instructions that some execution gets to."""
        found: dict[tuple[str, int], int] = {}
        for info in self.all:
            for key, number in info.records.reached.items():
                found[key] = max(found.get(key, number), number)
        return found

    def __getitem__(self, index: int) -> ThreadInfo:
        return self.all[index]

    def find(self, parent: int, site: Context, call: int, entry: str) -> ThreadInfo:
        """The thread created here; an ancestor of the parent if that was created here too."""
        at: int | None = parent
        while at is not None:
            info = self.all[at]
            if info.call == call and info.entry == entry:
                info.not_unique()
                return info
            at = info.parent
        key = (parent, site.number, call, entry)
        found = self._known.get(key)
        if found is None:
            found = ThreadInfo(len(self.all), entry, parent, site, call)
            self.all.append(found)
            self._known[key] = found
            at = parent
            while at is not None:
                ancestor = self.all[at]
                ancestor.children |= found.bit
                ancestor.starts_anew()
                ancestor.ends_anew()
                at = ancestor.parent
        return found

    def add_start(self, info: ThreadInfo, state: ThreadState, argument: AbstractValue) -> None:
        """The thread may start in this state, with this argument."""
        start = ThreadState(state.memory)
        start.depends_on_others = state.depends_on_others
        if info.start is None or info.argument is None:
            info.start, info.argument = start, argument
            info.starts_anew()
            return
        info.starts += 1
        wide = (0,) if info.starts > 6 else None
        joined = join_states(info.start, start, wide)
        value = (widen_values if wide else join_values)(info.argument, argument)
        if joined is not info.start or value is not info.argument:
            info.start, info.argument = joined, value
            info.starts_anew()

    def together(self, info: ThreadInfo, others: int) -> None:
        """`info` may run at the same time as the others, and they as it."""
        if others & ~info.beside:
            info.beside |= others
            info.starts_anew()
        for other in self.all:
            if others >> other.index & 1 and not other.beside & info.bit:
                other.beside |= info.bit
                other.starts_anew()

    def sure_together(self, info: ThreadInfo, others: int) -> None:
        """On some way `info` is created while the others surely run."""
        info.surely_beside |= others
        for other in self.all:
            if others >> other.index & 1:
                other.surely_beside |= info.bit

    def created(
        self, info: ThreadInfo, before: int, is_repeated: bool, under: frozenset[LockKey]
    ) -> None:
        """It is created while the threads `before` may be running, and these locks are held."""
        if not under <= info.created_under:
            info.created_under |= under
            self.version += 1
        inherited = info.inherited | (before & info.children)
        if inherited != info.inherited or (is_repeated and not info.is_repeated):
            info.inherited = inherited
            info.is_repeated = info.is_repeated or is_repeated
            info.starts_anew()

    def not_unique(self, info: ThreadInfo) -> None:
        info.not_unique()
        if not info.beside & info.bit:
            info.beside |= info.bit
            info.starts_anew()

    def adopted(self, info: ThreadInfo) -> None:
        if not info.is_adopted:
            info.is_adopted = True
            self.version += 1

    def owns(self, info: ThreadInfo, kind: tuple[str, int]) -> None:
        """It was given an argument of its own, of some kind."""
        if info.own is None:
            info.own = kind
            self.version += 1
        elif info.own != kind:
            self.shares(info)

    def mixes(self, info: ThreadInfo, others: int) -> None:
        """It was created while others ran, with arguments from elsewhere."""
        if others & ~info.mixed:
            info.mixed |= others
            self.version += 1

    def shares(self, info: ThreadInfo) -> None:
        if not info.is_shared:
            info.is_shared = True
            self.version += 1

    def detached(self, info: ThreadInfo) -> None:
        if not info.is_detached:
            info.is_detached = True
            self.version += 1

    def ended(self, info: ThreadInfo, running: int) -> None:
        """It may end while these of its children still run."""
        left = (info.left or 0) | (running & info.children)
        if left != info.left:
            info.left = left
            info.ends_anew()
