"""What stays the same about a finding when lines move: for baselines and code scanning."""

from __future__ import annotations

from hashlib import sha256
from pathlib import PurePath

from raceproof.report.source import Sources
from raceproof.verdict import Access, Finding


def fingerprint(finding: Finding, sources: Sources) -> str:
    """A digest of the location and of the two accesses: file, function, kind and source text.

    Line numbers, instruction numbers and the order of the two accesses do not matter.
    """
    sides = sorted(_side(access, sources) for access in finding.accesses)
    text = "\n".join([finding.location.kind.value, finding.location.name, *sides])
    return sha256(text.encode()).hexdigest()[:32]


def _side(access: Access, sources: Sources) -> str:
    file = PurePath(access.position.file).name if access.position else ""
    text = " ".join(sources.line(access.position).split())
    kind = "write" if access.is_write else "read"
    return "\t".join((file, access.function, kind, text))
