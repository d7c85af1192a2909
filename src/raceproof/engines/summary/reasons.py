"""Why two accesses to the same object cannot race, or why we doubt that they do.

Each reason is one function of two accesses that answers `NO` (they cannot), `PERHAPS`, or `YES`
(this reason has nothing against it). A pair that gets a `PERHAPS` is a `possible` race, one that
gets only `YES` a `likely` one. Conditions 1 to 5 of DarC, section 3.3, and some of our own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from raceproof.engines.summary.contexts import Happening
from raceproof.engines.summary.memory import Place, StoredContents
from raceproof.engines.summary.outline import ATOMIC, Induction
from raceproof.engines.summary.parallel import Parallel
from raceproof.engines.summary.scope import overlap
from raceproof.engines.summary.state import Core, Locks, ThreadId, is_protected_by
from raceproof.engines.summary.summary import Site
from raceproof.engines.summary.terms import (
    LOCAL_OBJECTS,
    Origin,
    Term,
    is_dereference,
    is_number,
    root,
)

NO, PERHAPS, YES = 0, 1, 2
FAR = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """When an access happens: in which thread, holding and having waited for what."""

    thread: ThreadId
    core: Core
    is_atomic: bool
    """Inside of an atomic section."""
    lockset: int
    """The same number, the same locks."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """What an access goes to, and how."""

    origin: Origin
    offset: int
    stride: int
    aliases: int
    """How many places it may go to."""
    address: Term
    size: int | None
    is_write: bool
    is_atomic: bool

    @property
    def place(self) -> Place:
        return self.origin, self.offset, self.stride


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """An access: a spot in a state, and all sites where that happens."""

    spot: Spot
    state: State
    sites: tuple[Site, ...] = ()

    @property
    def is_atomic(self) -> bool:
        return self.spot.is_atomic or self.state.is_atomic


class Flags:
    """Who writes what: whether a thread may set a flag that another one tests."""

    def __init__(self, memory: StoredContents, happenings: Iterable[Happening]) -> None:
        self._memory = memory
        self._writes: dict[tuple[ThreadId, Origin], dict[tuple[int, int], None]] = {}
        self._memo: dict[tuple[Term, ThreadId], tuple[Place, ...]] = {}
        for thread, _, shapes in happenings:
            for address, _, is_write, _, _ in shapes:
                if is_write:
                    for origin, offset, stride in memory.places(address):
                        self._writes.setdefault((thread, origin), {})[offset, stride] = None

    def is_set_by(self, flag: Term, thread: ThreadId, but: Place) -> bool:
        key = (flag, thread)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = tuple(
                place
                for place in self._memory.places(flag)
                if any(
                    overlap(place[1], place[2], *at)
                    for at in self._writes.get((thread, place[0]), ())
                )
            )
        return any(place != but for place in known)


@dataclass(frozen=True, slots=True)
class SummaryWorld:
    """What reasons may ask about the program."""

    parallel: Parallel
    memory: StoredContents
    running: Mapping[str, frozenset[ThreadId]]
    """Function -> threads that run it."""
    is_library_code: Callable[[str], bool]
    counting_loop: Callable[[Term], Induction | None]
    """The loop whose variable the index is."""
    flags: Flags
    elements: Callable[[Origin, int, int], tuple[int, int] | None]
    """The bytes of the array in an object that has a stride at an offset."""


Reason = Callable[[Located, Located, SummaryWorld], int]


def same_bytes(a: Spot, b: Spot, world: SummaryWorld) -> int:
    """`x[1]` and `x[2]` are apart, `x[i]` and `x[2]` perhaps not."""
    first, second = a.size, b.size
    if first is None or second is None:
        # From here on, it is unknown how far: anything behind it.
        low = a.offset if first is None else b.offset
        high = b.offset + (second or 0) if first is None else a.offset + (first or 0)
        if first is None and second is None:
            return PERHAPS
        return PERHAPS if a.stride or b.stride or high > low else NO
    if not a.stride and not b.stride:
        apart = a.offset + first <= b.offset or b.offset + second <= a.offset
        return NO if apart else YES
    size = second if a.offset <= b.offset else first
    if not overlap(a.offset, a.stride, b.offset, b.stride, max(size, 1)):
        return NO
    if _apart(a, first, b, second, world):
        return NO
    one, other = _span(a, world), _span(b, world)
    if one is None or other is None:
        return PERHAPS
    if not overlap(one[0], one[1], other[0], other[1], max(size, 1)):
        return NO
    if one[2] + first <= other[0] or other[2] + second <= one[0]:
        return NO
    return YES if a.stride == b.stride else PERHAPS


def _apart(a: Spot, first: int, b: Spot, second: int, world: SummaryWorld) -> bool:
    """Whether one stays inside of an array that the other is not in: `s.slots[i]`, `s.next`."""
    one, other = _bounds(a, first, world), _bounds(b, second, world)
    return one[1] <= other[0] or other[1] <= one[0]


def _bounds(item: Spot, size: int, world: SummaryWorld) -> tuple[int, int]:
    if not item.stride:
        return item.offset, item.offset + size
    return world.elements(item.origin, item.offset, item.stride) or (-FAR, FAR)


def _span(item: Spot, world: SummaryWorld) -> tuple[int, int, int] | None:
    """The bytes of an array that a counting loop goes through: first, step, last.

    None if the index is not such a loop's, so that it is unknown which elements are meant. A
    pointer that walks an array goes through all of it.
    """
    if not item.stride:
        return item.offset, 0, item.offset
    origin, constant, stride, symbol = item.address
    if not symbol:
        return item.offset, item.stride, FAR
    loop = world.counting_loop(symbol) if item.stride == stride else None
    if loop is None:
        return None
    start, step, predicate, bound = loop
    is_bounded = step > 0 and predicate in ("lt", "le", "ne") and is_number(bound)
    if not is_bounded or origin != item.origin:
        return item.offset, item.stride, FAR
    first = constant + (start + symbol[1]) * stride
    count = max(bound[1] - start - (predicate != "le"), 0) // step
    return first, step * item.stride, first + count * step * item.stride


def at_the_same_time(a: State, b: State, world: SummaryWorld) -> int:
    return world.parallel.how_sure(a.thread, a.core, b.thread, b.core)


def not_each_its_own(a: Located, b: Located, world: SummaryWorld) -> int:
    """An object that each thread makes for itself is not shared by being made at one place."""
    first, second = root(a.spot.address), root(b.spot.address)
    if first != second or first[0] not in LOCAL_OBJECTS:
        return YES
    maker = first[3][0][0] if first[0] == "h" and first[3] else first[1]
    running = world.running.get(maker, frozenset())
    one, other = a.state.thread, b.state.thread
    if one in running and other in running:
        return YES if one == other and not world.parallel.is_multiple(one) else NO
    return YES


def not_one_element_each(a: Located, b: Located, world: SummaryWorld) -> int:
    """`create(&t[i], worker, &job[i])`: each instance of the thread has its own element."""
    if a.state.thread != b.state.thread:
        return YES
    first, second = a.spot.address, b.spot.address
    while is_dereference(first) and not first[3]:
        first = first[0][1]
    while is_dereference(second) and not second[3]:
        second = second[0][1]
    if not first[3] or first[3] != second[3] or first[0] != second[0]:
        return YES
    maker = first[3][0]
    if maker[0] != "r" or a.state.thread in world.running.get(maker[1], frozenset()):
        return YES
    return NO


def no_common_lock_beside(a: Located, b: Located, world: SummaryWorld) -> int:
    """Of the locks that lie in the very element that is accessed."""
    beside = [one for one in a.state.core[0] if _beside(a.spot, one[0]) is not None]
    if not beside:
        return YES
    return no_common_lock(
        beside,
        b.state.core[0],
        lambda x, y: YES if _beside(a.spot, x) == _beside(b.spot, y) else NO,
    )


Name = TypeVar("Name")
"""Of a lock: its term, or a number for it."""


def no_common_lock(
    locks: Iterable[tuple[Name, str, bool, int]],
    others: Collection[tuple[Name, str, bool, int]],
    is_same: Callable[[Name, Name], int],
) -> int:
    answer = YES
    for lock, mode, sure, _ in locks:
        for other, other_mode, other_sure, _ in others:
            if mode == "read" == other_mode:
                continue
            how = is_same(lock, other)
            if how == YES and sure and other_sure:
                return NO
            if how != NO:
                answer = PERHAPS
    return answer


def _same_lock(lock: Term, other: Term, world: SummaryWorld) -> int:
    """Whether two locks are one, wherever they are: NO, PERHAPS or YES."""
    places, others = world.memory.places(lock), world.memory.places(other)
    if lock == other and lock[0][0] == "a":
        return YES
    if lock == other and not lock[2] and root(lock)[0] == "g":
        return YES
    if len(places) == 1 == len(others):
        if places[0] != others[0]:
            return NO if not places[0][2] and not others[0][2] else _may_meet(places, others)
        if places[0][2]:
            return PERHAPS
        return YES if places[0][0][0] == "g" or lock == other else PERHAPS
    return _may_meet(places, others)


def _may_meet(places: tuple[Place, ...], others: tuple[Place, ...]) -> int:
    for origin, offset, stride in places:
        for other, other_offset, other_stride in others:
            if origin == other and overlap(offset, stride, other_offset, other_stride):
                return PERHAPS
    return NO


def _beside(a: Spot, lock: Term) -> int | None:
    """The lock's offset in the very element that is accessed, if it lies there."""
    address = a.address
    if address[0] != lock[0] or address[2] != lock[2] or address[3] != lock[3]:
        return None
    if address[2] and not address[3]:
        return None
    return a.offset + lock[1] - address[1]


