"""Witnesses of SV-COMP: what another tool needs to check our verdict.

*GraphML 1.0*: an automaton that is one path. Its edges are the steps of the schedule with their
thread and line; an edge that creates a thread names it, and the first edge of a new thread names
the function it enters.

*YAML 2.0*: a sequence of waypoints. The steps of the schedule are assumptions that always hold,
one to a segment, with the thread that takes them (`thread_id`, format 2.2); the last segment has
both racing accesses as targets. Without a schedule there is one target, and the format is 2.0.

A proof has a witness without invariants: the checks that prove race freedom are locks and thread
order, for which the formats have no words.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from raceproof.ir import Position, Program
from raceproof.report.interleaving import Row, What, interleaving
from raceproof.report.source import Sources
from raceproof.report.yaml import dump
from raceproof.verdict import Finding, Outcome, Verdict
from raceproof.version import __version__

PROPERTY = "CHECK( init(main()), LTL(G ! data-race) )"


@dataclass(frozen=True, slots=True)
class Origin:
    """What a witness says of itself; two witnesses of one origin are the same text."""

    created: str
    identifier: str

    @staticmethod
    def now() -> Origin:
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return Origin(moment, str(uuid.uuid4()))


def write_witness(path: Path, verdict: Verdict, program: Program) -> bool:
    """Write the witness in the format of the file's name; False if there is nothing to witness."""
    if verdict.outcome is Outcome.UNKNOWN:
        return False
    text = (graphml if path.suffix == ".graphml" else yaml)(verdict, program, Origin.now())
    path.write_text(text, encoding="utf-8")
    return True


def _hash(file: str) -> str:
    try:
        return sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return "0" * 64


def _rows(finding: Finding, program: Program) -> tuple[Row, ...]:
    """The steps up to the race; without a schedule only the two accesses."""
    if finding.schedule is not None:
        return interleaving(finding, program, Sources(program)).rows
    return tuple(
        Row(number, What.RACE, access.function, access.position, "")
        for number, access in enumerate(finding.accesses)
    )


# --- YAML ------------------------------------------------------------


def yaml(verdict: Verdict, program: Program, origin: Origin) -> str:
    is_race = verdict.outcome is Outcome.RACE
    has_threads = is_race and verdict.findings[0].schedule is not None
    entry = {
        "entry_type": "violation_sequence" if is_race else "invariant_set",
        "metadata": {
            "format_version": "2.2" if has_threads else "2.0",
            "uuid": origin.identifier,
            "creation_time": origin.created,
            "producer": {"name": "raceproof", "version": __version__},
            "task": {
                "input_files": list(program.files),
                "input_file_hashes": {f'"{file}"': _hash(file) for file in program.files},
                "specification": PROPERTY,
                "data_model": program.data_model.upper(),
                "language": "C",
            },
        },
        "content": _segments(verdict.findings[0], program) if is_race else [],
    }
    return dump([entry])


def _segments(finding: Finding, program: Program) -> list[Any]:
    rows = [row for row in _rows(finding, program) if row.position is not None]
    steps = [row for row in rows if row.what is not What.RACE]
    targets = [row for row in rows if row.what is What.RACE]
    if finding.schedule is None:
        return [_segment([_waypoint("target", targets[0])])] if targets else []
    segments = [_segment([_waypoint("assumption", row, row.thread)]) for row in steps]
    segments.append(_segment([_waypoint("target", row, row.thread) for row in targets]))
    return segments


def _segment(waypoints: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"segment": [{"waypoint": waypoint} for waypoint in waypoints]}


def _waypoint(kind: str, row: Row, thread: int | None = None) -> dict[str, Any]:
    waypoint: dict[str, Any] = {"type": kind, "action": "follow"}
    if kind == "assumption":
        waypoint["constraint"] = {"value": "1", "format": "c_expression"}
    waypoint["location"] = _place(row)
    if thread is not None:
        waypoint["thread_id"] = thread
    return waypoint


