"""What the runtime is told: a schedule to follow, or pairs of points to bring together.

A file of numbers, in the order in which `runtime.c` reads them: the mode, the patience in
microseconds, the seed; the steps, each with thread, point and kind; the two accesses of the race,
each with thread and point, and whether the first one is done on the way; the inputs; the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from raceproof.machine.recording import RecordedStep, Recording
from raceproof.verdict import Finding, Schedule

_SCHEDULE, _NOISE = 1, 2
_STARTS, _WAITS, _WOKEN = 1, 2, 4
_WAITING_CALL = re.compile(r"(?:cond|cnd)_\w*wait|barrier_wait|condition_variable")
_PATIENCE = 3_000_000
"""Microseconds without any step, after which a schedule is given up."""
_NOISE_PATIENCE = 40_000
"""Microseconds that a thread waits for another, more or less."""


@dataclass(frozen=True, slots=True)
class Plan:
    text: str
    way: str
    points: frozenset[int]
    """Instructions at which threads are held."""


def schedule_plan(schedule: Schedule, recording: Recording, known: frozenset[int]) -> Plan | None:
    """Follow the recorded steps at the points that are `known`; None if a racing access is none."""
    if not set(schedule.instructions) <= known:
        return None
    steps = [step for step in recording.steps if step.instruction in known and is_visible(step)]
    lines = [f"{_SCHEDULE} {_PATIENCE} 0", str(len(steps))]
    kinds = zip(steps, _kinds(steps), strict=True)
    lines += [f"{step.thread} {step.instruction} {kind}" for step, kind in kinds]
    first, second = schedule.instructions
    lines.append(f"{schedule.first} {first} {schedule.second} {second} {int(schedule.is_past)}")
    lines.append(" ".join(map(str, (len(schedule.inputs), *schedule.inputs))))
    lines.append("0")
    points = frozenset({s.instruction for s in steps} | set(schedule.instructions))
    return Plan("\n".join(lines) + "\n", "scheduled", points)


def is_visible(step: RecordedStep) -> bool:
    """Not one that only stands for the start of a thread."""
    return bool(step.call or step.accesses or step.started)


def _kinds(steps: list[RecordedStep]) -> list[int]:
    """A wait for a condition is two steps of one call: it goes to sleep, and it is woken."""
    kinds = [_STARTS if step.started else 0 for step in steps]
    asleep: dict[int, int] = {}
    for index, step in enumerate(steps):
        before = asleep.pop(step.thread, None)
        if before is not None and steps[before].instruction == step.instruction:
            kinds[before] |= _WAITS
            kinds[index] |= _WOKEN
        elif _WAITING_CALL.search(step.call):
            asleep[step.thread] = index
    for index in asleep.values():
        kinds[index] |= _WAITS
    return kinds


def noise_plan(findings: Iterable[Finding], known: frozenset[int], seed: int) -> Plan | None:
    """Bring the two sides of the findings together; None if no pair is known."""
    pairs = [
        (a.instruction, b.instruction)
        for finding in findings
        for a, b in (finding.accesses, *finding.others)
        if {a.instruction, b.instruction} <= known
    ]
    pairs = list(dict.fromkeys(pairs))
    if not pairs:
        return None
    lines = [f"{_NOISE} {_NOISE_PATIENCE} {seed}", "0", "0 0 0 0 0", "0", str(len(pairs))]
    lines += [f"{a} {b}" for a, b in pairs]
    return Plan("\n".join(lines) + "\n", "noise", frozenset(n for pair in pairs for n in pair))
