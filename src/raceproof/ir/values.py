"""Values: what an instruction computes with.

A value is a register (the result of an instruction, or a parameter), or a constant. Registers are
in SSA form: each is assigned by one instruction. Constants compare by content, registers by
identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.ir.types import POINTER, IntType, Type


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    type: Type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Register(Value):
    """An SSA register; `index` is unique in its function, `name` the C variable it holds if any."""

    index: int
    name: str = ""

    def __repr__(self) -> str:
        return f"%{self.index}" + (f".{self.name}" if self.name else "")


@dataclass(frozen=True, slots=True)
class Constant(Value):
    pass


@dataclass(frozen=True, slots=True)
class IntConstant(Constant):
    """`value` is unsigned: 0 <= value < 2**bits."""

    value: int

    @property
    def signed(self) -> int:
        assert isinstance(self.type, IntType)
        half = 1 << (self.type.bits - 1)
        return self.value - 2 * half if self.value >= half else self.value


@dataclass(frozen=True, slots=True)
class FloatConstant(Constant):
    value: float


@dataclass(frozen=True, slots=True)
class NullPointer(Constant):
    type: Type = POINTER


@dataclass(frozen=True, slots=True)
class GlobalAddress(Constant):
    """The address of a global variable, plus `offset` bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class FunctionAddress(Constant):
    name: str


@dataclass(frozen=True, slots=True)
class BlockAddress(Constant):
    """The address of a label (computed goto)."""

    function: str
    block: int


@dataclass(frozen=True, slots=True)
class Undefined(Constant):
    """An uninitialised or poison value: any value of its type."""


@dataclass(frozen=True, slots=True)
class ZeroConstant(Constant):
    """All bytes zero; for structs, arrays and vectors (scalars have their own constants)."""


@dataclass(frozen=True, slots=True)
class AggregateConstant(Constant):
    elements: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class BytesConstant(Constant):
    """An array of bytes, e.g. a string literal with its final zero."""

    data: bytes


@dataclass(frozen=True, slots=True)
class ConstantExpression(Constant):
    """What only the linker knows: a cast or difference of addresses.

    `operation` is the name of a cast (`ptrtoint`, `inttoptr`, `trunc`, ...), of a binary operation
    (`add`, `sub`, ...), or `offset` (pointer + integer bytes).
    """

    operation: str
    operands: tuple[Constant, ...]
