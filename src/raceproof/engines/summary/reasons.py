"""Why two accesses to the same object cannot race, or why we doubt that they do.

Each reason is one function of two accesses that answers `NO` (they cannot), `PERHAPS`, or `YES`
(this reason has nothing against it). A pair that gets a `PERHAPS` is a `possible` race, one that
gets only `YES` a `likely` one. Conditions 1 to 5 of DarC, section 3.3, and some of our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from raceproof.engines.summary.contexts import RootedAccess
from raceproof.engines.summary.memory import Memory, Place
from raceproof.engines.summary.outline import Induction
from raceproof.engines.summary.parallel import Parallel
from raceproof.engines.summary.scope import overlap
from raceproof.engines.summary.state import ThreadId
from raceproof.engines.summary.summary import Site
from raceproof.engines.summary.terms import Origin, Term, is_number, root

NO, PERHAPS, YES = 0, 1, 2
FAR = 1 << 40


@dataclass(frozen=True, slots=True)
class Located:
    """An access and one of the places it may go to."""

    access: RootedAccess
    origin: Origin
    offset: int
    stride: int
    aliases: int
    """How many places it may go to."""

    @property
    def place(self) -> Place:
        return self.origin, self.offset, self.stride

    sites: tuple[Site, ...] = ()
    """Where it happens: the accesses of one kind differ in nothing that a reason looks at."""


class Flags:
    """Who writes what: whether a thread may set a flag that another one tests."""

    def __init__(self, memory: Memory, accesses: Iterable[RootedAccess]) -> None:
        self._memory = memory
        self._writes: dict[tuple[ThreadId, Origin], dict[tuple[int, int], None]] = {}
        self._memo: dict[tuple[Term, ThreadId], tuple[Place, ...]] = {}
        for access in accesses:
            if access.is_write:
                for origin, offset, stride in memory.places(access.address):
                    written = self._writes.setdefault((access.thread, origin), {})
                    written[offset, stride] = None

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
class World:
    """What reasons may ask about the program."""

    parallel: Parallel
    memory: Memory
    running: Mapping[str, frozenset[ThreadId]]
    """Function -> threads that run it."""
    is_library_code: Callable[[str], bool]
    counting_loop: Callable[[Term], Induction | None]
    """The loop whose variable the index is."""
    flags: Flags
    elements: Callable[[Origin, int, int], tuple[int, int] | None]
    """The bytes of the array in an object that has a stride at an offset."""


Reason = Callable[[Located, Located, World], int]


def some_write(a: Located, b: Located, world: World) -> int:
    return YES if a.access.is_write or b.access.is_write else NO


def not_both_atomic(a: Located, b: Located, world: World) -> int:
    return NO if a.access.is_atomic and b.access.is_atomic else YES


def same_bytes(a: Located, b: Located, world: World) -> int:
    """`x[1]` and `x[2]` are apart, `x[i]` and `x[2]` perhaps not."""
    first, second = a.access.size, b.access.size
    if first is None or second is None:
        # From here on, nobody knows how far: anything behind it.
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


def _apart(a: Located, first: int, b: Located, second: int, world: World) -> bool:
    """Whether one stays inside of an array that the other is not in: `s.slots[i]`, `s.next`."""
    one, other = _bounds(a, first, world), _bounds(b, second, world)
    return one[1] <= other[0] or other[1] <= one[0]


def _bounds(item: Located, size: int, world: World) -> tuple[int, int]:
    if not item.stride:
        return item.offset, item.offset + size
    return world.elements(item.origin, item.offset, item.stride) or (-FAR, FAR)


def _span(item: Located, world: World) -> tuple[int, int, int] | None:
    """The bytes of an array that a counting loop goes through: first, step, last.

    None if the index is not such a loop's, so that nobody knows which elements are meant. A
    pointer that walks an array goes through all of it.
    """
    if not item.stride:
        return item.offset, 0, item.offset
    origin, constant, stride, symbol = item.access.address
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


def at_the_same_time(a: Located, b: Located, world: World) -> int:
    first, second = a.access, b.access
    return world.parallel.how_sure(first.thread, first.core, second.thread, second.core)


def not_each_its_own(a: Located, b: Located, world: World) -> int:
    """An object that each thread makes for itself is not shared by being made at one place."""
    first, second = root(a.access.address), root(b.access.address)
    if first != second or first[0] not in "sh":
        return YES
    maker = first[3][0][0] if first[0] == "h" and first[3] else first[1]
    running = world.running.get(maker, frozenset())
    if a.access.thread in running and b.access.thread in running:
        same = a.access.thread == b.access.thread and not world.parallel.is_multiple(
            a.access.thread
        )
        return YES if same else NO
    return YES


def not_one_element_each(a: Located, b: Located, world: World) -> int:
    """`create(&t[i], worker, &job[i])`: each instance of the thread has its own element."""
    if a.access.thread != b.access.thread:
        return YES
    first, second = a.access.address, b.access.address
    while first[0][0] == "*" and not first[3]:
        first = first[0][1]
    while second[0][0] == "*" and not second[3]:
        second = second[0][1]
    if not first[3] or first[3] != second[3] or first[0] != second[0]:
        return YES
    maker = first[3][0]
    if maker[0] != "r" or a.access.thread in world.running.get(maker[1], frozenset()):
        return YES
    return NO


def no_common_lock(a: Located, b: Located, world: World) -> int:
    answer = YES
    for lock, mode, sure, _ in a.access.core[0]:
        for other, other_mode, other_sure, _ in b.access.core[0]:
            if mode == other_mode == "read":
                continue
            how = _same_lock(a, lock, b, other, world)
            if how == YES and sure and other_sure:
                return NO
            if how != NO:
                answer = PERHAPS
    return answer


def _same_lock(a: Located, lock: Term, b: Located, other: Term, world: World) -> int:
    """Whether two locks are one: NO, PERHAPS or YES."""
    first = _beside(a, lock)
    if first is not None and first == _beside(b, other):
        return YES
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


def _beside(a: Located, lock: Term) -> int | None:
    """The lock's offset in the very element that is accessed, if it lies there."""
    address = a.access.address
    if address[0] != lock[0] or address[2] != lock[2] or address[3] != lock[3]:
        return None
    if address[2] and not address[3]:
        return None
    return a.offset + lock[1] - address[1]


