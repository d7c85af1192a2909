"""Locks, conditions, once and atomic sections, as a walk sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.analysis.facets.facet import Acquire, Release
from raceproof.analysis.locks import ATOMIC, LockKey, holding, once_lock, possible_locks
from raceproof.analysis.walk.layout import WalkLayout
from raceproof.analysis.walk.point import Beside, LockAttempt, Point, Sum, join
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode, Success
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call

if TYPE_CHECKING:
    from raceproof.analysis.walk.steps import WalkSteps
    from raceproof.analysis.walk.walker import Visit


class LockSteps:
    def __init__(self, steps: WalkSteps) -> None:
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

    def _lock(
        self, visit: Visit, layout: WalkLayout, event: Any
    ) -> tuple[AbstractValue, Sum | None]:
        if event.is_indirect:
            return self.steps.walk.unknown, None
        pointers = self.steps.pointers(visit.name, event.lock, visit.context)
        return pointers, self.steps.sum(layout, event.lock)

    def _acquire(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.LockAcquire, point: Point
    ) -> Point:
        address, place = self._lock(visit, layout, event)
        key = self.steps.key(address)
        possible = possible_locks(address, self.steps.backend.objects.external)
        point = point.with_facets(point.facets.acquire(Acquire(None, possible=possible)))
        if address.is_unknown or not address.pointers:
            point = point.depending()
        is_write = event.mode is not LockMode.READ
        if event.success is Success.ALWAYS:
            return self.take(point, key, place, is_write)
        if call.result is None:
            return point
        attempt = LockAttempt(
            call.result.index, event.success is Success.ZERO, key, place, is_write
        )
        return point._replace(attempts=point.attempts | {attempt})

    def take(self, point: Point, key: LockKey | None, place: Sum | None, is_write: bool) -> Point:
        if key is None:
            if place is None:
                return point
            return point._replace(beside=point.beside | {Beside(place, is_write)})
        under = self.steps.walker.info.created_under
        return point.with_facets(point.facets.acquire(Acquire(key, is_write, creation_locks=under)))

    def _release(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.LockRelease, point: Point
    ) -> Point:
        address, place = self._lock(visit, layout, event)
        return self._give_back(point, address, place, event.recursive)

    def _give_back(
        self, point: Point, address: AbstractValue, place: Sum | None, is_recursive: bool
    ) -> Point:
        """Every lock that may be meant is no longer held for sure. Of a lock that was taken twice
        and may not be recursive, only one thing is known after it: it may still be held (a
        recursive one), and may not (an error-checking one)."""
        key = self.steps.key(address)
        held = None if key is None else holding(point.facets.must_lockset, key)
        drops_all = not (is_recursive or key in self.steps.walk.recursive_locks)

        def may_be(lock: LockKey) -> bool:
            return address.is_unknown or not address.pointers or _may_be(lock, address)

        is_once = held is None or held.times == 1
        event = Release(key, may_be, is_possible=is_once, drops_all=drops_all)
        point = point.with_facets(point.facets.release(event))
        if point.beside:
            kept = frozenset(b for b in point.beside if _differs(b, place))
            point = point._replace(beside=kept)
        return point

    def _wait(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.Event, point: Point
    ) -> Point:
        """What waiting for others orders is not followed."""
        gives_up = isinstance(event, ev.ConditionWait)
        return point.with_facets(point.facets.wait_for_others(gives_up))

    def atomic(self, point: Point) -> Point:
        """Inside of an atomic section."""
        if point.is_atomic:
            return point
        return point.with_facets(point.facets.acquire(Acquire(ATOMIC, is_counted=False)))

    def _atomic_begin(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.Event, point: Point
    ) -> Point:
        return self.atomic(point)

    def _atomic_end(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.Event, point: Point
    ) -> Point:
        return point.with_facets(point.facets.release(Release(ATOMIC)))

    def _atomic_function(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.AtomicFunction, point: Point
    ) -> Point | None:
        inside = self.atomic(point)
        name = event.function.name
        left = self.steps.enter(visit, layout, call, name, inside, call.arguments)
        if left is None or point.is_atomic:
            return left
        return self._atomic_end(visit, layout, call, event, left)

    def _once(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.Once, point: Point
    ) -> Point | None:
        """The routine runs under a lock that whoever is past this call holds for reading."""
        lock = self.once_lock(visit.name, event)
        inside = point if lock is None else point.with_facets(point.facets.acquire(Acquire(lock)))
        after = self._past(point, lock)
        for name in self.steps.backend.entries(visit.name, call):
            if self.steps.is_own(name):
                left = self.steps.enter(visit, layout, call, name, inside, ())
                if left is not None:
                    after = join(after, self._past(left, lock))
        return after.depending()

    def _past(self, point: Point, lock: LockKey | None) -> Point:
        """After a call of `once`."""
        if lock is None:
            return point
        given_back = point.facets.release(Release(lock, drops_all=True))
        return point.with_facets(
            given_back.acquire(Acquire(lock, is_write=False, is_counted=False))
        )

    def once_lock(self, function: str, event: ev.Once) -> LockKey | None:
        key = self.steps.key(self.steps.pointers(function, event.control))
        return None if key is None else once_lock(key)


def _may_be(lock: LockKey, address: AbstractValue) -> bool:
    offsets = address.pointers.get(lock.base)
    return offsets is not None and offsets.contains(lock.offset & (1 << offsets.width) - 1)


def _differs(lock: Beside, place: Sum | None) -> bool:
    """Is a lock for sure not the one at `place`?"""
    if place is None:
        return False
    (root, constant, terms), _ = lock
    return root == place[0] and terms == place[2] and constant != place[1]
