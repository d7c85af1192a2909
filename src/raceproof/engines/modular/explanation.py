"""What protects a shared location: every access to it, and each pair with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.analysis.facets.must_lockset import common_lock
from raceproof.analysis.locks import ATOMIC
from raceproof.analysis.races.detect import BaseReport
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.races.reasons import BY_KEY, reason_against
from raceproof.analysis.records import RawAccess
from raceproof.engines.modular.describe import Describer
from raceproof.engines.modular.look import Look
from raceproof.engines.modular.must import lacking
from raceproof.engines.modular.protections import protections_of
from raceproof.ir.names import without_origin
from raceproof.verdict import Access, Location


@dataclass(frozen=True, slots=True)
class Pair:
    """Two accesses by their index; `reason` is empty if nothing excludes a race of them."""

    first: int
    second: int
    reason: str
    words: str
    lacking: tuple[str, ...] = ()
    """What would have to be shown for a pair without a reason to be called a likely race."""


@dataclass(frozen=True, slots=True)
class Explained:
    location: Location
    accesses: tuple[Access, ...]
    threads: tuple[int, ...]
    """The number of each access's thread in the creation graph."""
    pairs: tuple[Pair, ...]
    """Of different threads, or of two instances of one: those that may race first."""
    protection: str
    """In a few words, for the whole location; empty if some pair may race."""

    @property
    def racing(self) -> int:
        return sum(1 for pair in self.pairs if not pair.reason)


def explain(seen: Look, depth: int, name: str | None = None) -> list[Explained]:
    """The shared locations in order; with a name, those that it means.

    `bank` means the whole object, `bank.total` the accesses that touch no other member.
    """
    describer = Describer(seen.analysis, depth)
    facts = Facts(seen.analysis)
    safe = {
        protection.location.base: protection.detail
        for protection in protections_of(seen.analysis, seen.reports, describer)
    }
    found = []
    for report in seen.reports:
        location = describer.location(report.base, None, None)
        raw = _all_accesses(seen, report.base)
        if name is not None and location.name != name:
            raw = [a for a in raw if _is_meant(describer.access(a).location.name, name)]
            if not raw:
                continue
            location = describer.access(raw[0]).location
        found.append(_explained(location, raw, report, safe, describer, facts))
    return found


def _is_meant(location: str, name: str) -> bool:
    """A block of the heap is meant with and without the place where it is allocated."""
    return any(
        said == name or said.startswith((f"{name}.", f"{name}["))
        for said in (location, without_origin(location))
    )


def _all_accesses(seen: Look, base: int) -> list[RawAccess]:
    """One for each instruction, thread and set of locks; the detector needs fewer."""
    found: dict[tuple[object, ...], RawAccess] = {}
    for info in seen.analysis.threads.all:
        for access in info.records.accesses.values():
            if access.base == base:
                key = (access.instruction, *access.signature())
                found.setdefault(key, access)
    return sorted(found.values(), key=lambda a: (a.thread, a.instruction, a.is_write))


def _explained(
    location: Location,
    raw: list[RawAccess],
    report: BaseReport,
    safe: dict[str, str],
    describer: Describer,
    facts: Facts,
) -> Explained:
    pairs = []
    for i, first in enumerate(raw):
        for j in range(i, len(raw)):
            second = raw[j]
            if first.thread == second.thread and facts.threads[first.thread].is_unique:
                continue
            against = reason_against(first, second, facts)
            reason = "" if against is None else against.key
            missing = () if reason else tuple(lacking(first, second, facts))
            words = _words(reason, first, second, describer, facts)
            pairs.append(Pair(i, j, reason, words, missing))
    pairs.sort(key=lambda pair: (bool(pair.reason), pair.first, pair.second))
    racing = any(not pair.reason for pair in pairs)
    protection = safe.get(location.base, "") or _joined(pairs)
    return Explained(
        location,
        tuple(describer.access(access) for access in raw),
        tuple(access.thread for access in raw),
        tuple(pairs),
        "" if racing else protection,
    )


def _joined(pairs: list[Pair]) -> str:
    """The reasons of all pairs, each once, locks first; that both read only if that is all."""
    order = sorted(pairs, key=lambda pair: pair.reason != "lock")
    words = dict.fromkeys(pair.words for pair in order)
    strong = [text for text in words if text != BY_KEY["read-only"].of_pair]
    return "; ".join(strong or words) or "accessed by one thread only"


def _words(reason: str, a: RawAccess, b: RawAccess, describer: Describer, facts: Facts) -> str:
    if not reason:
        return "nothing protects them: they may race"
    if reason == "lock":
        key = common_lock(a, b, facts)
        if key == ATOMIC:
            return "both are inside of atomic sections"
        return f"lock `{describer.lock_name(key)}`" if key is not None else "a common lock"
    return BY_KEY[reason].of_pair
