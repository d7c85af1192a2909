"""What a branch teaches: `if (x < 3)` bounds x on the way taken, and the memory x came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.memoisation import CallerQuestion
from raceproof.analysis.state import Content, ThreadState
from raceproof.domains import value_refinement
from raceproof.domains import values as domain
from raceproof.domains.memory import EMPTY
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    Assembly,
    AtomicUpdate,
    Binary,
    Call,
    Cast,
    Compare,
    CompareExchange,
    FloatType,
    Freeze,
    Function,
    IntConstant,
    IntType,
    Load,
    NullPointer,
    Offset,
    Register,
    Type,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter, Origin

_NEGATED = {
    "eq": "ne",
    "ne": "eq",
    "ult": "uge",
    "uge": "ult",
    "ule": "ugt",
    "ugt": "ule",
    "slt": "sge",
    "sge": "slt",
    "sle": "sgt",
    "sgt": "sle",
}
_DEEPEST = 8
_SAME_NUMBER = ("ptrtoint", "inttoptr")
"""Casts whose result, if it equals the operand here, is the operand: `(unsigned long)p == 0`."""


def refine_condition(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    condition: Value,
    holds: bool,
    depth: int = 0,
) -> bool:
    """Assumes that a truth value is as said; False if that cannot be."""
    if not isinstance(condition, Register) or depth > _DEEPEST:
        return True
    state.registers[condition.index] = domain.constant(int(holds), 1)
    definition = activation.flow.definitions.get(condition.index)
    match definition:
        case Compare(predicate=predicate, left=left, right=right):
            return _refine_compare(
                interpreter, activation, state, predicate, left, right, holds, depth
            )
        case Binary(operation="xor", left=left, right=IntConstant(value=1)):
            return refine_condition(interpreter, activation, state, left, not holds, depth + 1)
        case Cast(operation="trunc", value=value) | Freeze(value=value):
            return _refine_truncated(interpreter, activation, state, value, holds, depth)
    return True


def depends_on_others(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    value: Value,
    is_open: bool,
) -> bool:
    """May a decision on the value come from what another running thread wrote? Or, if it is open
    here, from what differs between the instances of this thread?"""
    is_one = interpreter.analysis.threads[interpreter.thread].is_unique
    work, seen = [value], set[int]()
    while work:
        at = work.pop()
        if not isinstance(at, Register) or at.index in seen:
            continue
        seen.add(at.index)
        definition = activation.flow.definitions.get(at.index)
        match definition:
            case None:
                if is_open and not is_one and not _is_exact(state.registers.get(at.index)):
                    return True
                if _argument_depends_on_others(interpreter, activation, state, at, is_open):
                    return True
            case Load():
                if interpreter.calls.memory.depends_on_others(activation, state, definition):
                    return True
                if is_open and _is_given(interpreter, activation, state, definition.pointer):
                    return True
            case AtomicUpdate() | CompareExchange():
                return True
            case Assembly(text=text) if text.strip():
                return True
            case Call():
                if not interpreter.calls.is_local(definition):
                    return True
            case _:
                work.extend(definition.operands)
    return False


def _is_given(
    interpreter: Interpreter, activation: Activation, state: ThreadState, pointer: Value
) -> bool:
    """Does an address come from the argument of the thread? What stands there may differ from what
    another instance, or another thread with the same entry, is given."""
    if interpreter.thread == 0:
        return False
    while isinstance(pointer, Register):
        definition = activation.flow.definitions.get(pointer.index)
        match definition:
            case Offset():
                pointer = definition.base
            case Cast() | Freeze():
                pointer = definition.value
            case None:
                return _argument_depends_on_others(
                    interpreter, activation, state, pointer, True, True
                )
            case _:
                return False
    return False


def _argument_depends_on_others(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    parameter: Register,
    is_open: bool,
    is_place: bool = False,
) -> bool:
    """`depends_on_others`, for what the caller passed; or `_is_given`."""
    question = CallerQuestion(parameter.index, state.facets.may_parallel, is_open, is_place)
    answer = ask_caller(interpreter, activation.function, activation.origin, question)
    activation.answers[question] = answer
    return answer


def ask_caller(
    interpreter: Interpreter, function: Function, origin: Origin | None, question: CallerQuestion
) -> bool:
    """`depends_on_others`, for an argument of a call, by what the caller has in its registers. A
    thread has no caller; a function with several, as contexts are merged, may have one of any
    kind."""
    if origin is None:
        is_merged = interpreter.analysis.contexts.depth is not None
        return question.is_place or (question.is_open and is_merged)
    caller, call, registers = origin
    for mine, value in zip(function.parameters, call.arguments, strict=False):
        if mine.index == question.parameter:
            before = ThreadState(EMPTY)
            before.registers = registers
            before.facets = before.facets._replace(may_parallel=question.running)
            if question.is_place:
                return _is_given(interpreter, caller, before, value)
            return depends_on_others(interpreter, caller, before, value, question.is_open)
    return False


def is_understood(activation: Activation, condition: Value) -> bool:
    """Is all that an assumption says taken in? Not if it joins several conditions."""
    while isinstance(condition, Register):
        definition = activation.flow.definitions.get(condition.index)
        if isinstance(definition, Cast):
            condition = definition.value
            continue
        return isinstance(definition, Compare) and all(
            not isinstance(activation.flow.definitions.get(side.index), Cast)
            for side in (definition.left, definition.right)
            if isinstance(side, Register)
        )
    return True


def _is_exact(content: Content | None) -> bool:
    if not isinstance(content, AbstractValue):
        return False
    return content.constant is not None or content.only_address is not None


def assume_nonzero(
    interpreter: Interpreter, activation: Activation, state: ThreadState, value: Value
) -> bool:
    """Assumes that an integer is not zero; False if it must be."""
    if not isinstance(value.type, IntType):
        return True
    if value.type.bits == 1:
        known = interpreter.value(activation, state, value)
        if known == domain.constant(0, 1):
            return False
        return refine_condition(interpreter, activation, state, value, True)
    zero = IntConstant(value.type, 0)
    return _refine_compare(interpreter, activation, state, "ne", value, zero, True, 0)


def _refine_truncated(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    value: Value,
    holds: bool,
    depth: int,
) -> bool:
    """`trunc i8 %b to i1` of a byte that was made from a truth value."""
    if isinstance(value, Register):
        definition = activation.flow.definitions.get(value.index)
        if isinstance(definition, Cast) and definition.operation == "zext":
            if definition.value.type == IntType(1):
                return refine_condition(
                    interpreter, activation, state, definition.value, holds, depth + 1
                )
    return True


def _refine_compare(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    predicate: str,
    left: Value,
    right: Value,
    holds: bool,
    depth: int,
) -> bool:
    if predicate not in _NEGATED or isinstance(left.type, FloatType):
        return True
    effective = predicate if holds else _NEGATED[predicate]
    width = interpreter.evaluator.width(left.type)
    if width is None:
        return True
    first = interpreter.value(activation, state, left)
    second = interpreter.value(activation, state, right)
    if not isinstance(first, AbstractValue) or not isinstance(second, AbstractValue):
        return True
    weak = interpreter.analysis.objects.bases.weak
    new_first, new_second = value_refinement.refine(effective, first, second, width, weak)
    if new_first.is_bottom or new_second.is_bottom:
        return first.is_bottom or second.is_bottom
    _learn(interpreter, activation, state, left, first, new_first)
    _learn(interpreter, activation, state, right, second, new_second)
    if isinstance(right, IntConstant | NullPointer) and effective in ("eq", "ne"):
        number = right.value if isinstance(right, IntConstant) else 0
        return _through_cast(interpreter, activation, state, left, effective == "eq", number, depth)
    return True


def _through_cast(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    value: Value,
    is_equal: bool,
    number: int,
    depth: int,
) -> bool:
    """`zext(c) != 0` says that c is true."""
    if not isinstance(value, Register):
        return True
    definition = activation.flow.definitions.get(value.index)
    if isinstance(definition, Cast) and definition.operation in ("zext", "sext"):
        inner = definition.value
        if inner.type == IntType(1) and number in (0, 1):
            holds = is_equal == (number == 1)
            return refine_condition(interpreter, activation, state, inner, holds, depth + 1)
        if isinstance(inner, Register) and isinstance(inner.type, IntType):
            old = interpreter.value(activation, state, inner)
            if isinstance(old, AbstractValue) and number < 1 << (inner.type.bits - 1):
                constant = domain.constant(number, inner.type.bits)
                new, _ = value_refinement.refine(
                    "eq" if is_equal else "ne", old, constant, inner.type.bits
                )
                if new.is_bottom:
                    return old.is_bottom
                _learn(interpreter, activation, state, inner, old, new)
    return True


def _learn(
    interpreter: Interpreter,
    activation: Activation,
    state: ThreadState,
    value: Value,
    old: AbstractValue,
    new: AbstractValue,
) -> None:
    """A register is known better; so is the memory it was loaded from, if it was not touched."""
    if new is old or not isinstance(value, Register):
        return
    state.registers[value.index] = new
    definition = activation.flow.definitions.get(value.index)
    if isinstance(definition, Cast) and definition.operation in _SAME_NUMBER:
        inner = interpreter.value(activation, state, definition.value)
        if isinstance(inner, AbstractValue) and inner == old:
            _learn(interpreter, activation, state, definition.value, inner, new)
    if (
        isinstance(definition, Load)
        and not definition.volatile
        and activation.deciding is not None
        and activation.flow.is_undisturbed(
            definition, activation.deciding, interpreter.calls.writes_nothing
        )
    ):
        interpreter.calls.memory.learn(activation, state, definition, old, new)


def type_width(type_: Type, pointer_bits: int) -> int | None:
    match type_:
        case IntType(bits=bits) | FloatType(bits=bits):
            return bits
    return None if type_.is_aggregate else pointer_bits
