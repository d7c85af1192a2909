"""Accesses that never happen at the same time: before the other thread is created, after it is
joined, or both by the same single thread."""

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return not (a.running >> b.thread & 1 and b.running >> a.thread & 1)
