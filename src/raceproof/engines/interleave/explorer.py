"""The explorer: all schedules, breadth first, until a race or the end.

Unreduced, every visible step is a choice, and a race is two threads about to race (the definition).

**Reduction.** Reduced, only synchronisation is a choice: a thread runs from one lock operation,
thread operation, atomic access or atomic section to the next without interruption. A race is an
access that meets the *block* of another thread: its plain accesses since it last synchronised.

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

Choices of values (an input, a branch on an unknown value) depend on nobody else: they are taken at
once, and only by the thread that stands at one.

On an open machine inputs are unknown values and every branch on them goes both ways; then "no
race" holds for all inputs, and a race may be one that no input leads to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from raceproof.engines.interleave.configuration import (
    Block,
    Configuration,
    Identities,
    capture,
    resume,
)
from raceproof.machine.control import Join
from raceproof.machine.faults import ChoiceNeeded, Unsupported
from raceproof.machine.inputs import Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import ATOMIC, WRITE, AccessRange
from raceproof.machine.thread import ConcreteThread, Pending, races

MOST_STATES = 400_000
MOST_THREADS = 64
LONGEST_RUN = 1000
"""Visible steps that a thread takes at most in one transition."""
_NOTHING: Block = frozenset()


class Conclusion(Enum):
    RACE_FREE = "race-free"
    RACE = "race"
    INCOMPLETE = "incomplete"


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


@dataclass(frozen=True, slots=True)
class Exploration:
    conclusion: Conclusion
    states: int
    transitions: int
    reason: str = ""
    race: MetRace | None = None
    moves: tuple[Move, ...] = ()
    """How the race was met; the last one is cut short by it."""


class NoInputs:
    """For the exploration of exact values: a program that asks for one is not for it."""

    needs_all = True

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        raise Unsupported("the program depends on its inputs")


class _RaceMet(Exception):
    def __init__(self, race: MetRace) -> None:
        super().__init__(race)
        self.race = race


class Explorer:
    """Explores one machine."""

    def __init__(
        self, machine: Machine, *, is_reduced: bool = True, inputs: Inputs | None = None
    ) -> None:
        self._machine = machine
        self._is_reduced = is_reduced
        self._inputs = inputs
        self._blocks: list[set[AccessRange] | Block] = []
        self._identities = Identities()
        self._visited: set[Any] = set()
        self._parents: list[tuple[int, Move]] = []
        self._queue: deque[tuple[int, Configuration]] = deque()
        self._transitions = 0
        self._at = (-1, Move(0))
        """The state being left, and how."""
        self._log: list[tuple[int, Pending]] | None = None

    def run(self, seconds_left: Callable[[], float], most_states: int = MOST_STATES) -> Exploration:
        try:
            self._begin()
            self._check_end()
            self._add(-1, Move(0))
            while self._queue:
                if seconds_left() <= 0:
                    return self._stop("the time is over")
                if len(self._visited) > most_states:
                    return self._stop(f"more than {most_states} states")
                self._expand(*self._queue.popleft())
        except _RaceMet as met:
            return self._race(met)
        except Unsupported as unsupported:
            return self._stop(str(unsupported))
        except ChoiceNeeded:
            return self._stop("an unknown value where a known one is needed")
        left_out = self._machine.left_out
        if left_out:
            return self._stop(f"not done by the machine: {', '.join(sorted(left_out))}")
        return Exploration(Conclusion.RACE_FREE, len(self._visited), self._transitions)

    def _expand(self, number: int, configuration: Configuration) -> None:
        machine = self._machine
        for move in self._moves(configuration):
            resume(machine, configuration, move.thread)
            self._blocks = list(configuration.blocks)
            self._transitions += 1
            self._at = (number, move)
            self._advance(move)
            self._check_end()
            self._add(number, move)

    def _check_end(self) -> None:
        """Raises `Unsupported` if the machine gave up here."""
        machine = self._machine
        if isinstance(machine.ended, Unsupported):
            raise machine.ended
        if len(machine.threads) > MOST_THREADS:
            raise Unsupported(f"more than {MOST_THREADS} threads")

    def steps(self, moves: tuple[Move, ...]) -> list[tuple[int, Pending]]:
        """The visible steps that these moves take, each with its thread.

        The machine is left where the last move ended.
        """
        log: list[tuple[int, Pending]] = []
        self._log = log
        try:
            self._begin()
            for move in moves:
                self._advance(move)
        except _RaceMet:
            pass
        self._log = None
        return log

    def pending_of(self, number: int) -> Pending | None:
        """What a thread is about to do, after `steps`."""
        return self._machine.threads[number].pending

    # --- states ------------------------------------------------------------

    def _begin(self) -> None:
        """Bring `main` to its first choice."""
        machine = self._machine
        machine.keeps_ghosts = self._is_reduced
        machine.reset(self._inputs)
        self._blocks = [_NOTHING for _ in machine.threads]
        if machine.ended is not None:
            return
        if not self._is_reduced:
            self._check_definition()
        else:
            self._continue(machine.threads[0])

    def _add(self, parent: int, move: Move) -> None:
        if self._machine.ended is not None:
            return
        blocks = tuple([b if isinstance(b, frozenset) else frozenset(b) for b in self._blocks])
        configuration = capture(self._machine, blocks)
        identity = self._identities.key(configuration)
        if identity not in self._visited:
            self._visited.add(identity)
            self._queue.append((len(self._parents), configuration))
            self._parents.append((parent, move))

    def _moves(self, configuration: Configuration) -> list[Move]:
        """What can happen in a configuration."""
        for thread in configuration.threads:
            pending = thread.pending
            if pending is not None and pending.options:
                return [Move(thread.number, choice) for choice in range(pending.options)]
        resume(self._machine, configuration, -1)
        return [Move(number) for number in self._machine.enabled()]

    def _stop(self, reason: str) -> Exploration:
        return Exploration(Conclusion.INCOMPLETE, len(self._visited), self._transitions, reason)

    def _race(self, met: _RaceMet) -> Exploration:
        moves = []
        parent, move = self._at
        while parent >= 0:
            moves.append(move)
            parent, move = self._parents[parent]
        return Exploration(
            Conclusion.RACE,
            len(self._visited),
            self._transitions,
            race=met.race,
            moves=tuple(reversed(moves)),
        )

    # --- transitions ------------------------------------------------------------

    def _advance(self, move: Move) -> None:
        machine = self._machine
        thread = machine.threads[move.thread]
        pending = thread.pending
        assert pending is not None
        if not self._is_reduced:
            self._step(thread, pending, move.choice)
            self._check_definition()
            return
        if move.choice is not None:
            self._step(thread, pending, move.choice)
        else:
            self._execute(thread, pending)
        self._continue(thread)

    def _step(self, thread: ConcreteThread, pending: Pending, choice: int | None = None) -> None:
        if self._log is not None and not pending.options:
            self._log.append((thread.number, pending))
        machine = self._machine
        machine.step(thread.number, choice)
        while len(self._blocks) < len(machine.threads):
            self._blocks.append(_NOTHING)

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
            elif _synchronises(pending):
                return
            self._execute(thread, pending)

    def _execute(self, thread: ConcreteThread, pending: Pending) -> None:
        """Take a visible step: compare its accesses, then keep them or forget the block."""
        number = thread.number
        if isinstance(pending.operation, Join):
            self._forget_joined(thread, pending)
        for access in pending.accesses:
            self._compare(number, access)
        if not thread.atomic_depth:
            if _synchronises(pending):
                self._blocks[number] = _NOTHING
            elif pending.accesses:
                block = self._blocks[number]
                if isinstance(block, frozenset):
                    block = self._blocks[number] = set(block)
                for access in pending.accesses:
                    _enter(block, access)
        self._step(thread, pending)

    def _forget_joined(self, thread: ConcreteThread, pending: Pending) -> None:
        """What a thread did last comes before its join, and before what the join writes."""
        assert isinstance(pending.operation, Join)
        target = pending.operation.target(self._machine, pending.arguments)
        if target is not None and not target.is_alive and not thread.is_cancelled:
            self._blocks[target.number] = _NOTHING

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
                        raise _RaceMet(MetRace(other, number, access, True))
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
                        raise _RaceMet(MetRace(other, number, access, False))

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
                raise _RaceMet(MetRace(other.number, thread.number, access, False))


def _synchronises(pending: Pending) -> bool:
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
