"""The backend `alias`: points-to sets answer everything.

Its answers cover every execution (see `points_to`), so with the strategy `over` it can prove a
program race-free. A pointer without any object, or with too many to look at, counts as unknown,
and no proof goes past an access through it.
"""

from __future__ import annotations

from collections.abc import Sequence

from raceproof.analysis.alias.cells import Thing
from raceproof.analysis.alias.points_to import PointsTo
from raceproof.analysis.objects import Objects
from raceproof.analysis.once import ExecutedOnce
from raceproof.concurrency.accesses import Events
from raceproof.domains import integers as ints
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, FunctionAddress, Program, StackSlot, Value
from raceproof.verdict import BaseKind

_MOST_BASES = 32
"""A pointer to more objects is as good as one to all."""


class AliasBackend:
    name = "alias"
    can_prove = True

    def __init__(self, program: Program, events: Events, points_to: PointsTo) -> None:
        self.program = program
        self.events = events
        self.objects = Objects(program)
        self.points_to = points_to
        self._shared_things = self.points_to.shared()
        self._bits = program.layout.pointer_size * 8
        self._once = ExecutedOnce(program, events, self._callees, self._entries)
        self._bases: dict[tuple[int, int], int] = {}
        self._shared: set[int] = set()
        self._values: dict[tuple[int, int], AbstractValue] = {}
        """By thread and identity of the targets, which `points_to` keeps."""

    def pointers(
        self, function: str, value: Value, thread: int, calls: tuple[int, ...] = ()
    ) -> AbstractValue:
        targets = self.points_to.targets(function, value, calls)
        if not targets:
            known = self.points_to.is_known(function, value)
            return domain.BOTTOM if known else domain.UNKNOWN
        key = (thread, id(targets))
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = self._value(targets, thread)
        return found

    def beyond(self, function: str, value: Value, thread: int) -> AbstractValue:
        things = {thing for thing, _ in self.points_to.targets(function, value)}
        numbers = self.points_to.reachable(things) - {thing.number for thing in things}
        every = self.points_to.cells.things
        found = [self._base(every[number], thread) for number in sorted(numbers)]
        return domain.AbstractValue(None, dict.fromkeys(found, ints.top(self._bits)))

    def _value(self, targets: Sequence[tuple[Thing, int | None]], thread: int) -> AbstractValue:
        pointers: dict[int, Integers] = {}
        if len({thing.number for thing, _ in targets}) > _MOST_BASES:
            return domain.UNKNOWN
        for thing, cell in targets:
            base = self._base(thing, thread)
            offsets = self._offsets(thing, cell)
            old = pointers.get(base)
            pointers[base] = offsets if old is None else ints.join(old, offsets)
        return domain.AbstractValue(None, pointers)

    def _offsets(self, thing: Thing, cell: int | None) -> Integers:
        if cell is None:
            return ints.top(self._bits)
        start, end, distance = thing.shape.places(cell)
        if not distance:
            return ints.constant(start, self._bits)
        if end is None:
            end = 1 << (self._bits - 2)
        last = start + max(0, (end - 1 - start) // distance) * distance
        return ints.from_range(start, last, distance, self._bits)

    def _base(self, thing: Thing, thread: int) -> int:
        is_own = thing.kind is BaseKind.THREAD_LOCAL and thing.number not in self._shared_things
        key = (thing.number, thread if is_own else -1)
        base = self._bases.get(key)
        if base is None:
            base = self._bases[key] = self._make_base(thing, thread if is_own else None)
            if thing.number in self._shared_things:
                self._shared.add(base)
        return base

    def _make_base(self, thing: Thing, thread: int | None) -> int:
        objects = self.objects
        kind, *rest = thing.descriptor
        match kind:
            case "global":
                variable = self.program.globals[str(rest[0])]
                if variable.is_thread_local and thread is None:
                    return objects.bases.intern(
                        ("thread-local", "any", variable.name),
                        BaseKind.THREAD_LOCAL,
                        variable.display,
                        variable.size,
                        is_weak=True,
                    )
                return objects.global_base(variable, thread or 0)
            case "function":
                return objects.function_base(str(rest[0]))
            case "lock":
                return objects.lock_object(str(rest[0]))
            case "library":
                return objects.library_object(str(rest[0]), thread)
            case "external":
                return objects.external
            case "strings":
                return objects.any_string
        return self._made_base(thing)

    def _is_once(self, thing: Thing, site: int) -> bool:
        """Is it one object? In a frame, if the first call on the way is made once, and none of the
        further ones nor the allocation again within one activation of its function."""
        if not thing.calls:
            return self._once.is_once(site)
        first, *rest = thing.calls
        return self._once.is_once(first) and self._once.are_straight((*rest, site))

    def _made_base(self, thing: Thing) -> int:
        """Objects that an instruction makes: weak unless it is executed once."""
        site = thing.site
        is_weak = site is None or not self._is_once(thing, site)
        kind = str(thing.descriptor[0])
        name = f"{kind} {' '.join(map(str, thing.descriptor[1:]))}"
        if kind == "slot" and site is not None:
            slot = self.program.instruction(site)
            function = self.program.function_of(site)
            assert isinstance(slot, StackSlot)
            name = slot.name or f"local of {function.display}"
        elif kind == "heap" and site is not None:
            position = self.program.instruction(site).position
            name = f"malloc at {position or self.program.function_of(site).display}"
        elif kind == "copy":
            function = self.program.functions[str(thing.descriptor[1])]
            name = f"argument of {function.display}"
        elif kind in ("thread", "self"):
            name = "id of a thread"
        return self.objects.bases.intern(
            (kind, "any", *thing.descriptor[1:]),
            thing.kind,
            name,
            thing.shape.size,
            is_weak=is_weak,
        )

    def variant(self, function: str, calls: tuple[int, ...]) -> tuple[str, ...]:
        return self.points_to.frames(function, calls)

    def callees(self, function: str, call: Call) -> Sequence[str]:
        if isinstance(call.callee, FunctionAddress):
            return (call.callee.name,)
        return tuple(self.points_to.callees(call.number))

    def entries(self, function: str, call: Call) -> Sequence[str]:
        return tuple(self.points_to.entries(call.number))

    def _callees(self, call: Call) -> Sequence[str]:
        return self.callees("", call)

    def _entries(self, call: Call) -> Sequence[str]:
        return self.entries("", call)

    def created_at(self, function: str, thread_id: Value, is_indirect: bool) -> int | None:
        """By the objects that stand for the ids in the points-to sets. Numbers and uninitialised
        ids are no threads: joining them is undefined."""
        things = {thing for thing, _ in self.points_to.targets(function, thread_id)}
        if is_indirect:
            things = self._held_by(function, thread_id)
        if len(things) != 1:
            return None
        (thing,) = things
        return int(str(thing.descriptor[1])) if thing.descriptor[0] == "thread" else None

    def _held_by(self, function: str, pointer: Value) -> set[Thing]:
        from raceproof.analysis.alias.solver import bits

        cells = self.points_to.cells
        found: set[Thing] = set()
        for thing, cell in self.points_to.targets(function, pointer):
            for offset, held in cells.contents_of(thing):
                if cell is None or offset == cell:
                    found |= {cells.addresses[address][0] for address in bits(held)}
        return found

    def is_shared(self, base: int) -> bool:
        return base in self._shared
