"""The verdict for other programs: one JSON object, as ``schema/verdict-1.json`` describes it."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.resources import files
from typing import Any, TextIO

from raceproof.ir import Position, Program
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.fingerprint import fingerprint
from raceproof.report.interleaving import Interleaving, interleaving
from raceproof.report.rules import why
from raceproof.report.source import Sources
from raceproof.verdict import (
    Access,
    Finding,
    LayerResult,
    Location,
    Schedule,
    Site,
    Thread,
    Verdict,
)
from raceproof.version import __version__

SCHEMA_VERSION = 1
"""Raised when a field changes its meaning or goes away; new fields do not raise it."""


def schema() -> Any:
    """The JSON schema of what `write` writes."""
    text = files("raceproof.report").joinpath("schema/verdict-1.json").read_text("utf-8")
    return json.loads(text)


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    json.dump(document(verdict, program), stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def document(verdict: Verdict, program: Program) -> dict[str, Any]:
    sources = Sources(program)
    return {
        "schema": SCHEMA_VERSION,
        "tool": {"name": "raceproof", "version": __version__},
        "program": {"files": list(program.files), "data_model": program.data_model},
        "verdict": verdict.outcome.value,
        "findings": [_finding(finding, program, sources) for finding in verdict.findings],
        "protections": [
            {
                "location": _location(protection.location),
                "reason": protection.reason,
                "detail": protection.detail,
                "accesses": protection.accesses,
            }
            for protection in verdict.protections
        ],
        "assumptions": list(verdict.assumptions),
        "engines": [
            {
                "name": run.name,
                "answer": run.answer,
                "seconds": round(run.seconds, 3),
                "detail": run.detail,
                **({"layers": [_layer(row, program) for row in run.layers]} if run.layers else {}),
            }
            for run in verdict.engines
        ],
        "threads": [_thread(thread) for thread in verdict.threads],
        "shared": [_location(location) for location in verdict.shared],
        "seconds": round(verdict.seconds, 3),
        "notices": list(verdict.notices),
    }


def _layer(row: LayerResult, program: Program) -> dict[str, Any]:
    return {
        "name": row.name,
        "candidates": row.candidates,
        "left": row.left,
        "confirmed": row.confirmed,
        "seconds": round(row.seconds, 3),
        "seconds_per_variable": round(row.seconds / max(row.candidates, 1), 3),
        "instructions": program.instruction_count,
        "detail": row.detail,
    }


def _finding(finding: Finding, program: Program, sources: Sources) -> dict[str, Any]:
    reason = why(finding, sources)
    found: dict[str, Any] = {
        "location": _location(finding.location),
        "confidence": str(finding.confidence),
        "rule": reason.rule.id,
        "why": reason.sentence,
        "suggestion": reason.suggestion,
        "fingerprint": fingerprint(finding),
        "message": words.message(finding),
        "engine": finding.engine,
        "accesses": [_access(access) for access in finding.accesses],
    }
    if finding.evidence is not None:
        found["evidence"] = {
            "habit": finding.evidence.habit.value,
            "guard": finding.evidence.guard,
            "guarded": finding.evidence.guarded,
            "total": finding.evidence.total,
            "text": words.evidence(finding),
        }
    if finding.also:
        found["also"] = [_location(location) for location in finding.also]
    if finding.suppressed_by is not None:
        found["suppressed"] = {
            "by": finding.suppressed_by.kind.value,
            "reason": finding.suppressed_by.reason,
        }
    if finding.others:
        found["others"] = [[_access(access) for access in pair] for pair in finding.others]
    if finding.native is not None:
        found["native"] = asdict(finding.native)
    if finding.schedule is not None:
        found["schedule"] = _schedule(finding.schedule)
        found["interleaving"] = _interleaving(interleaving(finding, program, sources))
    return found


def _access(access: Access) -> dict[str, Any]:
    return {
        "kind": "write" if access.is_write else "read",
        "atomic": access.is_atomic,
        "expression": access.expression,
        "function": access.function,
        "position": _position(access.position),
        "instruction": access.instruction,
        "thread": _thread(access.thread),
        "locks": [
            {"name": held.name, "mode": held.mode.value, "sure": held.is_sure}
            for held in access.locks
        ],
        "calls": [_site(site) for site in access.calls],
    }


def _location(location: Location) -> dict[str, Any]:
    return {
        "name": location.name,
        "kind": location.kind.value,
        "base": location.base,
        "start": location.start,
        "end": location.end,
    }


def _thread(thread: Thread) -> dict[str, Any]:
    return {
        "name": thread.name,
        "entry": thread.entry,
        "unique": thread.is_unique,
        "created": [_site(site) for site in thread.chain],
    }


def _site(site: Site) -> dict[str, Any]:
    return {
        "function": site.function,
        "position": _position(site.position),
        "instruction": site.instruction,
    }


def _position(position: Position | None) -> dict[str, Any] | None:
    if position is None:
        return None
    return {"file": position.file, "line": position.line, "column": position.column}


def _schedule(schedule: Schedule) -> dict[str, Any]:
    return {
        "steps": [[step.thread, step.instruction] for step in schedule.steps],
        "inputs": list(schedule.inputs),
        "threads": [schedule.first, schedule.second],
        "instructions": list(schedule.instructions),
        **({"first_is_done": True} if schedule.is_past else {}),
    }


def _interleaving(shown: Interleaving) -> dict[str, Any]:
    return {
        "threads": list(shown.names),
        "steps": [
            {
                "thread": row.thread,
                "function": row.function,
                "position": _position(row.position),
                "text": row.text,
                "what": row.what.value,
            }
            for row in shown.rows
        ],
    }
