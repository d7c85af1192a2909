"""Instructions as C statements; calls are in `calls`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.errors import UserError
from raceproof.ir import (
    Assembly,
    Binary,
    Call,
    Cast,
    Compare,
    ExtractElement,
    ExtractField,
    Fence,
    FloatType,
    Freeze,
    InsertElement,
    InsertField,
    Instruction,
    IntConstant,
    Intrinsic,
    LandingPad,
    Negate,
    Offset,
    Select,
    Shuffle,
    Type,
    Undefined,
    Value,
)
from raceproof.sequentialize.accesses import ACCESSES, VARIABLE_ARGUMENTS
from raceproof.sequentialize.c_text import (
    c_type,
    comment,
    leaf_range,
    leaves,
    signed,
    wrapped,
)
from raceproof.sequentialize.expressions import binary, cast, compare, intrinsic
from raceproof.sequentialize.frames import PrintedFrame

if TYPE_CHECKING:
    from raceproof.sequentialize.thread_printer import ThreadPrinter

_IGNORED = ("dbg", "lifetime", "assume", "prefetch", "var.annotation", "donothing", "invariant")


def write_instruction(
    printer: ThreadPrinter, frame: PrintedFrame, instruction: Instruction
) -> None:
    if isinstance(instruction, Call):
        from raceproof.sequentialize.calls import write_call

        write_call(printer, frame, instruction)
        return
    writer = _WRITERS.get(type(instruction))
    if writer is None:
        raise UserError(f"cannot translate {type(instruction).__name__} to plain C")
    writer(frame, instruction)


# --- computation ------------------------------------------------------------


def _offset(frame: PrintedFrame, i: Offset) -> None:
    parts = [frame.address(i.base)]
    for index, scale in i.terms:
        if scale:
            number = f"(uint64_t){signed(index.type, frame.value(index), frame.layout)}"
            parts.append(number if scale == 1 else f"{number} * {scale & (1 << 64) - 1}u")
    if i.constant:
        sign = "-" if i.constant < 0 else "+"
        text = " + ".join(parts) + f" {sign} {abs(i.constant)}u"
    else:
        text = " + ".join(parts)
    frame.define(i.result, [f"(address)({text})" if len(parts) > 1 or i.constant else text])


def _each(frame: PrintedFrame, *values: Value) -> list[tuple[str, ...]]:
    """The leaves of several values of one shape, side by side."""
    return list(zip(*(frame.values(value) for value in values), strict=True))


def _leaf_type(frame: PrintedFrame, value: Value) -> Type:
    return next(iter(leaves(value.type, frame.layout)))[0]


def _binary(frame: PrintedFrame, i: Binary) -> None:
    type_ = _leaf_type(frame, i.left)
    frame.define(
        i.result,
        [binary(i.operation, type_, a, b, frame.layout) for a, b in _each(frame, i.left, i.right)],
    )


def _compare(frame: PrintedFrame, i: Compare) -> None:
    type_ = _leaf_type(frame, i.left)
    frame.define(
        i.result,
        [compare(i.predicate, type_, a, b, frame.layout) for a, b in _each(frame, i.left, i.right)],
    )


def _cast(frame: PrintedFrame, i: Cast) -> None:
    assert i.result is not None
    source = _leaf_type(frame, i.value)
    target = next(iter(leaves(i.result.type, frame.layout)))[0]
    texts = frame.values(i.value)
    frame.define(i.result, [cast(i.operation, source, target, a, frame.layout) for a in texts])


def _negate(frame: PrintedFrame, i: Negate) -> None:
    frame.define(i.result, [f"-{text}" for text in frame.values(i.value)])


def _freeze(frame: PrintedFrame, i: Freeze) -> None:
    if isinstance(i.value, Undefined):
        types = [type_ for type_, _ in leaves(i.value.type, frame.layout)]
        frame.define(i.result, [any_value(type_, frame) for type_ in types])
        return
    frame.define(i.result, frame.values(i.value))


def _select(frame: PrintedFrame, i: Select) -> None:
    conditions = frame.values(i.condition)
    pairs = _each(frame, i.if_true, i.if_false)
    if len(conditions) == 1:
        conditions = conditions * len(pairs)
    frame.define(
        i.result, [f"{c} ? {a} : {b}" for c, (a, b) in zip(conditions, pairs, strict=True)]
    )


def _extract_field(frame: PrintedFrame, i: ExtractField) -> None:
    first, end, _ = leaf_range(i.aggregate.type, i.path, frame.layout)
    frame.define(i.result, frame.values(i.aggregate)[first:end])


def _insert_field(frame: PrintedFrame, i: InsertField) -> None:
    first, end, _ = leaf_range(i.aggregate.type, i.path, frame.layout)
    texts = frame.values(i.aggregate)
    frame.define(i.result, [*texts[:first], *frame.values(i.value), *texts[end:]])


def _element(value: Value) -> int:
    if not isinstance(value, IntConstant):
        raise UserError("cannot translate a vector's element by a variable index to plain C")
    return value.value


def _extract_element(frame: PrintedFrame, i: ExtractElement) -> None:
    frame.define(i.result, [frame.values(i.vector)[_element(i.index)]])


def _insert_element(frame: PrintedFrame, i: InsertElement) -> None:
    texts = list(frame.values(i.vector))
    texts[_element(i.index)] = frame.value(i.value)
    frame.define(i.result, texts)


def _shuffle(frame: PrintedFrame, i: Shuffle) -> None:
    both = [*frame.values(i.left), *frame.values(i.right)]
    frame.define(i.result, [both[k] if k >= 0 else "0" for k in i.mask])


def any_value(type_: Type, frame: PrintedFrame) -> str:
    """Any value of a scalar type, as an input."""
    if isinstance(type_, FloatType):
        return f"({c_type(type_)})__VERIFIER_nondet_double()"
    return wrapped(type_, f"any({frame.layout.store_size(type_)})", frame.layout)


def _intrinsic(frame: PrintedFrame, i: Intrinsic) -> None:
    if i.name in ("trap", "debugtrap", "ubsantrap"):
        frame.writer.line("must(0); /* a trap */")
        return
    if i.name in VARIABLE_ARGUMENTS:
        VARIABLE_ARGUMENTS[i.name](frame, i)
        return
    if i.result is None:
        return
    texts = [text for argument in i.arguments for text in frame.values(argument)]
    first = _leaf_type(frame, i.arguments[0]) if i.arguments else i.result.type
    parts = [type_ for type_, _ in leaves(i.result.type, frame.layout)]
    found = intrinsic(i.name, first, parts[0], texts, frame.layout)
    if found is None:
        frame.writer.line(comment(f"{i.name} is not modelled: any value"))
        found = [any_value(type_, frame) for type_ in parts]
    frame.define(i.result, found)


def _assembly(frame: PrintedFrame, i: Assembly) -> None:
    if i.text:
        frame.writer.line(comment(f"inline assembly, taken to have no effect: {i.text}"))
    if i.result is None:
        return
    tied = None if i.text.strip() else _tied_argument(i)
    if tied is not None:
        frame.define(i.result, frame.values(tied))
        return
    parts = leaves(i.result.type, frame.layout)
    frame.define(i.result, [any_value(type_, frame) for type_, _ in parts])


def _tied_argument(i: Assembly) -> Value | None:
    """The argument that lies in the register of the result, so that no text hands it on."""
    inputs = [part for part in i.constraints.split(",") if part[:1] not in ("=", "~", "&", "+")]
    for constraint, argument in zip(inputs, i.arguments, strict=False):
        if constraint == "0" and i.result is not None and argument.type == i.result.type:
            return argument
    return None


def _landing_pad(frame: PrintedFrame, i: LandingPad) -> None:
    frame.writer.line("must(0); /* exceptions are not modelled */")
    if i.result is not None:
        frame.define(i.result, ["0"] * len(frame.registers(i.result)))


def _fence(_: PrintedFrame, __: Fence) -> None:
    pass


_WRITERS: dict[type[Instruction], Callable[[PrintedFrame, Any], None]] = {
    Offset: _offset,
    Binary: _binary,
    Compare: _compare,
    Cast: _cast,
    Negate: _negate,
    Freeze: _freeze,
    Select: _select,
    ExtractField: _extract_field,
    InsertField: _insert_field,
    ExtractElement: _extract_element,
    InsertElement: _insert_element,
    Shuffle: _shuffle,
    Intrinsic: _intrinsic,
    Assembly: _assembly,
    LandingPad: _landing_pad,
    Fence: _fence,
    **ACCESSES,
}
