"""The backend `syntactic`: only what stands in the expression itself.

As in RacerF's section 4 (and RacerX, RacerD): an address has a base if the expression names a
variable, `&bank.lock` or `table[i]`, or the allocation that the pointer was just returned from.
What a pointer holds that came from memory or through a parameter is not asked. A call through a
pointer may mean any function whose address is taken and that takes the arguments, a new thread any
of these with the signature of a thread.

So it sees the globals of a program, misses what is shared through arguments, and never proves
anything; it needs no time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from raceproof.analysis.objects import Objects
from raceproof.concurrency import events as ev
from raceproof.concurrency.accesses import Events
from raceproof.domains import integers as ints
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    Call,
    Cast,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Load,
    Offset,
    Phi,
    PointerType,
    Program,
    Register,
    Select,
    StackSlot,
    Value,
)
from raceproof.verdict import BaseKind

_DEPTH = 12
"""Instructions to look back."""
Place = tuple[int, Integers]


class SyntacticBackend:
    name = "syntactic"
    can_prove = False

    def __init__(self, program: Program, events: Events) -> None:
        self.program = program
        self.events = events
        self.objects = Objects(program)
        self._bits = program.layout.pointer_size * 8
        self._makers: dict[str, dict[int, Instruction]] = {}
        self._values: dict[tuple[str, int, int], AbstractValue] = {}
        self._taken = _taken(program, events)
        self._shared: set[int] = set()
        self._creations: dict[Place, set[int]] | None = None

    def _maker(self, function: str, register: Register) -> Instruction | None:
        makers = self._makers.get(function)
        if makers is None:
            instructions = self.program.functions[function].instructions
            makers = {i.result.index: i for i in instructions if i.result is not None}
            self._makers[function] = makers
        return makers.get(register.index)

    def variant(self, function: str, calls: tuple[int, ...]) -> Hashable:
        return ()

    def pointers(
        self, function: str, value: Value, thread: int, calls: tuple[int, ...] = ()
    ) -> AbstractValue:
        if not isinstance(value, Register):
            return self._join(self._places(function, value, thread, _DEPTH))
        key = (function, value.index, thread)
        found = self._values.get(key)
        if found is None:
            places = self._places(function, value, thread, _DEPTH)
            found = self._values[key] = self._join(places)
        return found

    def beyond(self, function: str, value: Value, thread: int) -> AbstractValue:
        """Nothing is known of what memory holds."""
        return domain.UNKNOWN

    def _join(self, places: list[Place]) -> AbstractValue:
        pointers: dict[int, Integers] = {}
        for base, offsets in places:
            old = pointers.get(base)
            pointers[base] = offsets if old is None else ints.join(old, offsets)
        return domain.AbstractValue(None, pointers) if pointers else domain.BOTTOM

    def _places(self, function: str, value: Value, thread: int, depth: int) -> list[Place]:
        if isinstance(value, GlobalAddress):
            return [(self._global(value.name, thread), ints.constant(value.offset, self._bits))]
        if not isinstance(value, Register) or not depth:
            return []
        maker = self._maker(function, value)
        match maker:
            case StackSlot():
                return [(self._slot(function, maker), ints.constant(0, self._bits))]
            case Offset():
                return self._moved(self._places(function, maker.base, thread, depth - 1), maker)
            case Cast(value=inner):
                return self._places(function, inner, thread, depth - 1)
            case Select(if_true=first, if_false=second):
                return [
                    p for v in (first, second) for p in self._places(function, v, thread, depth - 1)
                ]
            case Phi():
                return [
                    p for v in maker.operands for p in self._places(function, v, thread, depth // 2)
                ]
            case Call() if isinstance(self.events.of(maker), ev.Allocate | ev.Reallocate):
                return [(self._heap(maker), ints.constant(0, self._bits))]
        return []

    def _moved(self, places: list[Place], offset: Offset) -> list[Place]:
        found = []
        for base, offsets in places:
            start = offsets.signed_constant
            if offset.terms or start is None:
                found.append((base, ints.top(self._bits)))
            else:
                found.append((base, ints.constant(start + offset.constant, self._bits)))
        return found

    # --- bases ------------------------------------------------------------

    def _global(self, name: str, thread: int) -> int:
        variable = self.program.globals.get(name)
        if variable is None:
            return self.objects.lock_object(name)
        base = self.objects.global_base(variable, thread)
        if not variable.is_thread_local:
            self._shared.add(base)
        return base

    def _slot(self, function: str, slot: StackSlot) -> int:
        return self.objects.bases.intern(
            ("slot", "any", slot.number),
            BaseKind.STACK,
            slot.name or f"local of {self.program.functions[function].display}",
            is_weak=function != self.program.entry,
        )

    def _heap(self, call: Call) -> int:
        position = call.position or self.program.function_of(call.number).display
        base = self.objects.bases.intern(
            ("heap", "any", call.number), BaseKind.HEAP, f"malloc at {position}", is_weak=True
        )
        self._shared.add(base)
        return base

    def is_shared(self, base: int) -> bool:
        """Globals and heap objects. A local could be only through an argument, and who uses that
        is not seen here."""
        return base in self._shared

    # --- calls ------------------------------------------------------------

    def callees(self, function: str, call: Call) -> Sequence[str]:
        if isinstance(call.callee, FunctionAddress):
            return (call.callee.name,)
        given = call.function_type.parameters
        return tuple(
            name
            for name in self._taken
            if self.program.functions[name].type.parameters == given
            and self.program.functions[name].type.result == call.function_type.result
        )

    def entries(self, function: str, call: Call) -> Sequence[str]:
        found: dict[str, None] = {}
        for name in self.callees(function, call):
            event = self.events.of(call, name)
            if isinstance(event, ev.ThreadCreate):
                found |= dict.fromkeys(self._functions(function, event.entry, is_thread=True))
            elif isinstance(event, ev.Once):
                found |= dict.fromkeys(self._functions(function, event.routine))
            elif event is not None:
                for callback in event.callbacks:
                    found |= dict.fromkeys(self._functions(function, callback.function))
        return tuple(found)

    def _functions(self, function: str, value: Value, is_thread: bool = False) -> Sequence[str]:
        for _ in range(_DEPTH):
            if isinstance(value, FunctionAddress):
                return (value.name,)
            maker = self._maker(function, value) if isinstance(value, Register) else None
            if not isinstance(maker, Cast):
                break
            value = maker.value
        if not is_thread:
            return ()
        return tuple(name for name in self._taken if _is_thread_entry(self.program, name))

    def created_at(self, function: str, thread_id: Value, is_indirect: bool) -> int | None:
        """The paper's guess: an id that is read where one creation wrote it is that thread's."""
        maker = self._maker(function, thread_id) if isinstance(thread_id, Register) else None
        if not isinstance(maker, Load):
            return None
        places = self._places(function, maker.pointer, 0, _DEPTH)
        if len(places) != 1 or places[0][1].signed_constant is None:
            return None
        created = self._created().get(places[0], set())
        return next(iter(created)) if len(created) == 1 else None

    def _created(self) -> dict[Place, set[int]]:
        if self._creations is None:
            self._creations = {}
            for function, call in self.program.all_instructions():
                event = self.events.of(call) if isinstance(call, Call) else None
                if isinstance(event, ev.ThreadCreate) and event.id_pointer is not None:
                    for place in self._places(function.name, event.id_pointer, 0, _DEPTH):
                        self._creations.setdefault(place, set()).add(call.number)
        return self._creations


def _taken(program: Program, events: Events) -> tuple[str, ...]:
    """The functions whose address is used other than for calling them."""
    found: dict[str, None] = {}
    for _, instruction in program.all_instructions():
        values: Sequence[Value] = instruction.operands
        if isinstance(instruction, Call):
            values = instruction.arguments
        for value in values:
            if isinstance(value, FunctionAddress):
                found[value.name] = None
    work: list[object] = [g.initializer for g in program.globals.values()]
    while work:
        constant = work.pop()
        if isinstance(constant, FunctionAddress):
            found[constant.name] = None
        work.extend(getattr(constant, "elements", ()))
        work.extend(getattr(constant, "operands", ()))
    return tuple(sorted(name for name in found if name in program.functions))


def _is_thread_entry(program: Program, name: str) -> bool:
    type_ = program.functions[name].type
    return len(type_.parameters) == 1 and isinstance(type_.parameters[0], PointerType)
