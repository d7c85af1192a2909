"""What each instruction reads and writes, in one shape; and the events of a program, remembered."""

from __future__ import annotations

from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.effects import MemoryEffect, Size
from raceproof.concurrency.events import Event
from raceproof.concurrency.meaning import event
from raceproof.ir import (
    Assembly,
    AtomicUpdate,
    Call,
    CompareExchange,
    CopyMemory,
    Instruction,
    IntConstant,
    Layout,
    Load,
    NextArgument,
    Program,
    SetMemory,
    Store,
    Value,
)

_NOTHING: tuple[MemoryEffect, ...] = ()


class Events:
    """The events and effects of one program, each worked out once."""

    __slots__ = ("_effects", "_events", "models", "program")

    def __init__(self, program: Program, models: Models) -> None:
        self.program = program
        self.models = models
        self._events: dict[tuple[int, str | None], Event | None] = {}
        self._effects: dict[int, tuple[MemoryEffect, ...]] = {}

    def of(self, call: Call, callee: str | None = None) -> Event | None:
        """What the call means, see `event`."""
        key = (call.number, callee)
        if key not in self._events:
            self._events[key] = event(call, self.program, self.models, callee)
        return self._events[key]

    def effects(self, instruction: Instruction) -> tuple[MemoryEffect, ...]:
        """What the instruction reads and writes, see `memory_effects`."""
        found = self._effects.get(instruction.number)
        if found is None:
            meaning = self.of(instruction) if isinstance(instruction, Call) else None
            found = _effects(instruction, self.program.layout, meaning)
            self._effects[instruction.number] = found
        return found


def memory_effects(
    instruction: Instruction, program: Program, models: Models
) -> tuple[MemoryEffect, ...]:
    """What the instruction itself reads and writes; a call, by the model of its function.

    The body of a function of the program is not looked into.
    """
    meaning = event(instruction, program, models) if isinstance(instruction, Call) else None
    return _effects(instruction, program.layout, meaning)


def _effects(
    instruction: Instruction, layout: Layout, meaning: Event | None
) -> tuple[MemoryEffect, ...]:
    match instruction:
        case Load(type=type_, pointer=pointer, atomic=order):
            return (MemoryEffect(pointer, layout.store_size(type_), True, False, bool(order)),)
        case Store(value=value, pointer=pointer, atomic=order):
            size = layout.store_size(value.type)
            return (MemoryEffect(pointer, size, False, True, bool(order)),)
        case Call():
            copied = tuple(
                MemoryEffect(instruction.arguments[index], layout.size(type_), True, False)
                for index, type_ in instruction.by_value
            )
            return copied + meaning.effects if meaning is not None else copied
        case AtomicUpdate(pointer=pointer, value=value):
            return (MemoryEffect(pointer, layout.store_size(value.type), True, True, True),)
        case CompareExchange(pointer=pointer, expected=value):
            return (MemoryEffect(pointer, layout.store_size(value.type), True, True, True),)
        case CopyMemory(target=target, source=source, size=size_value):
            size_ = _known(size_value)
            return (
                MemoryEffect(source, size_, True, False),
                MemoryEffect(target, size_, False, True),
            )
        case SetMemory(target=target, size=size_value):
            return (MemoryEffect(target, _known(size_value), False, True),)
        case NextArgument(list=list_):
            return (MemoryEffect(list_, None, True, True),)
        case Assembly():
            from raceproof.concurrency.assembly import assembly_effects

            return assembly_effects(instruction, layout)
    return _NOTHING


def _known(size: Value) -> Size:
    return size.value if isinstance(size, IntConstant) else size
