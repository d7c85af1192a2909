"""Does a program look at where its objects lie in memory?

    if ((uintptr_t)&x > (uintptr_t)&y) ...        bucket = table[((uintptr_t)key >> 4) % SIZE];

Whoever executes it, or has a solver execute it, has chosen one place for each object, and what such
a program does elsewhere is not seen. Comparing addresses for equality, with null or with the error
numbers at the ends of the memory gives the same everywhere, and so do steps within an object. All
else that is computed from an address as a number counts as a look, and so does the order of
addresses of different objects. Where the C++ library orders or subtracts iterators they are of one
range, or the program is undefined (`Program.within_ranges`). Addresses become numbers by casts
here; an address that is read as a number from the bytes of a pointer, without a cast, is only seen
if there is a cast elsewhere too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from raceproof.analysis.alias.generate import STRINGS
from raceproof.analysis.alias.points_to import PointsTo
from raceproof.analysis.alias.reuse import dangling_slots
from raceproof.ir import (
    Binary,
    Cast,
    Compare,
    Constant,
    ConstantExpression,
    Function,
    GlobalAddress,
    Instruction,
    IntConstant,
    IntType,
    Phi,
    PointerType,
    Program,
    Register,
    Select,
    Switch,
    Value,
)

_EQUAL = ("eq", "ne")
_STEPS = ("add", "sub")
_CASTS = ("bitcast", "ptrtoint", "inttoptr", "addrspacecast")
_OUTSIDE = "external"
_PAGE = 4096
"""No object lies in the first or the last page."""


def look_at_layout(program: Program, points_to: Callable[[], PointsTo]) -> int | None:
    """The number of an instruction that looks at where an object lies. Points-to sets are asked for
    only where it may."""
    if not any(_may_look(instruction) for _, instruction in program.all_instructions()):
        return None
    looks = _Looks(program, points_to())
    return looks.first()


class _Looks:
    def __init__(self, program: Program, points_to: PointsTo) -> None:
        self._program = program
        self._points_to = points_to
        self._dangling: set[int] | None = None
        self._distances: set[int] = set()
        """Registers of the function at hand that hold no address, though they come from some."""

    def first(self) -> int | None:
        everything = list(self._program.all_instructions())
        has_numbers = any(self._makes_number(*each) for each in everything)
        for function in self._program.defined:
            self._distances = self._distances_in(function) if has_numbers else set()
            for instruction in function.instructions:
                if self._orders(function, instruction):
                    return instruction.number
                if has_numbers and self._looks(function, instruction):
                    return instruction.number
        return None

    def _looks(self, function: Function, instruction: Instruction) -> bool:
        if instruction.result is not None and instruction.result.index in self._distances:
            return False
        objects = [self._objects(function, operand) for operand in instruction.operands]
        if isinstance(instruction, Binary) and all(objects):
            both = set().union(*objects)
            if len(both) > 1 or any(map(self._may_have_been_elsewhere, both)):
                return True
        if any(len(set(_named(operand))) > 1 for operand in instruction.operands):
            return True
        word = self._program.layout.pointer_size * 8
        return any(self._objects(function, value) for value in _looked_at(instruction, word))

    def _distances_in(self, function: Function) -> set[int]:
        """Registers that hold differences of two addresses in one object, or what is made of such.

        The greatest set in which each is such a difference, or is computed from members and from
        values that are no addresses: with loops, a sum of differences is one as well.
        """
        self._distances = set()
        first: set[int] = set()
        derived: dict[int, list[int]] = {}
        for instruction in function.instructions:
            result = instruction.result
            if result is None or not isinstance(instruction, Binary | Cast | Phi | Select):
                continue
            objects = [self._objects(function, operand) for operand in instruction.operands]
            if self._is_difference(instruction, objects):
                first.add(result.index)
            elif isinstance(result.type, IntType):
                derived[result.index] = [
                    operand.index if isinstance(operand, Register) else -1
                    for operand, found in zip(instruction.operands, objects, strict=True)
                    if found
                ]
        kept = {register for register, sources in derived.items() if sources}
        changed = True
        while changed:
            left = {r for r in kept if all(s in kept or s in first for s in derived[r])}
            changed = left != kept
            kept = left
        return first | kept

    def _is_difference(self, instruction: Instruction, objects: list[set[object]]) -> bool:
        if not (isinstance(instruction, Binary) and instruction.operation == "sub"):
            return False
        if not all(objects):
            return False
        if instruction.number in self._program.within_ranges:
            return True
        both = set().union(*objects)
        return len(both) == 1 and not any(map(self._may_have_been_elsewhere, both))

    def _may_have_been_elsewhere(self, thing: object) -> bool:
        """Is it a local of calls that are over? Each had a place of its own."""
        if not (isinstance(thing, tuple) and thing[0] == "slot"):
            return False
        if self._dangling is None:
            self._dangling = dangling_slots(self._points_to)
        return thing[1] in self._dangling

    def _objects(self, function: Function, value: Value) -> set[object]:
        if isinstance(value, Constant):
            return set(_named(value))
        if isinstance(value, Register) and value.index in self._distances:
            return set()
        targets = self._points_to.targets(function.name, value)
        found: set[object] = set()
        for thing, _ in targets:
            if thing.descriptor == STRINGS:  # Any two of them.
                found |= {STRINGS, thing}
            elif thing.descriptor[0] != _OUTSIDE:
                is_global = thing.descriptor[0] == "global"
                found.add(thing.descriptor[1] if is_global else thing.descriptor)
        return found

    def _makes_number(self, function: Function, instruction: Instruction) -> bool:
        if isinstance(instruction, Cast) and instruction.operation == "ptrtoint":
            return bool(self._objects(function, instruction.value))
        return any(map(_is_number, instruction.operands))

    def _orders(self, function: Function, instruction: Instruction) -> bool:
        """Does it ask which of two objects comes first? (Compilers drop casts to numbers there.)"""
        if not (isinstance(instruction, Compare) and _is_order(instruction)):
            return False
        if instruction.number in self._program.within_ranges:
            return False
        left, right = instruction.operands
        return len(self._objects(function, left) | self._objects(function, right)) > 1


def _named(value: Value) -> Iterator[str]:
    """The globals whose addresses are in a constant."""
    match value:
        case GlobalAddress(name=name):
            yield name
        case ConstantExpression(operands=operands):
            for operand in operands:
                yield from _named(operand)


def _may_look(instruction: Instruction) -> bool:
    if isinstance(instruction, Cast) and instruction.operation == "ptrtoint":
        return True
    if isinstance(instruction, Compare) and _is_order(instruction):
        return True
    return any(map(_is_number, instruction.operands))


def _is_order(compare: Compare) -> bool:
    """Of two pointers."""
    return isinstance(compare.left.type, PointerType) and compare.predicate not in _EQUAL


def _is_number(value: Value) -> bool:
    """Is it a constant made of an address?"""
    return isinstance(value, ConstantExpression) and (
        value.operation == "ptrtoint" or any(map(_is_number, value.operands))
    )


def _looked_at(instruction: Instruction, word: int) -> tuple[Value, ...]:
    """The operands that must not be addresses."""
    match instruction:
        case Compare(left=left) if isinstance(left.type, PointerType):
            return ()
        case Compare(predicate=predicate, left=left, right=right):
            if _is_end(left) or _is_end(right):
                return ()
            if predicate not in _EQUAL:
                return (left, right)
            constants = isinstance(left, IntConstant), isinstance(right, IntConstant)
            return (left, right) if any(constants) else ()
        case Binary(operation=operation, left=left, right=right):
            if operation not in _STEPS:
                return (left, right)
        case Cast(operation=operation, value=value, result=result) if result is not None:
            is_whole = not isinstance(result.type, IntType) or result.type.bits >= word
            return () if operation in _CASTS and is_whole else (value,)
        case Switch(value=value):
            return (value,)
    return ()


def _is_end(value: Value) -> bool:
    if not isinstance(value, IntConstant):
        return False
    return abs(value.signed) < _PAGE
