"""The source of calls, intrinsics and inline assembly."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.concurrency.assembly import FENCES, assembly_effects, may_order_threads
from raceproof.ir import (
    Assembly,
    Call,
    Instruction,
    Intrinsic,
    LandingPad,
    NextArgument,
    PointerType,
    Type,
    Value,
    VectorType,
    VoidType,
)
from raceproof.machine.access_code import announce
from raceproof.machine.segments import ATOMIC, UNSURE, WRITE, SegmentKind

if TYPE_CHECKING:
    from raceproof.machine.compiler import FunctionCompiler


def write_call(c: FunctionCompiler, i: Call, name: str | None) -> None:
    """A call of a known function, or (`name` is None) through a pointer."""
    operation = None if name is None else c.around.operation(name, i)
    if operation is not None:
        _write_operation(c, i, operation, i)
        return
    section = None if name is None else c.around.atomic_operations(name)
    if section is not None:
        _write_operation(c, i, section[0], None)
    if i.by_value:
        announce(
            c,
            i,
            [(i.arguments[index], c.layout.size(type_), 0) for index, type_ in i.by_value],
        )
    draft = c.special(SegmentKind.CALL, i)
    info = draft.info
    info.callee = None if name is None else c.around.functions.get(name)
    info.result = -1 if i.result is None else i.result.index
    info.by_value = tuple((index, c.layout.size(type_)) for index, type_ in i.by_value)
    callee = "None" if name is not None else c.value(i.callee)
    arguments = "".join(f"{c.value(argument)}, " for argument in i.arguments)
    c.line(f"return {callee}, ({arguments})")
    c.continue_after(draft)
    if section is not None:
        _write_operation(c, i, section[1], None)


def _write_operation(c: FunctionCompiler, i: Call, operation: Any, call: Call | None) -> None:
    draft = c.special(SegmentKind.OPERATION, i)
    draft.info.operation = operation
    if call is None:
        c.line("return ()")
    else:
        draft.info.result = -1 if i.result is None else i.result.index
        arguments = "".join(f"{c.value(argument)}, " for argument in i.arguments)
        c.line(f"return ({arguments})")
    c.continue_after(draft)


def _bits(c: FunctionCompiler, type_: Type) -> int:
    if isinstance(type_, PointerType):
        return c.pointer_bits
    if isinstance(type_, VectorType):
        return _bits(c, type_.element)
    return getattr(type_, "bits", 0)


_IGNORED = ("dbg", "lifetime", "assume", "prefetch", "var.annotation", "donothing", "invariant")


def _intrinsic(c: FunctionCompiler, i: Intrinsic) -> None:
    arguments = ", ".join(c.value(argument) for argument in i.arguments)
    if i.name.startswith(_IGNORED) and i.result is None:
        return
    if i.name in ("va_start", "va_copy", "va_end", "trap", "debugtrap", "ubsantrap"):
        c.line(f"{i.name}({arguments})")
        return
    if i.name in ("frameaddress", "returnaddress", "sponentry", "addressofreturnaddress"):
        c.define(i.result, "own_address()")
        return
    if i.name in ("readcyclecounter", "readsteadycounter"):
        c.define(i.result, "any_value(64)")
        return
    type_ = i.arguments[0].type if i.arguments else (i.result.type if i.result else VoidType())
    target = _bits(c, i.result.type) if i.result is not None else 0
    c.define(
        i.result,
        f"intrinsic({i.name!r}, {_bits(c, type_)}, {target}, {arguments})",
    )


def _assembly(c: FunctionCompiler, i: Assembly) -> None:
    """Fences and texts without an instruction do nothing here. Others access their operands in
    memory, to an unknown effect; one that may order threads cannot be gone past."""
    if not i.text.strip():
        if i.result is not None:
            tied = _tied_argument(i)
            kind = c.name_for("type", i.result.type)
            c.define(i.result, f"any_of({kind})" if tied is None else c.value(tied))
        return
    if _TRAP.fullmatch(i.text.strip()):
        c.line("trap()")
    if FENCES.fullmatch(i.text.strip()) and i.result is None:
        return
    effects = assembly_effects(i, c.layout)
    accesses: list[tuple[Value, int | Value, int]] = []
    for effect in effects:
        flags = (WRITE if effect.is_write else 0) | (ATOMIC if effect.is_atomic else 0)
        is_known = isinstance(effect.size, int)
        size = effect.size if isinstance(effect.size, int) else 1
        accesses.append((effect.pointer, size, flags if is_known else flags | UNSURE))
    announce(c, i, accesses)
    is_opaque = may_order_threads(i, c.layout)
    written = "".join(
        f"({c.value(effect.pointer)}, {effect.size}), "
        for effect in effects
        if effect.is_write and isinstance(effect.size, int)
    )
    kind = "None" if i.result is None else c.name_for("type", i.result.type)
    text = f"assembled({i.text!r}, {is_opaque}, ({written}), {kind})"
    if i.result is None:
        c.line(text)
    else:
        c.define(i.result, text)


_TRAP = re.compile(r"ud2|int3|hlt|brk #\d+")


def _tied_argument(i: Assembly) -> Value | None:
    """The argument that lies in the register of the result, so that no text hands it on."""
    inputs = [part for part in i.constraints.split(",") if part[:1] not in ("=", "~", "&", "+")]
    for constraint, argument in zip(inputs, i.arguments, strict=False):
        if constraint == "0" and i.result is not None and argument.type == i.result.type:
            return argument
    return None


def _next_argument(c: FunctionCompiler, i: NextArgument) -> None:
    size = c.layout.size(i.type)
    c.define(i.result, f"next_argument({c.value(i.list)}, {size}, {c.name_for('type', i.type)})")


def _landing_pad(c: FunctionCompiler, i: LandingPad) -> None:
    c.line("unsupported('an exception')")
    c.define(i.result, "(0, 0)")


CALL_WRITERS: dict[type[Instruction], Callable[[FunctionCompiler, Any], None]] = {
    Intrinsic: _intrinsic,
    Assembly: _assembly,
    NextArgument: _next_argument,
    LandingPad: _landing_pad,
}
