"""What each instruction does to a state, for the instructions that are not calls.

A handler returns the states after the instruction: one, or none if the execution cannot go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.analysis.state import Content, ThreadState
from raceproof.domains import (
    float_operations,
    integer_operations,
    value_operations,
    value_refinement,
)
from raceproof.domains import integers as ints
from raceproof.domains import objects as contents_of
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    Assembly,
    AtomicUpdate,
    Binary,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
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
    IntType,
    LandingPad,
    Load,
    Negate,
    NextArgument,
    Offset,
    PointerType,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    StructType,
    Type,
    Undefined,
    Value,
)
from raceproof.ir.unordered import NOTHING

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter

Handler = Callable[["Interpreter", "Activation", Any, ThreadState], list[ThreadState]]


def scalar(content: Content) -> AbstractValue:
    return content if isinstance(content, AbstractValue) else domain.UNKNOWN


def _anything(run: Interpreter, type_: Type) -> Content:
    """Any number of a type; a pointer may point outside of the program."""
    if isinstance(type_, StructType):
        return tuple(_anything(run, field) for field in type_.fields)
    if isinstance(type_, PointerType):
        return run.analysis.external_pointer
    return domain.any_integer(run.evaluator.width(type_) or 64)


def _slot(run: Interpreter, act: Activation, i: StackSlot, state: ThreadState) -> list[ThreadState]:
    layout = run.analysis.program.layout
    size: int | None = None
    if isinstance(i.count, IntConstant):
        size = layout.size(i.type) * i.count.value
    is_private = i.number in act.flow.private_slots
    is_weak = act.is_capped or act.context.is_capped or (not is_private and run.is_repeated(act))
    base = run.analysis.objects.slot(i, act.context, act.counters, size, is_private, is_weak)
    if base not in act.slots:
        act.slots.append(base)
    if not is_weak or state.memory.get(base) is None:
        state.memory = state.memory.set(base, contents_of.uninitialised(size))
    state.wrote(base, None, None)
    run.assign(act, i, state, domain.address(base, 0, run.evaluator.pointer_bits))
    return [state]


def _load(run: Interpreter, act: Activation, i: Load, state: ThreadState) -> list[ThreadState]:
    value = run.calls.memory.load(act, i, state, i.pointer, i.type, bool(i.atomic))
    if value is None:
        return []
    if run.pools is None:
        run.assign(act, i, state, value)
        return [state]
    address = run.calls.memory.address(act, state, i.pointer)
    run.assign(act, i, state, value)
    run.pools.loaded(act, i, state, address)
    return [state]


def _store(run: Interpreter, act: Activation, i: Store, state: ThreadState) -> list[ThreadState]:
    value = run.value(act, state, i.value)

    def write() -> bool:
        memory = run.calls.memory
        return memory.store(act, i, state, i.pointer, i.value.type, value, bool(i.atomic))

    ok = write() if run.pools is None else run.pools.store(act, i, state, write)
    return [state] if ok else []


def _atomic_update(
    run: Interpreter, act: Activation, i: AtomicUpdate, state: ThreadState
) -> list[ThreadState]:
    memory = run.calls.memory
    old = memory.load(act, i, state, i.pointer, i.value.type, True)
    if old is None:
        return []
    operand = scalar(run.value(act, state, i.value))
    width = run.evaluator.width(i.value.type) or 64
    if i.operation == "xchg":
        new: AbstractValue = operand
        if operand.constant:
            return _exchange(run, act, i, state, scalar(old), operand, width)
    elif i.operation in ("add", "sub", "and", "or", "xor"):
        new = value_operations.binary(i.operation, scalar(old), operand, width)
    else:
        new = domain.join(scalar(old), domain.any_integer(width))
    if not memory.store(act, i, state, i.pointer, i.value.type, new, True):
        return []
    run.assign(act, i, state, old)
    return [state]


def _exchange(
    run: Interpreter,
    act: Activation,
    i: AtomicUpdate,
    state: ThreadState,
    old: AbstractValue,
    new: AbstractValue,
    width: int,
) -> list[ThreadState]:
    """`exchange(&busy, 1)` takes a user-defined spin lock if it finds 0, and not otherwise."""
    memory = run.calls.memory
    address = memory.address(act, state, i.pointer)
    unordered = run.analysis.program.unordered.get(i.number)
    is_ordered = unordered is None or not unordered.contains(0)
    states = []
    for predicate in ("eq", "ne"):
        found, _ = value_refinement.refine(predicate, old, domain.constant(0, width), width)
        if found.is_bottom:
            continue
        after = state.copy()
        if memory.store(act, i, after, i.pointer, i.value.type, new, True):
            if predicate == "eq" and is_ordered:
                memory.spin_locks.acquire(after, address, (width + 7) // 8)
            run.assign(act, i, after, found)
            states.append(after)
    return states


def _compare_exchange(
    run: Interpreter, act: Activation, i: CompareExchange, state: ThreadState
) -> list[ThreadState]:
    memory = run.calls.memory
    old = memory.load(act, i, state, i.pointer, i.expected.type, True)
    if old is None:
        return []
    width = run.evaluator.width(i.expected.type) or 64
    expected = scalar(run.value(act, state, i.expected))
    replacement = run.value(act, state, i.replacement)
    known = value_refinement.compare("eq", scalar(old), expected, width)
    unordered = run.analysis.program.unordered.get(i.number, NOTHING)
    states = []
    if known is not False:
        done = state.copy()
        found, _ = value_refinement.refine("eq", scalar(old), expected, width)
        if memory.store(act, i, done, i.pointer, i.replacement.type, replacement, True):
            is_taken = expected.constant == 0 and bool(scalar(replacement).constant)
            if is_taken and not unordered.may_succeed:
                address = memory.address(act, state, i.pointer)
                memory.spin_locks.acquire(done, address, (width + 7) // 8)
            run.assign(act, i, done, (found, domain.constant(1, 1)))
            states.append(done)
    if known is not True or i.weak:
        memory.touch(act, i, state, i.pointer, i.expected.type, True, True)
        run.assign(act, i, state, (old, domain.constant(0, 1)))
        states.append(state)
    return states


def _offset(run: Interpreter, act: Activation, i: Offset, state: ThreadState) -> list[ThreadState]:
    bits = run.evaluator.pointer_bits
    base = scalar(run.value(act, state, i.base))
    delta = ints.constant(i.constant, bits)
    for index, scale in i.terms:
        value = scalar(run.value(act, state, index))
        width = run.evaluator.width(index.type) or bits
        step = value_operations.scaled(value, width, scale, bits)
        delta = integer_operations.add(delta, step)
    run.assign(act, i, state, value_operations.offset(base, delta))
    return [state]


def _binary(run: Interpreter, act: Activation, i: Binary, state: ThreadState) -> list[ThreadState]:
    assert i.result is not None
    type_ = i.result.type
    width = run.evaluator.width(type_)
    if width is None:
        run.assign(act, i, state, domain.any_integer(64))
        return [state]
    left = scalar(run.value(act, state, i.left))
    right = scalar(run.value(act, state, i.right))
    if isinstance(type_, FloatType):
        run.assign(act, i, state, float_operations.binary(i.operation, left, right, width))
        return [state]
    bases = run.analysis.objects.bases
    value = value_operations.binary(
        i.operation, left, right, width, i.flags, bases.weak, bases.alignments
    )
    run.assign(act, i, state, value)
    return [state]


def _compare(
    run: Interpreter, act: Activation, i: Compare, state: ThreadState
) -> list[ThreadState]:
    width = run.evaluator.width(i.left.type)
    if width is None:
        run.assign(act, i, state, domain.any_integer(1))
        return [state]
    left = scalar(run.value(act, state, i.left))
    right = scalar(run.value(act, state, i.right))
    if left.is_bottom or right.is_bottom:
        run.assign(act, i, state, domain.BOTTOM)
        return [state]
    if isinstance(i.left.type, FloatType):
        known = float_operations.compare(i.predicate, left, right, width)
    else:
        known = value_refinement.compare(
            i.predicate, left, right, width, run.analysis.objects.bases.weak
        )
    value = domain.any_integer(1) if known is None else domain.constant(int(known), 1)
    run.assign(act, i, state, value)
    return [state]


def _cast(run: Interpreter, act: Activation, i: Cast, state: ThreadState) -> list[ThreadState]:
    assert i.result is not None
    value = scalar(run.value(act, state, i.value))
    from_width = run.evaluator.width(i.value.type)
    to_width = run.evaluator.width(i.result.type)
    if from_width is None or to_width is None:
        result: Content = domain.any_integer(64)
    elif i.operation == "bitcast" and isinstance(i.value.type, FloatType):
        result = float_operations.as_integer(value, from_width)
    else:
        result = value_operations.cast(i.operation, value, from_width, to_width)
    run.assign(act, i, state, result)
    return [state]


def _negate(run: Interpreter, act: Activation, i: Negate, state: ThreadState) -> list[ThreadState]:
    width = run.evaluator.width(i.value.type)
    value = scalar(run.value(act, state, i.value))
    result = domain.any_integer(64) if width is None else float_operations.negate(value, width)
    run.assign(act, i, state, result)
    return [state]


def _any_result(
    run: Interpreter, act: Activation, i: Instruction, state: ThreadState
) -> list[ThreadState]:
    if i.result is not None:
        run.assign(act, i, state, _anything(run, i.result.type))
    return [state]


def _freeze(run: Interpreter, act: Activation, i: Freeze, state: ThreadState) -> list[ThreadState]:
    if isinstance(i.value, Undefined) and isinstance(i.value.type, IntType):
        run.assign(act, i, state, _anything(run, i.value.type))
        return [state]
    run.assign(act, i, state, run.value(act, state, i.value))
    return [state]


def _select(run: Interpreter, act: Activation, i: Select, state: ThreadState) -> list[ThreadState]:
    from raceproof.analysis.state import join_contents

    known = value_refinement.truth(scalar(run.value(act, state, i.condition)), 1)
    if known is None:
        value = join_contents(run.value(act, state, i.if_true), run.value(act, state, i.if_false))
    else:
        value = run.value(act, state, i.if_true if known else i.if_false)
    run.assign(act, i, state, value)
    return [state]


def _extract(
    run: Interpreter, act: Activation, i: ExtractField, state: ThreadState
) -> list[ThreadState]:
    value = run.value(act, state, i.aggregate)
    for index in i.path:
        value = value[index] if isinstance(value, tuple) and index < len(value) else value
    if isinstance(value, tuple):
        run.assign(act, i, state, value)
    else:
        run.assign(act, i, state, value)
    return [state]


def _insert(
    run: Interpreter, act: Activation, i: InsertField, state: ThreadState
) -> list[ThreadState]:
    aggregate = run.value(act, state, i.aggregate)
    value = run.value(act, state, i.value)
    run.assign(act, i, state, _inserted(aggregate, i.path, value))
    return [state]


def _inserted(aggregate: Content, path: tuple[int, ...], value: Content) -> Content:
    if not path:
        return value
    if not isinstance(aggregate, tuple) or path[0] >= len(aggregate):
        return domain.UNKNOWN
    members = list(aggregate)
    members[path[0]] = _inserted(members[path[0]], path[1:], value)
    return tuple(members)


def _copy_memory(
    run: Interpreter, act: Activation, i: CopyMemory, state: ThreadState
) -> list[ThreadState]:
    run.calls.memory.copy(act, i, state, i.target, i.source, i.size)
    return [state]


def _set_memory(
    run: Interpreter, act: Activation, i: SetMemory, state: ThreadState
) -> list[ThreadState]:
    byte = scalar(run.value(act, state, i.byte))
    run.calls.memory.fill(act, i, state, i.target, byte, i.size)
    return [state]


def _intrinsic(
    run: Interpreter, act: Activation, i: Intrinsic, state: ThreadState
) -> list[ThreadState]:
    if i.name == "trap":
        return []
    if i.name in ("va_start", "va_copy", "va_end"):
        run.calls.varargs.intrinsic(act, i, state)
        return [state]
    types = [argument.type for argument in i.arguments]
    is_scalar = i.result is not None and not i.result.type.is_aggregate
    if i.result is not None and types and all(isinstance(t, IntType | FloatType) for t in types):
        if is_scalar or i.name.endswith(".with.overflow"):
            known = [scalar(run.value(act, state, argument)) for argument in i.arguments]
            found = value_operations.intrinsic(i.name, known, types, i.result.type)
            run.assign(act, i, state, found)
            return [state]
    return _any_result(run, act, i, state)


def _next_argument(
    run: Interpreter, act: Activation, i: NextArgument, state: ThreadState
) -> list[ThreadState]:
    run.assign(act, i, state, run.calls.varargs.next(act, i, state))
    return [state]


def _assembly(
    run: Interpreter, act: Activation, i: Assembly, state: ThreadState
) -> list[ThreadState]:
    if i.text.strip():
        run.analysis.records.assume(
            f"inline assembly at {i.position or act.function.display} "
            "accesses only its own operands and does not synchronise"
        )
    given = domain.BOTTOM
    for argument in _direct_operands(i):
        value = scalar(run.value(act, state, argument))
        given = domain.join(given, domain.garbled(value, run.evaluator.pointer_bits))
    memory = run.calls.memory
    for effect in run.analysis.events.effects(i):
        address = memory.address(act, state, effect.pointer)
        size = effect.constant_size
        for is_write in (False, True):
            if effect.is_write if is_write else effect.is_read:
                memory.record(
                    act, i, state, effect.pointer, address, size, is_write, effect.is_atomic
                )
        if effect.is_write:
            memory.havoc(act, i, state, effect.pointer, size, holding=given)
    if i.result is not None and given.pointers:
        run.assign(act, i, state, _mixed(run, i.result.type, given))
        return [state]
    return _any_result(run, act, i, state)


_NOT_KEPT = ("p", "i", "n")
"""Operands that assembler code computes an address or a constant with, and keeps nowhere."""


def _direct_operands(assembly: Assembly) -> list[Value]:
    """Those that are values, not places in memory that the assembler code is given."""
    found = []
    rest = list(assembly.arguments)
    for constraint in assembly.constraints.split(","):
        is_place = "*" in constraint
        if constraint.startswith("~") or (constraint.startswith("=") and not is_place) or not rest:
            continue
        argument = rest.pop(0)
        if not is_place and constraint not in _NOT_KEPT:
            found.append(argument)
    return found + rest


def _mixed(run: Interpreter, type_: Type, given: AbstractValue) -> Content:
    """Anything of a type, or made of what was given."""
    if isinstance(type_, StructType):
        return tuple(_mixed(run, field, given) for field in type_.fields)
    anything = scalar(_anything(run, type_))
    width = run.evaluator.width(type_)
    if width != run.evaluator.pointer_bits:
        return anything
    return domain.join(anything, given)


def _call(run: Interpreter, act: Activation, i: Call, state: ThreadState) -> list[ThreadState]:
    return run.calls.call(act, i, state)


def _nothing(run: Interpreter, act: Activation, i: Fence, state: ThreadState) -> list[ThreadState]:
    return [state]


TRANSFER: dict[type[Instruction], Handler] = {
    StackSlot: _slot,
    Load: _load,
    Store: _store,
    AtomicUpdate: _atomic_update,
    CompareExchange: _compare_exchange,
    Fence: _nothing,
    CopyMemory: _copy_memory,
    SetMemory: _set_memory,
    Offset: _offset,
    Binary: _binary,
    Compare: _compare,
    Cast: _cast,
    Negate: _negate,
    Freeze: _freeze,
    Select: _select,
    ExtractField: _extract,
    InsertField: _insert,
    ExtractElement: _any_result,
    InsertElement: _any_result,
    Shuffle: _any_result,
    Intrinsic: _intrinsic,
    NextArgument: _next_argument,
    Call: _call,
    Assembly: _assembly,
    LandingPad: _any_result,
}
