"""Transitions of the explorer: a thread runs from one synchronisation to the next.

Unreduced, every visible step is a transition, and a race is two threads about to race (the
definition).

**Blocks.** Reduced, only synchronisation is a choice: a thread runs from one lock operation, thread
operation, atomic access or atomic section to the next without interruption. A race is an access
that meets the *block* of another thread: its plain accesses since it last synchronised.

    thread 1: lock(m) x=1 y=1 unlock(m)        block after "lock": {x, y}; after "unlock": {}
    thread 2: lock(n) y=2 unlock(n)            y=2 meets the block {x, y} of thread 1: a race

No race is lost. Take a shortest execution to a race, thread 1 about to do a1, thread 2 about to do
a2; no state before has a race, nor has one on an execution with the same steps in another order.

1. Take a plain access p of thread T and the step e of another thread just before it. T already
   stood at p before e, since what T does depends only on T until it reads memory. Were e and p in
   conflict, that state would have been a race. So they commute (synchronisation touches no memory
   but what its accesses say, and allocations go to the allocator's own arena), and p can be moved
   up, step by step, to just after the last step of T. Now every thread runs each of its blocks in
   one go, with the synchronisation in the same order as before.
2. We also run the *rest* of a block, beyond what that execution did of it. If the rest conflicts
   with a later step of another thread, we meet that as a race; and it is one, for the thread can be
   held before its access. If not, the later steps are the same as before.
3. At the end a1 is in the block of thread 1, or thread 1 stands before it and it is atomic; the
   same for thread 2. Whichever of the two comes last is compared with both. A thread that ends
   keeps its block until it is joined (the machine's ghosts), as does one that runs into a fault
   (the fault is a step of its own). An atomic access is in no block: if it came first, thread 1
   is past it, not about to do it.

Validity is asked of the later access only where the first one did not take its object away: after
`free(p)` in a block, `*p` in another thread is a race, though `p` dangles by now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from raceproof.concurrency.model import Wait
from raceproof.engines.interleave.access_sets import NOTHING, AccessSet, AccessSets, WatchedTable
from raceproof.engines.interleave.configuration import Block, Configuration, capture, resume
from raceproof.machine.control import Cancel, Join
from raceproof.machine.faults import Unsupported
from raceproof.machine.inputs import Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import ATOMIC, WRITE, AccessRange
from raceproof.machine.thread import ConcreteThread, Pending, races

LONGEST_RUN = 1000
"""Visible steps that a thread takes at most in one transition."""
_NO_ACCESSES: Block = frozenset()


@dataclass(frozen=True, slots=True)
class Move:
    """A thread's transition; `choice` is which way an unknown value went."""

    thread: int
    choice: int | None = None


@dataclass(frozen=True, slots=True)
class MetRace:
    """Thread `second` is about to do `access`, which races with one of thread `first`.

    `is_past`: the first has already done its access, in the block that it is in.
    """

    first: int
    second: int
    access: AccessRange
    is_past: bool


class RaceMet(Exception):
    def __init__(self, race: MetRace) -> None:
        super().__init__(race)
        self.race = race


@dataclass(slots=True)
class _Touched:
    """What the running transition has touched so far."""

    strong: list[AccessRange] = field(default_factory=list)
    """Accesses that are in no block."""
    plain: list[AccessRange] = field(default_factory=list)
    read: set[Any] = field(default_factory=set)
    written: set[Any] = field(default_factory=set)


