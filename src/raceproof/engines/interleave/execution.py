"""One execution under a scheduler: the choices are recorded, every race on the way is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from raceproof.machine.control import AtomicBegin, Create
from raceproof.machine.faults import Aborted
from raceproof.machine.findings import Race
from raceproof.machine.happens_before import HappensBefore, PastAccess
from raceproof.machine.inputs import Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.replay import take_step
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import WRITE, AccessRange
from raceproof.machine.thread import ConcreteThread, Pending
from raceproof.verdict import Schedule, Step

MOST_THREADS = 64
"""An execution with more threads is given up: inputs made it larger than a race needs."""

MOST_PAUSES = 8
"""An execution that spends more in long loops is given up; `main` alone may spend some more."""


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """Of one execution."""

    steps: int
    """Choices."""
    threads: int = MOST_THREADS
    """When so many are alive, who would create another one goes on only if no other thread can."""
    is_patient: bool = True
    """Who waits in a loop, or would wake up for no reason, lets others go first."""


class Scheduler(Protocol):
    """Picks who goes next."""

    def choose(self, machine: Machine, enabled: list[int]) -> int: ...

    def moved(self, machine: Machine, thread: ConcreteThread) -> None:
        """Told of a thread that stands before a new visible step."""


def execute(
    machine: Machine,
    scheduler: Scheduler,
    inputs: Inputs,
    limits: ExecutionLimits,
) -> Race | None:
    """Run until a race, the end, or the limits."""
    return _Execution(machine, scheduler, limits).run(inputs)


class _Execution:
    """One run, with what keeps it from wasting its steps.

    *Patience*: a thread that comes to the same instruction again while no thread has changed
    anything is waiting in a loop, as is one that could only wake up for no reason; it goes on only
    if no other can.

    *Second thoughts*: an atomic section that ends the execution (`assume(lock == 0)` while another
    thread holds the lock) was entered too early. The machine goes back to before it, and the thread
    is avoided until something has changed.
    """

    def __init__(self, machine: Machine, scheduler: Scheduler, limits: ExecutionLimits) -> None:
        self._machine = machine
        self._scheduler = scheduler
        self._limits = limits
        self._most_pauses_alone = max(MOST_PAUSES, limits.steps // 2)
        self._steps: list[Step] = []
        self._pauses = 0
        self._visited: dict[int, set[int]] = {}
        """For each thread, where it was since some thread last changed something."""
        self._waiting: set[int] = set()
        self._avoided: set[int] = set()
        self._checkpoint: _Checkpoint | None = None
        self._has_changed = False
        """Whether some thread may have changed what others wait for since the last choice."""
        self._order: HappensBefore | None = None
        """Told of all steps where "at once" is not all that there is to races."""

    def run(self, inputs: Inputs) -> Race | None:
        machine, scheduler = self._machine, self._scheduler
        machine.keeps_ghosts = bool(machine.program.unordered)
        machine.reset(inputs)
        if machine.program.unordered:
            self._order = HappensBefore(machine)
        known = 0
        moved = 0
        for _ in range(8 * self._limits.steps):
            if machine.ended is not None and not self._go_back():
                return None
            if len(machine.threads) > MOST_THREADS:
                return None
            known = min(known, len(machine.threads))
            for number in range(known, len(machine.threads)):
                scheduler.moved(machine, machine.threads[number])
            if moved < known:
                scheduler.moved(machine, machine.threads[moved])
            found = machine.race(moved, known)
            if found is not None:
                return _race(machine, self._steps, *found)
            past = None if self._order is None else self._order.race(moved, known)
            if past is not None:
                return _past_race(machine, self._steps, *past)
            known = len(machine.threads)
            following = self._next()
            if following is None:
                return None
            moved = following
            pending = machine.threads[moved].pending
            if pending is not None and _changes(pending):
                self._has_changed = True
            take_step(machine, moved, self._order)
        return None

    def _next(self) -> int | None:
        """Who goes next; None if the execution is over or not worth going on."""
        machine = self._machine
        enabled = machine.enabled()
        if not enabled:
            return None
        if machine.is_forced():
            number = enabled[0]
        else:
            self._checkpoint = None
            if self._has_changed:
                self._has_changed = False
                self._waiting.clear()
                self._visited.clear()
                self._avoided.clear()
            if len(self._steps) >= self._limits.steps:
                return None
            open_ones = [number for number in enabled if number not in self._avoided]
            if not open_ones:
                return None
            eager = [number for number in open_ones if not self._is_patient(number)]
            number = self._scheduler.choose(machine, eager or open_ones)
            self._note(machine.threads[number])
        pending = machine.threads[number].pending
        if pending is not None and pending.operation is PAUSE:
            self._pauses += 1
            alone = machine.alive == 1
            if self._pauses > (self._most_pauses_alone if alone else MOST_PAUSES):
                return None
        return number

    def _is_patient(self, number: int) -> bool:
        """Whether the thread lets others go first."""
        if number in self._waiting:
            return True
        thread = self._machine.threads[number]
        pending = thread.pending
        if pending is None or pending.operation is None:
            return False
        if isinstance(pending.operation, Create):
            return self._machine.alive >= self._limits.threads
        return self._limits.is_patient and pending.operation.is_idle(
            self._machine, thread, pending.arguments
        )

    def _note(self, thread: ConcreteThread) -> None:
        """A thread has been chosen: write it down, and see whether it waits or wakes others."""
        pending = thread.pending
        assert pending is not None
        number = thread.number
        if isinstance(pending.operation, AtomicBegin):
            self._checkpoint = _Checkpoint(self._machine, number, len(self._steps))
        self._steps.append(Step(number, pending.instruction))
        if self._limits.is_patient and not _changes(pending):
            visited = self._visited.setdefault(number, set())
            if pending.instruction in visited:
                self._waiting.add(number)
            visited.add(pending.instruction)

    def _go_back(self) -> bool:
        """Return to before the atomic section that just failed, if that is what happened."""
        checkpoint = self._checkpoint
        if checkpoint is None or not isinstance(self._machine.ended, Aborted):
            return False
        if self._order is not None:
            return False  # which cannot go back
        self._checkpoint = None
        self._has_changed = False
        checkpoint.restore()
        del self._steps[checkpoint.steps :]
        self._avoided.add(checkpoint.thread)
        return True


def _changes(pending: Pending) -> bool:
    """Whether the step may change what another thread waits for."""
    if isinstance(pending.operation, AtomicBegin):
        return False
    return pending.is_sync or any(flags & WRITE for _, _, flags in pending.accesses)


class _Checkpoint:
    """The machine before a step of `thread`, to go back to."""

    def __init__(self, machine: Machine, thread: int, steps: int) -> None:
        self._machine = machine
        self.thread = thread
        self.steps = steps
        self._memory = machine.memory.snapshot()
        self._threads = list(machine.threads)  # in an atomic section no other thread changes
        self._mover = machine.threads[thread].copy()
        self._sync = dict(machine.sync)
        self._alive, self._ghosts = machine.alive, machine.ghosts
        self._recorded, self._output = len(machine.recorded), len(machine.output)

    def restore(self) -> None:
        machine = self._machine
        machine.memory.restore(self._memory)
        self._threads[self.thread] = self._mover
        machine.threads = self._threads
        machine.sync = self._sync
        machine.alive, machine.ghosts = self._alive, self._ghosts
        machine.ended = machine.choice = None
        del machine.recorded[self._recorded :]
        del machine.output[self._output :]


def _race(
    machine: Machine, steps: list[Step], first: ConcreteThread, second: ConcreteThread
) -> Race:
    assert first.pending is not None
    assert second.pending is not None
    accesses = first.pending.conflict(second.pending)
    assert accesses is not None
    schedule = Schedule(
        tuple(steps),
        tuple(machine.recorded),
        first.number,
        second.number,
        (first.pending.instruction, second.pending.instruction),
    )
    return Race(schedule, accesses)


def _past_race(
    machine: Machine,
    steps: list[Step],
    second: ConcreteThread,
    past: PastAccess,
    access: AccessRange,
) -> Race:
    assert second.pending is not None
    schedule = Schedule(
        tuple(steps),
        tuple(machine.recorded),
        past.thread,
        second.number,
        (past.instruction, second.pending.instruction),
        is_past=True,
    )
    return Race(schedule, (past.access, access))
