"""Loops that count: `for (i = 0; i < n; i++)`, `while (n-- > 0)`, `for (i = n - 1; i >= 0; i--)`.

Only the shape is told here, from the code of one function: the head tests a counter against a bound
and is one of the ways out, and the counter goes up or down by one in each round. The counter is an
SSA register, or a variable in memory (a global, say); then whoever uses the shape has to see to it
that nothing else writes the variable. Nothing is said about other ways out (`break`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raceproof.ir import (
    Binary,
    Branch,
    Compare,
    Freeze,
    Function,
    GlobalAddress,
    Instruction,
    IntConstant,
    IntType,
    Load,
    Phi,
    Register,
    Store,
    Value,
)
from raceproof.ir.cfg import ControlFlow, Loop

_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne", "eq": "eq"}
_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq", "eq": "ne"}
_UP = ("lt", "le", "ne")
_DOWN = ("gt", "ge", "ne")


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """Goes on as long as `counter + shift` stands in `relation` to the bound."""

    head: int
    exit: int
    """Where the head's test leads when it fails."""
    counter: Register
    """The phi; for a counter in memory, what the head loads."""
    pointer: Value | None
    """Where the counter is, if in memory."""
    size: int
    """Of the counter, in bytes."""
    start: tuple[tuple[int, Value], ...]
    """Of a register: the values it starts with, by the block before the loop."""
    step: int
    shift: int
    relation: str
    """lt le gt ge ne"""
    sign: str
    """s or u; empty for `ne`."""
    bound: Value


def counted_loops(
    function: Function, graph: ControlFlow, definitions: Mapping[int, Instruction]
) -> dict[int, CountedLoop]:
    """By head."""
    found = {}
    for loop in graph.loops:
        if all(graph.dominators.dominates(loop.head, block) for block in loop.blocks):
            counted = _counted(function, loop, definitions)
            if counted is not None:
                found[loop.head] = counted
    return found


def _counted(
    function: Function, loop: Loop, definitions: Mapping[int, Instruction]
) -> CountedLoop | None:
    branch = function.blocks[loop.head].terminator
    if not isinstance(branch, Branch) or not isinstance(branch.condition, Register):
        return None
    test = definitions.get(branch.condition.index)
    if not isinstance(test, Compare) or not isinstance(test.left.type, IntType):
        return None
    inside = [target in loop.blocks for target in (branch.if_true, branch.if_false)]
    if inside[0] == inside[1]:
        return None
    sign, relation = _split(test.predicate)
    if relation not in _SWAPPED:
        return None
    if inside[1]:
        relation = _NEGATED[relation]
    leave = branch.if_false if inside[0] else branch.if_true
    for value, bound, how in (
        (test.left, test.right, relation),
        (test.right, test.left, _SWAPPED[relation]),
    ):
        leaf, shift = shifted(value, definitions)
        if not isinstance(leaf, Register):
            continue
        assert isinstance(test.left.type, IntType)
        size = (test.left.type.bits + 7) // 8
        definition = definitions.get(leaf.index)
        pointer: Value | None = None
        start: tuple[tuple[int, Value], ...] = ()
        step: int | None = None
        if isinstance(definition, Phi) and definition in function.blocks[loop.head].instructions:
            start = tuple(i for i in definition.incoming if i[0] not in loop.blocks)
            step = _phi_step(definition, loop, definitions)
        elif isinstance(definition, Load) and not (definition.volatile or definition.atomic):
            pointer = definition.pointer
            step = _stored_step(function, loop, pointer, definitions)
        if step is not None and how in (_UP if step > 0 else _DOWN):
            return CountedLoop(
                loop.head, leave, leaf, pointer, size, start, step, shift, how, sign, bound
            )
    return None


def _split(predicate: str) -> tuple[str, str]:
    return ("", predicate) if predicate in ("eq", "ne") else (predicate[0], predicate[1:])


def shifted(value: Value, definitions: Mapping[int, Instruction]) -> tuple[Value, int]:
    """A value as another one plus a constant, modulo its width."""
    constant = 0
    while isinstance(value, Register):
        definition = definitions.get(value.index)
        if isinstance(definition, Freeze):
            value = definition.value
            continue
        step = constant_added(definition)
        if step is None:
            break
        value, number = step
        constant += number
    return value, constant


def constant_added(instruction: Instruction | None) -> tuple[Value, int] | None:
    """`x + 3` as (x, 3)."""
    if not isinstance(instruction, Binary):
        return None
    left, right = instruction.left, instruction.right
    if instruction.operation == "add":
        if isinstance(right, IntConstant):
            return left, right.signed
        if isinstance(left, IntConstant):
            return right, left.signed
    if instruction.operation == "sub" and isinstance(right, IntConstant):
        return left, -right.signed
    return None


def _phi_step(phi: Phi, loop: Loop, definitions: Mapping[int, Instruction]) -> int | None:
    """One or minus one, the same on every way back to the head."""
    steps = set()
    for source, value in phi.incoming:
        if source in loop.blocks:
            leaf, constant = shifted(value, definitions)
            if leaf is not phi.result:
                return None
            steps.add(constant)
    return steps.pop() if len(steps) == 1 and steps <= {1, -1} else None


def _stored_step(
    function: Function, loop: Loop, pointer: Value, definitions: Mapping[int, Instruction]
) -> int | None:
    """What the only store to the variable in the loop adds to it."""
    steps = []
    for block in sorted(loop.blocks):
        for instruction in function.blocks[block].instructions:
            if isinstance(instruction, Store) and _is_same(instruction.pointer, pointer):
                leaf, constant = shifted(instruction.value, definitions)
                definition = definitions.get(leaf.index) if isinstance(leaf, Register) else None
                if not isinstance(definition, Load) or not _is_same(definition.pointer, pointer):
                    return None
                steps.append(constant)
    return steps[0] if len(steps) == 1 and abs(steps[0]) == 1 else None


def _is_same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, GlobalAddress) and a == b)
