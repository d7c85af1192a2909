"""Run a schedule: the judge of everything that is called confirmed.

The machine takes the schedule's choices one by one. Where there is nothing to choose (one thread
alone, or an atomic section) it goes on by itself. After the last choice the two threads must stand
before their accesses, at once; or the first access is done, the second about to happen, and
happens-before does not order them (`happens_before`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.machine.happens_before import HappensBefore, PastAccess
from raceproof.machine.inputs import GivenInputs, Inputs
from raceproof.machine.machine import Machine
from raceproof.machine.segments import AccessRange
from raceproof.machine.thread import ConcreteThread
from raceproof.verdict import Schedule

_MOST_FORCED_STEPS = 2_000_000
REACHED = {
    False: "both accesses are enabled at once",
    True: "nothing orders the first access before the second",
}
"""By `Schedule.is_past`."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """`reached`: it ended at the race; else `message` says what happened."""

    reached: bool
    message: str
    steps: int
    race: tuple[PastAccess, AccessRange] | None = None
    """If the first access was done before: it, and the second."""


Watcher = Callable[[Machine, ConcreteThread], Callable[[], None]]
"""Told of each visible step before it is taken; what it returns is called after."""


def replay(machine: Machine, schedule: Schedule, watch: Watcher | None = None) -> Replayed:
    """Follow the schedule to its end."""
    order = start(machine, schedule)
    position = 0
    for _ in range(_MOST_FORCED_STEPS):
        if position == len(schedule.steps) and stands_at_race(machine, schedule, order):
            found = None if order is None else order.found(schedule)
            return Replayed(True, REACHED[schedule.is_past], position, found)
        enabled = machine.enabled()
        if not enabled:
            reason = str(machine.ended) if machine.ended is not None else "deadlock"
            return Replayed(False, f"the execution ended before the race: {reason}", position)
        if machine.is_forced():
            number = enabled[0]
        elif position == len(schedule.steps):
            return Replayed(False, "the schedule ends, but not at a race", position)
        else:
            step = schedule.steps[position]
            number = step.thread
            complaint = _complaint(machine, number, step.instruction, enabled)
            if complaint:
                return Replayed(False, f"step {position + 1}: {complaint}", position)
            position += 1
        done = watch(machine, machine.threads[number]) if watch is not None else None
        take_step(machine, number, order)
        if done is not None:
            done()
    return Replayed(False, "the execution does not come to its next choice", position)


def _complaint(machine: Machine, number: int, instruction: int | None, enabled: list[int]) -> str:
    if number >= len(machine.threads):
        return f"there is no thread {number} yet"
    if number not in enabled:
        return f"thread {number} cannot go on"
    pending = machine.threads[number].pending
    if instruction is not None and pending is not None and pending.instruction != instruction:
        return f"thread {number} is at instruction {pending.instruction}, not at {instruction}"
    return ""


def start(
    machine: Machine, schedule: Schedule, inputs: Inputs | None = None
) -> HappensBefore | None:
    """Start anew with the schedule's inputs; what to tell the steps to, if it is needed."""
    machine.keeps_ghosts = schedule.is_past
    machine.reset(inputs or GivenInputs(schedule.inputs))
    return HappensBefore(machine) if schedule.is_past else None


def take_step(machine: Machine, number: int, order: HappensBefore | None) -> None:
    if order is None:
        machine.step(number)
        return
    done = order.watch(machine, machine.threads[number])
    machine.step(number)
    done()


def stands_at_race(
    machine: Machine, schedule: Schedule, order: HappensBefore | None = None
) -> bool:
    """Whether the schedule's two threads are about to race, as it says."""
    if order is not None:
        return order.found(schedule) is not None
    if machine.ended is not None or schedule.first == schedule.second:
        return False
    if max(schedule.first, schedule.second) >= len(machine.threads):
        return False
    threads = machine.threads[schedule.first], machine.threads[schedule.second]
    first, second = threads[0].pending, threads[1].pending
    if first is None or second is None or not all(map(machine.is_enabled, threads)):
        return False
    if (first.instruction, second.instruction) != schedule.instructions:
        return False
    found = first.conflict(second)
    return found is not None and machine.is_valid(found[0]) and machine.is_valid(found[1])
