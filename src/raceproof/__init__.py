"""Finds data races in multithreaded C and C++ programs, and proves their absence.

    import raceproof

    verdict = raceproof.check(["main.c", "queue.c"], raceproof.Options(timeout=60))
    for finding in verdict.findings:
        print(finding.confidence, finding.location.name, *finding.accesses)

The names are those of the JSON report. Nothing heavy is imported before a name is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from raceproof.version import __version__

if TYPE_CHECKING:
    from raceproof.api import check
    from raceproof.errors import UserError
    from raceproof.options import Options
    from raceproof.verdict import (
        Access,
        Confidence,
        Finding,
        Location,
        Outcome,
        Thread,
        Verdict,
    )

_HOMES = {
    "check": "raceproof.api",
    "UserError": "raceproof.errors",
    "Options": "raceproof.options",
    "Access": "raceproof.verdict",
    "Confidence": "raceproof.verdict",
    "Finding": "raceproof.verdict",
    "Location": "raceproof.verdict",
    "Outcome": "raceproof.verdict",
    "Thread": "raceproof.verdict",
    "Verdict": "raceproof.verdict",
}

__all__ = [
    "Access",
    "Confidence",
    "Finding",
    "Location",
    "Options",
    "Outcome",
    "Thread",
    "UserError",
    "Verdict",
    "__version__",
    "check",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'raceproof' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
