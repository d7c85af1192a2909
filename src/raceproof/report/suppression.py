"""``// raceproof: ignore[location] reason`` on the line of an access, or on the line above it."""

from __future__ import annotations

import re

from raceproof.ir import Position
from raceproof.report.source import Sources
from raceproof.verdict import Finding

_COMMENT = re.compile(r"(?://|/\*)\s*raceproof:\s*ignore(?:\[([^\]]*)\])?\s*(.*?)\s*(?:\*/.*)?$")


def suppression(finding: Finding, sources: Sources) -> str | None:
    """The reason given for ignoring the finding, perhaps empty; None if nobody asked for it."""
    for access in finding.accesses:
        if access.position is None:
            continue
        for line in (access.position.line, access.position.line - 1):
            text = sources.line(Position(access.position.file, line))
            found = _COMMENT.search(text)
            if found is None or (line != access.position.line and not _is_comment(text)):
                continue
            if found[1] is None or found[1].strip() == finding.location.name:
                return found[2]
    return None


def _is_comment(text: str) -> bool:
    return text.startswith(("//", "/*"))
