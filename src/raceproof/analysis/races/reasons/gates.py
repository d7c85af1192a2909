"""The creator holds a lock since before it created the other thread, which has passed it since: see
`analysis.gates`."""

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return _is_before(a, b, facts) or _is_before(b, a, facts)


def _is_before(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    if not a.gates or not b.passed:
        return False
    creator, created = facts.threads[a.thread], facts.threads[b.thread]
    if created.parent != creator.index:
        return False
    if any(info.is_repeated or not info.is_unique for info in (creator, created)):
        return False
    return any((created.index, lock) in a.gates for lock in b.passed)
