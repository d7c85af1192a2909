"""The threads of a program by points-to sets alone: who may create whom, and what each may run.

The coarse layer below a walk: no order, no locks, no contexts, so its time is that of the points-to
sets, and the rest is about linear in the program. A thread is a creating call and an entry. It is
created by whoever may reach the call; it runs whatever its entry reaches by calls, callbacks that
are called at once among them. Every thread may run beside every other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import count

from raceproof.analysis.alias.backend import AliasBackend
from raceproof.analysis.once import ExecutedOnce
from raceproof.concurrency import events as ev
from raceproof.ir import Call


@dataclass(frozen=True, slots=True)
class CreationEdge:
    """A call of a function by another."""

    call: int
    choices: int
    """How many functions the call may mean."""


@dataclass(slots=True)
class GraphThread:
    """A thread; `main` is number 0 and has neither parent nor call."""

    index: int
    entry: str
    parent: int | None = None
    call: int | None = None
    """That creates it."""
    is_unique: bool = True
    joins: list[int] = field(default_factory=list)
    """Calls that wait for what its call creates, and nothing else."""


class ThreadGraph:
    """All threads, parents before children."""

    def __init__(self, backend: AliasBackend) -> None:
        self._program = backend.program
        self._callees: dict[str, dict[str, CreationEdge]] = {}
        self._creations: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        self._joins: dict[int, list[int]] = {}
        for function, call in self._program.all_instructions():
            if isinstance(call, Call):
                self._read(backend, function.name, call)
        self._once = ExecutedOnce(
            self._program,
            backend.events,
            lambda call: backend.callees("", call),
            lambda call: backend.entries("", call),
        )
        self._reached: dict[str, dict[str, str]] = {}
        """Entry -> the functions it reaches, each with its caller."""
        self.threads = self._find()

    def _read(self, backend: AliasBackend, function: str, call: Call) -> None:
        called = self._callees.setdefault(function, {})
        names = backend.callees(function, call)
        for name in names:
            event = backend.events.of(call, name)
            if isinstance(event, ev.ThreadCreate):
                entries = tuple(self._defined(backend.entries(function, call)))
                self._creations.setdefault(function, []).append((call.number, entries))
                continue
            if isinstance(event, ev.ThreadJoin):
                created = backend.created_at(function, event.thread, event.is_indirect)
                if created is not None:
                    self._joins.setdefault(created, []).append(call.number)
            for inner in (name, *backend.entries(function, call)):
                known = called.get(inner)
                if known is None or known.choices > len(names):
                    called[inner] = CreationEdge(call.number, len(names))

    def _defined(self, names: Iterable[str]) -> Iterable[str]:
        known = self._program.functions
        return (name for name in names if name in known and known[name].is_defined)

    def _find(self) -> list[GraphThread]:
        found = [GraphThread(0, self._program.entry)]
        seen: dict[tuple[int, str], GraphThread] = {}
        for thread in found:
            for call, entry in self._created(thread):
                if (call, entry) in seen:
                    continue
                is_unique = self._once.is_once(call)
                child = GraphThread(len(found), entry, thread.index, call, is_unique)
                child.joins = list(self._joins.get(call, ())) if is_unique else []
                seen[call, entry] = child
                found.append(child)
        return found

    def _created(self, thread: GraphThread) -> list[tuple[int, str]]:
        starts = [thread.entry]
        if thread.index == 0:
            starts += self._program.constructors
        return [
            (call, entry)
            for start in starts
            for function in self.reached(start)
            for call, entries in self._creations.get(function, ())
            for entry in entries
        ]

    def reached(self, entry: str) -> dict[str, str]:
        """The functions that a thread may run, each with its caller on the surest way: calls that
        may mean many functions come last."""
        found = self._reached.get(entry)
        if found is not None:
            return found
        found = self._reached[entry] = {}
        order = count()
        work = [(0, next(order), entry, "")]
        while work:
            cost, _, name, caller = heappop(work)
            if name in found:
                continue
            found[name] = caller
            for callee, edge in self._callees.get(name, {}).items():
                if callee not in found:
                    heappush(work, (cost + edge.choices, next(order), callee, name))
        return found

    def path(self, entry: str, function: str) -> list[tuple[str, int]]:
        """The surest chain of calls from the one to the other, each function with how many the call
        of it may mean; empty if there is none."""
        reached = self.reached(entry)
        path: list[tuple[str, int]] = []
        while function and function in reached:
            caller = reached[function]
            path.append((function, self._callees[caller][function].choices if caller else 1))
            function = caller
        return path[::-1]

    def callees(self, function: str) -> Iterable[str]:
        """Whom a function may call."""
        return self._callees.get(function, {})

    @cached_property
    def callers(self) -> dict[str, list[int]]:
        """Function -> calls that may mean it."""
        found: dict[str, list[int]] = {}
        for callees in self._callees.values():
            for name, edge in callees.items():
                found.setdefault(name, []).append(edge.call)
        return found
