"""Values worth trying as inputs: what the program compares with, and what leads there.

int x = input();
if (x * 3 + 1 == 22) ...        22, and backwards through the computation 21 and 7
"""

from __future__ import annotations

from raceproof.ir import (
    Binary,
    Cast,
    Compare,
    Function,
    Instruction,
    IntConstant,
    IntType,
    Program,
    Register,
    Switch,
    Value,
)

_LONGEST = 6
"""Computations followed backwards."""


def interesting_constants(program: Program) -> tuple[int, ...]:
    """Numbers that inputs are compared with, signed, in order."""
    found: set[int] = set()
    for function in program.defined:
        definitions = _definitions(function)
        for instruction in function.instructions:
            match instruction:
                case Compare(left=left, right=right):
                    for value, other in ((left, right), (right, left)):
                        if isinstance(other, IntConstant):
                            found |= _leading_to(value, other.signed, definitions)
                case Switch(value=value, cases=cases):
                    for number, _ in cases:
                        found |= _leading_to(value, _signed(number, value), definitions)
                case Binary():
                    found.update(
                        operand.signed
                        for operand in instruction.operands
                        if isinstance(operand, IntConstant) and _bits(operand) > 1
                    )
    return tuple(sorted(found))


def _definitions(function: Function) -> dict[Register, Instruction]:
    return {i.result: i for i in function.instructions if i.result is not None}


def _bits(value: Value) -> int:
    return value.type.bits if isinstance(value.type, IntType) else 64


def _signed(number: int, value: Value) -> int:
    half = 1 << _bits(value) - 1
    return ((number & 2 * half - 1) ^ half) - half


def _leading_to(
    value: Value, wanted: int, definitions: dict[Register, Instruction]
) -> frozenset[int]:
    """The number, and what the operands must be for the computation to come out so."""
    found = {wanted}
    for _ in range(_LONGEST):
        definition = definitions.get(value) if isinstance(value, Register) else None
        match definition:
            case Cast(value=inner):
                value = inner
            case Binary(operation=operation, left=left, right=IntConstant() as right):
                before = _before(operation, wanted, right.signed)
                if before is None:
                    break
                value, wanted = left, before
                found.add(wanted)
            case _:
                break
    return frozenset(found)


def _before(operation: str, result: int, constant: int) -> int | None:
    """An operand for which `operand operation constant` is the result."""
    match operation:
        case "add":
            return result - constant
        case "sub":
            return result + constant
        case "xor":
            return result ^ constant
        case "mul" if constant and result % constant == 0:
            return result // constant
        case "sdiv" | "udiv":
            return result * constant
        case "shl" if 0 <= constant < 64 and not result & (1 << constant) - 1:
            return result >> constant
        case "lshr" | "ashr" if 0 <= constant < 64:
            return result << constant
        case "and" | "or" | "srem" | "urem":
            return result
    return None
