"""Comparisons of values that may be addresses, or ids: of two pointers, or of two words."""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.ir.instructions import Call, Compare, CompareExchange, Instruction
from raceproof.ir.program import Program
from raceproof.ir.types import IntType, PointerType, Type
from raceproof.ir.values import Constant, FunctionAddress, Value

COMPARING = ("memcmp", "bcmp", "timingsafe_bcmp", "CRYPTO_memcmp")
"""Functions that compare bytes."""


def may_tell_reuse(program: Program) -> bool:
    """Is there a comparison that may tell whether an address is used again? Cheap."""
    word = program.layout.pointer_size * 8
    return any(
        any(compared(instruction, word)) or called(instruction) in COMPARING
        for _, instruction in program.all_instructions()
    )


def compared(instruction: Instruction, word: int) -> Iterator[tuple[Value, Value]]:
    """The two values that are compared for equality, if they may be addresses."""
    match instruction:
        case Compare(predicate="eq" | "ne", left=left, right=right):
            pair = left, right
        case CompareExchange(expected=expected, replacement=replacement):
            pair = expected, replacement
        case _:
            return
    if isinstance(pair[0], Constant) or isinstance(pair[1], Constant):
        return
    if _may_be_address(pair[0].type, word):
        yield pair


def _may_be_address(type_: Type, word: int) -> bool:
    return isinstance(type_, PointerType) or (isinstance(type_, IntType) and type_.bits == word)


def called(instruction: Instruction) -> str:
    """The function that is called by name; empty if none is."""
    if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
        return instruction.callee.name
    return ""
