"""Which pairs of accesses may race, and which surely do."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from raceproof.analysis.backend import Analysed
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.records import RawAccess
from raceproof.engines.modular.facts import Facts
from raceproof.engines.modular.reasons import reason_against

_MOST_ACCESSES = 600
"""More different accesses of one base are not paired one by one."""


@dataclass(eq=False)
class BaseReport:
    """What was found out about one base."""

    base: int
    accesses: list[RawAccess]
    pairs: list[tuple[RawAccess, RawAccess]] = field(default_factory=list)
    """Those that may race."""
    reasons: Counter[str] = field(default_factory=Counter)
    """How often each reason excluded a pair of different threads."""


def detect(analysis: Analysed, deadline: float | None = None) -> list[BaseReport]:
    """Every base that more than one thread accesses, in order; raises `OutOfBudget` if late."""
    facts = Facts(analysis)
    reports = []
    for base, accesses in sorted(_by_base(analysis).items()):
        if not _is_interesting(accesses, facts):
            continue
        reports.append(_check(base, accesses, facts, deadline))
    return reports


def _by_base(analysis: Analysed) -> dict[int, list[RawAccess]]:
    """Accesses by base, one for each signature."""
    found: dict[int, dict[tuple[object, ...], RawAccess]] = {}
    for info in analysis.threads.all:
        if info.is_handler:
            continue
        for access in info.records.accesses.values():
            alike = found.setdefault(access.base, {})
            key = access.signature()
            old = alike.get(key)
            if old is None or access.instruction < old.instruction:
                alike[key] = access
    return {base: list(alike.values()) for base, alike in found.items()}


def _is_interesting(accesses: list[RawAccess], facts: Facts) -> bool:
    threads = {access.thread for access in accesses}
    if len(threads) > 1:
        return True
    (thread,) = threads
    return not facts.threads[thread].is_unique


def _check(
    base: int, accesses: list[RawAccess], facts: Facts, deadline: float | None
) -> BaseReport:
    report = BaseReport(base, accesses)
    considered = accesses
    if len(accesses) > _MOST_ACCESSES:
        considered = sorted(accesses, key=lambda a: (len(a.held), a.instruction))
    for index, first in enumerate(considered):
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfBudget
        for second in considered[index:]:
            if first.thread == second.thread and facts.threads[first.thread].is_unique:
                continue
            reason = reason_against(first, second, facts)
            if reason is None:
                report.pairs.append((first, second))
            else:
                report.reasons[reason] += 1
    return report


def is_sure(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """The must-conditions: the same bytes, no lock that may be common, surely in parallel."""
    if a.size is None or b.size is None or facts.objects.is_weak(a.base):
        return False
    start, other = a.offsets.signed_constant, b.offsets.signed_constant
    if start is None or other is None or not (start < other + b.size and other < start + a.size):
        return False
    if a.is_guided or b.is_guided or facts.has_handshakes:
        return False
    if not (a.is_only and b.is_only) or a.is_free or b.is_free:
        return False
    if a.maybe & b.maybe or a.relative or b.relative:
        return False
    return _surely_parallel(a, b, facts)


def _surely_parallel(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    first, second = facts.threads[a.thread], facts.threads[b.thread]
    if second.parent == first.index:
        return bool(a.sure & second.bit)
    if first.parent == second.index:
        return bool(b.sure & first.bit)
    return bool(first.surely_beside & second.bit)