def nobody_waits(a: Located, b: Located, world: SummaryWorld) -> int:
    """Semaphores, conditions and barriers may order the two, or flags that one sets and tests.

    A flag is memory that the one side tests and the other side's thread writes. That an access is
    behind a test of the very bytes it goes to is no order: check, then act.
    """
    for one, other in ((a, b), (b, a)):
        for flag in one.state.core[4]:
            thread, place = other.state.thread, one.spot.place
            if flag[0][0] == "?" or world.flags.is_set_by(flag, thread, place):
                return PERHAPS
    return YES


def known_places(a: Located, b: Located, world: SummaryWorld) -> int:
    """An access that may go to several places need not go to this one."""
    return YES if a.spot.aliases == b.spot.aliases == 1 else PERHAPS


def not_inside_the_library(a: Located, b: Located, world: SummaryWorld) -> int:
    """The standard library's templates keep their own data straight, by ways we do not follow."""
    inside = all(world.is_library_code(item.sites[0][0]) for item in (a, b))
    return PERHAPS if inside else YES


REASONS: tuple[tuple[str, Reason], ...] = (
    ("each its own", not_each_its_own),
    ("one element each", not_one_element_each),
    ("common lock", no_common_lock_beside),
    ("ordered by waiting", nobody_waits),
    ("several places", known_places),
    ("library code", not_inside_the_library),
)
"""Those that need all of an access; before them come the bytes, the time and the locks."""


