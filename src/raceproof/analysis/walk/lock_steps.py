"""Locks, conditions, once and atomic sections, as a walk sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.analysis.locks import ATOMIC, Held, LockKey, once_lock, possible_locks
from raceproof.analysis.walk.layout import Layout
from raceproof.analysis.walk.point import ALL_ALONG, Attempt, Beside, Point, Sum, join
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode, Success
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call

if TYPE_CHECKING:
    from raceproof.analysis.walk.steps import Steps
    from raceproof.analysis.walk.walker import Visit

_MOST_COUNTED = 4


class LockSteps:
    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def handlers(self) -> dict[type[ev.Event], Callable[..., Point | None]]:
        return {
            ev.LockAcquire: self._acquire,
            ev.LockRelease: self._release,
            ev.ConditionWait: self._wait,
            ev.Assume: self._wait,
            ev.BarrierWait: self._wait,
            ev.SemaphoreWait: self._wait,
            ev.AtomicBegin: self._atomic_begin,
            ev.AtomicEnd: self._atomic_end,
            ev.AtomicFunction: self._atomic_function,
            ev.Once: self._once,
        }

    def _lock(self, visit: Visit, layout: Layout, event: Any) -> tuple[AbstractValue, Sum | None]:
        if event.is_indirect:
            return self.steps.walk.unknown, None
        return self.steps.pointers(visit.name, event.lock), self.steps.sum(layout, event.lock)

    def _acquire(
        self, visit: Visit, layout: Layout, call: Call, event: ev.LockAcquire, point: Point
    ) -> Point:
        address, place = self._lock(visit, layout, event)
        key = self.steps.key(address)
        possible = possible_locks(address, self.steps.backend.objects.external)
        point = point._replace(maybe=point.maybe | possible)
        if address.is_unknown or not address.pointers:
            point = point._replace(guided=point.guided | ALL_ALONG)
        is_write = event.mode is not LockMode.READ
        if event.success is Success.ALWAYS:
            return self.take(point, key, place, is_write)
        if call.result is None:
            return point
        attempt = Attempt(call.result.index, event.success is Success.ZERO, key, place, is_write)
        return point._replace(attempts=point.attempts | {attempt})

    def take(self, point: Point, key: LockKey | None, place: Sum | None, is_write: bool) -> Point:
        if key is None:
            if place is None:
                return point
            return point._replace(beside=point.beside | {Beside(place, is_write)})
        for held in point.held:
            if held.lock == key:
                times = min(held.times + 1, _MOST_COUNTED)
                more = Held(key, held.is_write or is_write, times)
                return point._replace(held=(point.held - {held}) | {more})
        return point._replace(held=point.held | {Held(key, is_write)}, order=(*point.order, key))

    def _release(
        self, visit: Visit, layout: Layout, call: Call, event: ev.LockRelease, point: Point
    ) -> Point:
        address, place = self._lock(visit, layout, event)
        return self._give_back(point, address, place, event.recursive)

    def _give_back(
        self, point: Point, address: AbstractValue, place: Sum | None, is_recursive: bool
    ) -> Point:
        """Every lock that may be meant is no longer held for sure."""
        key = self.steps.key(address)
        if key is not None:
            point = _drop(point, key, is_recursive or key in self.steps.walk.recursive_locks)
        elif address.is_unknown or not address.pointers:
            point = point._replace(held=frozenset(h for h in point.held if h.lock == ATOMIC))
        else:
            point = point._replace(
                held=frozenset(h for h in point.held if h.lock == ATOMIC or not _may_be(h, address))
            )
        if point.beside:
            kept = frozenset(b for b in point.beside if _differs(b, place))
            point = point._replace(beside=kept)
        return point

    def _wait(
        self, visit: Visit, layout: Layout, call: Call, event: ev.Event, point: Point
    ) -> Point:
        """What waiting for others orders is not followed."""
        return point._replace(guided=point.guided | ALL_ALONG)

    def atomic(self, point: Point) -> Point:
        """Inside of an atomic section."""
        if point.is_atomic:
            return point
        return point._replace(held=point.held | {Held(ATOMIC, True)})

    def _atomic_begin(
        self, visit: Visit, layout: Layout, call: Call, event: ev.Event, point: Point
    ) -> Point:
        if point.is_atomic:
            return point
        return point._replace(held=point.held | {Held(ATOMIC, True)})

    def _atomic_end(
        self, visit: Visit, layout: Layout, call: Call, event: ev.Event, point: Point
    ) -> Point:
        return point._replace(held=frozenset(h for h in point.held if h.lock != ATOMIC))

    def _atomic_function(
        self, visit: Visit, layout: Layout, call: Call, event: ev.AtomicFunction, point: Point
    ) -> Point | None:
        inside = self.atomic(point)
        name = event.function.name
        left = self.steps.enter(visit, layout, call, name, inside, call.arguments)
        if left is None or point.is_atomic:
            return left
        return self._atomic_end(visit, layout, call, event, left)

    def _once(
        self, visit: Visit, layout: Layout, call: Call, event: ev.Once, point: Point
    ) -> Point | None:
        """The routine runs under a lock that whoever is past this call holds for reading."""
        lock = self.once_lock(visit.name, event)
        inside = point
        if lock is not None:
            inside = point._replace(held=point.held | {Held(lock, True)})
        after = point
        for name in self.steps.backend.entries(visit.name, call):
            if self.steps.is_own(name):
                left = self.steps.enter(visit, layout, call, name, inside, ())
                if left is not None:
                    after = join(after, left)
        if lock is not None:
            rest = frozenset(h for h in after.held if h.lock != lock)
            after = after._replace(held=rest | {Held(lock, False)})
        return after._replace(guided=after.guided | ALL_ALONG)

    def once_lock(self, function: str, event: ev.Once) -> LockKey | None:
        key = self.steps.key(self.steps.pointers(function, event.control))
        return None if key is None else once_lock(key)


def _drop(point: Point, key: LockKey, is_recursive: bool) -> Point:
    """One unlock. Of a lock that was taken twice and may not be recursive, only one thing is known
    after it: it may still be held (a recursive one), and may not (an error-checking one).

    Locks given back in another order than taken may hand threads on, one after the other: two
    points without a common lock then need not meet.
    """
    for held in point.held:
        if held.lock == key:
            rest = point.held - {held}
            if held.times > 1 and is_recursive:
                rest |= {Held(key, held.is_write, held.times - 1)}
                return point._replace(held=rest)
            left = point.maybe if held.times > 1 else point.maybe - {key}
            guided = point.guided if point.order[-1:] == (key,) else point.guided | ALL_ALONG
            order = tuple(lock for lock in point.order if lock != key)
            return point._replace(held=rest, maybe=left, order=order, guided=guided)
    return point._replace(maybe=point.maybe - {key})


def _may_be(held: Held, address: AbstractValue) -> bool:
    offsets = address.pointers.get(held.lock.base)
    if offsets is None:
        return False
    return offsets.contains(held.lock.offset & (1 << offsets.width) - 1)


def _differs(lock: Beside, place: Sum | None) -> bool:
    """Is a lock for sure not the one at `place`?"""
    if place is None:
        return False
    (root, constant, terms), _ = lock
    return root == place[0] and terms == place[2] and constant != place[1]
