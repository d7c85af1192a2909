"""Seeded random schedulers for the directed search.

`Holding` is the directed one: a thread that comes to one side of a candidate is held there, the
others run on until one reaches the other side. `Lazy` rarely switches, `Uniform` does so at every
step, `Priorities` runs the most important thread and demotes it a few times.
"""

from __future__ import annotations

import random

from raceproof.machine.machine import Machine
from raceproof.machine.thread import ConcreteThread


class Uniform:
    def __init__(self, generator: random.Random) -> None:
        self._generator = generator

    def choose(self, machine: Machine, enabled: list[int]) -> int:
        return enabled[int(self._generator.random() * len(enabled))]

    def moved(self, machine: Machine, thread: ConcreteThread) -> None:
        pass


class Lazy(Uniform):
    """Stays with a thread until it blocks, or with a small probability leaves it."""

    def __init__(self, generator: random.Random, switch: float) -> None:
        super().__init__(generator)
        self._switch = switch
        self._current = -1

    def choose(self, machine: Machine, enabled: list[int]) -> int:
        if self._current not in enabled or self._generator.random() < self._switch:
            self._current = super().choose(machine, enabled)
        return self._current


class Priorities(Uniform):
    """The thread of highest priority runs; at random steps it becomes the least important."""

    def __init__(self, generator: random.Random, demote: float) -> None:
        super().__init__(generator)
        self._demote = demote
        self._priority: dict[int, float] = {}
        self._least = 0.0

    def choose(self, machine: Machine, enabled: list[int]) -> int:
        for number in enabled:
            if number not in self._priority:
                self._priority[number] = self._generator.random()
        best = max(enabled, key=self._priority.__getitem__)
        if self._generator.random() < self._demote:
            self._least -= 1.0
            self._priority[best] = self._least
            best = max(enabled, key=self._priority.__getitem__)
        return best


class Holding(Uniform):
    """Holds threads before the instructions in `targets`.

    When everyone is held or blocked, one is let go; after `patience` releases of the same
    instruction it is held no more.
    """

    def __init__(
        self, generator: random.Random, targets: frozenset[int], switch: float, hold: float
    ) -> None:
        super().__init__(generator)
        self._targets = targets
        self._switch = switch
        self._hold = hold
        self._held: dict[int, int] = {}
        self._current = -1

    def moved(self, machine: Machine, thread: ConcreteThread) -> None:
        pending = thread.pending
        if (
            pending is not None
            and pending.instruction in self._targets
            and self._generator.random() < self._hold
        ):
            self._held[thread.number] = pending.instruction
        else:
            self._held.pop(thread.number, None)

    def choose(self, machine: Machine, enabled: list[int]) -> int:
        free = [number for number in enabled if number not in self._held]
        if not free:
            number = super().choose(machine, enabled)
            self._held.pop(number, None)
            self._current = number
            return number
        if self._current not in free or self._generator.random() < self._switch:
            self._current = super().choose(machine, free)
        return self._current
