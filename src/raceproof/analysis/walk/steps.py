"""What an instruction does to the point: locks, threads, calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from raceproof.analysis.contexts import Context
from raceproof.analysis.facets import EVENT_HOOKS
from raceproof.analysis.locks import LockKey
from raceproof.analysis.walk.layout import WalkLayout
from raceproof.analysis.walk.lock_steps import LockSteps
from raceproof.analysis.walk.point import Beside, Point, Sum, join
from raceproof.analysis.walk.sums import into_callee, out_of_callee, sum_of
from raceproof.analysis.walk.thread_steps import ThreadSteps
from raceproof.concurrency import events as ev
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    Call,
    GlobalAddress,
    Instruction,
    IntConstant,
    Register,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.walk.walker import Visit, Walker

Handler = Callable[..., Point | None]
N = TypeVar("N")


class WalkContext:
    """A call of a library function, as facets see it."""

    def __init__(self, steps: WalkSteps, visit: Visit, call: Call) -> None:
        self._steps, self._visit = steps, visit
        self.thread: int = steps.walker.info.index
        self.call = call.number
        self.context = visit.context.number

    @property
    def is_repeated(self) -> bool:
        walk = self._steps.walk
        return not (walk.threads[self.thread].is_unique and walk.once.is_once(self.call))

    def key(self, operand: Value) -> LockKey | None:
        return self._steps.key(self._steps.pointers(self._visit.name, operand))

    def bases(self, operand: Value) -> set[int]:
        address = self._steps.pointers(self._visit.name, operand)
        if address.is_unknown or self._steps.backend.objects.external in address.pointers:
            return set()
        return set(address.pointers)

    def constant(self, operand: Value) -> int | None:
        return operand.value if isinstance(operand, IntConstant) else None

    def notes(self, kind: type[N]) -> N:
        return self._steps.walk.notes.of(kind)


class WalkSteps:
    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.walk = walker.walk
        self.backend = walker.walk.backend
        self.layouts = walker.layouts
        self.thread = walker.info.index
        self.locks = LockSteps(self)
        self._handlers: dict[type[ev.Event], Handler] = {
            **self.locks.handlers(),
            **ThreadSteps(self).handlers(),
        }

    def step(
        self, visit: Visit, layout: WalkLayout, instruction: Instruction, point: Point
    ) -> Point | None:
        """The point after an instruction; None if nothing comes after it."""
        after: Point | None = point
        if isinstance(instruction, Call):
            after = self._call(visit, layout, instruction, point)
        if after is None or instruction.result is None:
            return after
        if after.beside or after.attempts:
            after = self._defined(instruction, after)
        return after

    def _defined(self, instruction: Instruction, point: Point) -> Point:
        assert instruction.result is not None
        index = instruction.result.index
        if isinstance(instruction, Call):
            made = frozenset(a for a in point.attempts if a.register == index)
            after = point._replace(attempts=point.attempts - made).after_definition(index)
            return after._replace(attempts=after.attempts | made)
        return point.after_definition(index)

    # --- addresses ------------------------------------------------------------

    def pointers(
        self, function: str, value: Value, context: Context | None = None
    ) -> AbstractValue:
        calls = () if context is None else context.calls
        return self.backend.pointers(function, value, self.thread, calls)

    def sum(self, layout: WalkLayout, value: Value) -> Sum | None:
        return sum_of(layout.makers, value, self._base_of)

    def _base_of(self, value: Value) -> int | None:
        assert isinstance(value, GlobalAddress)
        pointers = self.pointers("", value).pointers
        return next(iter(pointers)) if len(pointers) == 1 else None

    def key(self, address: AbstractValue) -> LockKey | None:
        """The one lock that an address stands for, if it does."""
        place = address.only_address
        if place is None or self.backend.objects.is_weak(place[0]):
            return None
        return LockKey(*place)

    # --- calls ------------------------------------------------------------

    def _call(self, visit: Visit, layout: WalkLayout, call: Call, point: Point) -> Point | None:
        after: Point | None = None
        names = self.backend.callees(visit.name, call)
        if not names:
            return None if call.no_return else point
        inside = point
        if len(names) > 1:
            inside = point.depending()
        for name in names:
            left = self._means(visit, layout, call, name, inside)
            if left is not None:
                after = left if after is None else join(after, left)
        return after

    def _means(
        self, visit: Visit, layout: WalkLayout, call: Call, name: str, point: Point
    ) -> Point | None:
        event = self.backend.events.of(call, name)
        if event is not None:
            if type(event) in EVENT_HOOKS:
                at = WalkContext(self, visit, call)
                point = point.with_facets(point.facets.at_event(event, at))
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
        return Point(point.facets.return_again(info.children))

    def _callbacks(
        self, visit: Visit, layout: WalkLayout, call: Call, point: Point
    ) -> Point | None:
        """Functions handed to a library may be called, any number of times, or not."""
        after = point
        while True:
            before = after
            for name in self.backend.entries(visit.name, call):
                if self.is_own(name):
                    left = self.enter(visit, layout, call, name, before, ())
                    if left is not None:
                        after = join(after, left)
            if after == before:
                return after

    def is_own(self, name: str) -> bool:
        function = self.backend.program.functions.get(name)
        return function is not None and function.is_defined

    def enter(
        self,
        visit: Visit,
        layout: WalkLayout,
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
                return point.depending()
            return point
        entry = self.entry_point(layout, call, name, point, arguments)
        context = self.walk.inner(visit.context, call.number, name)
        callee = self.walker.visit(name, context, entry, visit)
        left = callee.exit
        if left is None:
            return None
        kept = point.beside if name not in self.layouts.releasing else frozenset()
        beside = self._returned(layout, name, arguments, left)
        depends = point.facets.depends_on_others or name in self.layouts.doubtful
        return Point(
            left.facets._replace(depends_on_others=depends),
            kept | beside,
            point.attempts,
            point.fresh,
            point.is_in_branch,
        )

    def entry_point(
        self, layout: WalkLayout, call: Call, name: str, point: Point, arguments: tuple[Value, ...]
    ) -> Point:
        """The point at the entry of the callee, in the callee's registers."""
        facets = point.facets._replace(
            depends_on_others=point.depends, unmatched_releases=frozenset()
        )
        point = point._replace(facets=facets, is_in_branch=False)
        fresh = self.walk.freshness.passed(layout.function.name, point.fresh, call, name, arguments)
        if not (point.beside or point.attempts):
            return point if fresh == point.fresh else point._replace(fresh=fresh)
        passed: set[Beside] = set()
        if point.beside:
            for parameter, value in self._sums(layout, name, arguments):
                for lock in point.beside:
                    inner = into_callee(lock, value, parameter)
                    if inner is not None:
                        passed.add(inner)
            passed |= {lock for lock in point.beside if lock.place[0] < 0 and not lock.place[2]}
        return point._replace(beside=frozenset(passed), attempts=frozenset(), fresh=fresh)

    def _returned(
        self, layout: WalkLayout, name: str, arguments: tuple[Value, ...], left: Point
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
        self, layout: WalkLayout, name: str, arguments: tuple[Value, ...]
    ) -> list[tuple[int, Sum]]:
        parameters = self.backend.program.functions[name].parameters
        found = []
        for parameter, value in zip(parameters, arguments, strict=False):
            place = self.sum(layout, value) if isinstance(value, Register | GlobalAddress) else None
            if place is not None:
                found.append((parameter.index, place))
        return found
