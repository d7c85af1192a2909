"""From a call to its event: the model of the function, with the operands of the call put in.

pthread_mutex_lock(&m)  ->  LockAcquire(lock=GlobalAddress("m"), ...)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.events import (
    Callback,
    CallbackOperand,
    ContentCopy,
    Event,
    LibraryCall,
    LockAttribute,
    LockInit,
    PointerStore,
)
from raceproof.concurrency.model import (
    ANYTHING,
    OF_ARGUMENT,
    CallbackModel,
    FunctionModel,
    ReturnKind,
    Returns,
    Role,
)
from raceproof.concurrency.resolve import (
    operand_size,
    resolve_effects,
    resolve_size,
    role_effects,
)
from raceproof.concurrency.roles import ROLES
from raceproof.ir import (
    POINTER,
    Call,
    FunctionAddress,
    GlobalAddress,
    IntConstant,
    NullPointer,
    Program,
    Value,
)


def event(call: Call, program: Program, models: Models, callee: str | None = None) -> Event | None:
    """What the call means by its model; `callee` names the function of an indirect call.

    None if the program's own body says what the function does, if it is unknown, or if the call
    has too few arguments for the model.
    """
    if callee is None:
        if not isinstance(call.callee, FunctionAddress):
            return None
        callee = call.callee.name
    model = models.applicable(callee, program)
    if model is None:
        return None
    fields: dict[str, Any] = {
        "call": call,
        "model": model,
        "returns": _value(model.returns, call, callee),
        "callbacks": _callbacks(model, call),
        "stores": _stores(model, call, callee),
        "copies": _copies(model, call),
        "no_return": model.no_return or call.no_return or _exits(model, call),
    }
    if model.role is None:
        return LibraryCall(effects=resolve_effects(model, call, program), **fields)
    shape = ROLES[model.role]
    for name in shape.operands:
        argument = model.operands.get(name)
        if argument is not None and argument.index < len(call.arguments):
            fields[name] = call.arguments[argument.index]
            if argument.indirect:
                fields["is_indirect"] = True
    for name in shape.settings:
        if name not in ("object", "recursive_when", "size"):
            fields[name] = getattr(model, name)
    if not _complete(model, call, program, callee, fields):
        return None
    effects = resolve_effects(model, call, program) + role_effects(model.role, fields)
    return shape.event(effects=effects, **fields)


def _complete(
    model: FunctionModel, call: Call, program: Program, callee: str, fields: dict[str, Any]
) -> bool:
    """Adds the fields that are more than an operand or a setting; False if something is missing."""
    assert model.role is not None
    shape = ROLES[model.role]
    if model.object:
        fields["lock"] = GlobalAddress(POINTER, f"${model.object}")
    if model.is_result:
        fields["semaphore"] = None
    if model.role is Role.ATOMIC_FUNCTION:
        fields["function"] = program.functions.get(callee)
        return fields["function"] is not None and fields["function"].is_defined
    if "size" in shape.settings:
        if model.size is None:
            fields["size"] = operand_size(call, fields.get("value"), program)
        else:
            fields["size"] = resolve_size(model.size, call, program)
    if shape.event in (LockInit, LockAttribute):
        fields["recursive"] = _recursive(model, call, fields.get("attribute"))
    return all(name in fields for name in shape.required)


def _exits(model: FunctionModel, call: Call) -> bool:
    """Whether the argument that says so makes the process end."""
    if model.exits_if is None or model.exits_if >= len(call.arguments):
        return False
    given = call.arguments[model.exits_if]
    return isinstance(given, IntConstant) and given.value != 0


def _recursive(model: FunctionModel, call: Call, attribute: Value | None) -> bool | None:
    """Whether a lock is made recursive, as far as the call itself tells."""
    when = model.recursive_when
    if when is None and not model.recursive:
        return False if attribute is None or isinstance(attribute, NullPointer) else None
    if when is None:
        return True
    value = call.arguments[when.argument] if when.argument < len(call.arguments) else None
    return (value.value & when.mask) == when.equals if isinstance(value, IntConstant) else None


def _value(value: Returns, call: Call, callee: str) -> Returns:
    """A result or stored pointer that this call can make; a library object gets its name."""
    if value.kind in OF_ARGUMENT:
        if value.index >= len(call.arguments):
            return ANYTHING
        if value.or_fresh and isinstance(call.arguments[value.index], NullPointer):
            return Returns(ReturnKind.FRESH, or_null=value.or_null)
        return value
    if value.kind in (ReturnKind.STATIC, ReturnKind.THREAD_LOCAL) and not value.name:
        return replace(value, name=callee)
    return value


def _stores(model: FunctionModel, call: Call, callee: str) -> tuple[PointerStore, ...]:
    return tuple(
        PointerStore(call.arguments[store.to], _value(store.value, call, callee))
        for store in model.stores
        if store.to < len(call.arguments)
    )


def _copies(model: FunctionModel, call: Call) -> tuple[ContentCopy, ...]:
    return tuple(
        ContentCopy(call.arguments[copy.to], call.arguments[copy.source])
        for copy in model.copies
        if max(copy.to, copy.source) < len(call.arguments)
    )


def _callbacks(model: FunctionModel, call: Call) -> tuple[Callback, ...]:
    return tuple(
        Callback(
            call.arguments[callback.function.index],
            _passed_on(callback, call),
            callback.time,
            callback.function.indirect,
        )
        for callback in model.callbacks
        if callback.function.index < len(call.arguments) and not callback.is_lowered
    )


def _passed_on(callback: CallbackModel, call: Call) -> tuple[CallbackOperand, ...]:
    count = len(call.arguments)
    return tuple(
        CallbackOperand(
            argument.how, call.arguments[argument.index] if argument.index < count else None
        )
        for argument in callback.arguments
    )
