"""Schedule files: JSON, described in `docs/schedules.md`.

What `raceproof replay` follows are `inputs`, `steps` and `race`; the rest tells people and other
programs what the schedule is about, and lets us refuse it for a program that it was not made for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raceproof.errors import UserError
from raceproof.ir import Position, Program
from raceproof.ir.printer import instruction_text
from raceproof.machine.recording import RecordedStep, RecordedThread, Recording
from raceproof.options import MutexRules
from raceproof.verdict import Schedule, Step

FORMAT = 1


@dataclass(frozen=True, slots=True)
class ScheduleFile:
    """A schedule with the program and the rules that it was made for."""

    schedule: Schedule
    digest: str
    data_model: str
    files: tuple[str, ...]
    mutex_rules: MutexRules = MutexRules.POSIX


def program_digest(program: Program) -> str:
    """Equal for programs with the same instructions, whatever their files are called."""
    digest = hashlib.sha256(f"{program.data_model} {program.entry}\n".encode())
    for function in program.defined:
        digest.update(f"{function.name}\n".encode())
        for instruction in function.instructions:
            digest.update(f"{instruction_text(instruction)}\n".encode())
    return digest.hexdigest()[:32]


def to_json(
    schedule: Schedule, program: Program, recording: Recording, mutex_rules: MutexRules
) -> dict[str, Any]:
    """The content of the file, given what a replay of the schedule recorded."""
    return {
        "format": FORMAT,
        "program": {
            "files": list(program.files),
            "data_model": program.data_model,
            "digest": program_digest(program),
        },
        "mutex_rules": mutex_rules.value,
        "threads": [thread_json(thread) for thread in recording.threads],
        "race": [_race(step) for step in recording.race],
        **({"first_is_done": True} if schedule.is_past else {}),
        "inputs": list(schedule.inputs),
        "steps": [
            [step.thread] if step.instruction is None else [step.thread, step.instruction]
            for step in schedule.steps
        ],
    }


def thread_json(thread: RecordedThread) -> dict[str, Any]:
    found: dict[str, Any] = {"number": thread.number, "entry": thread.entry}
    if thread.creator is not None:
        found["created_by"] = thread.creator
        found["created_at"] = position_json(thread.position)
    return found


def position_json(position: Position | None) -> dict[str, Any] | None:
    if position is None:
        return None
    return {"file": position.file, "line": position.line, "column": position.column}


def _race(step: RecordedStep) -> dict[str, Any]:
    access = step.accesses[0]
    return {
        "thread": step.thread,
        "instruction": step.instruction,
        "kind": "write" if access.is_write else "read",
        "atomic": access.is_atomic,
        "location": access.location,
        "function": step.function,
        "position": position_json(step.position),
        "locks": [lock.name for lock in step.locks],
    }


def from_json(data: Any) -> ScheduleFile:
    """Raises `ValueError` for what is no schedule."""
    if not isinstance(data, dict) or "format" not in data:
        raise ValueError("it has no field 'format'")
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']!r} is not known, only {FORMAT}")
    try:
        program = data["program"]
        first, second = data["race"]
        schedule = Schedule(
            tuple(Step(_natural(step[0]), *map(_natural, step[1:2])) for step in data["steps"]),
            tuple(_natural(value) for value in data["inputs"]),
            _natural(first["thread"]),
            _natural(second["thread"]),
            (_natural(first["instruction"]), _natural(second["instruction"])),
            is_past=bool(data.get("first_is_done", False)),
        )
        return ScheduleFile(
            schedule,
            str(program["digest"]),
            str(program["data_model"]),
            tuple(str(file) for file in program["files"]),
            MutexRules(data["mutex_rules"]),
        )
    except KeyError as error:
        raise ValueError(f"the field {error} is missing") from error
    except (IndexError, TypeError) as error:
        raise ValueError(f"a field is not as it should be ({error})") from error


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no natural number")
    return value


def write_schedule(path: Path, content: dict[str, Any]) -> None:
    """A field a line, a step a line."""
    lines = []
    for name, value in content.items():
        text = json.dumps(value)
        if name in ("steps", "threads", "race") and value:
            inner = ",\n  ".join(json.dumps(element) for element in value)
            text = f"[\n  {inner}\n ]"
        lines.append(f" {json.dumps(name)}: {text}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read_schedule(path: Path) -> ScheduleFile:
    """Raises `UserError` if the file is missing or no schedule."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read the schedule {path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is no schedule: it is not text") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is no schedule: broken JSON, {error}") from error
    try:
        return from_json(data)
    except ValueError as error:
        raise UserError(f"{path} is no schedule: {error}") from error


def check_program(path: Path, file: ScheduleFile, program: Program) -> None:
    """Raises `UserError` if the schedule was made for another program."""
    if file.digest == program_digest(program):
        return
    if file.data_model != program.data_model:
        raise UserError(
            f"{path} was made for the data model {file.data_model}, the program is "
            f"{program.data_model}: give --data-model {file.data_model}"
        )
    names = ", ".join(file.files) or "another program"
    raise UserError(
        f"{path} was made for another program than this one ({names}, or these files as they "
        "once were, or compiled with other flags)"
    )
