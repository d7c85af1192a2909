"""Why shared locations are safe, in words."""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.analysis.backend import Analysed
from raceproof.analysis.locks import ATOMIC
from raceproof.analysis.races.detect import BaseReport
from raceproof.analysis.races.reasons import BY_KEY
from raceproof.analysis.races.sharing import Use
from raceproof.analysis.records import RawAccess
from raceproof.concurrency.resolve import SYNCHRONISATION_OBJECTS
from raceproof.engines.modular.describe import Describer
from raceproof.ir import Call
from raceproof.verdict import Protection

_STRONGEST_FIRST = sorted(
    BY_KEY,
    key=lambda key: ({"lock": -2, "relative-lock": -1, "disjoint": 1, "read-only": 2}).get(key, 0),
)
"""The order in which a report names reasons: locks first, that both only read last."""


def _words(key: str) -> str:
    return BY_KEY[key].of_location


def protections_of(
    analysis: Analysed, reports: list[BaseReport], describer: Describer
) -> Iterator[Protection]:
    """One for each base without racing pairs."""
    for report in reports:
        if report.pairs or _is_only_synchronised(analysis, report.accesses):
            continue
        reason, detail = _protection(report.accesses, report, describer)
        location = describer.location(report.base, None, None)
        yield Protection(location, reason, detail, len(report.accesses))


def _is_only_synchronised(analysis: Analysed, accesses: list[RawAccess]) -> bool:
    """Is it a lock or the like, and used as such only? That needs no words."""
    for access in accesses:
        instruction = analysis.program.instruction(access.instruction)
        event = analysis.events.of(instruction) if isinstance(instruction, Call) else None
        if event is None or event.model.role not in SYNCHRONISATION_OBJECTS:
            return False
    return True


def _protection(
    accesses: list[RawAccess], report: BaseReport, describer: Describer
) -> tuple[str, str]:
    parallel = [a for a in accesses if a.facets.may_parallel]
    if not any(a.is_write for a in parallel):
        return "read-only", "written only before other threads start, or never"
    common = None
    for access in parallel:
        locks = {held.lock for held in access.facets.must_lockset}
        common = locks if common is None else common & locks
    if common:
        key = min(common)
        if key == ATOMIC:
            return "atomic", "every access is inside an atomic section"
        return "lock", f"lock `{describer.lock_name(key)}` in every access"
    if report.sharing.use in (Use.SHARED, Use.READ_ONLY):
        return "read-only", _words("read-only")
    if not report.reasons:
        return "thread-order", _words("thread-order")
    if set(report.reasons) <= {"read-only", "atomic"} and report.reasons["atomic"]:
        return "atomic", _words("atomic")
    named = [key for key in _STRONGEST_FIRST if report.reasons[key]]
    words = [_words(key) for key in named if key != "read-only"]
    return named[0], "; ".join(words) or _words("read-only")
