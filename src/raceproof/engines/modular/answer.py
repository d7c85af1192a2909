"""The engine's answer: findings, open candidates, protections, assumptions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from raceproof.analysis.backend import Analysed
from raceproof.analysis.lost_code import in_words
from raceproof.analysis.races.detect import BaseReport, Key, Pair, key_of
from raceproof.analysis.records import RawAccess
from raceproof.engines.modular.describe import Describer
from raceproof.engines.modular.evidence import evidence_of, holds_guard
from raceproof.engines.modular.must import is_sure
from raceproof.engines.modular.protections import protections_of
from raceproof.options import Options, UnknownCallbacks
from raceproof.verdict import (
    NOT_FOLLOWED,
    NOT_SEEN,
    Access,
    Answer,
    Candidate,
    Confidence,
    Evidence,
    Finding,
    Habit,
    Location,
    Outcome,
)

_MOST_CANDIDATES = 200
_MOST_EVIDENCE = 2000
_MOST_BLIND = 20
_MOST_FURTHER = 8


def answer_of(
    analysis: Analysed, reports: list[BaseReport], sure: Collection[Key], options: Options
) -> Answer:
    """The answer by `reports`; a race is likely if its pair is `sure`."""
    describer = Describer(analysis, options.latest_calls)
    typed = [report for report in reports if report.base in analysis.objects.typed]
    reports = [report for report in reports if report.base not in analysis.objects.typed]
    findings: list[Finding] = []
    candidates: list[Candidate] = []
    is_whole = analysis.sees_others
    """Are all open pairs among the candidates?"""
    for report in reports:
        for location, pairs in _by_location(report, describer):
            every = report.spread(pairs, _MOST_EVIDENCE)
            evidence = evidence_of(report, pairs, describer)
            best = _best_first(every, sure, evidence, describer)
            first, second = best[0]
            is_likely = key_of(best[0]) in sure
            accesses = (describer.access(first), describer.access(second))
            others: tuple[tuple[Access, Access], ...] = ()
            if options.all_pairs:
                others = tuple((describer.access(a), describer.access(b)) for a, b in best[1:])
            elif not is_likely:
                others = _further(best, evidence, describer)
            findings.append(
                Finding(
                    location,
                    Confidence.LIKELY if is_likely else Confidence.POSSIBLE,
                    accesses,
                    engine="modular",
                    others=others,
                    evidence=evidence,
                )
            )
            is_whole = is_whole and len(best) <= _MOST_CANDIDATES
            for a, b in best[:_MOST_CANDIDATES]:
                candidates.append(Candidate(location, describer.access(a), describer.access(b)))
    findings += _by_type(typed, describer)
    blind = _blind(analysis, options)
    assumptions = sorted({a for info in analysis.threads.all for a in info.records.assumptions})
    if any(f.confidence >= Confidence.LIKELY for f in findings):
        outcome = Outcome.RACE
    elif findings or blind or not analysis.sees_others:
        outcome = Outcome.UNKNOWN
    else:
        outcome = Outcome.RACE_FREE
    return Answer(
        outcome,
        tuple(sorted(findings, key=lambda f: -f.confidence)),
        tuple(candidates),
        tuple(protections_of(analysis, reports, describer)),
        (*assumptions, *blind),
        tuple(describer.thread(info.index) for info in analysis.threads.all),
        tuple(describer.location(report.base, None, None) for report in reports),
        is_complete=is_whole and bool(findings) and not blind,
        lost=_lost(analysis),
    )


def _by_type(reports: list[BaseReport], describer: Describer) -> Iterator[Finding]:
    """Members of a type that many accesses protect, where nobody knows the objects. The rest
    of what pointers without objects may do is named as not followed."""
    for report in reports:
        for location, pairs in _by_location(report, describer):
            evidence = evidence_of(report, pairs, describer)
            if evidence.guarded >= 2 and evidence.guarded * 3 >= evidence.total:
                every = report.spread(pairs, _MOST_EVIDENCE)
                best = _best_first(every, set(), evidence, describer)
                first, second = best[0]
                yield Finding(
                    location,
                    Confidence.POSSIBLE,
                    (describer.access(first), describer.access(second)),
                    engine="modular",
                    others=_further(best, evidence, describer),
                    evidence=evidence,
                )


def _best_first(
    pairs: list[Pair], sure: Collection[Key], evidence: Evidence, describer: Describer
) -> list[Pair]:
    """Sure before possible; then, where most accesses hold a lock, one that does not against one
    that does; write-write before read-write, then the order of the source."""

    def rank(pair: Pair) -> tuple[object, ...]:
        a, b = pair
        is_sure = key_of(pair) in sure
        is_odd = True
        if evidence.habit is Habit.GUARDED and not is_sure:
            is_odd = holds_guard(a, evidence, describer) != holds_guard(b, evidence, describer)
        both = a.is_write and b.is_write
        return (not is_sure, not is_odd, not both, a.instruction, b.instruction)

    return sorted(pairs, key=rank)


def _further(
    pairs: list[Pair], evidence: Evidence, describer: Describer
) -> tuple[tuple[Access, Access], ...]:
    """One more pair for each statement that lacks the lock which others hold."""
    if not evidence.guard:
        return ()
    told = {access.instruction for access in pairs[0]}
    found: list[Pair] = []
    for pair in pairs:
        odd = {a.instruction for a in pair if not holds_guard(a, evidence, describer)}
        if odd - told and len(found) < _MOST_FURTHER:
            told |= odd
            found.append(pair)
    return tuple((describer.access(a), describer.access(b)) for a, b in found)


def _lost(analysis: Analysed) -> tuple[str, ...]:
    lost = analysis.lost() if analysis.sees_others else None
    return () if lost is None else (in_words(lost, analysis.program),)


def sure_pairs(reports: list[BaseReport]) -> set[Key]:
    """The pairs of instructions for which all must-conditions hold."""
    return {
        key_of(pair)
        for report in reports
        for pair in report.spread(report.pairs, _MOST_EVIDENCE)
        if is_sure(*pair, report.facts)
    }


def _by_location(report: BaseReport, describer: Describer) -> list[tuple[Location, list[Pair]]]:
    """The pairs of a base by the bytes they have in common."""
    groups: dict[tuple[int | None, int | None], list[Pair]] = {}
    for a, b in report.pairs:
        groups.setdefault(_common(a, b), []).append((a, b))
    order = sorted(groups, key=lambda k: (k[0] is None, k[0] or 0, k[1] or 0))
    return [(_named(describer, report, key, groups[key]), groups[key]) for key in order]


def _named(
    describer: Describer,
    report: BaseReport,
    common: tuple[int | None, int | None],
    pairs: list[Pair],
) -> Location:
    """By the common bytes; where these are not known, by the member of all elements, if they are
    the same in all pairs."""
    location = describer.location(report.base, *common)
    if common[0] is None:
        patterns = {describer.pattern(access) for pair in pairs for access in pair}
        if len(patterns) == 1:
            return replace(location, name=describer.name(report.base, patterns.pop()))
    return location


def _common(a: RawAccess, b: RawAccess) -> tuple[int | None, int | None]:
    starts = [x.offsets.signed_constant for x in (a, b)]
    exact = [s for s in starts if s is not None]
    for x, y, start in ((a, b, starts[1]), (b, a, starts[0])):
        if x.size is None and y.size is not None and start is not None:
            return start, start + y.size  # `free` writes all, the other access a member
    if not exact or a.size is None or b.size is None:
        return None, None
    if len(exact) == 1:
        access = a if starts[0] is not None else b
        assert access.size is not None
        return exact[0], exact[0] + access.size
    return max(exact), min(exact[0] + a.size, exact[1] + b.size)


def _blind(analysis: Analysed, options: Options) -> list[str]:
    """What could not be followed: no proof goes past it. Beyond the first few only how many."""
    found: dict[str, None] = {}
    for info in analysis.threads.all:
        for instruction, what in sorted(info.records.blind):
            place = analysis.program.instruction(instruction).position
            place_name = place or analysis.program.function_of(instruction).display
            found[f"{NOT_FOLLOWED}: {what} at {place_name}"] = None
    is_ignored = options.callbacks is UnknownCallbacks.IGNORE
    for instruction, what in () if is_ignored else analysis.unseen:
        place = analysis.program.instruction(instruction).position
        found[f"{NOT_SEEN}: {what} at {place}"] = None
    listed = list(found)
    if len(listed) > _MOST_BLIND:
        rest = len(listed) - _MOST_BLIND
        return [*listed[:_MOST_BLIND], f"{NOT_FOLLOWED}: {rest} more of these"]
    return listed