def nobody_waits(a: Located, b: Located, world: World) -> int:
    """Semaphores, conditions and barriers may order the two, or flags that one sets and tests.

    A flag is memory that the one side tests and the other side's thread writes. That an access is
    behind a test of the very bytes it goes to is no order: check, then act.
    """
    for one, other in ((a, b), (b, a)):
        for flag in one.access.core[4]:
            if flag[0][0] == "?" or world.flags.is_set_by(flag, other.access.thread, one.place):
                return PERHAPS
    return YES


def known_places(a: Located, b: Located, world: World) -> int:
    """An access that may go to several places need not go to this one."""
    return YES if a.aliases == b.aliases == 1 else PERHAPS


def not_inside_the_library(a: Located, b: Located, world: World) -> int:
    """The standard library's templates keep their own data straight, by ways we do not follow."""
    inside = all(world.is_library_code(item.access.sites[0][0]) for item in (a, b))
    return PERHAPS if inside else YES


REASONS: tuple[tuple[str, Reason], ...] = (
    ("no write", some_write),
    ("atomic", not_both_atomic),
    ("different bytes", same_bytes),
    ("never at the same time", at_the_same_time),
    ("each its own", not_each_its_own),
    ("one element each", not_one_element_each),
    ("common lock", no_common_lock),
    ("ordered by waiting", nobody_waits),
    ("several places", known_places),
    ("library code", not_inside_the_library),
)


def weigh(a: Located, b: Located, world: World) -> tuple[int, str]:
    """The answer of all reasons together, and the one that decided."""
    answer, why = YES, ""
    for name, reason in REASONS:
        found = reason(a, b, world)
        if found < answer:
            answer, why = found, name
            if answer == NO:
                break
    return answer, why
