"""What two layers leave open together: a pair that either excludes is excluded.

A layer that covers every execution and does not name a pair of instructions as open has shown that
they do not race; whatever another layer says of them does not matter. The two need not agree on
objects or threads, so pairs are told by their instructions and by what these do.

The value analysis covers every execution only as far as it could follow the program. What it could
not follow is listed (`blind`): a read of it is not named, so pairs with it stay open; after a write
or a call of it nothing that the analysis says is safe, and it excludes nothing. Nor may it rest on
thread creations that only its own abstraction holds unreachable: it must have seen every creation
that the cheaper layer saw.
"""

from __future__ import annotations

from raceproof.analysis.backend import Analysed
from raceproof.analysis.races.detect import BaseReport, Key, key_of

_MOST_KEYS = 1_000_000


def close_pairs(
    reports: list[BaseReport], of: Analysed, by: Analysed, by_reports: list[BaseReport]
) -> bool:
    """Take out of `reports` (of the analysis `of`) what `by` excludes; False if it may exclude
    nothing."""
    if not _covers(by, of):
        return False
    unclear = {instruction for info in by.threads.all for instruction, _ in info.records.blind}
    left = open_keys(by_reports)
    if left is None:
        return False
    for report in reports:
        report.keep(lambda key: key in left or not unclear.isdisjoint(key[:2]))
    return True


def open_keys(reports: list[BaseReport]) -> set[Key] | None:
    """Which instructions may race, over all objects; None if they are too many to list."""
    found: set[Key] = set()
    for report in reports:
        for first, second in report.pairs:
            alike, others = report.kinds[first.signature()], report.kinds[second.signature()]
            if len(found) + len(alike) * len(others) > _MOST_KEYS:
                return None
            found.update(key_of((a, b)) for a in alike for b in others)
    return found


def _covers(analysis: Analysed, other: Analysed) -> bool:
    if not analysis.sees_others or analysis.unseen:
        return False
    for info in analysis.threads.all:
        if any(not what.startswith("a read ") for _, what in info.records.blind):
            return False
    return _creations(other) <= _creations(analysis)


def _creations(analysis: Analysed) -> set[tuple[int, str]]:
    return {(info.call, info.entry) for info in analysis.threads.all}
