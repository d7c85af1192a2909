"""What stays the same about a finding: for baselines and code scanning.

Findings are one for each location, and which pair of accesses stands for it depends on the engine
that was asked. So the location alone is the fingerprint: every engine and command gives the same
one, and edits elsewhere, moved lines and reworded statements do not change it.
"""

from __future__ import annotations

import re

from raceproof.ir.names import without_lines
from raceproof.verdict import Finding

_INDEX = re.compile(r"\[(?:\d+|\*)\]")


def fingerprint(finding: Finding) -> str:
    """A digest of the location, whatever element of an array is meant."""
    name = _INDEX.sub("", without_lines(finding.location.name))
    from hashlib import sha256

    return sha256(f"{finding.location.kind.value}\n{name}".encode()).hexdigest()[:32]
