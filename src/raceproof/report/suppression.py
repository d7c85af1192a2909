"""Findings that the user asked not to count.

    // raceproof: ignore[stats.hits] a lost hit is fine        on the line of an access, or above
    // raceproof: ignore[unlocked-read] ...                    the same, by the rule
    suppressions = [{ location = "stats.*", reason = "..." }]  in raceproof.toml
    --baseline known.json                                      written by --write-baseline

They stay in the report, marked; what suppresses nothing (any more) is told, so that it goes away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from raceproof.errors import UserError, did_you_mean
from raceproof.ir import Position
from raceproof.options import Suppression
from raceproof.report.fingerprint import fingerprint
from raceproof.report.paths import shown
from raceproof.report.rules import BY_ID, why
from raceproof.report.source import Sources
from raceproof.verdict import Confidence, Finding, Outcome, SuppressedBy, SuppressionKind, Verdict

_COMMENT = re.compile(
    r"(?://|/\*)\s*raceproof:\s*ignore(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(?=\s|\*/|$)\s*(.*?)"
    r"\s*(?:\*/.*)?$"
)
_MARKED = re.compile(r"(?://|/\*)\s*raceproof:\s*([\w-]*)")
_MARK = "raceproof:"
_RULE = re.compile(r"[a-z]+(-[a-z]+)+")
_MOST_GONE = 3


def check_comments(files: Iterable[str], sources: Sources) -> None:
    """Raises `UserError` for a comment that is addressed to raceproof and makes no sense: taken for
    one that is meant to silence something it could silence everything, or nothing."""
    for file in dict.fromkeys(files):
        for number, text in enumerate(sources.lines(file), 1):
            marked = _MARKED.search(text) if _MARK in text else None
            if marked is None:
                continue
            where = f"{shown(file)}:{number}"
            comment = _COMMENT.search(text)
            if comment is not None:
                _check_rule((comment[1] or "").strip(), where)
                continue
            if marked[1] == "ignore":
                raise UserError(
                    f"{where}: a malformed suppression; write "
                    "// raceproof: ignore[LOCATION or RULE] REASON"
                )
            from difflib import get_close_matches

            near = get_close_matches(marked[1], ["ignore"], 1, 0.5)
            hint = f"; did you mean {near[0]}?" if near else "; the one that is known is ignore"
            raise UserError(f"{where}: no suppression {marked[1]!r}{hint}")


def _check_rule(name: str, where: str) -> None:
    """A name with dashes is that of a rule, for no location has one."""
    if not _RULE.fullmatch(name) or name in BY_ID:
        return
    hint = did_you_mean(name, BY_ID, 0.5) or f" (known: {', '.join(BY_ID)})"
    raise UserError(f"{where}: no rule {name!r}{hint}")


def suppressed(
    verdict: Verdict,
    files: Iterable[str],
    sources: Sources,
    settings: Sequence[Suppression],
    baseline: Mapping[str, str],
) -> Verdict:
    """The verdict with the findings marked that do not count, and notices of unused
    suppressions."""
    used: set[object] = set()
    findings = tuple(
        replace(finding, suppressed_by=_suppression(finding, sources, settings, baseline, used))
        for finding in verdict.findings
    )
    everywhere = [
        *files,
        *(a.position.file for f in findings for a in f.accesses if a.position),
    ]
    names = [finding.location.name for finding in findings]
    notices = [
        *_unused_comments(dict.fromkeys(everywhere), sources, used, names),
        *_unused_settings(settings, used, names),
        *_gone(baseline, used),
    ]
    counts = any(f.suppressed_by is None and f.confidence >= Confidence.LIKELY for f in findings)
    outcome = verdict.outcome
    if outcome is Outcome.RACE and not counts:
        outcome = Outcome.UNKNOWN
    return replace(
        verdict, outcome=outcome, findings=findings, notices=(*verdict.notices, *notices)
    )


def suppression_of(finding: Finding, sources: Sources) -> SuppressedBy | None:
    """Why the finding does not count: as marked, else by a comment in the source."""
    if finding.suppressed_by is not None:
        return finding.suppressed_by
    found = _comment(finding, sources)
    return None if found is None else SuppressedBy(SuppressionKind.COMMENT, found[1])


def _suppression(
    finding: Finding,
    sources: Sources,
    settings: Sequence[Suppression],
    baseline: Mapping[str, str],
    used: set[object],
) -> SuppressedBy | None:
    comment = _comment(finding, sources)
    if comment is not None:
        used.add((comment[0].file, comment[0].line))
        return SuppressedBy(SuppressionKind.COMMENT, comment[1])
    for setting in settings:
        if _matches(setting, finding):
            used.add(setting)
            return SuppressedBy(SuppressionKind.SETTING, setting.reason)
    key = fingerprint(finding) if baseline else ""
    if key in baseline:
        used.add(key)
        return SuppressedBy(SuppressionKind.BASELINE, "known before")
    return None


def _comment(finding: Finding, sources: Sources) -> tuple[Position, str] | None:
    """Where the comment stands that suppresses the finding, and its reason."""
    for access in finding.accesses:
        if access.position is None:
            continue
        for line in (access.position.line, access.position.line - 1):
            place = Position(access.position.file, line)
            text = sources.line(place)
            found = _COMMENT.search(text) if _MARK in text else None
            if found is None or (line != access.position.line and not _is_comment(text)):
                continue
            if found[1] is None or _is_like(finding.location.name, found[1].strip()):
                return place, found[2]
            if found[1].strip() == why(finding, sources).rule.id:
                return place, found[2]
    return None


def _is_comment(text: str) -> bool:
    return text.startswith(("//", "/*"))


def _is_like(name: str, pattern: str) -> bool:
    """`*` stands for anything; brackets are those of C."""
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), name) is not None


def _matches(setting: Suppression, finding: Finding) -> bool:
    if not _is_like(finding.location.name, setting.location):
        return False
    files = [shown(a.position.file) for a in finding.accesses if a.position is not None]
    return setting.file == "*" or any(
        _is_like(file, setting.file) or _is_like(Path(file).name, setting.file) for file in files
    )


def _unused_comments(
    files: Iterable[str], sources: Sources, used: set[object], names: Sequence[str]
) -> Iterable[str]:
    for file in files:
        for number, text in enumerate(sources.lines(file), 1):
            comment = _COMMENT.search(text) if _MARK in text else None
            if comment is not None and (file, number) not in used:
                hint = _meant((comment[1] or "").strip(), names)
                yield f"{shown(file)}:{number}: this comment suppresses no finding{hint}"


def _unused_settings(
    settings: Sequence[Suppression], used: set[object], names: Sequence[str]
) -> Iterable[str]:
    for setting in settings:
        if setting not in used:
            where = f" in {setting.file}" if setting.file != "*" else ""
            hint = _meant(setting.location, names)
            yield f"the suppression of {setting.location!r}{where} matches no finding{hint}"


def _meant(pattern: str, names: Sequence[str]) -> str:
    """A name of a finding that is like the pattern but not matched by it."""
    return did_you_mean(pattern, [name for name in names if name != pattern]) if pattern else ""


def _gone(baseline: Mapping[str, str], used: set[object]) -> Iterable[str]:
    gone = sorted({name for key, name in baseline.items() if key not in used})
    if gone:
        listed = ", ".join(gone[:_MOST_GONE]) + (", ..." if len(gone) > _MOST_GONE else "")
        yield f"findings of the baseline that are no more (write it again): {listed}"