class Stepper:
    """Takes transitions on one machine.

    With `access_sets`, `strong` is what the last one touched but for its plain accesses, `whole`
    all of it.
    """

    def __init__(
        self,
        machine: Machine,
        inputs: Inputs | None,
        *,
        has_blocks: bool,
        access_sets: AccessSets | None,
    ) -> None:
        self._machine = machine
        self._inputs = inputs
        self._has_blocks = has_blocks
        self._access_sets = access_sets
        self._blocks: list[set[AccessRange] | Block] = []
        self._log: list[tuple[int, Pending]] | None = None
        self._begun: dict[int, Pending] = {}
        """Steps that wait for a choice of their thread, and are logged when they are taken."""
        self._touched = _Touched()
        self.strong = self.whole = NOTHING

    def begin(self) -> None:
        """Bring `main` to its first choice."""
        machine = self._machine
        machine.keeps_ghosts = self._has_blocks
        machine.reset(self._inputs)
        self._blocks = [_NO_ACCESSES for _ in machine.threads]
        if machine.ended is not None:
            return
        if not self._has_blocks:
            self._check_definition()
        else:
            self._continue(machine.threads[0])

    def resume(self, configuration: Configuration, mover: int) -> None:
        resume(self._machine, configuration, mover)
        self._blocks = list(configuration.blocks)
        if self._access_sets is not None:
            self._machine.sync = WatchedTable(self._machine.sync)

    def capture(self) -> Configuration:
        blocks = tuple([b if isinstance(b, frozenset) else frozenset(b) for b in self._blocks])
        return capture(self._machine, blocks)

    def advance(self, move: Move) -> None:
        """Take a transition; raises `RaceMet`."""
        machine = self._machine
        thread = machine.threads[move.thread]
        pending = thread.pending
        assert pending is not None
        if not self._has_blocks:
            self._step(thread, pending, move.choice)
            self._check_definition()
            return
        self._touched = _Touched()
        threads = len(machine.threads)
        if move.choice is not None:
            self._touch(thread, pending)
            self._step(thread, pending, move.choice)
        else:
            self._execute(thread, pending)
        self._continue(thread)
        if self._access_sets is not None:
            self._sum_up(thread, len(machine.threads) > threads, self._access_sets)

    def steps(self, moves: Iterable[Move]) -> list[tuple[int, Pending]]:
        """The visible steps that these moves take from the start, each with its thread.

        The machine is left where the last move ended.
        """
        log: list[tuple[int, Pending]] = []
        self._log = log
        self._begun = {}
        try:
            self.begin()
            for move in moves:
                self.advance(move)
        except RaceMet:
            pass
        self._log = None
        return log

    # --- what is touched ------------------------------------------------------------

    def _touch(self, thread: ConcreteThread, pending: Pending) -> None:
        if self._access_sets is not None:
            self._touch_threads(thread, pending)
        is_strong = thread.atomic_depth or synchronises(pending)
        (self._touched.strong if is_strong else self._touched.plain).extend(pending.accesses)

    def _touch_threads(self, thread: ConcreteThread, pending: Pending) -> None:
        """The lives of threads that an operation looks at or changes."""
        operation = pending.operation
        if operation is None:
            return
        if operation.is_cancel_point:
            self._touched.read.add(("thread", thread.number))
        if isinstance(operation, Join | Cancel):
            target = operation.target(self._machine, pending.arguments)
            if target is not None:
                self._touched.written.add(("thread", target.number))

    def looked_at(self, thread: ConcreteThread, pending: Pending) -> AccessSet:
        """What a thread that cannot go on depends on, as if it wrote that, and its accesses."""
        machine, access_sets = self._machine, self._access_sets
        assert access_sets is not None
        machine.sync = table = WatchedTable(machine.sync)
        self._touched = _Touched()
        self._touch_threads(thread, pending)
        machine.is_enabled(thread)
        keys = table.read | self._touched.read | self._touched.written
        return access_sets.of((), keys).union(access_sets.of_accesses(pending.accesses))

    def _sum_up(self, thread: ConcreteThread, has_created: bool, access_sets: AccessSets) -> None:
        machine, touched = self._machine, self._touched
        if has_created:
            touched.written.add(("threads",))
        if not thread.is_alive:
            touched.written.add(("thread", thread.number))
        if isinstance(machine.sync, WatchedTable):
            touched.read |= machine.sync.read
            touched.written |= machine.sync.written
        strong = access_sets.of(touched.read, touched.written)
        strong = strong.union(access_sets.of_accesses(touched.strong))
        if machine.ended is not None or thread.atomic_depth:  # stops within its atomic section
            strong = strong._replace(is_final=True)
        self.strong = strong
        self.whole = strong.union(access_sets.of_accesses(touched.plain))

    # --- steps ------------------------------------------------------------

    def _step(self, thread: ConcreteThread, pending: Pending, choice: int | None = None) -> None:
        machine = self._machine
        machine.step(thread.number, choice)
        if self._log is not None:
            self._note(self._log, thread, pending)
        while len(self._blocks) < len(machine.threads):
            self._blocks.append(_NO_ACCESSES)

    def _note(
        self, log: list[tuple[int, Pending]], thread: ConcreteThread, pending: Pending
    ) -> None:
        """Log a visible step that was taken, or has begun and waits for a choice."""
        taken: Pending | None = pending
        if pending.options:
            taken = self._begun.pop(thread.number, None)
        after = thread.pending
        if taken is not None and after is not None and after.options:
            is_same = after.instruction == taken.instruction and after.operation is taken.operation
            if is_same and (after.operation is not None or after.accesses):
                self._begun[thread.number] = taken
                return
        if taken is not None:
            log.append((thread.number, taken))

    def _continue(self, thread: ConcreteThread) -> None:
        """Run on to the thread's next choice; a block without end is cut, as `Pause` does it."""
        machine = self._machine
        for _ in range(LONGEST_RUN):
            if machine.ended is not None or not thread.is_alive:
                return
            pending = thread.pending
            assert pending is not None
            if pending.options or pending.operation is PAUSE:
                return
            if thread.atomic_depth:
                if not machine.is_enabled(thread):
                    machine.ended = Unsupported("a thread blocks in its atomic section")
                    return
            elif synchronises(pending):
                return
            self._execute(thread, pending)

    def _execute(self, thread: ConcreteThread, pending: Pending) -> None:
        """Take a visible step: compare its accesses, then keep them or forget the block."""
        machine, number = self._machine, thread.number
        if isinstance(pending.operation, Join):
            self._forget_joined(thread, pending)
        for access in pending.accesses:
            self._compare(number, access)
        self._touch(thread, pending)
        if not thread.atomic_depth:
            if synchronises(pending):
                self._blocks[number] = _NO_ACCESSES
            elif pending.accesses:
                block = self._blocks[number]
                if isinstance(block, frozenset):
                    block = self._blocks[number] = set(block)
                for access in pending.accesses:
                    if pending.operation is None or machine.is_valid(access):
                        _enter(block, access)
        self._step(thread, pending)

    def _forget_joined(self, thread: ConcreteThread, pending: Pending) -> None:
        """What a thread did last comes before its join, and before what the join writes."""
        assert isinstance(pending.operation, Join)
        target = pending.operation.target(self._machine, pending.arguments)
        if target is None or target.is_alive or thread.is_cancelled:
            return
        if pending.operation.model.wait is not Wait.BLOCK:
            raise Unsupported(f"{pending.operation.name}, which tells whether a thread is over")
        self._blocks[target.number] = _NO_ACCESSES

    def _compare(self, number: int, access: AccessRange) -> None:
        """With the blocks of the other threads, and with what they are about to do."""
        first, end, flags = access
        machine = self._machine
        for other, block in enumerate(self._blocks):
            if other == number:
                continue
            for start, stop, theirs in block:
                if first < stop and start < end and races(flags, theirs):
                    if self._is_in_bounds(access):
                        raise RaceMet(MetRace(other, number, access, True))
            thread = machine.threads[other]
            pending = thread.pending
            if pending is None:
                continue
            for start, stop, theirs in pending.accesses:
                if first < stop and start < end and races(flags, theirs):
                    if (
                        machine.is_valid(access)
                        and machine.is_valid((start, stop, theirs))
                        and machine.is_enabled(thread)
                    ):
                        raise RaceMet(MetRace(other, number, access, False))

    def _is_in_bounds(self, access: AccessRange) -> bool:
        """Whether it would have been valid before a block that freed or left its object."""
        target = self._machine.memory.object_at(access[0])
        return target is None or access[1] - target.base <= max(target.size, 1)

    def _check_definition(self) -> None:
        machine = self._machine
        if machine.ended is not None:
            return
        for thread in machine.threads:
            other = machine.race_of(thread)
            if other is not None:
                assert thread.pending is not None
                access = thread.pending.accesses[0]
                raise RaceMet(MetRace(other.number, thread.number, access, False))


def synchronises(pending: Pending) -> bool:
    """Whether a step orders threads, or its order among others matters."""
    if pending.is_sync:
        return True
    return any(flags & ATOMIC for _, _, flags in pending.accesses)


def _enter(block: set[AccessRange], access: AccessRange) -> None:
    """A write says all that a read of the same bytes would say."""
    first, end, flags = access
    if flags & WRITE:
        block.discard((first, end, flags & ~WRITE))
        block.add(access)
    elif (first, end, flags | WRITE) not in block:
        block.add(access)
