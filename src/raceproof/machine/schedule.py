"""Schedule files: JSON, described in `docs/schedules.md`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from raceproof.errors import UserError
from raceproof.verdict import Schedule, Step

FORMAT = 1


def to_json(schedule: Schedule) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "inputs": list(schedule.inputs),
        "steps": [
            [step.thread] if step.instruction is None else [step.thread, step.instruction]
            for step in schedule.steps
        ],
        "race": {
            "threads": [schedule.first, schedule.second],
            "instructions": list(schedule.instructions),
        },
    }


def from_json(data: Any) -> Schedule:
    """Raises `ValueError` for what is no schedule."""
    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r} is not known")
        first, second = data["race"]["threads"]
        one, other = data["race"]["instructions"]
        steps = tuple(Step(_natural(step[0]), *map(_natural, step[1:2])) for step in data["steps"])
        inputs = tuple(int(value) for value in data["inputs"])
        return Schedule(
            steps, inputs, _natural(first), _natural(second), (_natural(one), _natural(other))
        )
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"{error} is missing or not as it should be") from error


def _natural(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no number of a thread or instruction")
    return value


def write_schedule(path: Path, schedule: Schedule) -> None:
    text = json.dumps(to_json(schedule))
    path.write_text(text.replace("], [", "],\n [") + "\n", encoding="utf-8")


def read_schedule(path: Path) -> Schedule:
    """Raises `UserError` if the file is missing or no schedule."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read the schedule {path}: {error.strerror}") from error
    try:
        return from_json(json.loads(text))
    except ValueError as error:
        raise UserError(f"{path} is no schedule: {error}") from error
