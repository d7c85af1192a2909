"""The explorer: all schedules, breadth first, until a race or the end.

Unreduced, every visible step is a choice, and a race is two threads about to race (the definition).

Reduced, only synchronisation is a choice: a thread runs from one lock operation, thread operation,
atomic access or atomic section to the next without interruption. That loses no race. Take a
shortest way to a race: before it, no two conflicting accesses are unordered, so each plain access
can be moved up to just after the synchronisation that precedes it in its thread; nothing depends on
it before the next one. At the end, the two racing accesses lie in blocks that no synchronisation
has closed. So it is enough to compare each access with the *blocks* of the other threads: their
plain accesses since they last synchronised.

    thread 1: lock(m) x=1 y=1 unlock(m)        blocks after "lock": {x, y}; after "unlock": {}
    thread 2: lock(n) y=2 unlock(n)            y=2 meets the block {x, y} of thread 1: a race

An access that synchronises (atomic, or by a library operation) is compared when it happens and is
in no block: the order in which it comes first is explored, too.

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
    BlockAccess,
    Blocks,
    Configuration,
    capture,
    key,
    resume,
)
from raceproof.machine.faults import Unsupported
from raceproof.machine.inputs import Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import ATOMIC, AccessRange
from raceproof.machine.thread import ConcreteThread, Pending, races


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
class Exploration:
    conclusion: Conclusion
    states: int
    transitions: int
    reason: str = ""
    instructions: tuple[int, int] = (0, 0)
    """Of the race, if one was met."""
    moves: tuple[Move, ...] = ()
    """How it was met."""
    uses_unknown: bool = False
    """Whether some branch on an unknown value was taken."""


class _RaceMet(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(first, second)
        self.instructions = (first, second)


class Explorer:
    """Explores one machine. `limit` bounds the threads created at one site."""

    def __init__(
        self,
        machine: Machine,
        *,
        is_reduced: bool = True,
        limit: int = 8,
        inputs: Inputs | None = None,
    ) -> None:
        self._machine = machine
        self._is_reduced = is_reduced
        self._limit = limit
        self._inputs = inputs
        self._blocks: list[set[BlockAccess] | frozenset[BlockAccess]] = []
        self._uses_unknown = False
        self._visited: set[Any] = set()
        self._parents: list[tuple[int, Move]] = []
        self._queue: deque[tuple[int, Configuration]] = deque()
        self._transitions = 0

    def run(self, seconds_left: Callable[[], float], most_states: int = 150_000) -> Exploration:
        machine = self._machine
        machine.reset(self._inputs)
        if machine.ended is not None:
            return self._first_end()
        self._blocks = [frozenset() for _ in machine.threads]
        try:
            self._settle_first()
        except _RaceMet as met:
            return self._race(met, -1, Move(0))
        self._add(-1, Move(0))
        while self._queue:
            if seconds_left() <= 0:
                return self._stop("the time is over")
            if len(self._visited) > most_states:
                return self._stop(f"more than {most_states} states")
            number, configuration = self._queue.popleft()
            resume(machine, configuration)
            for move in self._moves():
                resume(machine, configuration)
                self._blocks = list(configuration.blocks)
                self._transitions += 1
                try:
                    self._advance(move)
                except _RaceMet as met:
                    return self._race(met, number, move)
                ended = self._machine.ended
                if isinstance(ended, Unsupported):
                    return self._stop(str(ended))
                if ended is None:
                    complaint = self._too_many_threads()
                    if complaint:
                        return self._stop(complaint)
                    self._add(number, move)
        return Exploration(
            Conclusion.RACE_FREE,
            len(self._visited),
            self._transitions,
            uses_unknown=self._uses_unknown,
        )

    # --- states ------------------------------------------------------------

    def _add(self, parent: int, move: Move) -> None:
        blocks: Blocks = tuple([frozenset(block) for block in self._blocks])
        configuration = capture(self._machine, blocks)
        identity = key(configuration)
        if identity not in self._visited:
            self._visited.add(identity)
            self._queue.append((len(self._parents), configuration))
            self._parents.append((parent, move))

    def _moves(self) -> list[Move]:
        """What can happen in the machine's configuration."""
        machine = self._machine
        for thread in machine.threads:
            pending = thread.pending
            if pending is not None and pending.options:
                if pending.operation is None:
                    self._uses_unknown = True
                return [Move(thread.number, choice) for choice in range(pending.options)]
        return [Move(number) for number in machine.enabled()]

    def _too_many_threads(self) -> str:
        threads = self._machine.threads
        newest = threads[-1].creator
        if sum(thread.creator == newest for thread in threads) > self._limit:
            return f"more than {self._limit} threads are created at one place"
        return ""

    def _stop(self, reason: str) -> Exploration:
        return Exploration(Conclusion.INCOMPLETE, len(self._visited), self._transitions, reason)

    def _first_end(self) -> Exploration:
        if isinstance(self._machine.ended, Unsupported):
            return self._stop(str(self._machine.ended))
        return Exploration(Conclusion.RACE_FREE, 1, 0)

    def _race(self, met: _RaceMet, parent: int, last: Move) -> Exploration:
        moves = [last]
        while parent >= 0:
            parent, move = self._parents[parent]
            moves.append(move)
        return Exploration(
            Conclusion.RACE,
            len(self._visited),
            self._transitions,
            instructions=met.instructions,
            moves=tuple(reversed(moves[:-1] or moves)),
            uses_unknown=self._uses_unknown,
        )

    # --- transitions ------------------------------------------------------------

    def _settle_first(self) -> None:
        """Bring `main` to its first choice."""
        main = self._machine.threads[0]
        if self._is_reduced and not self._is_choice(main):
            self._continue(main)

    def _advance(self, move: Move) -> None:
        machine = self._machine
        thread = machine.threads[move.thread]
        pending = thread.pending
        assert pending is not None
        if not self._is_reduced:
            machine.step(move.thread, move.choice)
            self._check_definition()
            return
        if move.choice is not None:
            machine.step(move.thread, move.choice)
        else:
            self._execute(thread, pending)
        self._new_blocks()
        self._continue(thread)

    def _continue(self, thread: ConcreteThread) -> None:
        """Run on to the thread's next choice."""
        machine = self._machine
        while machine.ended is None and thread.is_alive and not self._is_choice(thread):
            pending = thread.pending
            assert pending is not None
            if thread.atomic_depth and not machine.is_enabled(thread):
                raise Unsupported("a thread blocks in its atomic section")
            self._execute(thread, pending)
            self._new_blocks()

    def _is_choice(self, thread: ConcreteThread) -> bool:
        """Whether others may go first, or a value must be chosen."""
        pending = thread.pending
        if pending is None or pending.options or pending.operation is PAUSE:
            return True
        if thread.atomic_depth:
            return False
        return pending.is_sync or any(flags & ATOMIC for _, _, flags in pending.accesses)

    def _execute(self, thread: ConcreteThread, pending: Pending) -> None:
        number = thread.number
        synchronises = pending.is_sync or any(flags & ATOMIC for _, _, flags in pending.accesses)
        for access in pending.accesses:
            self._compare(number, pending.instruction, access)
        if synchronises and not thread.atomic_depth:
            self._blocks[number] = frozenset()
        elif not thread.atomic_depth and pending.accesses:
            block = self._blocks[number]
            if isinstance(block, frozenset):
                block = self._blocks[number] = set(block)
            block.update(
                (first, end, flags, pending.instruction) for first, end, flags in pending.accesses
            )
        machine = self._machine
        machine.step(number)
        for other in machine.threads:
            if other.is_joined and self._blocks[other.number]:
                self._blocks[other.number] = frozenset()

    def _compare(self, number: int, instruction: int, access: AccessRange) -> None:
        """With the blocks of the other threads, and with what they are about to do."""
        first, end, flags = access
        machine = self._machine
        for other, block in enumerate(self._blocks):
            if other == number:
                continue
            for start, stop, theirs, site in block:
                if first < stop and start < end and races(flags, theirs):
                    if machine.is_valid(access) and machine.is_valid((start, stop, theirs)):
                        raise _RaceMet(site, instruction)
            pending = machine.threads[other].pending
            if pending is None:
                continue
            for start, stop, theirs in pending.accesses:
                if first < stop and start < end and races(flags, theirs):
                    if machine.is_valid(access) and machine.is_valid((start, stop, theirs)):
                        raise _RaceMet(pending.instruction, instruction)

    def _check_definition(self) -> None:
        machine = self._machine
        if machine.ended is not None:
            return
        for thread in machine.threads:
            other = machine.race_of(thread)
            if other is not None:
                assert thread.pending is not None
                assert other.pending is not None
                raise _RaceMet(thread.pending.instruction, other.pending.instruction)

    def _new_blocks(self) -> None:
        while len(self._blocks) < len(self._machine.threads):
            self._blocks.append(frozenset())
