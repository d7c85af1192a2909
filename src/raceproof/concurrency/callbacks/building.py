"""New functions for a program, block by block.

Numbers, register indices and the order of blocks are the builder's business: blocks are named as
they are needed, and `function` puts them into reverse post-order and numbers all instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from raceproof.ir import (
    I1,
    I32,
    POINTER,
    Block,
    Branch,
    Call,
    Cast,
    Compare,
    Function,
    FunctionAddress,
    FunctionType,
    Instruction,
    IntConstant,
    Jump,
    Load,
    NullPointer,
    Offset,
    Phi,
    Position,
    Register,
    Return,
    Store,
    Switch,
    Terminator,
    Type,
    Value,
    VoidType,
)
from raceproof.ir.cfg import reverse_post_order

SEQUENTIAL = "seq_cst"
"""What is the library's own is accessed atomically: it is no race of the program."""


class FunctionBuilder:
    """One function in the making; instructions go to the end of the current block."""

    def __init__(
        self,
        name: str,
        display: str,
        type_: FunctionType,
        position: Position | None,
        by_value: tuple[tuple[int, Type], ...] = (),
    ) -> None:
        self.name = name
        self.display = display
        self.type = type_
        self.position = position
        self._by_value = by_value
        self._registers = 0
        self.parameters = tuple(self._register(parameter) for parameter in type_.parameters)
        self._blocks: list[list[Instruction]] = [[]]
        self._current = 0

    # --- blocks ------------------------------------------------------------

    def block(self) -> int:
        """A new block, to be jumped to."""
        self._blocks.append([])
        return len(self._blocks) - 1

    def at(self, block: int) -> None:
        self._current = block

    @property
    def current(self) -> int:
        return self._current

    def jump(self, target: int) -> None:
        self._add(Jump(0, self.position, None, target))

    def branch(self, condition: Value, if_true: int, if_false: int) -> None:
        self._add(Branch(0, self.position, None, condition, if_true, if_false))

    def switch(self, value: Value, targets: Sequence[int], default: int) -> None:
        self.select(value, dict(enumerate(targets)), default)

    def select(self, value: Value, targets: Mapping[int, int], default: int) -> None:
        self._add(Switch(0, self.position, None, value, default, tuple(targets.items())))

    def ret(self, value: Value | None) -> None:
        self._add(Return(0, self.position, None, value))

    # --- instructions ------------------------------------------------------------

    def load(self, type_: Type, pointer: Value, atomic: str = SEQUENTIAL) -> Register:
        result = self._register(type_)
        self._add(Load(0, self.position, result, type_, pointer, atomic))
        return result

    def store(self, value: Value, pointer: Value) -> None:
        self._add(Store(0, self.position, None, value, pointer, SEQUENTIAL))

    def offset(self, base: Value, constant: int, index: Value | None = None) -> Value:
        """`base + constant`, or that plus any `index` within the object."""
        if not constant and index is None:
            return base
        result = self._register(POINTER)
        terms = () if index is None else ((index, 1),)
        self._add(Offset(0, self.position, result, base, constant, terms))
        return result

    def is_equal(self, left: Value, right: Value) -> Register:
        result = self._register(I1)
        self._add(Compare(0, self.position, result, "eq", left, right))
        return result

    def is_null(self, pointer: Value) -> Register:
        return self.is_equal(pointer, NullPointer())

    def cast(self, operation: str, value: Value, type_: Type) -> Register:
        result = self._register(type_)
        self._add(Cast(0, self.position, result, operation, value))
        return result

    def phi(self, type_: Type, *incoming: tuple[int, Value]) -> Phi:
        """Its values may be given later, see `feed`."""
        phi = Phi(0, self.position, self._register(type_), incoming)
        self._add(phi)
        return phi

    def feed(self, phi: Phi, *incoming: tuple[int, Value]) -> None:
        for block in self._blocks:
            for at, instruction in enumerate(block):
                if instruction is phi:
                    block[at] = replace(phi, incoming=phi.incoming + incoming)
                    return

    def call(
        self,
        callee: Value | str,
        arguments: Sequence[Value],
        type_: FunctionType,
        position: Position | None = None,
        by_value: tuple[tuple[int, Type], ...] = (),
        no_return: bool = False,
    ) -> Register | None:
        if isinstance(callee, str):
            callee = FunctionAddress(POINTER, callee)
        result = None if isinstance(type_.result, VoidType) else self._register(type_.result)
        position = position or self.position
        self._add(Call(0, position, result, callee, tuple(arguments), type_, by_value, no_return))
        return result

    # --- the end ------------------------------------------------------------

    def function(self, first_number: int) -> Function:
        """The function, its first instruction with this number."""
        targets = [_targets(block) for block in self._blocks]
        order = reverse_post_order(targets)
        places = {block: place for place, block in enumerate(order)}
        number = first_number
        blocks = []
        for block in order:
            instructions = []
            for instruction in self._blocks[block]:
                instructions.append(_placed(replace(instruction, number=number), places))
                number += 1
            blocks.append(Block(places[block], tuple(instructions)))
        return Function(
            self.name,
            self.display,
            self.type,
            self.parameters,
            tuple(blocks),
            self.position,
            is_external=False,
            register_count=self._registers,
            by_value=self._by_value,
            first_number=first_number,
        )

    def _register(self, type_: Type) -> Register:
        self._registers += 1
        return Register(type_, self._registers - 1)

    def _add(self, instruction: Instruction) -> None:
        self._blocks[self._current].append(instruction)


def _targets(block: list[Instruction]) -> list[int]:
    last = block[-1]
    assert isinstance(last, Terminator)
    return list(last.targets)


def _placed(instruction: Instruction, places: dict[int, int]) -> Instruction:
    """The same with the final indices of blocks."""
    match instruction:
        case Jump(target=target):
            return replace(instruction, target=places[target])
        case Branch(if_true=if_true, if_false=if_false):
            return replace(instruction, if_true=places[if_true], if_false=places[if_false])
        case Switch(default=default, cases=cases):
            moved = tuple((value, places[block]) for value, block in cases)
            return replace(instruction, default=places[default], cases=moved)
        case Phi(incoming=incoming):
            given = tuple((places[block], value) for block, value in incoming)
            return replace(instruction, incoming=given)
    return instruction


def int_constant(value: int) -> IntConstant:
    return IntConstant(I32, value)
