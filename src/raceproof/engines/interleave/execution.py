"""One execution under a scheduler: the choices are recorded, every race on the way is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from raceproof.machine.inputs import Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import AccessRange
from raceproof.machine.thread import ConcreteThread
from raceproof.verdict import Schedule, Step

MOST_THREADS = 40
"""An execution with more threads is given up: inputs made it larger than a race needs."""


MOST_PAUSES = 8
MOST_PAUSES_ALONE = 2000
"""An execution that spends more in long loops is given up."""


class Scheduler(Protocol):
    """Picks who goes next."""

    def choose(self, machine: Machine, enabled: list[int]) -> int: ...

    def moved(self, machine: Machine, thread: ConcreteThread) -> None:
        """Told of a thread that stands before a new visible step."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two threads before racing accesses, and how to get there."""

    schedule: Schedule
    accesses: tuple[AccessRange, AccessRange]

    @property
    def pair(self) -> frozenset[int]:
        return frozenset(self.schedule.instructions)


def execute(machine: Machine, scheduler: Scheduler, inputs: Inputs, most_steps: int) -> Race | None:
    """Run until a race, the end, or so many choices."""
    machine.reset(inputs)
    steps: list[Step] = []
    known = 0
    moved = 0
    pauses = 0
    for _ in range(8 * most_steps):
        if machine.ended is not None or len(machine.threads) > MOST_THREADS:
            return None
        for number in range(known, len(machine.threads)):
            scheduler.moved(machine, machine.threads[number])
        if moved < known:
            scheduler.moved(machine, machine.threads[moved])
        found = machine.race(moved, known)
        if found is not None:
            return _race(machine, steps, *found)
        known = len(machine.threads)
        enabled = machine.enabled()
        if not enabled:
            return None
        if machine.is_forced():
            moved = enabled[0]
        else:
            if len(steps) >= most_steps:
                return None
            moved = scheduler.choose(machine, enabled)
            pending = machine.threads[moved].pending
            assert pending is not None
            steps.append(Step(moved, pending.instruction))
        pending = machine.threads[moved].pending
        if pending is not None and pending.operation is PAUSE:
            pauses += 1
            if pauses > (MOST_PAUSES_ALONE if machine.alive == 1 else MOST_PAUSES):
                return None
        machine.step(moved)
    return None


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
