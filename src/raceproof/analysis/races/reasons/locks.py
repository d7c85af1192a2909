"""A lock that both surely hold, at least one of them for writing."""

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess
from raceproof.analysis.state import LockKey


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return common_lock(a, b, facts) is not None


def common_lock(a: RawAccess, b: RawAccess, facts: Facts) -> LockKey | None:
    if not a.held or not b.held:
        return None
    modes = {held.lock: held.is_write for held in b.held}
    for held in sorted(a.held):
        other = modes.get(held.lock)
        if other is not None and (other or held.is_write) and held.lock not in facts.reset:
            return held.lock
    return None
