"""Which pairs of accesses may race; `must` says which surely do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from raceproof.analysis.backend import Analysed
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.races.reasons import reason_against
from raceproof.analysis.races.sharing import Sharing, sharing_of
from raceproof.analysis.records import RawAccess

Pair = tuple[RawAccess, RawAccess]
Key = tuple[int, int, bool, bool]
"""Two instructions, and whether each writes."""


@dataclass(eq=False)
class BaseReport:
    """What was found out about one base.

    Accesses that no reason can tell apart are looked at once: `accesses` has one of each kind.
    """

    base: int
    accesses: list[RawAccess]
    kinds: dict[tuple[object, ...], list[RawAccess]]
    """By signature, one access of each instruction."""
    sharing: Sharing
    facts: Facts
    pairs: list[Pair] = field(default_factory=list)
    """Those that may race."""
    reasons: Counter[str] = field(default_factory=Counter)
    """How often each reason excluded a pair of different threads."""
    is_open: Callable[[Key], bool] | None = None
    """Which pairs of instructions other layers leave open; None: all."""

    def keep(self, is_open: Callable[[Key], bool]) -> None:
        """Another layer excludes all other pairs of instructions."""
        before = self.is_open
        self.is_open = lambda key: is_open(key) and (before is None or before(key))
        self.pairs = [pair for pair in self.pairs if self.spread([pair], 1)]

    def spread(self, pairs: list[Pair], most: int) -> list[Pair]:
        """The pairs with all accesses of the same kinds: one for each pair of instructions and
        threads, up to `most`."""
        found: dict[object, Pair] = {}
        for first, second in pairs:
            for a in self.kinds[first.signature()]:
                for b in self.kinds[second.signature()]:
                    key = key_of((a, b))
                    if self.is_open is not None and not self.is_open(key):
                        continue
                    found.setdefault((key, a.thread, b.thread), (a, b))
                    if len(found) >= most:
                        return list(found.values())
        return list(found.values())


def key_of(pair: Pair) -> Key:
    """Which two instructions do what."""
    (a, b) = pair
    if (a.instruction, a.is_write) > (b.instruction, b.is_write):
        a, b = b, a
    return a.instruction, b.instruction, a.is_write, b.is_write


def detect(analysis: Analysed, deadline: float | None = None) -> list[BaseReport]:
    """Every base that more than one thread accesses, in order; raises `OutOfBudget` if late."""
    facts = Facts(analysis)
    reports = []
    for base, kinds in sorted(_by_base(analysis).items()):
        accesses = [min(alike, key=lambda access: access.instruction) for alike in kinds.values()]
        sharing = sharing_of((access.thread, access.is_write) for access in accesses)
        if sharing.is_shared(facts.many):
            report = BaseReport(base, accesses, kinds, sharing, facts)
            if sharing.is_vulnerable(facts.many):
                _check(report, facts, deadline)
            reports.append(report)
    return reports


def _by_base(analysis: Analysed) -> dict[int, dict[tuple[object, ...], list[RawAccess]]]:
    """Accesses by base and signature, one of each instruction."""
    found: dict[int, dict[tuple[object, ...], dict[int, RawAccess]]] = {}
    for info in analysis.threads.all:
        if info.is_handler:
            continue
        for access in info.records.accesses.values():
            kinds = found.setdefault(access.base, {})
            alike = kinds.setdefault(access.signature(), {})
            old = alike.get(access.instruction)
            if old is None or _is_clearer(access, old):
                alike[access.instruction] = access
    return {
        base: {signature: list(alike.values()) for signature, alike in kinds.items()}
        for base, kinds in found.items()
    }


def _is_clearer(access: RawAccess, other: RawAccess) -> bool:
    """Is it better evidence for a race?"""
    return (access.facets.depends_on_others, not access.is_only, len(access.facets.may_lockset)) < (
        other.facets.depends_on_others,
        not other.is_only,
        len(other.facets.may_lockset),
    )


def _check(report: BaseReport, facts: Facts, deadline: float | None) -> None:
    for index, first in enumerate(report.accesses):
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfBudget
        for second in report.accesses[index:]:
            if first.thread == second.thread and facts.threads[first.thread].is_unique:
                continue
            reason = reason_against(first, second, facts)
            if reason is None:
                report.pairs.append((first, second))
            else:
                report.reasons[reason.key] += 1
