"""Why shared locations are safe, in words."""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.analysis.backend import Analysed
from raceproof.analysis.races.detect import BaseReport
from raceproof.analysis.races.sharing import Use
from raceproof.analysis.records import RawAccess
from raceproof.analysis.state import ATOMIC
from raceproof.concurrency.resolve import SYNCHRONISATION_OBJECTS
from raceproof.engines.modular.describe import Describer
from raceproof.ir import Call
from raceproof.verdict import Protection

_WORDS = {
    "read-only": "only read while several threads run",
    "atomic": "every access is atomic",
    "disjoint": "threads access different bytes",
    "thread-local": "each thread has its own",
    "own-argument": "each thread has its own element or object",
    "thread-order": "never accessed by two threads at the same time",
    "barrier": "a barrier lies between the accesses",
    "gate": "held back by a lock since its creation",
    "relative-lock": "protected by the lock beside each element",
}


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
    parallel = [a for a in accesses if a.running]
    if not any(a.is_write for a in parallel):
        return "read-only", "written only before other threads start, or never"
    common = None
    for access in parallel:
        locks = {held.lock for held in access.held}
        common = locks if common is None else common & locks
    if common:
        key = min(common)
        if key == ATOMIC:
            return "atomic", "every access is inside an atomic section"
        return "lock", f"lock `{describer.lock_name(key)}` in every access"
    if report.sharing.use in (Use.SHARED, Use.READ_ONLY):
        return "read-only", _WORDS["read-only"]
    if not report.reasons:
        return "thread-order", _WORDS["thread-order"]
    if set(report.reasons) <= {"read-only", "atomic"} and report.reasons["atomic"]:
        return "atomic", _WORDS["atomic"]
    order = (
        "lock",
        "relative-lock",
        "atomic",
        "thread-local",
        "own-argument",
        "thread-order",
        "barrier",
        "gate",
        "disjoint",
        "read-only",
    )
    named = [key for key in order if report.reasons[key]]
    words = [_WORDS.get(key, "a common lock") for key in named if key != "read-only"]
    return named[0], "; ".join(words) or _WORDS["read-only"]
