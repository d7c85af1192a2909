"""Schedules for people: the same race with fewer threads, context switches, steps and odd inputs.

A schedule that a random search or a solver found jumps between threads for no reason, runs threads
that have nothing to do with the race, and goes through loops more often than it must. Delta
debugging: we take the runs of one thread's steps as blocks, and try to leave all blocks of a thread
out, then single blocks, to move a block beside another one of its thread, and to cut blocks short.
Then each input becomes 0 or 1, if the race is still reached. Each attempt is executed; it counts if
the same two accesses are reached, so the result is as sure as what it came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby

from raceproof.machine.inputs import GivenInputs
from raceproof.machine.machine import Machine
from raceproof.machine.replay import stands_at_race, start, take_step
from raceproof.verdict import Schedule, Step

Block = tuple[int, int]
"""A thread, and how many steps it takes in a row."""

_MOST_STEPS = 30_000
"""Steps of the machine spent on one schedule."""
_MOST_WAITING = 50
"""Steps of `main` that are put in to have a thread created."""
_MOST_INPUTS = 40
"""Inputs that are tried with simpler values."""


def simplified(machine: Machine, schedule: Schedule) -> Schedule:
    """A schedule to the same race that costs at most as much as this one.

    The machine is left standing at the race.
    """
    search = _Search(machine, schedule)
    best = search.run()
    found = search.follow(blocks_of(best), is_known=True)
    assert found is not None, "a schedule that was replayed before"
    return found


def blocks_of(schedule: Schedule) -> list[Block]:
    return [(t, sum(1 for _ in run)) for t, run in groupby(schedule.steps, lambda s: s.thread)]


class _SimplerInputs:
    """The values of a schedule, but another one at `index`, if that is a possible one."""

    needs_all = False

    def __init__(self, values: Sequence[int], index: int, value: int) -> None:
        self._given = GivenInputs(values)
        self._left = index
        self._value = value

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        given = self._given.next(bits, limits)
        self._left -= 1
        is_possible = limits is None or limits[0] <= self._value <= limits[1]
        return self._value if self._left == -1 and is_possible else given


class _Search:
    def __init__(self, machine: Machine, schedule: Schedule) -> None:
        self._machine = machine
        self._best = schedule
        self._spent = 0

    def run(self) -> Schedule:
        while self._improve():
            pass
        self._simplify_inputs()
        return self._best

    @property
    def _has_time(self) -> bool:
        return self._spent < _MOST_STEPS

    def _improve(self) -> bool:
        for attempt in _attempts(blocks_of(self._best)):
            if not self._has_time:
                return False
            found = self.follow(attempt)
            if found is not None and _cost(found) < _cost(self._best):
                self._best = found
                return True
        return False

    def _simplify_inputs(self) -> None:
        for index in range(min(len(self._best.inputs), _MOST_INPUTS)):
            for value in (0, 1):
                given = self._best.inputs
                if index >= len(given) or given[index] <= value or not self._has_time:
                    break
                inputs = _SimplerInputs(given, index, value)
                found = self.follow(blocks_of(self._best), inputs)
                if found is not None and _cost(found) <= _cost(self._best):
                    self._best = found
                    break

    def follow(
        self, blocks: list[Block], inputs: _SimplerInputs | None = None, *, is_known: bool = False
    ) -> Schedule | None:
        """What the machine does with these choices: a schedule to the race, or None.

        `is_known`: they are known to lead there.

        A choice that is not possible is left out; but one for a thread that is yet to be created
        lets `main` go on for a while: alone it needed no choices, beside others it does.
        """
        machine, wanted = self._machine, self._best
        order = start(machine, wanted, inputs)
        steps: list[Step] = []
        births: list[tuple[int, Step]] = []
        known = 1
        patience = _MOST_WAITING
        queue = [thread for thread, length in reversed(blocks) for _ in range(length)]
        attempts = count() if is_known else range(_MOST_STEPS)
        for _ in attempts:  # a thread alone may wait for ever, without a choice
            self._spent += 1
            for thread in machine.threads[known:]:
                birth = Step(thread.parent, thread.creator)
                if not steps or steps[-1] != birth:
                    births.append((len(steps), birth))
            known = len(machine.threads)
            if stands_at_race(machine, wanted, order):
                return replace(
                    wanted,
                    steps=tuple(steps),
                    inputs=tuple(machine.recorded),
                    births=tuple(births),
                )
            enabled = machine.enabled()
            if not enabled:
                return None
            if machine.is_forced():
                number = enabled[0]
            else:
                while queue and queue[-1] not in enabled:
                    if queue[-1] >= len(machine.threads) and 0 in enabled and patience:
                        patience -= 1
                        queue.append(0)
                    else:
                        queue.pop()
                if not queue:
                    return None
                number = queue.pop()
                pending = machine.threads[number].pending
                assert pending is not None
                steps.append(Step(number, pending.instruction))
            take_step(machine, number, order)
        return None


def _cost(schedule: Schedule) -> tuple[int, int, int]:
    """Threads that take steps, context switches, steps."""
    blocks = blocks_of(schedule)
    return len({thread for thread, _ in blocks}), len(blocks), len(schedule.steps)


def _attempts(blocks: list[Block]) -> Iterator[list[Block]]:
    """From the coarsest cut to the finest: a thread, a block, a block moved to its thread's next or
    last, the last or the first part of a block."""
    for thread in sorted({thread for thread, _ in blocks}, reverse=True):
        yield [block for block in blocks if block[0] != thread]
    for i in reversed(range(len(blocks))):
        yield blocks[:i] + blocks[i + 1 :]
    for i, (thread, _) in enumerate(blocks):
        later = next((j for j in range(i + 2, len(blocks)) if blocks[j][0] == thread), None)
        if later is not None:
            between = blocks[i + 1 : later]
            pair = [blocks[i], blocks[later]]
            yield blocks[:i] + pair + between + blocks[later + 1 :]
            yield blocks[:i] + between + pair + blocks[later + 1 :]
    for i in reversed(range(len(blocks))):
        thread, length = blocks[i]
        cut = length // 2
        while cut:
            yield [*blocks[:i], (thread, length - cut), *blocks[i + 1 :]]
            cut //= 2