def _place(row: Row) -> dict[str, Any]:
    position = row.position
    assert position is not None
    place: dict[str, Any] = {"file_name": position.file, "line": position.line}
    if position.column:
        place["column"] = position.column
    if row.function:
        place["function"] = row.function
    return place


# --- GraphML ------------------------------------------------------------

_KEYS = (
    ("witness-type", "string", "graph"),
    ("sourcecodelang", "string", "graph"),
    ("producer", "string", "graph"),
    ("specification", "string", "graph"),
    ("programfile", "string", "graph"),
    ("programhash", "string", "graph"),
    ("architecture", "string", "graph"),
    ("creationtime", "string", "graph"),
    ("entry", "boolean", "node"),
    ("violation", "boolean", "node"),
    ("threadId", "string", "edge"),
    ("createThread", "string", "edge"),
    ("enterFunction", "string", "edge"),
    ("startline", "int", "edge"),
    ("endline", "int", "edge"),
)


def graphml(verdict: Verdict, program: Program, origin: Origin) -> str:
    is_race = verdict.outcome is Outcome.RACE
    file = program.files[0] if program.files else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
    ]
    for name, kind, owner in _KEYS:
        head = f' <key id="{name}" attr.name="{name}" attr.type="{kind}" for="{owner}"'
        lines.append(f"{head}><default>false</default></key>" if kind == "boolean" else f"{head}/>")
    lines.append(' <graph edgedefault="directed">')
    lines += [
        f"  {_data(key, value)}"
        for key, value in (
            ("witness-type", "violation_witness" if is_race else "correctness_witness"),
            ("sourcecodelang", "C"),
            ("producer", f"raceproof {__version__}"),
            ("specification", PROPERTY),
            ("programfile", file),
            ("programhash", _hash(file)),
            ("architecture", "32bit" if program.data_model == "ilp32" else "64bit"),
            ("creationtime", origin.created),
        )
    ]
    lines.append(f'  <node id="N0">{_data("entry", "true")}</node>')
    if is_race:
        lines += _path(verdict.findings[0], program)
    lines += [" </graph>", "</graphml>"]
    return "\n".join(lines) + "\n"


def _path(finding: Finding, program: Program) -> list[str]:
    edges = [_edge_data(0, None, createThread="0", enterFunction=program.entry)]
    entered = {0}
    created = 0
    has_schedule = finding.schedule is not None
    for row in _rows(finding, program):
        extra = {}
        if row.what is What.CREATE:
            created += 1
            extra["createThread"] = str(created)
        elif has_schedule and row.thread not in entered:
            entered.add(row.thread)
            extra["enterFunction"] = _entry(finding, row)
        edges.append(_edge_data(row.thread if has_schedule else None, row.position, **extra))
    lines = []
    for number, data in enumerate(edges, 1):
        mark = _data("violation", "true") if number == len(edges) else ""
        lines.append(f'  <node id="N{number}">{mark}</node>')
        lines.append(f'  <edge source="N{number - 1}" target="N{number}">{data}</edge>')
    return lines


def _entry(finding: Finding, row: Row) -> str:
    """The function that a thread of the schedule starts with, if it is one of the racing two."""
    schedule = finding.schedule
    assert schedule is not None
    for number, instruction in zip(
        (schedule.first, schedule.second), schedule.instructions, strict=True
    ):
        for access in finding.accesses:
            if row.thread == number and access.instruction == instruction:
                return access.thread.entry
    return row.function


def _edge_data(thread: int | None, position: Position | None, **extra: str) -> str:
    data = "" if thread is None else _data("threadId", str(thread))
    if position is not None:
        data += _data("startline", str(position.line)) + _data("endline", str(position.line))
    return data + "".join(_data(key, value) for key, value in extra.items())


def _data(key: str, value: str) -> str:
    return f'<data key="{key}">{escape(value)}</data>'
