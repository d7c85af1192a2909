"""Thread-modular analysis: each thread by itself, reading what the others may have written.

A thread is interpreted as a sequential program. It starts in the join of the states at its creation
sites. Whenever it reads memory, it gets its own view joined with all values that threads which may
be running beside it ever write to those bytes (the strategy *over*), or its own view alone
(*under*). Threads are interpreted again until starts, writes and the threads themselves no longer
change.

Why *over* is sound
-------------------

The claim: if no pair of recorded accesses is left, no sequentially consistent execution has a data
race, as long as the assumptions of the answer hold and nothing was `not_followed`.

*Values.* Take any execution and any read in it, by thread T, of a byte last written by some write
w. By induction over the execution, every value up to there is covered. Either w is T's own, or its
creator's (or a creator's creator's) from before the creation: then it is in T's own view, which
starts as the view of its creator. Or w is by another thread U. If U had ended and been joined by T,
or by an ancestor before it created T's branch, its writes were joined into the view at that join
(`absorb`). Otherwise nothing tells T that U has ended, so U is in the set of threads that may run
beside T (a thread leaves that set only by such a join), and the value of w is among the values
recorded for U. Writes are recorded unless no other thread may be running; then they reach others
only through creations or joins of the writer. No lock hides a value: what T read of shared memory
is never taken to be still there at the next read, and a branch teaches something about a cell only
if nothing can have been written since it was loaded and no other thread runs.

*Objects.* A base is strong, that is overwritten instead of joined, and its locks count as one lock,
only if it stands for one object: made once by an activation that runs once (no later round of a
loop than are kept apart, no recursion) of a thread of which there is one instance ever
(`is_repeated`, `is_unique`). A base that turns out weak later makes all threads be interpreted
again.

*Running threads.* A thread leaves the set only when its id is a single known thread that is unique,
so at most one instance is running, and this instance has been waited for; with it go those of its
children that it has waited for on every way to its end. A thread that may be cancelled may end
anywhere, so none of its children goes. What an earlier instance left running (`inherited`) runs
beside the next one. Two accesses are ordered only if one of them cannot be while the other's thread
runs.

*Locks.* A lock is held only if it was taken at one exact address of a strong base, or at an address
known by name (`symbols`) whose registers have not been assigned since. It is given back by every
release that may mean it. Joins keep what both ways hold. After a jump back to `setjmp` nothing is
held; a recursive call keeps a lock of its caller only if its body never gives back more than it
took (`recursion`). A new thread holds nothing. `spin_locks` says when a variable is a lock.

*Paths.* Code runs that is not called by name: threads, callbacks, destructors, exit functions,
signal handlers (`endings`), exceptions (`interpreter`). A call or thread start through a pointer
that may point anywhere, and any write through one, is `not_followed` and rules a proof out. What is
outside of the program is named under the assumptions.
"""

from __future__ import annotations

import time
from functools import partial

from raceproof.analysis.contexts import Contexts
from raceproof.analysis.endings import Endings
from raceproof.analysis.evaluate import Evaluator, InitialMemory
from raceproof.analysis.facets.notes import Notes
from raceproof.analysis.flow import Flows
from raceproof.analysis.interference import Interference
from raceproof.analysis.interpreter import Interpreter, OutOfBudget
from raceproof.analysis.lost_code import LostCode, may_be_lost
from raceproof.analysis.objects import Objects
from raceproof.analysis.records import OUTSIDE, Records
from raceproof.analysis.rounds import Rounds
from raceproof.analysis.spin_locks import SpinLocks
from raceproof.analysis.state import Content, ThreadState
from raceproof.analysis.threads import ThreadInfo, Threads
from raceproof.analysis.worklist import SeenCallGraph, WorklistInterpreter, callees_last
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.events import LockAttribute
from raceproof.domains import integers as ints
from raceproof.domains import values as domain
from raceproof.domains.memory import Memory
from raceproof.domains.values import AbstractValue, Pointers
from raceproof.ir import PointerType, Program
from raceproof.ir.cfg import direct_calls


