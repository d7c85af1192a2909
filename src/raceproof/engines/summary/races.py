"""From the accesses of the program to findings: one for each location, the best pair first.

How pairs of a location are ranked, by the first point in which they differ:

1. likely before possible;
2. one access without the usual lock, the other with it ("guarded by m in 14 of 15 accesses": the
   lock that is surely held at most accesses of the location, at half of them or more);
3. few locks around the one that has fewer;
4. two writes, then a write and a read;
5. few aliases: other places that the accesses may go to;
6. two different source lines;
7. short call chains.

A pair of accesses that may go to many places says little about any one of them: it is reported
once, for the object as a whole. Findings come in the order likely before possible, then those with
a usual lock that one access lacks, by how usual it is, then those with few aliases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import combinations_with_replacement, product
from typing import TypeAlias

from raceproof.engines.summary.contexts import Happening
from raceproof.engines.summary.guards import Guard, usual_guard
from raceproof.engines.summary.names import LocationNames
from raceproof.engines.summary.reasons import NO, YES, Located, Scales, Spot, State, SummaryWorld
from raceproof.engines.summary.state import ThreadId
from raceproof.engines.summary.summary import Site
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

MAX_PAIRS = 200_000
"""Pairs looked at in one program, beyond those that every object is given."""
PAIRS_OF_AN_OBJECT = 1_000
"""However large the program is: the most suspect pairs of an object come first."""
MAX_KINDS = 200
"""Kinds of access to one object, the most suspect first."""
MAX_VAGUE_KINDS = 40
MAX_OTHERS = 20
ENOUGH_PAIRS = 60
"""Pairs of one location; the best come early, more would not change the report."""
MANY_ALIASES = 4

Rank: TypeAlias = tuple[int, ...]
Pair: TypeAlias = tuple[int, Located, Located]
Group: TypeAlias = tuple[int, int]
"""Offset and stride."""
WHOLE: Group = (0, -1)
Spots: TypeAlias = dict[tuple[object, ...], tuple[Spot, dict[State, tuple[Site, ...]]]]
"""The spots of one object by what they are, with the sites of each state in which they are used."""


class Races:
    def __init__(
        self, world: SummaryWorld, names: LocationNames, threads: dict[ThreadId, Thread]
    ) -> None:
        self._world = world
        self._names = names
        self._threads = threads
        self._ranked: list[tuple[tuple[object, ...], Finding]] = []
        self._vague: set[frozenset[tuple[str, int]]] = set()
        self._pairs = 0
        self._scales = Scales(world)
        self.shared: list[Location] = []
        self.protections: list[Protection] = []
        self.is_cut = False

    @property
    def findings(self) -> list[Finding]:
        return [finding for _, finding in sorted(self._ranked, key=lambda item: item[0])]

    def run(self, happenings: Iterable[Happening]) -> None:
        objects: dict[Origin, Spots] = defaultdict(dict)
        for thread, cores, shapes in happenings:
            states = [self._scales.state(thread, core) for core in cores]
            for address, size, is_write, is_atomic, sites in shapes:
                places = self._world.memory.places(address)
                for origin, offset, stride in places:
                    spots = objects[origin]
                    key = (offset, stride, address, size, is_write, is_atomic)
                    known = spots.get(key)
                    if known is None:
                        spot = Spot(origin, offset, stride, len(places), *key[2:])
                        known = spots[key] = (spot, {})
                    used = known[1]
                    for state in states:
                        used[state] = used[state] + sites if state in used else sites
        for origin in sorted(objects, key=repr):
            if self._names.is_shareable(origin) and self._is_shared(objects[origin]):
                self._object(self._accesses(objects[origin]))

    def _is_shared(self, spots: Spots) -> bool:
        """Whether any thread writes, and another one is there."""
        if not any(spot.is_write for spot, _ in spots.values()):
            return False
        threads = {state.thread for _, used in spots.values() for state in used}
        return len(threads) > 1 or any(map(self._world.parallel.is_multiple, threads))

    def _accesses(self, spots: Spots) -> list[Located]:
        """The accesses to one object, the most suspect first."""
        kinds = [
            (spot, state, sites) for spot, used in spots.values() for state, sites in used.items()
        ]
        if len(kinds) > MAX_KINDS:
            self.is_cut = True
            kinds = nsmallest(MAX_KINDS, kinds, key=lambda kind: _first_sight(*kind[:2]))
        order = self._names.order
        items = [
            Located(spot, state, tuple(sorted(set(sites), key=order)))
            for spot, state, sites in kinds
        ]
        return sorted(items, key=self._interest)

    def _interest(self, item: Located) -> tuple[object, ...]:
        return (
            *_first_sight(item.spot, item.state),
            tuple(map(self._names.order, item.sites)),
            item.spot.offset,
            item.spot.stride,
            self._names.thread_order(item.state.thread),
            item.state.core,
        )

    def _object(self, accesses: list[Located]) -> None:
        precise = [item for item in accesses if item.spot.aliases <= MANY_ALIASES]
        vague = [item for item in accesses if item.spot.aliases > MANY_ALIASES]
        if len(vague) > MAX_VAGUE_KINDS:
            self.is_cut = True
        found: dict[Group, list[Pair]] = defaultdict(list)
        reasons: Counter[str] = Counter()
        looked_at = 0
        for first, second in _group_pairs(_groups(precise), _groups(vague[:MAX_VAGUE_KINDS])):
            a, b = first[0], second[0]
            if not a.spot.is_write and not b.spot.is_write:
                continue
            excluded = self._scales.excludes_all(a, b)
            if excluded:
                reasons[excluded] += len(first) * len(second)
                continue
            pairs = found[_group(a.spot, b.spot)]
            for one, other in _pairs(first, second):
                if len(pairs) >= ENOUGH_PAIRS:
                    break
                looked_at += 1
                if looked_at > PAIRS_OF_AN_OBJECT:
                    if self._pairs >= MAX_PAIRS:
                        self.is_cut = True
                        break
                    self._pairs += 1
                answer, why = self._scales.weigh(one, other)
                if answer != NO:
                    pairs.append((answer, one, other))
                else:
                    reasons[why] += 1
        by_group = {group: pairs for group, pairs in found.items() if pairs}
        if by_group:
            for same in self._by_name(accesses[0].spot.origin, by_group).values():
                self._finding(same, accesses)
        elif reasons:
            self._protection(accesses, reasons)

    def _by_name(self, origin: Origin, found: dict[Group, list[Pair]]) -> dict[str, list[Pair]]:
        """Offsets that have one name for people are one location."""
        named: dict[str, list[Pair]] = defaultdict(list)
        for (offset, stride), pairs in sorted(found.items()):
            if stride < 0:
                named[""].extend(pairs)
            else:
                size = max(max(a.spot.size or 1, b.spot.size or 1) for _, a, b in pairs)
                name = self._names.location(origin, offset, size, stride).name
                named[name].extend(pairs)
        return named

    # --- one finding ------------------------------------------------------------

    def _finding(self, pairs: list[Pair], accesses: list[Located]) -> None:
        _, one, _ = pairs[0]
        guard = usual_guard([item for item in accesses if _meets(item, one)])
        order = self._names.order
        ranked = sorted(
            (self._rank(answer, a, b, guard), order(site), order(other_site), k, site, other_site)
            for k, (answer, a, b) in enumerate(pairs)
            for site, other_site in product(a.sites[:3], b.sites[:3])
        )
        listed: dict[tuple[tuple[str, int], ...], tuple[Access, Access]] = {}
        for rank, _, _, k, site, other_site in ranked:
            _, a, b = pairs[k]
            if b.spot.is_write and not a.spot.is_write:
                a, b, site, other_site = b, a, other_site, site
            key = (site[:2], other_site[:2])
            if key not in listed and key[::-1] not in listed:
                listed[key] = (self._access(a, site), self._access(b, other_site))
                if len(listed) == 1:
                    best, best_a, best_b, sites = rank, a, b, key
            if len(listed) > MAX_OTHERS:
                break
        if max(best_a.spot.aliases, best_b.spot.aliases) > MANY_ALIASES:
            if frozenset(sites) in self._vague:
                return
            self._vague.add(frozenset(sites))
        (first, second), *others = listed.values()
        location = min((first.location, second.location), key=_width)
        self.shared.append(location)
        finding = Finding(
            location,
            Confidence.LIKELY if -best[0] == YES else Confidence.POSSIBLE,
            (first, second),
            _message(first, second, guard, self._names),
            engine="summary",
            others=tuple(others),
        )
        lacking = guard.share if guard is not None and best[1] == 0 else 0.0
        place = (-finding.confidence, -lacking, best[4], location.name, location.base)
        self._ranked.append(((*place, sites), finding))

    def _rank(self, answer: int, a: Located, b: Located, guard: Guard | None) -> Rank:
        first, second = a.state.core, b.state.core
        lacks_one = guard is not None and guard.is_held(a) != guard.is_held(b)
        return (
            -answer,
            int(not lacks_one),
            min(len(first[0]), len(second[0])),
            2 - a.spot.is_write - b.spot.is_write,
            a.spot.aliases + b.spot.aliases,
            int(a.sites[0][:2] == b.sites[0][:2]),
            len(a.sites[0][2]) + len(b.sites[0][2]),
        )

    def _access(self, item: Located, site: Site) -> Access:
        spot = item.spot
        function, number, calls = site
        names = self._names
        return Access(
            self._threads[item.state.thread],
            names.number(function, number),
            names.function(function),
            names.position(function, number),
            names.location(spot.origin, spot.offset, spot.size, spot.stride),
            spot.is_write,
            item.is_atomic,
            tuple(
                HeldLock(
                    names.term(lock), LockMode.READ if mode == "read" else LockMode.WRITE, sure
                )
                for lock, mode, sure, _ in item.state.core[0]
            ),
            tuple(names.site(f, n) for f, n in reversed(calls)),
        )

    def _protection(self, accesses: list[Located], reasons: Counter[str]) -> None:
        spot = accesses[0].spot
        location = self._names.location(spot.origin, spot.offset, spot.size, spot.stride)
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


def _groups(accesses: list[Located]) -> list[list[Located]]:
    """Those of one spot under the same locks, of which most pairs are settled at once."""
    found: dict[tuple[Spot, int], list[Located]] = {}
    for item in accesses:
        found.setdefault((item.spot, item.state.lockset), []).append(item)
    return list(found.values())


def _group_pairs(
    precise: list[list[Located]], vague: list[list[Located]]
) -> Iterator[tuple[list[Located], list[Located]]]:
    yield from combinations_with_replacement(precise, 2)
    yield from product(vague, precise)
    yield from combinations_with_replacement(vague, 2)


def _pairs(first: list[Located], second: list[Located]) -> Iterator[tuple[Located, Located]]:
    return combinations_with_replacement(first, 2) if first is second else product(first, second)


def _width(location: Location) -> float:
    """Of two locations that meet, the one with fewer bytes says more; none if both are unknown."""
    if location.start is None or location.end is None:
        return float("inf")
    return location.end - location.start


def _group(a: Spot, b: Spot) -> Group:
    """The location that a pair of accesses is about."""
    if max(a.aliases, b.aliases) > MANY_ALIASES:
        return WHOLE
    return max((a.offset, -a.stride), (b.offset, -b.stride))[0], min(a.stride, b.stride)


def _first_sight(spot: Spot, state: State) -> tuple[int, ...]:
    """The most suspect first: one place, no lock, a write."""
    return spot.aliases > 1, len(state.core[0]), not spot.is_write, spot.aliases


def _meets(a: Located, b: Located) -> bool:
    return a.spot.offset == b.spot.offset and a.spot.stride == b.spot.stride


def _message(first: Access, second: Access, guard: Guard | None, names: LocationNames) -> str:
    words = (
        f"{_verb(first)} by {first.thread.name} and {_verb(second)} by {second.thread.name} "
        "can happen at the same time"
    )
    if guard is None:
        return words
    lock = names.term(guard.lock)
    return f"{words}; guarded by {lock} in {guard.count} of {guard.total} accesses"


def _verb(access: Access) -> str:
    return "a write" if access.is_write else "a read"
