"""Writes down the accesses of a thread once all points are known."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from raceproof.analysis.contexts import Context
from raceproof.analysis.facets import Facets
from raceproof.analysis.facets.facet import Acquire
from raceproof.analysis.locks import Held, LockKey
from raceproof.analysis.records import OUTSIDE, RawAccess, RelativeLock
from raceproof.analysis.thread_events import UNRESOLVED, without_body
from raceproof.analysis.threads import ThreadInfo
from raceproof.analysis.walk.layout import WalkLayout
from raceproof.analysis.walk.point import Point
from raceproof.analysis.walk.sums import relative_locks
from raceproof.concurrency import events as ev
from raceproof.concurrency.effects import MemoryEffect, Reachable
from raceproof.concurrency.model import CallbackTime
from raceproof.domains import integers as ints
from raceproof.domains.integers import Integers
from raceproof.ir import (
    Assembly,
    Call,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    IntConstant,
    Load,
    StackSlot,
    Value,
)
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.analysis.walk.analysis import Walk
    from raceproof.analysis.walk.walker import Walker


class Recorder:
    def __init__(self, walk: Walk, walker: Walker, info: ThreadInfo) -> None:
        self.walk = walk
        self.walker = walker
        self.info = info
        self.records = info.records
        self.backend = walk.backend
        self.layouts = walk.layouts
        self._calm: dict[tuple[str, Point, Hashable], None] = {}
        self._work: list[tuple[str, Context, Point]] = []

    def record(self) -> None:
        for visit in self.walker.all_visits():
            self.walk.tick()
            layout = self.layouts.of(visit.name)
            for index in visit.blocks:
                self._got_to(layout, index)
            for instruction, point in self.walker.points(visit):
                self._instruction(layout, visit.context, instruction, point)
        function = self.walk.program.functions[self.info.entry]
        if not function.is_defined:
            self._note_unknown(self.info.entry)
        while self._work:
            self.walk.tick()
            name, context, point = self._work.pop()
            layout = self.layouts.of(name)
            for block in layout.function.blocks:
                self._got_to(layout, block.index)
                is_sure = block.index in layout.sure_blocks
                here = point if is_sure else point._replace(is_in_branch=True)
                for instruction in block.instructions:
                    self._instruction(layout, context, instruction, here)

    def _got_to(self, layout: WalkLayout, block: int) -> None:
        last = layout.function.blocks[block].terminator.number
        self.records.reached[(layout.function.name, block)] = last

    def _instruction(
        self, layout: WalkLayout, context: Context, instruction: Instruction, point: Point
    ) -> None:
        if point.facets.may_parallel:
            self.records.parallel.add(instruction.number)
        if isinstance(instruction, Assembly):
            if instruction.text.strip():
                self.records.assume(
                    f"inline assembly at {instruction.position or layout.function.display} "
                    "accesses only its own operands and does not synchronise"
                )
        if isinstance(instruction, Call):
            self._call(layout, context, instruction, point)
            for index, _ in instruction.by_value:
                effect = MemoryEffect(instruction.arguments[index], None, True, False)
                self._access(layout, context, instruction, effect, point, False)
            return
        for effect in self.backend.events.effects(instruction):
            self._access(layout, context, instruction, effect, point, False)

    # --- calls ------------------------------------------------------------

    def _call(self, layout: WalkLayout, context: Context, call: Call, point: Point) -> None:
        function = layout.function.name
        names = self.backend.callees(function, call)
        if not names and self._is_lost(function, call.callee):
            self.records.not_followed(
                "a call through a pointer that may point anywhere", call.number
            )
        elif not names:
            self._note_foreign(layout, call)
        elif len(names) > 1:
            point = point.depending()
        for name in names:
            event = self.backend.events.of(call, name)
            if event is None:
                if self._is_own(name):
                    self._enter(layout, context, call, name, point, call.arguments)
                else:
                    self._note_unknown(name)
                    self._callbacks(layout, context, call, point)
                continue
            self._event(layout, context, call, event, point)

    def _event(
        self, layout: WalkLayout, context: Context, call: Call, event: ev.Event, point: Point
    ) -> None:
        if event.model.caveat:
            self.records.assume(event.model.caveat)
        if event.model.not_followed:
            self.records.not_followed(event.model.not_followed, call.number)
        for effect in event.effects:
            here = point.depending() if effect.is_may else point
            self._access(layout, context, call, effect, here, isinstance(event, ev.Free))
        if event.hidden_object:
            self._hidden(context, call, event.hidden_object, point)
        if isinstance(event, ev.ThreadCreate):
            self._creation(layout, context, call, event, point)
            return
        if isinstance(event, ev.AtomicFunction):
            inside = self.walker.steps.locks.atomic(point)
            self._enter(layout, context, call, event.function.name, inside, call.arguments)
            return
        if isinstance(event, ev.Once):
            lock = self.walker.steps.locks.once_lock(layout.function.name, event)
            if lock is not None:
                point = point.with_facets(point.facets.acquire(Acquire(lock)))
        elif any(callback.time is CallbackTime.SIGNAL for callback in event.callbacks):
            self.records.assume("signal handlers do not race with the rest")
            return
        elif is_later(event):
            return
        self._callbacks(layout, context, call, point)

    def _callbacks(self, layout: WalkLayout, context: Context, call: Call, point: Point) -> None:
        for name in self.backend.entries(layout.function.name, call):
            if self._is_own(name):
                self._enter(layout, context, call, name, point, ())

    def _creation(
        self, layout: WalkLayout, context: Context, call: Call, event: ev.ThreadCreate, point: Point
    ) -> None:
        names = self.backend.entries(layout.function.name, call)
        if not names:
            self.records.not_followed(UNRESOLVED, call.number)
        for name in names:
            if not self._is_own(name):
                self.records.not_followed(without_body(name), call.number)
            info = self.walk.created(self.info, context, call, name)
            self.walk.threads.sure_together(info, point.facets.must_parallel | self.info.bit)

    def _enter(
        self,
        layout: WalkLayout,
        context: Context,
        call: Call,
        name: str,
        point: Point,
        arguments: tuple[Value, ...],
    ) -> None:
        """Calm functions have been walked past; all their points are that of the call."""
        if name in self.layouts.stirring:
            return
        steps = self.walker.steps
        entry = _essence(steps.entry_point(layout, call, name, point, arguments))
        inner = self.walk.inner(context, call.number, name)
        key = (name, entry, self.backend.variant(name, inner.calls))
        if key not in self._calm:
            self._calm[key] = None
            self._work.append((name, inner, entry))

    def _is_lost(self, function: str, callee: Value) -> bool:
        """Is it unknown which function a value means?"""
        if isinstance(callee, FunctionAddress):
            return False
        return self.backend.pointers(function, callee, self.info.index).is_unknown

    def _is_own(self, name: str) -> bool:
        function = self.walk.program.functions.get(name)
        return function is not None and function.is_defined

    def _note_unknown(self, name: str) -> None:
        self.records.assume(
            f"`{name}` (defined nowhere, no model) starts no threads and accesses nothing shared"
        )

    def _note_foreign(self, layout: WalkLayout, call: Call) -> None:
        self.records.assume(
            f"the function called through a pointer at {call.position or layout.function.display} "
            "neither starts threads nor accesses shared memory"
        )

    # --- accesses ------------------------------------------------------------

    def _access(
        self,
        layout: WalkLayout,
        context: Context,
        instruction: Instruction,
        effect: MemoryEffect,
        point: Point,
        is_free: bool,
    ) -> None:
        function = layout.function.name
        if isinstance(effect.size, Reachable):
            self._beyond(function, context, instruction, effect, point)
        if self.walk.freshness.is_fresh(function, point.fresh, instruction.number, effect.pointer):
            return
        address = self.backend.pointers(function, effect.pointer, self.info.index, context.calls)
        if address.is_unknown and point.facets.may_parallel:
            kind = "write" if effect.is_write else "read"
            self.records.not_followed(
                f"a {kind} through a pointer that may point anywhere", instruction.number
            )
            self._by_type(layout, context, instruction, effect, point)
        if not address.pointers:
            return
        relative: frozenset[RelativeLock] = frozenset()
        if point.beside:
            place = self.walker.steps.sum(layout, effect.pointer)
            relative = relative_locks(point.beside, place)
        called = self._called(layout, point)
        size = _size(effect)
        is_atomic = effect.is_atomic or point.is_atomic
        is_only = len(address.pointers) == 1
        for base, offsets in address.pointers.items():
            if not self._counts(base):
                continue
            held, beside = self._both_ways(base, offsets, point.facets.must_lockset, relative)
            if isinstance(effect.size, Reachable) or base == self.backend.objects.external:
                offsets = ints.top(offsets.width)
            for is_write in (False, True):
                if effect.is_write if is_write else effect.is_read:
                    self.records.add(
                        RawAccess(
                            self.info.index,
                            context,
                            instruction.number,
                            base,
                            offsets,
                            size,
                            is_write,
                            is_atomic,
                            _facets(point, held),
                            beside,
                            is_only,
                            is_free,
                            called=called,
                        )
                    )

    def _called(self, layout: WalkLayout, point: Point) -> frozenset[str]:
        """Locks that are held for sure, by where their address was loaded: `*pool.lock`."""
        program = self.walk.program
        found: set[str] = set()
        for (root, _, _), _ in point.beside:
            maker = layout.makers.get(root)
            if not isinstance(maker, Load):
                continue
            pointer = maker.pointer
            place = self.walker.steps.sum(layout, pointer)
            if isinstance(pointer, GlobalAddress):
                variable = program.globals[pointer.name]
                path = program.debug.path(variable.debug_type, pointer.offset)
                found.add(f"*{variable.display}{path if pointer.offset else ''}")
            elif place is not None and place[0] >= 0 and not place[2]:
                offset = place[1]
                types = program.variable_types.get(layout.function.name, {})
                key = program.debug.type(types.get(place[0], "")).target
                type_ = program.debug.type(key)
                if type_.kind == "struct" and type_.name and 0 <= offset < type_.size:
                    found.add(f"*{type_.name}{program.debug.path(key, offset)}")
        return frozenset(found)

    def _by_type(
        self,
        layout: WalkLayout,
        context: Context,
        instruction: Instruction,
        effect: MemoryEffect,
        point: Point,
    ) -> None:
        """Nothing is known of the object but the type of the variable that points to it. That is
        no proof of anything, but enough to see that a member is accessed without the lock under
        which it is accessed everywhere else."""
        place = self.walker.steps.sum(layout, effect.pointer)
        size = _size(effect)
        if place is None or place[0] < 0 or size is None:
            return
        root, offset, terms = place
        debug = self.walk.program.debug
        types = self.walk.program.variable_types.get(layout.function.name, {})
        key = debug.type(types.get(root, "")).target
        type_ = debug.type(key)
        if type_.kind != "struct" or not type_.name or not 0 <= offset < type_.size:
            return
        if any(scale % type_.size for _, scale in terms):
            return
        for is_write in (False, True):
            if effect.is_write if is_write else effect.is_read:
                self.records.add(
                    RawAccess(
                        self.info.index,
                        context,
                        instruction.number,
                        self.backend.objects.any_of_type(key),
                        ints.constant(offset, self.walk.program.layout.pointer_size * 8),
                        size,
                        is_write,
                        effect.is_atomic or point.is_atomic,
                        _facets(point, point.facets.must_lockset),
                        relative_locks(point.beside, place),
                        False,
                    )
                )

    def _beyond(
        self,
        function: str,
        context: Context,
        instruction: Instruction,
        effect: MemoryEffect,
        point: Point,
    ) -> None:
        """The call follows pointers that it finds, whosever the first object is: locks beside that
        one are not beside the others."""
        if effect.is_write and point.facets.may_parallel:
            self.records.not_followed("a write through pointers that it finds", instruction.number)
        facets = _facets(point, point.facets.must_lockset)._replace(depends_on_others=True)
        address = self.backend.beyond(function, effect.pointer, self.info.index)
        for base, offsets in address.pointers.items():
            if not self._counts(base):
                continue
            for is_write in (False, True):
                if effect.is_write if is_write else effect.is_read:
                    self.records.add(
                        RawAccess(
                            self.info.index,
                            context,
                            instruction.number,
                            base,
                            offsets,
                            None,
                            is_write,
                            point.is_atomic,
                            facets,
                            frozenset(),
                            False,
                        )
                    )

    def _counts(self, base: int) -> bool:
        """Can two threads meet at the object?"""
        described = self.backend.objects[base]
        if described.function is not None or described.kind is BaseKind.STRING:
            return False
        if described.kind is BaseKind.STACK and self._is_private(described.descriptor):
            return False
        if described.kind is not BaseKind.EXTERNAL:
            return self.backend.is_shared(base)
        if base == self.backend.objects.external:
            self.records.assume(OUTSIDE)
        return True

    def _is_private(self, descriptor: object) -> bool:
        match descriptor:
            case ("slot", _, int(number)):
                slot = self.walk.program.instruction(number)
                return isinstance(slot, StackSlot) and self.walk.freshness.is_private(slot)
        return False

    def _hidden(self, context: Context, call: Call, name: str, point: Point) -> None:
        """The call changes an object of the library that its arguments do not lead to."""
        objects = self.backend.objects
        bits = self.walk.program.layout.pointer_size * 8
        self.records.add(
            RawAccess(
                self.info.index,
                context,
                call.number,
                objects.library_object(name, None),
                ints.top(bits),
                None,
                True,
                point.is_atomic,
                _facets(point, point.facets.must_lockset),
                frozenset(),
                True,
            )
        )

    def _both_ways(
        self,
        base: int,
        offsets: Integers,
        held: frozenset[Held],
        relative: frozenset[RelativeLock],
    ) -> tuple[frozenset[Held], frozenset[RelativeLock]]:
        """A lock beside exact bytes is an exact lock, and an exact lock in the same object lies
        beside the bytes."""
        start = offsets.signed_constant
        if start is None or self.backend.objects.is_weak(base):
            return held, relative
        exact = [
            Held(LockKey(base, start + lock[1]), bool(lock[2]))
            for lock in relative
            if lock[0] == "beside"
        ]
        beside = [
            ("beside", h.lock.offset - start, h.is_write)
            for h in held
            if h.lock.base == base and h.lock.offset >= 0
        ]
        return held | frozenset(exact), relative | frozenset(beside)


def _facets(point: Point, held: frozenset[Held]) -> Facets:
    return point.facets.of_access()._replace(must_lockset=held, depends_on_others=point.depends)


def _essence(point: Point) -> Point:
    """Without what makes no difference: before any other thread runs nothing does, and must-sets
    only where it is sure that the point is reached."""
    if not point.facets.may_parallel:
        return Point()
    facets = point.facets._replace(acquisition_order=(), unmatched_releases=frozenset())
    if point.depends:
        facets = facets._replace(must_parallel=0, may_lockset=frozenset())
    return point._replace(facets=facets)


def is_later(event: ev.Event) -> bool:
    """Are the functions that the call was given called when a thread ends?"""
    if isinstance(event, ev.SpecificCreate | ev.CleanupPush):
        return True
    late = (CallbackTime.THREAD_EXIT, CallbackTime.PROCESS_EXIT)
    return any(callback.time in late for callback in event.callbacks)


def _size(effect: MemoryEffect) -> int | None:
    if isinstance(effect.size, IntConstant):
        return effect.size.value
    return effect.constant_size
