"""Run a schedule: the judge of everything that is called confirmed.

The machine takes the schedule's choices one by one. Where there is nothing to choose (one thread
alone, or an atomic section) it goes on by itself. After the last choice the two threads must stand
before their accesses, at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.machine.inputs import GivenInputs
from raceproof.machine.machine import Machine
from raceproof.machine.thread import ConcreteThread
from raceproof.verdict import Schedule

_MOST_FORCED_STEPS = 2_000_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """`reached`: it ended with both accesses enabled at once; else `message` says what happened."""

    reached: bool
    message: str
    steps: int


Watcher = Callable[[Machine, ConcreteThread], Callable[[], None]]
"""Told of each visible step before it is taken; what it returns is called after."""


def replay(machine: Machine, schedule: Schedule, watch: Watcher | None = None) -> Replayed:
    """Follow the schedule to its end."""
    machine.reset(GivenInputs(schedule.inputs))
    position = 0
    for _ in range(_MOST_FORCED_STEPS):
        if position == len(schedule.steps) and stands_at_race(machine, schedule):
            return Replayed(True, "both accesses are enabled at once", position)
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
        machine.step(number)
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


def stands_at_race(machine: Machine, schedule: Schedule) -> bool:
    """Whether the schedule's two threads are about to race, as it says."""
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
