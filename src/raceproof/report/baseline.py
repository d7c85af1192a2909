"""A file of the findings that are known already, so that only new ones count.

It is meant to be kept in version control: sorted, one finding after the other, without line
numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

from raceproof.errors import UserError
from raceproof.report.fingerprint import fingerprint
from raceproof.verdict import Access, Finding, SuppressionKind, Verdict

_VERSION = 2


def read_baseline(path: Path) -> dict[str, str]:
    """Fingerprint -> name of the location."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["version"] != _VERSION:
            raise UserError(f"{path}: a baseline of version {data['version']}; write it again")
        return {str(one["fingerprint"]): str(one["location"]) for one in data["findings"]}
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a baseline, as --write-baseline makes it") from error


def write_baseline(path: Path, verdict: Verdict) -> None:
    """All findings but those that are suppressed otherwise."""
    kept = {
        fingerprint(finding): finding
        for finding in verdict.findings
        if finding.suppressed_by is None or finding.suppressed_by.kind is SuppressionKind.BASELINE
    }
    entries = [_entry(key, finding) for key, finding in kept.items()]
    entries.sort(key=lambda entry: (entry["location"], entry["fingerprint"]))
    text = json.dumps({"version": _VERSION, "findings": entries}, indent=2, ensure_ascii=False)
    try:
        path.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def _entry(key: str, finding: Finding) -> dict[str, str]:
    return {
        "fingerprint": key,
        "location": finding.location.name,
        "confidence": str(finding.confidence),
        "accesses": " / ".join(sorted(_words(access) for access in finding.accesses)),
    }


def _words(access: Access) -> str:
    return f"{'write' if access.is_write else 'read'} in {access.function}"
