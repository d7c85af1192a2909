"""What a model says about sizes and memory, with the operands of one call put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from raceproof.concurrency.effects import (
    MemoryEffect,
    Product,
    Reachable,
    Size,
    StringLength,
    WholeObject,
)
from raceproof.concurrency.formats import format_effects
from raceproof.concurrency.model import (
    ArgumentSize,
    AtomicOperationKind,
    BytesSize,
    EffectModel,
    FunctionModel,
    Role,
    SizeModel,
    StringSize,
    WordSize,
)
from raceproof.ir import Call, GlobalAddress, IntConstant, NullPointer, PointerType, Program, Value

_WHOLE = WholeObject()
_WORDS: dict[WordSize, Size] = {
    WordSize.OBJECT: _WHOLE,
    WordSize.REACHABLE: Reachable(),
    WordSize.UNKNOWN: None,
}
_ONLY_READ = frozenset({AtomicOperationKind.LOAD})
_ONLY_WRITE = frozenset({AtomicOperationKind.STORE, AtomicOperationKind.CLEAR})


def resolve_size(model: SizeModel, call: Call, program: Program) -> Size:
    """How many bytes, in this call; None if it has too few arguments to tell."""
    if isinstance(model, WordSize):
        return _WORDS[model]
    if isinstance(model, BytesSize):
        return _bytes(model, program)
    if isinstance(model, StringSize):
        pointer = _argument(call, model.argument)
        limit = None if model.limit is None else _argument(call, model.limit)
        return None if pointer is None else StringLength(pointer, limit, model.width)
    return _product(model, call, program)


def resolve_effects(model: FunctionModel, call: Call, program: Program) -> tuple[MemoryEffect, ...]:
    """What the call reads and writes by the `reads`, `writes` and `format` of its model."""
    found: list[MemoryEffect] = []
    for effect in model.reads + model.writes:
        size = resolve_size(effect.size, call, program)
        for pointer in _pointers(effect, call):
            if isinstance(effect.size, StringSize) and effect.rest:
                size = StringLength(pointer, None, effect.size.width)
            found.append(
                MemoryEffect(
                    pointer,
                    size,
                    not effect.is_write,
                    effect.is_write,
                    effect.is_atomic,
                    effect.is_may,
                )
            )
    if model.format is not None:
        found += format_effects(model.format, call, program)
    return _without_null(found)


def _without_null(effects: Iterable[MemoryEffect]) -> tuple[MemoryEffect, ...]:
    """A library function does not access what a null pointer does not point to."""
    return tuple(effect for effect in effects if not isinstance(effect.pointer, NullPointer))


def role_effects(role: Role | None, known: Mapping[str, Any]) -> tuple[MemoryEffect, ...]:
    """What an event with these fields reads and writes because of its role."""
    if role is Role.FREE:
        return _without_null([MemoryEffect(known["pointer"], _WHOLE, False, True)])
    if role is Role.REALLOCATE:
        return _without_null([MemoryEffect(known["pointer"], _WHOLE, True, True)])
    if role is Role.ATOMIC_OPERATION:
        return _atomic_effects(known)
    place = SYNCHRONISATION_OBJECTS.get(role) if role is not None else None
    if place is None or known.get(place.operand) is None or known.get("is_indirect"):
        return ()
    pointer = known[place.operand]
    if isinstance(pointer, GlobalAddress) and pointer.name.startswith("$"):
        return ()
    effects = [MemoryEffect(pointer, 1, not place.is_write, place.is_write, not place.is_write)]
    return _without_null(effects)


@dataclass(frozen=True, slots=True)
class SynchronisationObject:
    """How a role accesses the bytes of its lock, condition, barrier, semaphore or once control.

    As ThreadSanitizer has it: a use reads the first byte atomically, so that uses never race with
    each other; initialising and destroying write it plainly. So a lock that is freed, destroyed,
    overwritten or initialised again while another thread may use it is a race.
    """

    operand: str
    is_write: bool = False


SYNCHRONISATION_OBJECTS: Mapping[Role, SynchronisationObject] = {
    Role.LOCK: SynchronisationObject("lock"),
    Role.UNLOCK: SynchronisationObject("lock"),
    Role.LOCK_INIT: SynchronisationObject("lock", is_write=True),
    Role.LOCK_DESTROY: SynchronisationObject("lock", is_write=True),
    Role.CONDITION_WAIT: SynchronisationObject("condition"),
    Role.CONDITION_SIGNAL: SynchronisationObject("condition"),
    Role.CONDITION_INIT: SynchronisationObject("condition", is_write=True),
    Role.CONDITION_DESTROY: SynchronisationObject("condition", is_write=True),
    Role.BARRIER_WAIT: SynchronisationObject("barrier"),
    Role.BARRIER_INIT: SynchronisationObject("barrier", is_write=True),
    Role.BARRIER_DESTROY: SynchronisationObject("barrier", is_write=True),
    Role.SEMAPHORE_WAIT: SynchronisationObject("semaphore"),
    Role.SEMAPHORE_POST: SynchronisationObject("semaphore"),
    Role.SEMAPHORE_VALUE: SynchronisationObject("semaphore"),
    Role.SEMAPHORE_INIT: SynchronisationObject("semaphore", is_write=True),
    Role.SEMAPHORE_DESTROY: SynchronisationObject("semaphore", is_write=True),
    Role.ONCE: SynchronisationObject("control"),
    Role.ONCE_BEGIN: SynchronisationObject("control"),
    Role.ONCE_END: SynchronisationObject("control"),
    Role.ONCE_ABORT: SynchronisationObject("control"),
}


def operand_size(call: Call, value: Value | None, program: Program) -> int | None:
    """The size of an atomic operation that is known by its operand's or result's type."""
    if value is not None:
        return program.layout.store_size(value.type)
    return program.layout.store_size(call.result.type) if call.result is not None else None


def _atomic_effects(known: Mapping[str, Any]) -> tuple[MemoryEffect, ...]:
    operation, size = known["operation"], known["size"]
    reads, writes = operation not in _ONLY_WRITE, operation not in _ONLY_READ
    found = [MemoryEffect(known["pointer"], size, reads, writes, True)]
    for name, is_read, is_write in (
        ("value_pointer", True, False),
        ("expected_pointer", True, True),
        ("result_pointer", False, True),
    ):
        if known.get(name) is not None:
            found.append(MemoryEffect(known[name], size, is_read, is_write))
    return tuple(found)


def _argument(call: Call, index: int) -> Value | None:
    return call.arguments[index] if index < len(call.arguments) else None


def _pointers(effect: EffectModel, call: Call) -> tuple[Value, ...]:
    if effect.rest:
        later = call.arguments[effect.argument :]
        return tuple(value for value in later if isinstance(value.type, PointerType))
    return call.arguments[effect.argument : effect.argument + 1]


def _bytes(size: BytesSize, program: Program) -> int:
    return size.ilp32 if program.layout.pointer_size == 4 else size.lp64


def _product(model: ArgumentSize, call: Call, program: Program) -> Size:
    scale = _bytes(model.scale, program)
    factors = []
    for index in model.arguments:
        value = _argument(call, index)
        if value is None:
            return None
        if isinstance(value, IntConstant):
            scale *= value.value
        else:
            factors.append(value)
    if not factors:
        return scale
    return factors[0] if scale == 1 and len(factors) == 1 else Product(tuple(factors), scale)
