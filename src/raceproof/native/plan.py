"""What the runtime is told: a schedule to follow, or pairs of points to bring together.

A file of numbers, in the order in which `runtime.c` reads them: the mode, the patience in
microseconds, the seed; the steps, each with thread, point and kind; the two accesses of the race,
each with thread and point, and whether the first one is done on the way; the inputs; the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from raceproof.machine.recording import RecordedStep, Recording
from raceproof.native.points import PointTable
from raceproof.verdict import Finding, Schedule

_SCHEDULE, _NOISE = 1, 2
_WAITS, _WOKEN = 1, 2
_WAITING_CALL = re.compile(r"(?:cond|cnd)_\w*wait|barrier_wait|condition_variable")
_PATIENCE = 3_000_000
"""Microseconds without any step, after which a schedule is given up."""
_NOISE_PATIENCE = 40_000
"""Microseconds that a thread waits for another, more or less."""


@dataclass(frozen=True, slots=True)
class Plan:
    text: str
    way: str


def schedule_plan(
    schedule: Schedule, recording: Recording, known: Mapping[int, int]
) -> Plan | None:
    """Follow the recorded steps at the points that are `known`, by instruction; None if a racing
    access is none of them."""
    if not set(schedule.instructions) <= known.keys():
        return None
    ends = (schedule.first, schedule.second)
    first, second = (known[number] for number in schedule.instructions)
    steps = _merged(recording.steps, known, dict(zip(ends, (first, second), strict=True)))
    lines = [f"{_SCHEDULE} {_PATIENCE} 0", str(len(steps))]
    kinds = zip(steps, _kinds(steps), strict=True)
    lines += [f"{step.thread} {step.instruction} {kind}" for step, kind in kinds]
    lines.append(f"{schedule.first} {first} {schedule.second} {second} {int(schedule.is_past)}")
    lines.append(" ".join(map(str, (len(schedule.inputs), *schedule.inputs))))
    lines.append("0")
    return Plan("\n".join(lines) + "\n", "scheduled")


def _merged(
    recorded: Iterable[RecordedStep], known: Mapping[int, int], racing: Mapping[int, int]
) -> list[RecordedStep]:
    """The steps at points. Those within one call of a library function, whose body the analysis has
    put in, are one; those within the call that races are none: it is about to happen."""
    steps: list[RecordedStep] = []
    last: dict[int, RecordedStep] = {}
    for step in recorded:
        point = known.get(step.instruction)
        if point is None or not is_visible(step):
            continue
        before = last.get(step.thread)
        last[step.thread] = step
        if point != step.instruction and before is not None and known[before.instruction] == point:
            continue
        steps.append(replace(step, instruction=point))
    for thread, point in racing.items():
        before = last.get(thread)
        if (
            before is not None
            and before.instruction != point
            and known[before.instruction] == point
        ):
            latest = max(i for i, step in enumerate(steps) if step.thread == thread)
            del steps[latest]
    return steps


def is_visible(step: RecordedStep) -> bool:
    """Not one that only stands for the start of a thread."""
    return bool(step.call or step.accesses or step.started)


def _kinds(steps: list[RecordedStep]) -> list[int]:
    """A wait for a condition is two steps of one call: it goes to sleep, and it is woken."""
    kinds = [0 for _ in steps]
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


def noise_plan(findings: Iterable[Finding], table: PointTable, seed: int) -> Plan | None:
    """Bring the two sides of the findings together; None if no pair is known."""
    pairs = [
        (first, second)
        for finding in findings
        for a, b in (finding.accesses, *finding.others)
        for first in table.of(a)
        for second in table.of(b)
    ]
    pairs = list(dict.fromkeys(pairs))
    if not pairs:
        return None
    lines = [f"{_NOISE} {_NOISE_PATIENCE} {seed}", "0", "0 0 0 0 0", "0", str(len(pairs))]
    lines += [f"{a} {b}" for a, b in pairs]
    return Plan("\n".join(lines) + "\n", "noise")
