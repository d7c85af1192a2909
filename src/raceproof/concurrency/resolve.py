"""What a model says about sizes and memory, with the operands of one call put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from raceproof.ir import Call, IntConstant, NullPointer, PointerType, Program, Value

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
                MemoryEffect(pointer, size, not effect.is_write, effect.is_write, effect.is_atomic)
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
    return ()


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
