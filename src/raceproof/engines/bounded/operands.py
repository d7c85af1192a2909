"""What operands hold, inputs and unknown results, and where results go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.engines.bounded.cursor import Part
from raceproof.engines.bounded.events import Input
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import Value
from raceproof.ir import (
    AggregateConstant,
    ArrayType,
    BytesConstant,
    Constant,
    Register,
    StructType,
    Type,
    Undefined,
    VectorType,
    ZeroConstant,
)
from raceproof.ir import Value as Operand
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    pass


class Operands(Part):
    """Reads operands and sets results."""

    # --- values ------------------------------------------------------------

    def value(self, operand: Operand) -> Value:
        """What an operand holds now."""
        if isinstance(operand, Register):
            found = self.cursor.state.registers.get(operand.index)
            return found if found is not None else self.undefined(operand.type)
        assert isinstance(operand, Constant)
        return self.constant(operand, operand.type)

    def term(self, operand: Operand) -> Term:
        value = self.value(operand)
        return value if isinstance(value, Term) else self.terms.const(0, 8)

    def constant(self, constant: Constant, type_: Type) -> Value:
        match constant:
            case Undefined():
                return self.undefined(type_)
            case ZeroConstant():
                return self.zero(type_)
            case AggregateConstant(elements=elements):
                return tuple(self.constant(element, element.type) for element in elements)
            case BytesConstant(data=data):
                return tuple(self.terms.const(byte, 8) for byte in data)
        if self.unfolder.is_thread_local(constant):
            return self.unfolder.thread_local_address(constant, self.thread)
        return self.space.constant(constant)

    def members(self, type_: Type) -> list[Type] | None:
        if isinstance(type_, StructType):
            return list(type_.fields)
        if isinstance(type_, ArrayType | VectorType):
            return [type_.element] * type_.count
        return None

    def zero(self, type_: Type) -> Value:
        members = self.members(type_)
        if members is not None:
            return tuple(self.zero(member) for member in members)
        return self.terms.const(0, self.space.width(type_))

    def undefined(self, type_: Type) -> Value:
        members = self.members(type_)
        if members is not None:
            return tuple(self.undefined(member) for member in members)
        return self.fresh_input("undefined", max(self.space.width(type_), 1))

    def fresh_input(self, what: str, width: int, when: Term | None = None) -> Term:
        """An input of this instruction, which it only asks for `when` that holds."""
        variable = self.terms.var(self.cursor.name(what), width)
        if width == self.space.pointer_width:
            self.sharing.define(variable, frozenset([UNKNOWN]))
        self.body.inputs.append(
            Input(
                len(self.body.events),
                self.cursor.state.guard
                if when is None
                else self.terms.and_(self.cursor.state.guard, when),
                self.cursor.instruction.number if self.cursor.instruction else -1,
                variable,
            )
        )
        return variable

    def unknown(self, what: str, width: int) -> Term:
        """A result that we don't compute exactly."""
        self.unfolder.result.is_exact = False
        self.unfolder.assume_once(f"{what} is taken to give any result")
        variable = self.terms.var(self.cursor.name("any"), width)
        if width == self.space.pointer_width:
            self.sharing.define(variable, frozenset([UNKNOWN]))
        return variable

    def set_result(self, value: Value | None) -> None:
        assert self.cursor.instruction is not None
        result = self.cursor.instruction.result
        if result is not None:
            if value is None:
                value = self.undefined(result.type)
            self.cursor.state.set_register(result.index, value)
