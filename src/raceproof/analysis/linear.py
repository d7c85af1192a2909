"""Registers as sums: a number as root + constant, an address as an element of an array.

What a root is, and when two equal sums are equal numbers, is told in `pools`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from raceproof.analysis.counted_loops import constant_added
from raceproof.analysis.facets.thread_pools import RunningLoop, Slots
from raceproof.analysis.names import Cell, Linear, Root, Token
from raceproof.analysis.state import ThreadState
from raceproof.domains.values import AbstractValue
from raceproof.ir import Cast, Freeze, IntConstant, Offset, Register, Value
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter


_VARIABLES = (BaseKind.GLOBAL, BaseKind.STACK, BaseKind.HEAP)
"""What only the program itself writes."""


class Place(NamedTuple):
    """One element of an array, with the index `counter + shift`."""

    slots: Slots
    counter: Root
    shift: int
    is_exact: bool
    """Is the shift a sum that cannot wrap around?"""


def number_of(act: Activation, state: ThreadState, value: Value) -> Linear | None:
    """A number or address without wrap-around; every register is a sum at least of itself."""
    constant = 0
    while True:
        if isinstance(value, IntConstant):
            return Linear(None, constant + value.signed)
        if not isinstance(value, Register):
            return None
        definition = act.flow.definitions.get(value.index)
        if isinstance(definition, Freeze):
            value = definition.value
            continue
        if isinstance(definition, Offset) and not definition.terms:
            value = definition.base
            constant += definition.constant
            continue
        step = constant_added(definition)
        if step is not None and "nsw" in getattr(definition, "flags", ()):
            value = step[0]
            constant += step[1]
            continue
        return resolved(act, state, value.index).plus(constant)


def resolved(act: Activation, state: ThreadState, register: int) -> Linear:
    """A register by its oldest name: of the caller's, or of the cell it was loaded from."""
    constant = 0
    token = act.token(register)
    known = act.symbols.get(register)
    if known is not None and isinstance(known.root, tuple) and not known.terms:
        token = Token(*known.root)
        constant = known.constant
    alias = state.pools.aliases.get(token)
    return Linear(token, constant) if alias is None else alias.plus(constant)


def leaf_of(act: Activation, value: Value) -> tuple[Token, int] | None:
    """An address as a register, of the caller's if that knows it, and a distance."""
    constant = 0
    while isinstance(value, Register):
        definition = act.flow.definitions.get(value.index)
        if isinstance(definition, Offset) and not definition.terms:
            value = definition.base
            constant += definition.constant
        elif isinstance(definition, Freeze):
            value = definition.value
        else:
            known = act.symbols.get(value.index)
            if known is None:
                return act.token(value.index), constant
            if known.terms or not isinstance(known.root, tuple):
                return None
            return Token(*known.root), constant + known.constant
    return None


def cell_at(run: Interpreter, state: ThreadState, address: AbstractValue, size: int) -> Cell | None:
    """The exact cell of a single object, if no running thread writes it."""
    place = address.only_address
    if place is None:
        return None
    base, offset = place
    objects = run.analysis.objects
    if objects.is_weak(base) or objects[base].kind not in _VARIABLES:
        return None
    offsets = address.pointers[base]
    if run.analysis.interference.has_writes(base, offsets, size, state.facets.may_parallel):
        return None
    return Cell(base, offset, size)


def content_of(state: ThreadState, cell: Cell) -> Linear:
    return state.pools.names.get(cell, Linear(cell, 0))


def name(state: ThreadState, cell: Cell, number: Linear) -> None:
    """The cell holds this number, until some thread writes it."""
    state.pools = replace(state.pools, names={**state.pools.names, cell: number})


def place_of(run: Interpreter, act: Activation, state: ThreadState, pointer: Value) -> Place | None:
    """An address as the element of an array that the counter of a loop picks."""
    counters = {count.counter for count in state.pools.counts.values()}
    if not counters:
        return None
    constant = 0
    index: tuple[Root, int, int, str, bool] | None = None
    while True:
        if isinstance(pointer, Register):
            definition = act.flow.definitions.get(pointer.index)
            if isinstance(definition, Offset):
                constant += definition.constant
                for value, scale in definition.terms:
                    if index is not None:
                        return None
                    index = _index(act, state, value, scale, counters)
                    if index is None:
                        return None
                pointer = definition.base
                continue
            if isinstance(definition, Cast) and definition.operation == "bitcast":
                pointer = definition.value
                continue
            if isinstance(definition, Freeze):
                pointer = definition.value
                continue
        break
    if index is None:
        caller = _of_caller(act, state, pointer)
        if caller is None:
            return None
        found = place_of(run, *caller)
        if found is None:
            return None
        slots = found.slots
        moved = Slots(slots.root, slots.constant + constant, slots.stride, slots.extension)
        return Place(moved, found.counter, found.shift, found.is_exact)
    root = _array(run, act, state, pointer)
    if root is None:
        return None
    counter, shift, stride, extension, is_exact = index
    slots = Slots(root[0], root[1] + constant, stride, extension)
    return Place(slots, counter, shift, is_exact)


def loop_of(state: ThreadState, place: Place | None) -> RunningLoop | None:
    """The loop whose counter picks the element."""
    if place is None:
        return None
    for loop, count in state.pools.counts.items():
        if count.counter == place.counter:
            return loop
    return None


def _index(
    act: Activation, state: ThreadState, value: Value, scale: int, counters: set[Root]
) -> tuple[Root, int, int, str, bool] | None:
    """(counter, shift, scale, extension, is exact)"""
    extension = ""
    shift = 0
    is_exact = True
    while isinstance(value, Register):
        definition = act.flow.definitions.get(value.index)
        if isinstance(definition, Cast) and definition.operation in ("sext", "zext"):
            if extension or shift:
                return None
            extension = definition.operation[0]
            value = definition.value
            continue
        if isinstance(definition, Freeze):
            value = definition.value
            continue
        number = resolved(act, state, value.index)
        if number.root in counters:
            assert number.root is not None
            return number.root, shift + number.constant, scale, extension, is_exact
        step = constant_added(definition)
        if step is None:
            return None
        is_exact = is_exact and "nsw" in getattr(definition, "flags", ())
        value = step[0]
        shift += step[1]
    return None


def _array(
    run: Interpreter, act: Activation, state: ThreadState, pointer: Value
) -> tuple[int | Root, int] | None:
    """Where an array begins: an object and an offset, or a register or cell that points to it."""
    value = run.value(act, state, pointer)
    if isinstance(value, AbstractValue):
        place = value.only_address
        if place is not None and not run.analysis.objects.is_weak(place[0]):
            return place
    number = number_of(act, state, pointer)
    if number is None or number.root is None:
        return None
    return number.root, number.constant


def _of_caller(
    act: Activation, state: ThreadState, value: Value
) -> tuple[Activation, ThreadState, Value] | None:
    """An argument as its caller wrote it, if `value` is a parameter. What the function does depends
    on more than its argument then."""
    if not isinstance(value, Register) or act.origin is None:
        return None
    caller, call, registers = act.origin
    for parameter, argument in zip(act.function.parameters, call.arguments, strict=False):
        if parameter is value:
            act.is_entangled = True
            there = state.copy()
            there.registers = registers
            return caller, there, argument
    return None