class Analysis:
    """The whole program; `run` fills in everything else."""

    def __init__(
        self,
        program: Program,
        models: Models,
        *,
        events: Events | None = None,
        unroll: int = 0,
        context_depth: int | None = None,
        is_coarse: bool = False,
        sees_others: bool = True,
        goes_on: bool = False,
        deadline: float | None = None,
    ) -> None:
        self.program = program
        self.sees_others = sees_others
        self.is_coarse = is_coarse
        """Is little told apart, to be done sooner?"""
        self.goes_on = goes_on
        """Do executions go on after something undefined, with any value?"""
        self._again = partial(
            Analysis,
            program,
            models,
            events=events,
            unroll=unroll,
            context_depth=context_depth,
            is_coarse=is_coarse,
            sees_others=sees_others,
            goes_on=True,
            deadline=deadline,
        )
        self.events = Events(program, models) if events is None else events
        self.flows = Flows(program)
        self.contexts = Contexts(context_depth)
        self.objects = Objects(program)
        self.threads = Threads(program.entry)
        bits = program.layout.pointer_size * 8
        self.interference = Interference(bits, sees_others)
        self.spin_locks = SpinLocks(self)
        self.notes = Notes()
        self.records = Records()
        self.stored: dict[int, set[int]] = {}
        """Base -> bases whose addresses were stored in it, ever."""
        self.handed_over: set[int] = set()
        """Bases whose addresses were given to a new thread."""
        self.given_away: dict[str, tuple[int, str]] = {}
        """Functions that unknown code was given: the call, and whom it calls."""
        self.entered: set[str] = set()
        """Functions that were interpreted."""
        self.went_on: set[int] = set()
        """Loads and stores after which some execution goes on."""
        self.endings = Endings(self)
        self.recursive: set[str] = set()
        """Functions seen to call themselves, directly or not."""
        self.call_graph = SeenCallGraph(self.recursive)
        self.callees_last = callees_last(list(program.defined)) if is_coarse else {}
        self.cancelled: set[int] = set()
        """Threads that others may cancel."""
        oddities = _oddities(program, self.events)
        self.tells_always, self.counts_relocks, self.nests_locks = oddities
        self.rounds = Rounds(program, self.events, self.flows, unroll, is_coarse)
        self.is_recording = True
        self.deadline = deadline
        self.ticks = 0
        self._seen: dict[int, tuple[int, ...]] = {}
        self.external_pointer = domain.AbstractValue(
            ints.top(bits), {self.objects.external: ints.constant(0, bits)}
        )
        self._bits = bits

    # --- what the interpreter asks and tells ----------------------------------------------------

    def tick(self) -> None:
        self.ticks += 1
        if self.deadline is not None and self.ticks % 64 == 0:
            if time.monotonic() > self.deadline:
                raise OutOfBudget

    def external_value(self, bits: int) -> AbstractValue:
        """What memory outside of the program may hold."""
        return self.external_pointer if bits == self._bits else domain.any_integer(bits)

    def note_external(self) -> None:
        self.records.assume(OUTSIDE)

    def note_unknown(self, name: str) -> None:
        self.records.assume(
            f"`{name}` (defined nowhere, no model) starts no threads and accesses nothing shared"
        )

    @property
    def unseen(self) -> list[tuple[int, str]]:
        """Functions that only unknown code may call: what they do was not looked at."""
        return [
            (call, f"a call of `{name}` (called nowhere else) by `{caller}`")
            for name, (call, caller) in sorted(self.given_away.items())
            if name not in self.entered
        ]

    def lost(self) -> LostCode | None:
        """Code that is out of reach only since executions were ended before it."""
        stopped: dict[int, str] = {}
        for info in self.threads.all:
            for number, why in info.records.stopped.items():
                stopped[number] = stopped.get(number) or why
        lost = may_be_lost(self.program, self.events, self.threads.reached, stopped)
        if lost:
            again = self._again()
            try:
                again.run()
            except OutOfBudget:
                return lost
            lost = lost.within(again.threads.reached, self.program)
        return lost or None

    def stored_addresses(self, base: int, pointers: Pointers) -> None:
        self.stored.setdefault(base, set()).update(pointers)

    def hand_over(self, argument: AbstractValue) -> None:
        self.handed_over.update(argument.pointers)

    def is_cancelled(self, thread: int) -> bool:
        return thread in self.cancelled

    def cancel(self, threads: set[int]) -> None:
        if not threads <= self.cancelled:
            self.cancelled |= threads
            self.threads.version += 1

    def thread_ended(self, thread: int, state: ThreadState, value: AbstractValue | None) -> None:
        info = self.threads[thread]
        self.threads.ended(info, state.facets.may_parallel)
        if value is not None:
            self.hand_over(value)
            result = value if info.result is None else domain.join(info.result, value)
            if result is not info.result:
                info.result = result
                info.ends_anew()

    # --- the fixpoint ------------------------------------------------------------

    def run(self) -> None:
        """Interprets threads until nothing changes."""
        self._prepare_main()
        while True:
            changed = False
            index = 0
            while index < len(self.threads.all):
                info = self.threads[index]
                if info.start is not None and self._is_outdated(info):
                    self._interpret_noting(info)
                    changed = True
                index += 1
            if not changed:
                break
        for info in self.threads.all:
            for number, why in info.records.ended.items():
                if number not in self.went_on:
                    info.records.assume(why)

    def _interpret_noting(self, info: ThreadInfo) -> None:
        """Interprets a thread, and notes what that depends on, as it was before."""
        ends = [other.end_version for other in self.threads.all]
        before = self._inputs(info)
        info.heard = self.interference.consult()
        info.consulted = -1 if self.rounds.creates_threads else 0
        self._interpret(info)
        if info.left is None and info.runs == 1:
            info.ends_anew()
        asked = sum(end for index, end in enumerate(ends) if info.consulted >> index & 1)
        self._seen[info.index] = (asked, *before[1:])

    def _is_outdated(self, info: ThreadInfo) -> bool:
        """Must it be interpreted, or interpreted again?"""
        if self._seen.get(info.index) != self._inputs(info) or info.heard is None:
            return True
        return self.interference.has_news(self._heard_by(info), info.heard)

    def _inputs(self, info: ThreadInfo) -> tuple[int, ...]:
        """What it depends on, but for what others wrote."""
        return (
            sum(t.end_version for t in self.threads.all if info.consulted >> t.index & 1),
            info.start_version,
            self.threads.version,
            self.objects.bases.weakened,
            len(self.recursive),
            self.contexts.merges,
        )

    def _heard_by(self, info: ThreadInfo) -> int:
        """Bit set of the threads whose writes the thread may see. Its own are in its own view."""
        heard = info.beside | info.children | info.inherited
        if self.tells_always:
            heard |= info.bit
        elif info.is_unique:
            heard &= ~info.bit
        return heard

    def _prepare_main(self) -> None:
        info = self.threads.main
        evaluator = Evaluator(self, 0)
        initial = InitialMemory(self, 0, evaluator)
        info.start = ThreadState(initial.of_globals(list(self.program.globals.values())))
        info.argument = domain.any_integer(32)

    def _interpret(self, info: ThreadInfo) -> None:
        info.runs += 1
        self.records = info.records = Records()
        run = (WorklistInterpreter if self.is_coarse else Interpreter)(self, info.index)
        assert info.start is not None
        state = info.start.copy()
        state.registers = {}
        state.facets = state.facets._replace(may_parallel=info.beside)
        if info.is_unique:
            state.facets = state.facets._replace(
                may_parallel=state.facets.may_parallel
                & ~((info.bit | info.children) & ~info.inherited)
            )
        if info.index:
            state.memory = self._own_globals(info, state.memory)
        function = self.program.functions[info.entry]
        if not function.is_defined:
            self.note_unknown(info.entry)
            self.thread_ended(info.index, state, None)
            return
        states = self._constructed(run, state) if info.index == 0 else [state]
        context = self.contexts.root(info.index, function.name)
        arguments = self._arguments(info)
        ticks = -1
        while ticks != self.ticks:
            ticks = self.ticks if self.is_coarse else -1
            for start in states:
                for left, value in run.run(function, arguments, {}, start, context):
                    result = value if isinstance(value, AbstractValue) else None
                    if info.index:
                        left = self.endings.after_thread(run, left)
                        self.thread_ended(info.index, left, result)
                    else:
                        self.endings.after_process(run, left)
            if not self.is_coarse:
                return

    def _own_globals(self, info: ThreadInfo, memory: Memory) -> Memory:
        """Fresh thread-locals of a new thread."""
        variables = [g for g in self.program.globals.values() if g.is_thread_local]
        if not variables:
            return memory
        own = InitialMemory(self, info.index, Evaluator(self, info.index)).of_globals(variables)
        for base, contents in own.items():
            memory = memory.set(base, contents)
        return memory

    def _constructed(self, run: Interpreter, state: ThreadState) -> list[ThreadState]:
        """After the functions that run before `main`."""
        states = [state]
        for name in self.program.constructors:
            function = self.program.functions.get(name)
            if function is None or not function.is_defined:
                continue
            context = self.contexts.root(0, name)
            states = [left for old in states for left, _ in run.run(function, (), {}, old, context)]
        return states

    def _arguments(self, info: ThreadInfo) -> tuple[Content, ...]:
        function = self.program.functions[info.entry]
        if info.index == 0:
            return tuple(
                self.external_pointer
                if isinstance(parameter.type, PointerType)
                else domain.any_integer(getattr(parameter.type, "bits", 32))
                for parameter in function.parameters
            )
        assert info.argument is not None
        first: tuple[Content, ...] = (info.argument,)
        return (first + (self.external_pointer,) * len(function.parameters))[
            : len(function.parameters)
        ]


def _oddities(program: Program, events: Events) -> tuple[bool, bool, bool]:
    """Does the program jump back to `setjmp`? Then what a thread writes is noted even while it is
    alone. And is a second lock of a mutex by its owner sure to count? Not if mutexes are made that
    refuse it and stay locked once. And are there any that count it?"""
    jumps = False
    counts = True
    nests = False
    for function in program.defined:
        for call, _ in direct_calls(function):
            event = events.of(call)
            if event is not None:
                jumps = jumps or event.model.returns_twice
                if isinstance(event, LockAttribute):
                    counts = counts and event.recursive is True
                    nests = nests or event.recursive is not False
    return jumps, counts, nests
