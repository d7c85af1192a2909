"""The verdict as SARIF 2.1.0, for code scanning and editors.

Each finding is a result at its first access; the second access and the creation of both threads
are related locations. The code flow has one thread flow for each thread: the steps of the replayed
schedule with their common order, or without a schedule the way down the calls.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from raceproof.ir import Position, Program
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.fingerprint import fingerprint
from raceproof.report.interleaving import What, interleaving
from raceproof.report.paths import is_relative, uri
from raceproof.report.rules import RULES, Rule, Why, why
from raceproof.report.source import Sources
from raceproof.report.suppression import suppression_of
from raceproof.verdict import Access, Confidence, Finding, Site, SuppressionKind, Verdict
from raceproof.version import __version__

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT = "raceproof/v2"
_LEVELS = {
    Confidence.CONFIRMED: "error",
    Confidence.LIKELY: "warning",
    Confidence.POSSIBLE: "note",
}
_RANKS = {Confidence.CONFIRMED: 100.0, Confidence.LIKELY: 80.0, Confidence.POSSIBLE: 30.0}
_ROOT = "SRCROOT"
Json = dict[str, Any]


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    json.dump(document(verdict, program), stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def document(verdict: Verdict, program: Program) -> Json:
    sources = Sources(program)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver()},
                "automationDetails": {"id": "raceproof/data-races/"},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    _ROOT: {
                        "uri": Path.cwd().as_uri() + "/",
                        "description": {"text": "The folder where raceproof was run."},
                    }
                },
                "artifacts": [
                    {"location": _artifact(file), "sourceLanguage": _language(file)}
                    for file in program.files
                ],
                "invocations": [_invocation(verdict)],
                "results": [_result(finding, program, sources) for finding in verdict.findings],
                "properties": {
                    "verdict": verdict.outcome.value,
                    "assumptions": list(verdict.assumptions),
                    "protections": {one.location.name: one.detail for one in verdict.protections},
                },
            }
        ],
    }


def _driver() -> Json:
    return {
        "name": "raceproof",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in RULES],
    }


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {
            "text": f"{rule.title}. Two threads can be about to access overlapping bytes at the "
            "same time; at least one of them writes, and not both accesses are atomic. The "
            "behaviour of such a program is undefined."
        },
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": "error"},
        "properties": {
            "tags": ["concurrency", "security", *(f"external/cwe/cwe-{c}" for c in rule.cwe)],
            "precision": "high",
            "problem.severity": "error",
            "security-severity": str(rule.security),
        },
    }


def _invocation(verdict: Verdict) -> Json:
    return {
        "executionSuccessful": not any(n.startswith("internal error") for n in verdict.notices),
        "toolExecutionNotifications": [
            {
                "level": "error" if notice.startswith("internal error") else "warning",
                "message": {"text": notice},
            }
            for notice in verdict.notices
        ],
    }


def _result(finding: Finding, program: Program, sources: Sources) -> Json:
    first, second = finding.accesses
    reason = why(finding, sources)
    related = [
        {
            "id": 1,
            **_access_location(second, f"the other access: {words.kind(second)}", sources),
        }
    ]
    for access in finding.accesses:
        for site in access.thread.chain[-1:]:
            if site.position is not None:
                words_ = f"{words.runs(access)} is created here"
                related.append(
                    {"id": len(related) + 1, **_location(site.position, site.function, words_)}
                )
    result: Json = {
        "ruleId": reason.rule.id,
        "ruleIndex": RULES.index(reason.rule),
        "level": _LEVELS[finding.confidence],
        "rank": _RANKS[finding.confidence],
        "message": {"text": _message(finding, reason)},
        "locations": [_access_location(first, words.kind(first), sources)],
        "relatedLocations": related,
        "codeFlows": [{"threadFlows": _thread_flows(finding, program, sources)}],
        "partialFingerprints": {FINGERPRINT: fingerprint(finding)},
        "properties": {
            "confidence": str(finding.confidence),
            "location": finding.location.name,
            "engine": finding.engine,
        },
    }
    if finding.native is not None:
        result["properties"]["native"] = asdict(finding.native)
    suppression = suppression_of(finding, sources)
    if suppression is not None:
        kind = "inSource" if suppression.kind is SuppressionKind.COMMENT else "external"
        entry: Json = {"kind": kind, "status": "accepted"}
        if suppression.reason:
            entry["justification"] = suppression.reason
        result["suppressions"] = [entry]
    return result


def _message(finding: Finding, reason: Why) -> str:
    """With a link to the second access, as SARIF viewers show it."""
    first, second = finding.accesses
    return (
        f"{str(finding.confidence).capitalize()} data race on '{finding.location.name}': "
        f"{words.kind(first)} in {first.function} by {words.runs(first)} holding "
        f"{words.locks(first.locks)}, and [{words.kind(second)}](1) in {second.function} by "
        f"{words.runs(second)} holding {words.locks(second.locks)}: {reason.sentence}. "
        f"To mend it: {reason.suggestion}."
    )


def _access_location(access: Access, text: str, sources: Sources) -> Json:
    """Where an access is, with the end of what is accessed."""
    found = _location(access.position, access.function, f"{text} in {access.function}")
    if access.position is not None and access.position.column:
        start, width = sources.caret(access.position, words.target(access))
        region = found["physicalLocation"]["region"]
        region["startColumn"], region["endColumn"] = start + 1, start + width + 1
    return found


def _thread_flows(finding: Finding, program: Program, sources: Sources) -> list[Json]:
    if finding.schedule is None:
        return [
            {
                "id": f"{number}: {words.runs(access)}",
                "message": {"text": access.thread.name},
                "locations": _way(access),
            }
            for number, access in enumerate(finding.accesses)
        ]
    shown = interleaving(finding, program, sources)
    flows: dict[int, list[Json]] = {}
    last = len(shown.rows) - shown.is_at_once
    for order, row in enumerate(shown.rows, 1):
        text = "race: both accesses are enabled" if row.what is What.RACE else row.text
        flows.setdefault(row.thread, []).append(
            {
                "location": _location(row.position, row.function, text),
                "executionOrder": min(order, last),
                "importance": "essential" if row.what is What.RACE else "important",
            }
        )
    return [
        {"id": f"{thread}: {shown.names[thread]}", "locations": steps}
        for thread, steps in sorted(flows.items())
    ]


def _way(access: Access) -> list[Json]:
    """Creation of the thread, calls down to the access, the access."""
    steps: list[tuple[Site, str, int]] = [
        (site, f"creates the thread {words.runs(access)}", 0) for site in access.thread.chain
    ]
    steps += [(site, "calls", depth) for depth, site in enumerate(access.calls, 1)]
    found = [
        {"location": _location(site.position, site.function, text), "nestingLevel": depth}
        for site, text, depth in steps
    ]
    text = f"{words.kind(access)} of {access.location.name}, holding {words.locks(access.locks)}"
    found.append(
        {
            "location": _location(access.position, access.function, text),
            "nestingLevel": len(access.calls) + 1,
            "importance": "essential",
        }
    )
    return found


def _location(position: Position | None, function: str, text: str) -> Json:
    found: Json = {"message": {"text": text}}
    if function:
        found["logicalLocations"] = [{"name": function, "kind": "function"}]
    if position is not None:
        region = {"startLine": max(position.line, 1)}
        if position.column:
            region["startColumn"] = position.column
        found["physicalLocation"] = {
            "artifactLocation": _artifact(position.file),
            "region": region,
        }
    return found


def _artifact(file: str) -> Json:
    found: Json = {"uri": uri(file)}
    if is_relative(file):
        found["uriBaseId"] = _ROOT
    return found


def _language(file: str) -> str:
    return "cplusplus" if file.endswith((".cc", ".cpp", ".cxx")) else "c"
