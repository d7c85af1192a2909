"""Is a program what `Program` promises? Everything the floors above take for granted, checked.

Numbers without gaps, blocks in reverse post-order, one assignment a register and that before every
use, one value a predecessor in each phi, operands of the types that their instruction asks for,
names that exist. Nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.ir.cfg import ControlFlow, reverse_post_order
from raceproof.ir.instructions import Instruction, LandingPad, Phi
from raceproof.ir.printer import instruction_text
from raceproof.ir.program import Function, Program
from raceproof.ir.types import ArrayType, IntType, StructType, VectorType
from raceproof.ir.typing_rules import type_errors
from raceproof.ir.values import (
    AggregateConstant,
    BlockAddress,
    BytesConstant,
    Constant,
    ConstantExpression,
    FunctionAddress,
    GlobalAddress,
    IntConstant,
    Register,
    Value,
)


def broken_promises(program: Program) -> list[str]:
    """One line for each thing that is wrong; none for a good program."""
    return list(_Verifier(program).complaints())


class _Verifier:
    def __init__(self, program: Program) -> None:
        self.program = program

    def complaints(self) -> Iterator[str]:
        number = 0
        for name, function in self.program.functions.items():
            if name != function.name:
                yield f"{function.name} is listed as {name}"
            if not function.is_defined:
                continue
            if function.first_number != number:
                yield f"{name}: first number {function.first_number}, expected {number}"
            number = function.first_number + len(function.instructions)
            for text in self._function(function):
                yield f"{name}: {text}"
        if number != self.program.instruction_count:
            yield f"{self.program.instruction_count} instructions, expected {number}"
        for name, variable in self.program.globals.items():
            if variable.size != self.program.layout.size(variable.type):
                yield f"global {name}: {variable.size} bytes do not fit its type"
            if variable.initializer is not None:
                if variable.initializer.type != variable.type:
                    yield f"global {name}: initialised with another type"
                for text in self._constant(variable.initializer):
                    yield f"global {name}: {text}"

    def _function(self, function: Function) -> Iterator[str]:
        shape = list(_shape(function))
        yield from shape
        if shape:
            return
        yield from _assignments(function)
        yield from _dominance(function)
        for instruction in function.instructions:
            for text in self._instruction(instruction, function):
                yield f"{instruction.number} `{instruction_text(instruction)}`: {text}"

    def _instruction(self, instruction: Instruction, function: Function) -> Iterator[str]:
        for operand in instruction.operands:
            if isinstance(operand, Constant):
                yield from self._constant(operand)
        if isinstance(instruction, LandingPad):
            for constant in instruction.catches:
                yield from self._constant(constant)
        yield from type_errors(instruction, function)

    def _constant(self, constant: Constant) -> Iterator[str]:
        match constant:
            case IntConstant(IntType(bits), value):
                if not 0 <= value < 1 << bits:
                    yield f"{value} does not fit in {bits} bits"
            case GlobalAddress(_, name):
                if name not in self.program.globals:
                    yield f"there is no global {name}"
            case FunctionAddress(_, name):
                if name not in self.program.functions:
                    yield f"there is no function {name}"
            case BlockAddress(_, name, block):
                function = self.program.functions.get(name)
                if function is None or not 0 <= block < len(function.blocks):
                    yield f"there is no block {block} in {name}"
            case BytesConstant(ArrayType(IntType(8), count), data):
                if len(data) != count:
                    yield f"{len(data)} bytes for an array of {count}"
            case AggregateConstant(type_, elements):
                expected = (
                    type_.fields
                    if isinstance(type_, StructType)
                    else (type_.element,) * type_.count
                    if isinstance(type_, ArrayType | VectorType)
                    else ()
                )
                if tuple(element.type for element in elements) != expected:
                    yield "the elements are not those of the type"
                for element in elements:
                    yield from self._constant(element)
            case ConstantExpression(_, _, operands):
                for operand in operands:
                    yield from self._constant(operand)


def _shape(function: Function) -> Iterator[str]:
    """Blocks and numbers."""
    count = len(function.blocks)
    for index, block in enumerate(function.blocks):
        if block.index != index:
            yield f"block {block.index} stands at {index}"
        if not block.instructions:
            yield f"block {index} is empty"
            return
        *before, last = block.instructions
        if not last.is_terminator or any(i.is_terminator for i in before):
            yield f"block {index} does not end with its one terminator"
            return
        if any(isinstance(i, Phi) for i in block.instructions[len(block.phis) :]):
            yield f"block {index} has a phi after other instructions"
        if not all(0 <= target < count for target in block.terminator.targets):
            yield f"block {index} goes to a block that is not there"
            return
    for number, instruction in enumerate(function.instructions, function.first_number):
        if instruction.number != number:
            yield f"instruction {instruction.number} stands at {number}"
    flow = ControlFlow(function)
    if reverse_post_order(flow.successors) != list(range(count)):
        yield "the blocks are not in reverse post-order"
    if flow.predecessors[0]:
        yield "the first block has predecessors"
    for block in function.blocks:
        for phi in block.phis:
            if sorted(b for b, _ in phi.incoming) != flow.predecessors[block.index]:
                yield f"phi {phi.number} does not have one value a predecessor"


def _assignments(function: Function) -> Iterator[str]:
    results = [i.result for i in function.instructions if i.result is not None]
    registers = [*function.parameters, *results]
    indices = [register.index for register in registers]
    if len(set(indices)) != len(indices):
        yield "a register is assigned twice"
    if any(not 0 <= index < function.register_count for index in indices):
        yield f"a register is beyond the {function.register_count} promised"


def _dominance(function: Function) -> Iterator[str]:
    """Every register is assigned on all ways to its use."""
    dominators = ControlFlow(function).dominators
    assigned: dict[Register, tuple[int, int]] = dict.fromkeys(function.parameters, (0, -1))
    for block in function.blocks:
        for at, instruction in enumerate(block.instructions):
            if instruction.result is not None:
                assigned[instruction.result] = (block.index, at)

    def is_assigned(value: Value, block: int, at: int) -> bool:
        if not isinstance(value, Register):
            return True
        if value not in assigned:
            return False
        home, place = assigned[value]
        return place < at if home == block else dominators.dominates(home, block)

    for block in function.blocks:
        for at, instruction in enumerate(block.instructions):
            if isinstance(instruction, Phi):
                uses = [
                    (value, source, len(function.blocks[source].instructions))
                    for source, value in instruction.incoming
                ]
            else:
                uses = [(value, block.index, at) for value in instruction.operands]
            for value, source, place in uses:
                if not is_assigned(value, source, place):
                    yield f"{instruction.number}: {value!r} is used before it is assigned"