class Scales:
    """Weighs pairs. Many pairs share their spots, and even more their states and locks."""

    def __init__(self, world: SummaryWorld) -> None:
        self._world = world
        self._states: dict[tuple[ThreadId, Core], State] = {}
        self._locksets: dict[Locks, int] = {}
        self._locks: dict[Term, int] = {}
        self._terms: list[Term] = []
        self._held: list[tuple[tuple[int, str, bool, int], ...]] = []
        """Of each lockset: its locks by number."""
        self._common: dict[tuple[int, int], int] = {}
        self._same: dict[tuple[int, int], int] = {}
        self._bytes: dict[tuple[Spot, Spot], int] = {}
        self._times: dict[tuple[State, State], int] = {}

    def state(self, thread: ThreadId, core: Core) -> State:
        known = self._states.get((thread, core))
        if known is None:
            known = State(thread, core, is_protected_by(core, ATOMIC), self._lockset(core[0]))
            self._states[thread, core] = known
        return known

    def _lock(self, term: Term) -> int:
        known = self._locks.get(term)
        if known is None:
            known = self._locks[term] = len(self._terms)
            self._terms.append(term)
        return known

    def _lockset(self, locks: Locks) -> int:
        known = self._locksets.get(locks)
        if known is None:
            known = self._locksets[locks] = len(self._held)
            self._held.append(tuple([(self._lock(one[0]), *one[1:]) for one in locks]))
        return known

    def excludes_all(self, a: Located, b: Located) -> str:
        """Why none of the accesses that share spots and locks with these can race, if so."""
        if self._same_bytes(a.spot, b.spot) == NO:
            return "different bytes"
        return "common lock" if self._common_lock(a, b) == NO else ""

    def weigh(self, a: Located, b: Located) -> tuple[int, str]:
        """The answer of all reasons together, and the one that decided."""
        if not a.spot.is_write and not b.spot.is_write:
            return NO, "no write"
        if a.is_atomic and b.is_atomic:
            return NO, "atomic"
        time = self._same_time(a.state, b.state)
        if time == NO:
            return NO, "never at the same time"
        why = self.excludes_all(a, b)
        if why:
            return NO, why
        answer = min(time, self._same_bytes(a.spot, b.spot), self._common_lock(a, b))
        for name, reason in REASONS:
            found = reason(a, b, self._world)
            if found == NO:
                return NO, name
            answer = min(answer, found)
        return answer, ""

    def _same_bytes(self, a: Spot, b: Spot) -> int:
        known = self._bytes.get((a, b))
        if known is None:
            known = self._bytes[a, b] = same_bytes(a, b, self._world)
        return known

    def _same_time(self, a: State, b: State) -> int:
        known = self._times.get((a, b))
        if known is None:
            known = self._times[a, b] = at_the_same_time(a, b, self._world)
        return known

    def _common_lock(self, a: Located, b: Located) -> int:
        first, second = a.state.lockset, b.state.lockset
        known = self._common.get((first, second))
        if known is None:
            found = no_common_lock(self._held[first], self._held[second], self._is_same_lock)
            known = self._common[first, second] = found
        return known

    def _is_same_lock(self, one: int, other: int) -> int:
        known = self._same.get((one, other))
        if known is None:
            known = _same_lock(self._terms[one], self._terms[other], self._world)
            self._same[one, other] = known
        return known
