"""Directed search: many short executions, each with a plan, until races are found.

With candidates, an execution holds threads at the two sides of one of them. Without, it holds them
at the accesses of a location that different threads were seen to touch. Plans and inputs are drawn
with a seeded generator, so that a search can be repeated.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from raceproof.engines.interleave.constants import interesting_constants
from raceproof.engines.interleave.execution import MOST_THREADS, ExecutionLimits, Scheduler, execute
from raceproof.engines.interleave.schedulers import Holding, Lazy, Priorities, Uniform
from raceproof.machine.findings import Race
from raceproof.machine.inputs import RandomInputs
from raceproof.machine.machine import Machine
from raceproof.machine.replay import replay
from raceproof.machine.segments import WRITE
from raceproof.machine.thread import ConcreteThread

_SHORTEST = 120
_DOUBLINGS = 5
"""Choices in the shortest executions, and how often that may be doubled for the longest."""
_CROWDS = (2, 3, 3, 4, 4, 5, 6, 8, 12, MOST_THREADS)
"""How many threads an execution has before it creates more only when it must."""
_PATIENCE = 0.8
"""How often threads that wait let others go first."""


@dataclass(slots=True)
class SharedAccesses:
    """Which instructions were seen to access which object, and by how many threads."""

    objects: dict[str, tuple[set[int], set[int], bool]] = field(default_factory=dict)
    """Object -> instructions, threads, whether one writes plainly."""

    def note(self, machine: Machine, thread: ConcreteThread) -> None:
        pending = thread.pending
        if pending is None:
            return
        for first, _, flags in pending.accesses:
            target = machine.memory.object_at(first)
            if target is None:
                continue
            instructions, threads, writes = self.objects.get(target.source, (set(), set(), False))
            instructions.add(pending.instruction)
            threads.add(thread.number)
            self.objects[target.source] = (
                instructions,
                threads,
                writes or bool(flags & WRITE),
            )

    def targets(self) -> list[frozenset[int]]:
        return [
            frozenset(instructions)
            for instructions, threads, writes in self.objects.values()
            if writes and len(threads) > 1
        ]


class _Noting:
    """A scheduler that also notes what is accessed."""

    def __init__(self, inner: Scheduler, seen: SharedAccesses) -> None:
        self._inner = inner
        self._seen = seen

    def choose(self, machine: Machine, enabled: list[int]) -> int:
        return self._inner.choose(machine, enabled)

    def moved(self, machine: Machine, thread: ConcreteThread) -> None:
        self._seen.note(machine, thread)
        self._inner.moved(machine, thread)


class DirectedSearch:
    """Looks for races on one machine."""

    def __init__(self, machine: Machine, pairs: Iterable[frozenset[int]] | None, seed: int) -> None:
        self._machine = machine
        self._generator = random.Random(seed)
        self._constants = interesting_constants(machine.program)
        self._pairs = None if pairs is None else list(pairs)
        self._seen = SharedAccesses()
        self.executions = 0

    def run(self, seconds_left: Callable[[], float], is_enough: Callable[[Race], bool]) -> None:
        """Hand each replayed race to `is_enough`, until it says so or the time is over."""
        while seconds_left() > 0:
            scheduler = _Noting(self._plan(), self._seen)
            inputs = RandomInputs(self._generator, self._constants)
            race = execute(self._machine, scheduler, inputs, self._limits())
            self.executions += 1
            if race is None:
                continue
            if replay(self._machine, race.schedule).reached and is_enough(race):
                return

    def wanted(self, pairs: Iterable[frozenset[int]]) -> None:
        """From now on look for these only."""
        self._pairs = list(pairs)

    def _limits(self) -> ExecutionLimits:
        """First short executions, later also long ones: as much time for each length."""
        generator = self._generator
        doublings = min(int(-math.log2(1 - generator.random())), self.executions // 8, _DOUBLINGS)
        return ExecutionLimits(
            _SHORTEST << doublings,
            generator.choice(_CROWDS),
            generator.random() < _PATIENCE,
        )

    def _plan(self) -> Scheduler:
        generator = self._generator
        kind = generator.random()
        targets = self._pairs if self._pairs else self._seen.targets()
        if targets and kind < 0.7:
            switch = generator.choice((0.05, 0.3, 1.0))
            hold = generator.choice((1.0, 1.0, 0.5, 0.2))
            return Holding(generator, generator.choice(targets), switch, hold)
        if kind < 0.8:
            return Uniform(generator)
        if kind < 0.9:
            return Lazy(generator, generator.choice((0.01, 0.05, 0.2)))
        return Priorities(generator, generator.choice((0.01, 0.05, 0.2)))
