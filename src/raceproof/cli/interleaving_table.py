"""A recorded replay for people (a line a step) and for programs (JSON)."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TextIO

from raceproof.ir import Program
from raceproof.ir.names import without_origin
from raceproof.machine.recording import RecordedAccess, RecordedStep, Recording
from raceproof.machine.schedule import position_json, thread_json
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.source import Sources

_PLAIN_WIDTH = 80
_MOST_ROWS = 200
"""The table shows the last so many rows; all of them with -v."""


def write_json(recording: Recording, out: TextIO) -> None:
    """One object, described in `docs/schedules.md`."""
    content = {
        "reached": recording.replayed.reached,
        "message": recording.replayed.message,
        "threads": [thread_json(thread) for thread in recording.threads],
        "steps": [_step(step) for step in recording.steps],
        "race": [_step(step) for step in recording.race],
    }
    out.write(json.dumps(content, indent=1) + "\n")


def _step(step: RecordedStep) -> dict[str, Any]:
    return {
        "thread": step.thread,
        "instruction": step.instruction,
        "function": step.function,
        "position": position_json(step.position),
        "call": step.call,
        "accesses": [
            {
                "kind": "write" if access.is_write else "read",
                "atomic": access.is_atomic,
                "location": access.location,
                "value": access.value,
            }
            for access in step.accesses
        ],
        "locks": [{"name": lock.name, "mode": lock.mode.value} for lock in step.locks],
        "started": list(step.started),
    }


def write_table(recording: Recording, program: Program, options: Options, out: TextIO) -> None:
    """A line a step, with what it read and wrote; then a sentence that says where it ended."""
    width = shutil.get_terminal_size().columns if out.isatty() else _PLAIN_WIDTH
    sources = Sources(program)
    rows = _rows(recording)
    left_out = 0 if options.verbosity > 0 else max(0, len(rows) - _MOST_ROWS)
    if left_out:
        out.write(f"... {left_out} earlier steps (shown with -v)\n")
    racing = [_Line(">>", step) for step in recording.race]
    lines = [_Line(str(number), row) for number, row in enumerate(rows, 1)][left_out:] + racing
    names = {line.step.thread: _thread_name(recording, line.step.thread) for line in lines}
    indent = (
        max(map(len, names.values()), default=0),
        max((len(words.short_place(line.step.position)) for line in lines), default=0),
    )
    locks: dict[int, str] = {}
    for line in lines:
        step = line.step
        place = words.short_place(step.position)
        head = f"{line.number:>5}  {names[step.thread]:<{indent[0]}}  {place:<{indent[1]}}  "
        code = _source(step, sources)
        room = max(width - len(head), 24)
        out.write(head + (code if len(code) <= room else code[: room - 3] + "...") + "\n")
        for detail in _details(recording, line, locks):
            for part in textwrap.wrap(detail, room, break_long_words=False):
                out.write(" " * len(head) + part + "\n")
    out.write("\n")
    out.write(textwrap.fill(_conclusion(recording), width, break_on_hyphens=False) + "\n")


@dataclass(frozen=True, slots=True)
class _Line:
    number: str
    step: RecordedStep


def _rows(recording: Recording) -> list[RecordedStep]:
    """Steps of one thread at one line, one after the other, are one row."""
    rows: list[RecordedStep] = []
    for step in recording.steps:
        last = rows[-1] if rows else None
        if last is not None and last.thread == step.thread and _is_same_line(last, step):
            rows[-1] = replace(
                step,
                accesses=last.accesses + step.accesses,
                started=last.started + step.started,
            )
        else:
            rows.append(step)
    return rows


def _is_same_line(first: RecordedStep, second: RecordedStep) -> bool:
    one, other = first.position, second.position
    if one is None or other is None:
        return False
    return (one.file, one.line) == (other.file, other.line)


def _thread_name(recording: Recording, number: int) -> str:
    entry = recording.threads[number].entry
    return entry if number == 0 else f"{number}: {entry}"


def _details(recording: Recording, line: _Line, locks: dict[int, str]) -> Iterator[str]:
    """What a step reads and writes, whom it starts, and its locks if they are others than at the
    thread's last step."""
    step = line.step
    held = words.locks(step.locks)
    if line.number == ">>":
        access = step.accesses[0]
        verb = "write" if access.is_write else "read"
        yield f"about to {verb} {without_origin(access.location)}, holding {held}"
        return
    values = [_value(access) for access in step.accesses if not (step.call and access.is_atomic)]
    values += [f"starts {_thread_name(recording, number)}" for number in step.started]
    if held != locks.get(step.thread, words.locks(())):
        values.append(f"now holds {held}")
    locks[step.thread] = held
    if values:
        yield ", ".join(values)


def _source(row: RecordedStep, sources: Sources) -> str:
    source = sources.line(row.position)
    return source or (f"{row.call}()" if row.call and row.position else f"(in {row.function})")


def _value(access: RecordedAccess) -> str:
    verb = "writes" if access.is_write else "reads"
    return f"{verb} {without_origin(access.location)}" + (
        f" = {access.value}" if access.value else ""
    )


def _conclusion(recording: Recording) -> str:
    if not recording.replayed.reached:
        return f"The schedule does not end at the two accesses: {recording.replayed.message}."
    parts = []
    for step in recording.race:
        access = step.accesses[0]
        kind = ("atomic " if access.is_atomic else "") + ("write" if access.is_write else "read")
        who = _thread_name(recording, step.thread)
        parts.append(
            f"{kind} of {without_origin(access.location)} by {who} at {words.place(step.position)}"
        )
    message = recording.replayed.message
    return f"{message[0].upper()}{message[1:]}: {', and '.join(parts)}."
