"""A schedule of the machine in the terms of the printed program.

The printed program counts its visible statements as the machine counts visible steps, so a schedule
becomes a list of contexts (thread, number of visible steps), the racing context, the second thread,
and the inputs of each thread. Compiled with `-DRACEPROOF_RUN`, the program follows such a file and
prints the values of its nondeterministic choices: the labels where the contexts end among them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from raceproof.concurrency import Models
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.machine import Machine
from raceproof.machine.inputs import Inputs
from raceproof.machine.replay import replay
from raceproof.machine.runner import PAUSE
from raceproof.machine.thread import ConcreteThread
from raceproof.options import MutexRules
from raceproof.verdict import Schedule


@dataclass(frozen=True, slots=True)
class Directions:
    """`text` is the file for `program follow FILE`; the program needs at least these bounds."""

    text: str
    rounds: int
    threads: int
    """With `main`."""


class _ListeningMachine(Machine):
    """Remembers which thread got which inputs."""

    def reset(self, inputs: Inputs | None = None) -> None:
        self.given: dict[int, list[int]] = {}
        super().reset(inputs)

    def input(self, bits: int, limits: tuple[int, int] | None, inventor: str = "") -> Any:
        value = super().input(bits, limits, inventor)
        self.given.setdefault(self.current.number, []).append(value)
        return value


def directions(
    program: Program,
    models: Models,
    schedule: Schedule,
    mutex_rules: MutexRules = MutexRules.POSIX,
) -> Directions:
    """Raises `UserError` if the schedule does not lead to its race."""
    machine = _ListeningMachine(program, models, mutex_rules=mutex_rules)
    contexts: list[list[int]] = []

    def watch(_: Machine, thread: ConcreteThread) -> Callable[[], None]:
        if thread.pending is None or thread.pending.operation is not PAUSE:
            if not contexts or contexts[-1][0] != thread.number:
                contexts.append([thread.number, 0])
            contexts[-1][1] += 1
        return lambda: None

    outcome = replay(machine, schedule, watch)
    if not outcome.reached:
        raise UserError(f"the schedule does not lead to its race: {outcome.message}")
    first, second = schedule.first, schedule.second
    if machine.threads[second].atomic_depth:
        first, second = second, first
    if not contexts or contexts[-1][0] != first:
        contexts.append([first, 0])
    threads = len(machine.threads)
    rounds, previous = 1, -1
    for number, _ in contexts:
        if number <= previous:
            rounds += 1
        previous = number
    inputs = [machine.given.get(number, []) for number in range(threads)]
    lines = [
        str(len(contexts)),
        *(f"{number} {steps}" for number, steps in contexts),
        f"{(rounds - 1) * threads + first} {second}",
        str(threads),
        *(" ".join(map(str, [len(values), *values])) for values in inputs),
    ]
    return Directions("\n".join(lines) + "\n", rounds, threads)
