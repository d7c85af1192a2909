"""From a race that the explorer met to a schedule that the machine can replay.

The explorer runs blocks to their end, so the first of the two threads may already have done its
access. Nothing that came after depends on it: its steps from that access on are left out, and the
others are taken again, with the first thread waiting at its access.
"""

from __future__ import annotations

from raceproof.engines.interleave.explorer import Exploration, Explorer
from raceproof.machine.findings import Race
from raceproof.machine.inputs import GivenInputs
from raceproof.machine.machine import Machine
from raceproof.machine.thread import Pending, races
from raceproof.verdict import Schedule, Step


def racing_instructions(explorer: Explorer, found: Exploration) -> frozenset[int]:
    """The two instructions of a race that was met, if they can be told."""
    _, first, second = _sides(explorer, found)
    return frozenset(number for number in (first, second) if number is not None)


def race_of(machine: Machine, explorer: Explorer, found: Exploration) -> Race | None:
    """The race with its schedule; None if the way there cannot be taken again."""
    assert found.race is not None
    steps, first, second = _sides(explorer, found)
    if first is None or second is None:
        return None
    recorded = tuple(machine.recorded)
    machine.reset(GivenInputs(recorded))
    schedule: list[Step] = []
    for number, pending in steps:
        enabled = machine.enabled()
        if number not in enabled:
            return None
        now = machine.threads[number].pending
        assert now is not None
        if now.instruction != pending.instruction:
            return None
        if not machine.is_forced():
            schedule.append(Step(number, pending.instruction))
        machine.step(number)
    if max(found.race.first, found.race.second) >= len(machine.threads):
        return None
    one = machine.threads[found.race.first].pending
    other = machine.threads[found.race.second].pending
    accesses = None if one is None or other is None else one.conflict(other)
    if one is None or other is None or accesses is None:
        return None
    return Race(
        Schedule(
            tuple(schedule),
            recorded,
            found.race.first,
            found.race.second,
            (one.instruction, other.instruction),
        ),
        accesses,
    )


def _sides(
    explorer: Explorer, found: Exploration
) -> tuple[list[tuple[int, Pending]], int | None, int | None]:
    """The steps without those that the first thread must not take, and where the two stand."""
    race = found.race
    assert race is not None
    steps = explorer.steps(found.moves)
    pending = explorer.pending_of(race.second)
    second = None if pending is None else pending.instruction
    if not race.is_past:
        pending = explorer.pending_of(race.first)
        return steps, None if pending is None else pending.instruction, second
    start, end, flags = race.access
    for index in range(len(steps) - 1, -1, -1):
        number, pending = steps[index]
        if number == race.first and any(
            low < end and start < high and races(flags, theirs)
            for low, high, theirs in pending.accesses
        ):
            kept = [step for at, step in enumerate(steps) if at < index or step[0] != number]
            return kept, pending.instruction, second
    return steps, None, second
