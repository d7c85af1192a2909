"""What an instruction does to the point: locks, threads, calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.analysis.state import ATOMIC, Held, LockKey
from raceproof.analysis.walk.layout import Layout
from raceproof.analysis.walk.point import ALL_ALONG, Attempt, Beside, Point, Sum, join
from raceproof.analysis.walk.sums import into_callee, out_of_callee, root_of, sum_of
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockMode, Success, Wait
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    Call,
    Cast,
    Compare,
    CopyMemory,
    Freeze,
    GlobalAddress,
    Instruction,
    Load,
    Offset,
    Register,
    SetMemory,
    Store,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.walk.walker import Visit, Walker

_MOST_COUNTED = 4


class Steps:
    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.walk = walker.walk
        self.backend = walker.walk.backend
        self.layouts = walker.layouts
        self.thread = walker.info.index
        self._handlers: dict[type[ev.Event], Callable[..., Point | None]] = {
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
            ev.ThreadCreate: self._create,
            ev.ThreadJoin: self._join,
            ev.ThreadExit: self._exit,
            ev.ProcessExit: self._end,
        }

    def step(
        self, visit: Visit, layout: Layout, instruction: Instruction, point: Point
    ) -> Point | None:
        """The point after an instruction; None if nothing comes after it."""
        after: Point | None = point
        if point.fresh:
            after = self._published(layout, instruction, point)
        if isinstance(instruction, Call):
            assert after is not None
            after = self._call(visit, layout, instruction, after)
        if after is None or instruction.result is None:
            return after
        if after.beside or after.attempts or after.fresh:
            after = self._defined(instruction, after)
        if isinstance(instruction, Call) and self._allocates(visit.name, instruction):
            after = after._replace(fresh=after.fresh | {instruction.result.index})
        return after

    def _defined(self, instruction: Instruction, point: Point) -> Point:
        assert instruction.result is not None
        index = instruction.result.index
        if isinstance(instruction, Call):
            made = frozenset(a for a in point.attempts if a.register == index)
            after = point._replace(attempts=point.attempts - made).after_definition(index)
            return after._replace(attempts=after.attempts | made)
        return point.after_definition(index)

    def _allocates(self, function: str, call: Call) -> bool:
        event = self.backend.events.of(call)
        return isinstance(event, ev.Allocate) and event.pointer_to is None

    # --- objects that nobody else has seen ------------------------------------------------------

    def _published(self, layout: Layout, instruction: Instruction, point: Point) -> Point:
        """Takes note of addresses that the instruction hands on."""
        match instruction:
            case Load() | Compare() | SetMemory() | CopyMemory() | Offset() | Freeze():
                return point
            case Cast(operation="bitcast" | "addrspacecast"):
                return point
            case Store(value=value):
                return self.seen(layout, value, point)
            case Call():
                if self.layouts.is_plain_call(layout.function.name, instruction):
                    return point
        for operand in instruction.operands:
            point = self.seen(layout, operand, point)
        return point

    def seen(self, layout: Layout, value: Value, point: Point) -> Point:
        """The address in a value may be known to others from now on."""
        if point.fresh:
            root = root_of(layout.makers, value)
            if root in point.fresh:
                return point._replace(fresh=point.fresh - {root})
        return point

    # --- addresses ------------------------------------------------------------

    def pointers(self, function: str, value: Value) -> AbstractValue:
        return self.backend.pointers(function, value, self.thread)

    def sum(self, layout: Layout, value: Value) -> Sum | None:
        return sum_of(layout.makers, value, self._base_of)

    def _base_of(self, value: Value) -> int | None:
        assert isinstance(value, GlobalAddress)
        pointers = self.pointers("", value).pointers
        return next(iter(pointers)) if len(pointers) == 1 else None

    def _key(self, address: AbstractValue) -> LockKey | None:
        """The one lock that an address stands for, if it does."""
        place = address.only_address
        if place is None or self.backend.objects.is_weak(place[0]):
            return None
        return LockKey(*place)

    # --- calls ------------------------------------------------------------

    def _call(self, visit: Visit, layout: Layout, call: Call, point: Point) -> Point | None:
        after: Point | None = None
        names = self.backend.callees(visit.name, call)
        if not names:
            return None if call.no_return else point
        inside = point
        if len(names) > 1:
            inside = point._replace(guided=point.guided | ALL_ALONG)
        for name in names:
            left = self._means(visit, layout, call, name, inside)
            if left is not None:
                after = left if after is None else join(after, left)
        return after

    def _means(
        self, visit: Visit, layout: Layout, call: Call, name: str, point: Point
    ) -> Point | None:
        event = self.backend.events.of(call, name)
        if event is not None:
            handler = self._handlers.get(type(event))
            if handler is not None:
                return handler(visit, layout, call, event, point)
            if event.no_return:
                return None
            if event.model.returns_twice:
                return self.surprised(point)
            return self._callbacks(visit, layout, call, point)
        function = self.backend.program.functions.get(name)
        if function is None or not function.is_defined:
            if call.no_return:
                return None
            return self._callbacks(visit, layout, call, point)
        return self.enter(visit, layout, call, name, point, call.arguments)

    def surprised(self, point: Point) -> Point:
        """Back at a `setjmp`, or at a handler of exceptions, from who knows where: no lock is held
        for sure, all threads that this one creates may run."""
        info = self.walker.info
        return Point(
            maybe=point.maybe,
            running=point.running | info.children,
            guided=point.guided | ALL_ALONG,
        )

    def _callbacks(self, visit: Visit, layout: Layout, call: Call, point: Point) -> Point | None:
        """Functions handed to a library may be called, or not."""
        after = point
        for name in self.backend.entries(visit.name, call):
            if self._is_own(name):
                left = self.enter(visit, layout, call, name, point, ())
                if left is not None:
                    after = join(after, left)
        return after

    def _is_own(self, name: str) -> bool:
        function = self.backend.program.functions.get(name)
        return function is not None and function.is_defined

    def enter(
        self,
        visit: Visit,
        layout: Layout,
        call: Call,
        name: str,
        point: Point,
        arguments: tuple[Value, ...],
    ) -> Point | None:
        """After a call of one of the program's own functions."""
        if name in self.layouts.endless and name not in self.layouts.stirring:
            return None
        if name not in self.layouts.stirring:
            if name in self.layouts.doubtful:
                return point._replace(guided=point.guided | ALL_ALONG)
            return point
        entry = self.entry_point(layout, call, name, point, arguments)
        context = self.walk.inner(visit.context, call.number, name)
        callee = self.walker.visit(name, context, entry, visit)
        left = callee.exit
        if left is None:
            return None
        kept = point.beside if name not in self.layouts.releasing else frozenset()
        beside = self._returned(layout, name, arguments, left)
        guided = point.guided | (ALL_ALONG if name in self.layouts.doubtful else 0)
        return left._replace(
            beside=kept | beside, attempts=point.attempts, fresh=point.fresh, guided=guided
        )

    def entry_point(
        self, layout: Layout, call: Call, name: str, point: Point, arguments: tuple[Value, ...]
    ) -> Point:
        """The point at the entry of the callee, in the callee's registers."""
        point = point._replace(guided=ALL_ALONG if point.guided else 0)
        if not (point.beside or point.attempts or point.fresh):
            return point
        passed: set[Beside] = set()
        if point.beside:
            for parameter, value in self._sums(layout, name, arguments):
                for lock in point.beside:
                    inner = into_callee(lock, value, parameter)
                    if inner is not None:
                        passed.add(inner)
            passed |= {lock for lock in point.beside if lock.place[0] < 0 and not lock.place[2]}
        return point._replace(beside=frozenset(passed), attempts=frozenset(), fresh=frozenset())

    def _returned(
        self, layout: Layout, name: str, arguments: tuple[Value, ...], left: Point
    ) -> frozenset[Beside]:
        found: set[Beside] = set()
        if left.beside:
            for parameter, value in self._sums(layout, name, arguments):
                for lock in left.beside:
                    outer = out_of_callee(lock, value, parameter)
                    if outer is not None:
                        found.add(outer)
            found |= {lock for lock in left.beside if lock.place[0] < 0 and not lock.place[2]}
        return frozenset(found)

    def _sums(
        self, layout: Layout, name: str, arguments: tuple[Value, ...]
    ) -> list[tuple[int, Sum]]:
        parameters = self.backend.program.functions[name].parameters
        found = []
        for parameter, value in zip(parameters, arguments, strict=False):
            place = self.sum(layout, value) if isinstance(value, Register | GlobalAddress) else None
            if place is not None:
                found.append((parameter.index, place))
        return found

    # --- locks ------------------------------------------------------------

    def _lock(self, visit: Visit, layout: Layout, event: Any) -> tuple[AbstractValue, Sum | None]:
        if event.is_indirect:
            return self.walk.unknown, None
        return self.pointers(visit.name, event.lock), self.sum(layout, event.lock)

    def _acquire(
        self, visit: Visit, layout: Layout, call: Call, event: ev.LockAcquire, point: Point
    ) -> Point:
        address, place = self._lock(visit, layout, event)
        key = self._key(address)
        point = point._replace(
            maybe=point.maybe
            | {LockKey(b, o.signed_constant or 0) for b, o in address.pointers.items()}
        )
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
        key = self._key(address)
        if key is not None:
            point = _drop(point, key, is_recursive or key in self.walk.recursive_locks)
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
        left = self.enter(visit, layout, call, name, inside, call.arguments)
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
        for name in self.backend.entries(visit.name, call):
            if self._is_own(name):
                left = self.enter(visit, layout, call, name, inside, ())
                if left is not None:
                    after = join(after, left)
        if lock is not None:
            rest = frozenset(h for h in after.held if h.lock != lock)
            after = after._replace(held=rest | {Held(lock, False)})
        return after._replace(guided=after.guided | ALL_ALONG)

    def once_lock(self, function: str, event: ev.Once) -> LockKey | None:
        key = self._key(self.pointers(function, event.control))
        return None if key is None else LockKey(key.base, -1 - key.offset)

    # --- threads ------------------------------------------------------------

    def _create(
        self, visit: Visit, layout: Layout, call: Call, event: ev.ThreadCreate, point: Point
    ) -> Point:
        threads, creator = self.walk.threads, self.walker.info
        before = point.running
        names = self.backend.entries(visit.name, call)
        for name in names:
            info = self.walk.created(creator, visit.context, call, name)
            if point.guided or len(names) > 1:
                self.walk.guided_starts |= info.bit
            if info is creator or before & info.bit or not creator.is_unique:
                threads.not_unique(info)
            threads.created(info, before, not self.walk.once.is_once(call.number))
            others = before | creator.bit
            threads.together(info, others & ~info.bit if info.is_unique else others | info.bit)
            for child in list(threads.all):
                if info.children >> child.index & 1:
                    threads.together(child, others)
            point = point._replace(
                running=point.running | info.bit | info.children, sure=point.sure | info.bit
            )
        return point

    def _join(
        self, visit: Visit, layout: Layout, call: Call, event: ev.ThreadJoin, point: Point
    ) -> Point:
        point = point._replace(guided=point.guided | ALL_ALONG)
        if event.wait is not Wait.BLOCK or event.success not in (Success.ALWAYS, Success.ZERO):
            return point
        site = self.backend.created_at(visit.name, event.thread, event.is_indirect)
        infos = [i for i in self.walk.threads.all if i.call == site and i.index]
        if site is None or len(infos) != 1 or not infos[0].is_unique:
            return point
        info = infos[0]
        if info.parent != self.thread and not self.walk.once.is_once(site):
            return point
        info.joins[call.number] = None
        gone = info.bit
        if info.left is not None and not self.walk.has_cancellation:
            gone |= info.children & ~info.left
        return point._replace(running=point.running & ~gone, sure=point.sure & ~gone)

    def _exit(
        self, visit: Visit, layout: Layout, call: Call, event: ev.ThreadExit, point: Point
    ) -> None:
        self.walk.threads.ended(self.walker.info, point.running)

    def _end(
        self, visit: Visit, layout: Layout, call: Call, event: ev.ProcessExit, point: Point
    ) -> None:
        return None


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
