"""The concrete layer: all schedules of the real values, for a proof or a schedule.

Exact values first. A program that asks for an input, or looks at the arguments of `main`, is
explored with unknown values instead: what holds then holds for every input. As long as that fails
for want of knowledge, inputs are split into more parts. A race met with exact
values is replayed; one met with unknown values is only a hint where to search, since no input may
lead there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.concurrency import Models
from raceproof.engines.interleave.explorer import (
    Conclusion,
    Exploration,
    Explorer,
    NoInputs,
)
from raceproof.engines.interleave.traces import race_of, racing_instructions
from raceproof.ir import Program, Register
from raceproof.machine.findings import Race
from raceproof.machine.machine import Machine
from raceproof.machine.replay import replay
from raceproof.options import MutexRules


@dataclass(frozen=True, slots=True)
class Explored:
    """`is_proved`: no schedule and no input leads to a race."""

    is_proved: bool
    states: int
    reason: str = ""
    race: Race | None = None
    """Met, and replayed."""
    hint: frozenset[int] = frozenset()
    """The instructions of a race that could not be replayed."""
    assumptions: frozenset[str] = frozenset()
    has_met_undefined: bool = False
    """Whether some schedule ends at something undefined."""


def explore(
    machine: Machine, models: Models | None, rules: MutexRules, seconds_left: Callable[[], float]
) -> Explored:
    """Explore the program of `machine` (which has exact values) as far as the time goes."""
    states = 0
    if not reads_arguments(machine.program):
        explorer = Explorer(machine, inputs=NoInputs())
        found = explorer.run(seconds_left)
        states = found.states
        explored = _conclude(machine, explorer, found, states)
        machine.keeps_ghosts = False
        if found.conclusion is not Conclusion.INCOMPLETE or seconds_left() <= 0:
            return explored
        if "inputs" not in found.reason:
            return explored
    machine = Machine(machine.program, models, is_open=True, mutex_rules=rules)
    while True:
        explorer = Explorer(machine)
        found = explorer.run(seconds_left)
        states += found.states
        is_race = found.conclusion is Conclusion.RACE
        if not (is_race or found.is_stuck) or seconds_left() <= 0:
            break
        if not machine.input_sites.split(only_blamed=not is_race):
            break
    return _conclude(machine, explorer, found, states)


def _conclude(machine: Machine, explorer: Explorer, found: Exploration, states: int) -> Explored:
    assumptions = frozenset(machine.assumptions)
    match found.conclusion:
        case Conclusion.RACE_FREE if machine.program.unordered:
            # No two accesses happen at once, but that does not order them (`ir.memory_order`).
            return Explored(False, states, "no two accesses at once; memory orders not explored")
        case Conclusion.RACE_FREE:
            has_met = machine.has_met_undefined
            return Explored(True, states, assumptions=assumptions, has_met_undefined=has_met)
        case Conclusion.INCOMPLETE:
            return Explored(False, states, found.reason)
    if not machine.is_open:
        race = race_of(machine, explorer, found)
        machine.keeps_ghosts = False
        if race is not None and replay(machine, race.schedule).reached:
            return Explored(False, states, "a race", race)
    hint = racing_instructions(explorer, found)
    return Explored(False, states, "a race that was not replayed", hint=hint)


def reads_arguments(program: Program) -> bool:
    """Whether the program looks at what it is called with."""
    entry = program.functions[program.entry]
    parameters = set(entry.parameters)
    return any(
        isinstance(operand, Register) and operand in parameters
        for instruction in entry.instructions
        for operand in instruction.operands
    )
