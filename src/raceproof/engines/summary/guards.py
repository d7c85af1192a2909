"""The usual lock of a location: "guarded by m in 14 of 15 accesses".

A place in the source counts as guarded if the lock is surely held whenever it is reached. What
most of the program does about a location is what its author meant (the idea is from statistical
checkers that infer beliefs from code), so the few places that do otherwise are the suspects.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from raceproof.engines.summary.reasons import Located
from raceproof.engines.summary.terms import Term


@dataclass(frozen=True, slots=True)
class Guard:
    lock: Term
    count: int
    total: int

    @property
    def share(self) -> float:
        return self.count / self.total

    def is_held(self, item: Located) -> bool:
        return self.lock in _sure_locks(item)


def usual_guard(accesses: Iterable[Located]) -> Guard | None:
    """The lock held at most places, if these are at least two and at least half of all."""
    locks: dict[tuple[str, int], frozenset[Term]] = defaultdict(frozenset)
    seen: set[tuple[str, int]] = set()
    for item in accesses:
        held = _sure_locks(item)
        for site in item.sites:
            place = site[:2]
            locks[place] = locks[place] & held if place in seen else held
            seen.add(place)
    counts = Counter(lock for held in locks.values() for lock in held)
    if not counts:
        return None
    lock, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    if count < 2 or count * 2 < len(locks):
        return None
    return Guard(lock, count, len(locks))


def _sure_locks(item: Located) -> frozenset[Term]:
    return frozenset(lock for lock, _, sure, _ in item.state.core[0] if sure)
