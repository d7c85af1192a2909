"""In which threads, and holding what, each function runs: from the entries down.

Summaries carry up what depends on the caller; what does not (closed accesses, creations) waits in
its function for the locks and threads of the callers, which come down here. A context is
`(thread, core, path, binding)`: the thread, the state at the call, the calls that lead here (only
where a thread is created below), and those actual parameters that states below speak of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, TypeAlias

from raceproof.engines.summary import state
from raceproof.engines.summary.instance import Instance
from raceproof.engines.summary.state import EMPTY, Core, ThreadId
from raceproof.engines.summary.summary import (
    Binding,
    Depths,
    Site,
    Summary,
    extended,
    is_folded,
    nested,
    shortened,
)
from raceproof.engines.summary.terms import UNKNOWN, Origin, Term, Terms, means

Path: TypeAlias = tuple[tuple[str, int], ...]
Context: TypeAlias = tuple[ThreadId, Core, Path, Binding]
Active: TypeAlias = tuple[tuple[ThreadId, bool], ...]
Group: TypeAlias = tuple[ThreadId, Core]
Shape: TypeAlias = tuple[Term, int | None, bool, bool, tuple[Site, ...]]
"""An access but for its thread and state."""
Happening: TypeAlias = tuple[ThreadId, tuple[Core, ...], list[Shape]]
"""Accesses that all happen in one thread in each of some states."""

MAX_CONTEXTS = 12
"""Different states of one function in one thread before they are joined."""
MUCH_WORK = 100_000
"""Accesses and calls brought down, after which new states are joined at once."""
TOO_MUCH_WORK = 400_000
"""After which functions that were seen in a thread are not looked at again."""


@dataclass(slots=True)
class ThreadFacts:
    """An abstract thread of the program."""

    id: ThreadId
    entries: dict[str, None] = field(default_factory=dict)
    created: list[Core] = field(default_factory=list)
    """The states of its creator at its creation."""
    multiple: int = 0
    """How surely many of it run at once: 2 they do, 1 perhaps, 0 they do not."""
    ids: set[Term] = field(default_factory=set)
    leaks: set[ThreadId] = field(default_factory=set)
    """Threads that it leaves running at its end."""


class Weakest:
    """States of one thing, without those that another one covers.

    Of two states with the same `key` (the locks) one covers the other if whatever may race in the
    other may race in it as surely: as many threads are active, and no more was waited for.
    """

    __slots__ = ("_states", "count")

    def __init__(self) -> None:
        self._states: dict[Any, list[Core]] = {}
        self.count = 0

    def __iter__(self) -> Iterator[Core]:
        for same in self._states.values():
            yield from same

    def is_covered(self, key: Any, core: Core) -> bool:
        same = self._states.get(key)
        return same is not None and any(_covers(known, core) for known in same)

    def add(self, key: Any, core: Core) -> None:
        same = self._states.get(key)
        if same is None:
            self._states[key] = [core]
            self.count += 1
        elif not any(_covers(known, core) for known in same):
            kept = [known for known in same if not _covers(core, known)]
            self.count += 1 + len(kept) - len(same)
            self._states[key] = [*kept, core]


def _covers(one: Core, other: Core) -> bool:
    return _waits_less(one[4], other[4]) and _runs_more(one[2], other[2])


def _waits_less(one: Terms, other: Terms) -> bool:
    return not one or one == other or UNKNOWN in other or set(one).issubset(other)


def _runs_more(one: Active, other: Active) -> bool:
    if not other or one == other:
        return True
    known = dict(one)
    return all(known.get(thread, False) >= sure if sure else thread in known
               for thread, sure in other)  # fmt: skip


class _Closing(Instance):
    """Puts actual parameters into a function's own states."""

    def __init__(self, summary: Summary, arguments: tuple[Terms, ...]) -> None:
        super().__init__(summary, arguments, ("", 0), lambda address: None, {})

    def _object(self, origin: Origin) -> Origin:
        return origin


