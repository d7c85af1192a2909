"""Thread-modular analysis over a cheap backend: threads, locks, who runs beside whom, accesses.

As in RacerF's sections 5.1 and 6: starting with `main`, each thread is walked through by itself,
in every context of its latest calls; locks and threads are taken and given back as the backend
resolves their addresses, with may- and must-sets at once; threads found on the way are walked
through as well, until nothing changes. What is noted down is what the value backend notes down, so
the same detector works on it.

Why it can prove, over a backend whose answers cover every execution. A lock counts as held only if
its address is a single place of a single object, or told from the accessed address itself, on every
way to the access, and whatever may be given back is given back. A thread counts as not running only
before any creation of it on the way here, or after a join of it: by its creator, or of a thread
that is created once in all. Branches are taken both ways. An access is left out only if it is to an
object that no second thread can get hold of, or that its thread has made and not shown to others
yet. There is no interference to be added: without values, nothing a thread reads narrows its way.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from raceproof.analysis.backend import Backend
from raceproof.analysis.contexts import Context, Contexts
from raceproof.analysis.facets import START
from raceproof.analysis.facets.notes import Notes
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.locks import LockKey
from raceproof.analysis.lost_code import LostCode
from raceproof.analysis.once import ExecutedOnce
from raceproof.analysis.records import Records
from raceproof.analysis.threads import ThreadInfo, Threads
from raceproof.analysis.walk.freshness import Freshness
from raceproof.analysis.walk.layout import Layouts
from raceproof.analysis.walk.point import Point
from raceproof.analysis.walk.recorder import Recorder, is_later
from raceproof.analysis.walk.walker import TooManyContexts, Walker
from raceproof.concurrency import events as ev
from raceproof.domains import values as domain
from raceproof.ir import Call

if TYPE_CHECKING:
    from raceproof.analysis.walk.join_loops import JoinLoops


class Walk:
    """The whole program over one backend; `run` fills in everything else."""

    unknown = domain.UNKNOWN

    def __init__(
        self, backend: Backend, context_depth: int = 2, deadline: float | None = None
    ) -> None:
        self.backend = backend
        self.program = backend.program
        self.events = backend.events
        self.objects = backend.objects
        self.threads = Threads(self.program.entry)
        self.contexts = Contexts()
        self.notes = Notes()
        """A walk counts no waits."""
        self.layouts = Layouts(backend)
        self.freshness = Freshness(backend)
        self.once = ExecutedOnce(
            self.program,
            self.events,
            lambda call: backend.callees(self._home(call), call),
            lambda call: backend.entries(self._home(call), call),
        )
        self.sees_others = backend.can_prove
        self.stored: dict[int, set[int]] = {}
        self.handed_over: set[int] = set()
        self.unseen: list[tuple[int, str]] = []
        self.dependent_starts = 0
        """Bit set of the threads of which it is unclear whether they are ever created."""
        self.has_cancellation = any(
            isinstance(backend.events.of(call), ev.ThreadCancel)
            for _, call in self.program.all_instructions()
            if isinstance(call, Call)
        )
        self.recursive_locks = self._recursive_locks()
        self._last_rites = self._late_routines()
        self.join_loops: JoinLoops | None = None
        """Known in the second walk, if there are any."""
        self.depth = context_depth
        """Of the contexts; less than asked for if there would be too many."""
        self.blocks = 0
        """Gone through so far."""
        self.calls = 0
        """Functions entered so far."""
        self.joins_entries = False
        """Is a function gone through once for all ways to it? The last resort."""
        self._inner: dict[tuple[Context, int, str], Context] = {}
        self._deadline = deadline

    def _home(self, call: Call) -> str:
        return self.program.function_of(call.number).name

    def _recursive_locks(self) -> set[LockKey]:
        """Locks initialised with attributes, if all attributes of the program make recursive ones.

        That an error-checking mutex is no recursive one must not be missed."""
        found: set[LockKey] = set()
        for function, call in self.program.all_instructions():
            event = self.backend.events.of(call) if isinstance(call, Call) else None
            if isinstance(event, ev.LockAttribute) and event.recursive is not True:
                return set()
            if isinstance(event, ev.LockInit) and event.recursive is not False:
                place = self.backend.pointers(function.name, event.lock, 0).only_address
                if place is not None:
                    found.add(LockKey(*place))
        return found

    def _late_routines(self) -> tuple[str, ...]:
        """Destructors of keys, exit handlers and the like. Any thread may run them at its end."""
        found: dict[str, None] = {}
        for function, call in self.program.all_instructions():
            if isinstance(call, Call):
                events = (
                    self.backend.events.of(call, name)
                    for name in self.backend.callees(function.name, call)
                )
                if any(event is not None and is_later(event) for event in events):
                    found |= dict.fromkeys(self.backend.entries(function.name, call))
        own = [self.program.functions.get(name) for name in found]
        return tuple(f.name for f in own if f is not None and f.is_defined)

    def lost(self) -> LostCode | None:
        """Nothing: a walk follows every branch, and ends at nothing undefined."""
        return None

    def tick(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfBudget

    def inner(self, context: Context, call: int, name: str) -> Context:
        """The context of a callee: the latest calls only, so that there are not too many."""
        key = (context, call, name)
        known = self._inner.get(key)
        if known is not None:
            return known
        chain = context.chain()
        steps = [(c.call, c.function) for c in chain[1:]] + [(call, name)]
        inner = chain[0]
        for step, function in steps[-self.depth :] if self.depth else ():
            inner = self.contexts.enter(inner, step, (), function, False)
        self._inner[key] = inner
        return inner

    def created(self, creator: ThreadInfo, context: Context, call: Call, name: str) -> ThreadInfo:
        site = self.contexts.enter(context, call.number, (), name, False)
        return self.threads.find(creator.index, site, call.number, name)

    def run(self) -> None:
        """Walks through threads until nothing changes, then writes down the accesses."""
        self._record(self._walked())
        if self._joins_in_loops():
            from raceproof.analysis.walk.join_loops import JoinLoops

            loops = JoinLoops(self)
            if loops:
                self.join_loops = loops
                self._restart()
                self._record(self._walked())

    def _joins_in_loops(self) -> bool:
        """May the function join all threads that it creates in a loop?"""
        if self.threads.main.children == 0:
            return False
        joining = {
            function.name
            for function, call in self.program.all_instructions()
            if isinstance(call, Call) and isinstance(self.events.of(call), ev.ThreadJoin)
        }
        return any(self.layouts.of(name).graph.loop_heads for name in joining)

    @property
    def may_shorten(self) -> bool:
        """Is there a coarser walk?"""
        return self.depth > 0 or not self.joins_entries

    def _restart(self) -> None:
        self.blocks = self.calls = 0
        self._inner = {}
        self.threads = Threads(self.program.entry)
        self.contexts = Contexts()

    def _walked(self) -> dict[int, Walker]:
        while True:
            try:
                return self._walk_all()
            except TooManyContexts:
                self.joins_entries = not self.depth
                self.depth = max(self.depth - 1, 0)
                self._restart()

    def _record(self, walkers: dict[int, Walker]) -> None:
        for index in sorted(walkers):
            info = self.threads[index]
            info.records = Records()
            Recorder(self, walkers[index], info).record()

    def _walk_all(self) -> dict[int, Walker]:
        walkers: dict[int, Walker] = {}
        known: dict[int, tuple[int, bool, int, Point]] = {}
        """What a walk through a thread started with: if that neither creates nor joins others, the
        walk depends on nothing else."""
        version = -1
        while version != self.threads.changes:
            version = self.threads.changes
            index = 0
            while index < len(self.threads.all):
                info = self.threads[index]
                key = (info.beside, info.is_unique, info.inherited, self.start(info))
                if known.get(index) != key or info.children or walkers[index].has_joins:
                    walkers[index] = self._walk(info)
                    known[index] = key
                index += 1
        return walkers

    def _walk(self, info: ThreadInfo) -> Walker:
        info.runs += 1
        walker = Walker(self, info)
        point = self.start(info)
        function = self.program.functions[info.entry]
        if not function.is_defined:
            self.threads.ended(info, point.facets.may_parallel)
            return walker
        if info.index == 0:
            for name in self.program.constructors:
                made = self.program.functions.get(name)
                if made is not None and made.is_defined:
                    visit = walker.run(name, self.contexts.root(0, name), point)
                    point = visit.exit or point
        visit = walker.run(info.entry, self.contexts.root(info.index, info.entry), point)
        if info.index and visit.exit is not None:
            self.threads.ended(info, visit.exit.facets.may_parallel)
        for name in self._last_rites:
            walker.run(name, self.contexts.root(info.index, name), self._end(info))
        return walker

    def _end(self, info: ThreadInfo) -> Point:
        """Before a thread ends: without locks, beside whoever may run by then."""
        running = info.beside | info.children
        running = running & ~info.bit if info.is_unique else running
        return Point(START._replace(may_parallel=running, depends_on_others=True))

    def start(self, info: ThreadInfo) -> Point:
        running = info.beside
        if info.is_unique:
            running &= ~((info.bit | info.children) & ~info.inherited)
        return Point(
            START._replace(
                may_parallel=running,
                depends_on_others=bool(self.dependent_starts & info.bit),
            )
        )
