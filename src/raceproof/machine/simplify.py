"""Schedules for people: the same race with fewer context switches.

A schedule that a random search or a solver found jumps between threads for no reason. We take the
runs of one thread's steps as blocks, and try to leave a block out, or to move it beside another
block of its thread. Each attempt is executed; it counts if the same two accesses are reached, so
the result is as sure as what it came from.
"""

from __future__ import annotations

from itertools import groupby

from raceproof.machine.inputs import GivenInputs
from raceproof.machine.machine import Machine
from raceproof.machine.replay import stands_at_race
from raceproof.verdict import Schedule, Step

Block = tuple[int, int]
"""A thread, and how many steps it takes in a row."""

_MOST_STEPS = 30_000
"""Steps of the machine spent on one schedule."""


def simplified(machine: Machine, schedule: Schedule) -> Schedule:
    """A schedule to the same race, with at most as many context switches.

    The machine is left standing at the race.
    """
    search = _Search(machine, schedule)
    best = search.run()
    found = search.follow(blocks_of(best))
    assert found is not None, "a schedule that was replayed before"
    return found


def blocks_of(schedule: Schedule) -> list[Block]:
    return [(t, sum(1 for _ in run)) for t, run in groupby(schedule.steps, lambda s: s.thread)]


class _Search:
    def __init__(self, machine: Machine, schedule: Schedule) -> None:
        self._machine = machine
        self._best = schedule
        self._spent = 0

    def run(self) -> Schedule:
        while self._spent < _MOST_STEPS and self._improve():
            pass
        return self._best

    def _improve(self) -> bool:
        blocks = blocks_of(self._best)
        for attempt in _attempts(blocks):
            found = self.follow(attempt)
            if found is not None and _cost(found) < _cost(self._best):
                self._best = found
                return True
            if self._spent >= _MOST_STEPS:
                break
        return False

    def follow(self, blocks: list[Block]) -> Schedule | None:
        """What the machine does with these choices: a schedule to the race, or None.

        A choice that is not possible ends its block.
        """
        machine, wanted = self._machine, self._best
        machine.reset(GivenInputs(wanted.inputs))
        steps: list[Step] = []
        births: list[tuple[int, Step]] = []
        known = 1
        queue = [thread for thread, length in reversed(blocks) for _ in range(length)]
        while True:
            self._spent += 1
            for thread in machine.threads[known:]:
                birth = Step(thread.parent, thread.creator)
                if not steps or steps[-1] != birth:
                    births.append((len(steps), birth))
            known = len(machine.threads)
            if stands_at_race(machine, wanted):
                return Schedule(
                    tuple(steps),
                    tuple(machine.recorded),
                    wanted.first,
                    wanted.second,
                    wanted.instructions,
                    tuple(births),
                )
            enabled = machine.enabled()
            if not enabled:
                return None
            if machine.is_forced():
                number = enabled[0]
            else:
                while queue and queue[-1] not in enabled:
                    queue.pop()
                if not queue:
                    return None
                number = queue.pop()
                pending = machine.threads[number].pending
                assert pending is not None
                steps.append(Step(number, pending.instruction))
            machine.step(number)


def _cost(schedule: Schedule) -> tuple[int, int]:
    return len(blocks_of(schedule)), len(schedule.steps)


def _attempts(blocks: list[Block]) -> list[list[Block]]:
    """Without one block, from the last; then with one block moved to its thread's next or last."""
    found = [blocks[:i] + blocks[i + 1 :] for i in reversed(range(len(blocks)))]
    for i, (thread, _) in enumerate(blocks):
        later = next((j for j in range(i + 2, len(blocks)) if blocks[j][0] == thread), None)
        if later is not None:
            between = blocks[i + 1 : later]
            pair = [blocks[i], blocks[later]]
            found.append(blocks[:i] + pair + between + blocks[later + 1 :])
            found.append(blocks[:i] + between + pair + blocks[later + 1 :])
    return found
