"""A recorded replay for people (a table, a column per thread) and for programs (JSON)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from raceproof.ir import Program
from raceproof.machine.recording import RecordedAccess, RecordedStep, Recording
from raceproof.machine.schedule import position_json, thread_json
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.source import Sources

_PLAIN_WIDTH = 110
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
    """The rows, then a sentence that says where it ended."""
    is_terminal = out.isatty()
    console = Console(file=out, highlight=False, width=None if is_terminal else _PLAIN_WIDTH)
    sources = Sources(program)
    rows = _rows(recording)
    left_out = 0 if options.verbosity > 0 else max(0, len(rows) - _MOST_ROWS)
    if left_out:
        console.print(f"... {left_out} earlier steps (shown with -v)", style="dim")
    shown = rows[left_out:]
    racing = {step.thread for step in recording.race}
    threads = sorted({row.thread for row in shown} | racing)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=True, show_edge=False)
    table.add_column("", justify="right", style="dim")
    for number in threads:
        table.add_column(Text(_thread_name(recording, number)), overflow="fold")
    for number, row in enumerate(shown, left_out + 1):
        cell = _cell(recording, row, sources)
        table.add_row(str(number), *(cell if row.thread == n else Text("") for n in threads))
    if recording.race:
        cells = {step.thread: _racing_cell(step, sources) for step in recording.race}
        table.add_row("race", *(cells.get(number, Text("")) for number in threads))
    console.print(table)
    console.print()
    console.print(Text(_conclusion(recording)), soft_wrap=True)


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


def _cell(recording: Recording, row: RecordedStep, sources: Sources) -> Text:
    lines = [_head(row, sources)]
    values = [_value(access) for access in row.accesses]
    values += [f"starts {_thread_name(recording, number)}" for number in row.started]
    if values:
        lines.append(Text(", ".join(values), "cyan"))
    if row.locks:
        lines.append(Text(f"holds {words.locks(row.locks)}", "dim"))
    return Text("\n").join(lines)


def _head(row: RecordedStep, sources: Sources) -> Text:
    source = sources.line(row.position)
    if not source:
        source = f"{row.call}()" if row.call and row.position else f"(in {row.function})"
    where = f"{row.position.line}: " if row.position else ""
    return Text.assemble((where, "dim"), source)


def _value(access: RecordedAccess) -> str:
    verb = "writes" if access.is_write else "reads"
    return f"{verb} {access.location}" + (f" = {access.value}" if access.value else "")


def _racing_cell(step: RecordedStep, sources: Sources) -> Text:
    access = step.accesses[0]
    verb = "write" if access.is_write else "read"
    return Text("\n").join(
        [
            Text(_head(step, sources).plain, "bold red"),
            Text(f"about to {verb} {access.location}", "cyan"),
            Text(f"holds {words.locks(step.locks)}", "dim"),
        ]
    )


def _conclusion(recording: Recording) -> str:
    if not recording.replayed.reached:
        return f"The schedule does not end at the two accesses: {recording.replayed.message}."
    parts = []
    for step in recording.race:
        access = step.accesses[0]
        kind = ("atomic " if access.is_atomic else "") + ("write" if access.is_write else "read")
        who = _thread_name(recording, step.thread)
        parts.append(f"{kind} of {access.location} by {who} at {words.place(step.position)}")
    message = recording.replayed.message
    return f"{message[0].upper()}{message[1:]}: {', and '.join(parts)}."
