"""From the accesses of the program to findings: one for each location, the best pair first.

How pairs are ranked, by the first point in which they differ:

1. likely before possible;
2. an access without any lock, where most others hold one ("guarded by m in 14 of 15 accesses");
3. two writes, then a write and a read;
4. few other places that the accesses may go to;
5. two different source lines;
6. short call chains.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from raceproof.engines.summary.contexts import RootedAccess
from raceproof.engines.summary.names import Names
from raceproof.engines.summary.reasons import NO, YES, Located, World, weigh
from raceproof.engines.summary.state import ThreadId
from raceproof.engines.summary.terms import Origin
from raceproof.verdict import (
    Access,
    Candidate,
    Confidence,
    Finding,
    HeldLock,
    Location,
    LockMode,
    Protection,
    Thread,
)

MAX_PAIRS = 60_000
"""Pairs looked at for one object."""
MAX_OTHERS = 20

Pair = tuple[tuple[int, ...], Located, Located]


class Races:
    def __init__(self, world: World, names: Names, threads: dict[ThreadId, Thread]) -> None:
        self._world = world
        self._names = names
        self._threads = threads
        self.findings: list[Finding] = []
        self.shared: list[Location] = []
        self.protections: list[Protection] = []
        self.is_cut = False

    def run(self, accesses: Iterable[RootedAccess]) -> None:
        objects: dict[Origin, dict[tuple[object, ...], Located]] = defaultdict(dict)
        for access in accesses:
            places = self._world.memory.places(access.address)
            for origin, offset, stride in places:
                if self._names.is_shareable(origin):
                    located = Located(access, origin, offset, stride, len(places))
                    objects[origin][_kind(located)] = located
        for origin in sorted(objects, key=repr):
            self._object(list(objects[origin].values()))
        self.findings.sort(key=lambda f: (-f.confidence, f.location.name, repr(f.accesses)))

    def _object(self, accesses: list[Located]) -> None:
        if not any(item.access.is_write for item in accesses):
            return
        threads = {item.access.thread for item in accesses}
        if len(threads) == 1 and not self._world.parallel.is_multiple(next(iter(threads))):
            return
        best: dict[tuple[int, int], list[Pair]] = defaultdict(list)
        reasons: Counter[str] = Counter()
        count = 0
        for i, first in enumerate(accesses):
            for second in accesses[i:]:
                if not first.access.is_write and not second.access.is_write:
                    continue
                count += 1
                answer, why = weigh(first, second, self._world)
                if answer != NO:
                    low = max(first, second, key=lambda item: (item.offset, -item.stride))
                    pair = (self._rank(answer, first, second), first, second)
                    best[low.offset, low.stride].append(pair)
                else:
                    reasons[why] += 1
            if count > MAX_PAIRS:
                self.is_cut = True
                break
        if best:
            for pairs in best.values():
                self._finding(pairs, accesses)
        elif reasons:
            self._protection(accesses, reasons)

    def _rank(self, answer: int, a: Located, b: Located) -> tuple[int, ...]:
        first, second = a.access, b.access
        return (
            -answer,
            min(len(first.core[0]), len(second.core[0])),
            2 - first.is_write - second.is_write,
            a.aliases + b.aliases,
            int(first.sites[0][:2] == second.sites[0][:2]),
            len(first.sites[0][2]) + len(second.sites[0][2]),
        )

    def _finding(self, pairs: list[Pair], accesses: list[Located]) -> None:
        pairs.sort(key=lambda pair: (pair[0], _order(pair[1]), _order(pair[2])))
        rank, a, b = pairs[0]
        if b.access.is_write and not a.access.is_write:
            a, b = b, a
        confidence = Confidence.LIKELY if -rank[0] == YES else Confidence.POSSIBLE
        first, second = self._access(a), self._access(b)
        location = first.location if not a.stride or b.stride else second.location
        others = tuple((self._access(x), self._access(y)) for _, x, y in pairs[1:MAX_OTHERS])
        self.shared.append(location)
        self.findings.append(
            Finding(
                location,
                confidence,
                (first, second),
                self._message(a, b, accesses, first, second),
                engine="summary",
                others=others,
            )
        )

    def _message(
        self, a: Located, b: Located, accesses: list[Located], first: Access, second: Access
    ) -> str:
        near = [
            item
            for item in accesses
            if item.offset == a.offset and item.stride == a.stride and item.access.core[0]
        ]
        total = sum(1 for item in accesses if item.offset == a.offset and item.stride == a.stride)
        held = Counter(lock for item in near for lock, _, sure, _ in item.access.core[0] if sure)
        words = [
            f"{_verb(a)} by {first.thread.name} and {_verb(b)} by {second.thread.name} "
            "can happen at the same time"
        ]
        if held:
            lock, count = min(held.items(), key=lambda item: (-item[1], item[0]))
            if count * 2 >= total and count > 1:
                words.append(f"guarded by {self._names.term(lock)} in {count} of {total} accesses")
        return "; ".join(words)

    def _access(self, item: Located) -> Access:
        access = item.access
        function, number, calls = access.sites[0]
        names = self._names
        return Access(
            self._threads[access.thread],
            names.number(function, number),
            names.function(function),
            names.position(function, number),
            names.location(item.origin, item.offset, access.size, item.stride),
            access.is_write,
            access.is_atomic,
            tuple(
                HeldLock(
                    names.term(lock), LockMode.READ if mode == "read" else LockMode.WRITE, sure
                )
                for lock, mode, sure, _ in access.core[0]
            ),
            tuple(names.site(f, n) for f, n in reversed(calls)),
        )

    def _protection(self, accesses: list[Located], reasons: Counter[str]) -> None:
        item = accesses[0]
        names = self._names
        location = names.location(item.origin, item.offset, item.access.size, item.stride)
        reason, _ = reasons.most_common(1)[0]
        self.shared.append(location)
        self.protections.append(
            Protection(location, reason, f"{reason} in every pair of accesses", len(accesses))
        )

    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(finding.location, a, b)
            for finding in self.findings
            for a, b in (finding.accesses, *finding.others)
        )


def _kind(item: Located) -> tuple[object, ...]:
    """Accesses of the same kind race with the same others."""
    access = item.access
    return (
        item.offset,
        item.stride,
        access.size,
        access.is_write,
        access.is_atomic,
        access.thread,
        access.core,
        access.address,
        access.sites[0][:2] if access.is_write else access.sites[0][0],
    )


def _order(item: Located) -> str:
    return repr((item.access.sites[0], item.offset, item.access.is_write))


def _verb(item: Located) -> str:
    return "a write" if item.access.is_write else "a read"