class SummaryContexts:
    def __init__(self, summaries: Mapping[str, Summary], depths: Depths) -> None:
        self._summaries = summaries
        self._depths = depths
        self.threads: dict[ThreadId, ThreadFacts] = {}
        self.functions: set[str] = set()
        self._closings: dict[tuple[str, Binding], _Closing] = {}
        self._groups: dict[str, dict[Group, list[Shape]]] = {}
        self._states: dict[tuple[str, int, ThreadId], Weakest] = defaultdict(Weakest)
        """Function, group of its accesses and thread -> the states in which they happen."""
        self._seen: dict[tuple[str, ThreadId], Weakest] = defaultdict(Weakest)
        self._joined: dict[tuple[str, ThreadId], Core] = {}
        self._work: list[tuple[int, int, str, Context]] = []
        """Few flags first: who comes later is more often covered."""
        self._order = 0
        self._creates = _transitive_creators(summaries)
        self.is_cut = False
        self._done = 0

    def add_entry(self, name: str, thread: ThreadId, *, is_multiple: bool = False) -> None:
        facts = self.threads.setdefault(thread, ThreadFacts(thread))
        facts.entries[name] = None
        facts.multiple = max(facts.multiple, 2 * is_multiple)
        self._visit(name, (thread, EMPTY, (), ()))
        self._run()

    def _visit(self, name: str, context: Context) -> None:
        thread, core, path, binding = context
        if core is not EMPTY:
            # There is no caller above the entries, to whom giving back and joining could matter.
            core = (core[0], (), core[2], (), core[4])
        seen = self._seen[name, thread]
        if seen.is_covered((core[0], path, binding), core):
            return
        if seen.count and self._done > TOO_MUCH_WORK:
            self.is_cut = True
            return
        if seen.count >= (MAX_CONTEXTS if self._done < MUCH_WORK else 1):
            self.is_cut = True
            known = self._joined.get((name, thread))
            core = core if known is None else state.join(known, core)
            path, binding = (), ()
            if seen.is_covered((core[0], path, binding), core):
                return
            self._joined[name, thread] = core
        seen.add((core[0], path, binding), core)
        self._order += 1
        heappush(self._work, (len(core[4]), self._order, name, (thread, core, path, binding)))

    def _run(self) -> None:
        while self._work:
            _, _, name, context = heappop(self._work)
            self.functions.add(name)
            self._enter(self._summaries[name], context)

    def _enter(self, summary: Summary, context: Context) -> None:
        thread, core, path, binding = context
        closing = self._closing(summary, binding)
        lifted_cores: dict[Core, Core] = {}
        self._done += len(summary.closed) + len(summary.calls)

        names: dict[ThreadId, ThreadId] = {(): thread}

        def absolute(inner: ThreadId) -> ThreadId:
            found = names.get(inner)
            if found is None:
                segment = path
                for site in inner[0]:
                    segment = extended(segment, site)
                whole = (shortened(segment, self._depths), *inner[1:])
                found = names[inner] = nested(thread, whole)
            return found

        def lift(inner: Core) -> Core:
            if inner == EMPTY:
                return core
            found = lifted_cores.get(inner)
            if found is None:
                known = inner if closing is None else closing.core(inner, 0)
                found = lifted_cores[inner] = state.combine(
                    core, _renamed(known, absolute), self._match, self._leaks
                )
            return found

        for inner, info in summary.threads.items():
            name = absolute(inner)
            facts = self.threads.setdefault(name, ThreadFacts(name))
            folded = int(is_folded(thread, inner, name))
            facts.multiple = max(facts.multiple, info[3], folded)
            facts.ids.update(info[0] if closing is None else closing.all_terms(info[0]))
            facts.leaks.update(absolute(left) for left in info[2])
        for group, (inner, at) in enumerate(self._grouped(summary)):
            lifted = lift(at) if not inner else _renamed(at, absolute)
            key = (summary.name, group, absolute(inner))
            self._states[key].add(lifted[0], lifted)
        for inner, entry, at, start, arguments in summary.creations:
            name = absolute(inner)
            facts = self.threads.setdefault(name, ThreadFacts(name))
            created = lift(at)
            if created not in facts.created:
                facts.created.append(created)
            if state.is_active(core, name):
                folded = is_folded(thread, inner, name)
                facts.multiple = max(facts.multiple, 1 if folded else 2)
            facts.entries[entry] = None
            if entry in self._summaries:
                if closing is not None:
                    start = closing.core(start, 0)
                    arguments = tuple((i, closing.all_terms(terms)) for i, terms in arguments)
                self._visit(entry, (name, _renamed(start, absolute), (), arguments))
        for number, callee, at, arguments in summary.calls:
            actual = arguments
            if closing is not None:
                actual = tuple((i, closing.all_terms(terms)) for i, terms in arguments)
            longer: Path = ()
            if callee in self._creates:
                longer = extended(path, (summary.name, number))
            self._visit(callee, (thread, lift(at), longer, actual))

    def _closing(self, summary: Summary, binding: Binding) -> _Closing | None:
        if not summary.needs:
            return None
        key = (summary.name, binding)
        if key not in self._closings:
            known = dict(binding)
            actual = tuple(known.get(i, ())[:1] for i in range(max(summary.needs) + 1))
            self._closings[key] = _Closing(summary, actual)
        return self._closings[key]

    def _grouped(self, summary: Summary) -> dict[Group, list[Shape]]:
        """The closed accesses of a function, those together that happen in one state."""
        found = self._groups.get(summary.name)
        if found is None:
            found = self._groups[summary.name] = defaultdict(list)
            for (address, size, is_write, is_atomic, inner, at), sites in summary.closed.items():
                found[inner, at].append((address, size, is_write, is_atomic, sites))
        return found

    def happenings(self) -> Iterator[Happening]:
        """All closed accesses of the program, in the states that protect them least."""
        for (name, group, thread), states in self._states.items():
            yield thread, tuple(states), list(self._groups[name].values())[group]

    def running(self) -> dict[str, frozenset[ThreadId]]:
        """By which threads each function is run."""
        found: dict[str, set[ThreadId]] = defaultdict(set)
        for thread, facts in self.threads.items():
            stack = [name for name in facts.entries if name in self._summaries]
            seen = set(stack)
            while stack:
                name = stack.pop()
                found[name].add(thread)
                for callee in self._summaries[name].callees:
                    if callee not in seen:
                        seen.add(callee)
                        stack.append(callee)
        return {name: frozenset(threads) for name, threads in found.items()}

    def _match(self, thread: ThreadId, handle: Term) -> int:
        facts = self.threads.get(thread)
        if facts is None:
            return 0
        how = means(handle, facts.ids)
        return min(how, 1) if facts.multiple == 2 else how

    def _leaks(self, thread: ThreadId) -> list[ThreadId]:
        facts = self.threads.get(thread)
        return [] if facts is None else sorted(facts.leaks)


def _renamed(core: Core, absolute: Callable[[ThreadId], ThreadId]) -> Core:
    if not core[2]:
        return core
    active = {absolute(thread): sure for thread, sure in core[2]}
    return (core[0], core[1], tuple(sorted(active.items())), core[3], core[4])


def _transitive_creators(summaries: Mapping[str, Summary]) -> set[str]:
    """The functions below which a thread is created."""
    callers: dict[str, list[str]] = defaultdict(list)
    found = {name for name, summary in summaries.items() if summary.creations}
    for name, summary in summaries.items():
        for _, callee, _, _ in summary.calls:
            callers[callee].append(name)
    stack = list(found)
    while stack:
        for caller in callers[stack.pop()]:
            if caller not in found:
                found.add(caller)
                stack.append(caller)
    return found
