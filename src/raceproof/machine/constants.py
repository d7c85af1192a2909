"""What constants are worth once every global variable and function has its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raceproof.ir import (
    AggregateConstant,
    ArrayType,
    BlockAddress,
    BytesConstant,
    Constant,
    ConstantExpression,
    FloatConstant,
    FloatType,
    FunctionAddress,
    GlobalAddress,
    IntConstant,
    IntType,
    Layout,
    NullPointer,
    StructType,
    Type,
    Undefined,
    VectorType,
    ZeroConstant,
)
from raceproof.machine.faults import Unsupported
from raceproof.machine.operators import HELPERS, binary, cast, compare

BLOCK_ADDRESSES = 0x1_0000
"""Labels whose address is taken lie from here on, in a page that holds nothing."""


class Linker:
    """Addresses of globals and functions, and the values of constants."""

    def __init__(
        self,
        layout: Layout,
        globals_: Mapping[str, int],
        functions: Mapping[str, int],
    ) -> None:
        self._layout = layout
        self._globals = globals_
        self._functions = functions
        self._pointer_bits = layout.pointer_size * 8

    def value(self, constant: Constant) -> Any:
        """An int, a float or a tuple. Undefined parts are zero."""
        match constant:
            case IntConstant(value=value) | FloatConstant(value=value):
                return value
            case NullPointer():
                return 0
            case GlobalAddress(name=name, offset=offset):
                return self._globals[name] + offset & ((1 << self._pointer_bits) - 1)
            case FunctionAddress(name=name):
                return self._functions[name]
            case BlockAddress(block=block):
                return BLOCK_ADDRESSES + block
            case Undefined(type=type_) | ZeroConstant(type=type_):
                return self.zero(type_)
            case AggregateConstant(elements=elements):
                return tuple(self.value(element) for element in elements)
            case BytesConstant(data=data):
                return tuple(data)
            case ConstantExpression():
                return self._expression(constant)
        raise Unsupported(f"the constant {constant}")

    def zero(self, type_: Type) -> Any:
        match type_:
            case FloatType():
                return 0.0
            case StructType(fields=fields):
                return tuple(self.zero(field) for field in fields)
            case ArrayType(element=element, count=count) | VectorType(element=element, count=count):
                return (self.zero(element),) * count
        return 0

    def _expression(self, constant: ConstantExpression) -> Any:
        operands = [self.value(operand) for operand in constant.operands]
        types = [operand.type for operand in constant.operands]
        if constant.operation == "offset":
            bits = types[1].bits if isinstance(types[1], IntType) else self._pointer_bits
            half = 1 << (bits - 1)
            return operands[0] + (operands[1] ^ half) - half & ((1 << self._pointer_bits) - 1)
        if len(operands) == 1:
            text = cast(constant.operation, types[0], constant.type, "a", self._pointer_bits)
            return eval(text, {**HELPERS, "a": operands[0]})
        if constant.operation.startswith("icmp"):
            predicate = constant.operation.split()[-1]
            text = compare(predicate, types[0], "a", "b", self._pointer_bits)
        else:
            text = binary(constant.operation, types[0], "a", "b", self._pointer_bits)
        return eval(text, {**HELPERS, "a": operands[0], "b": operands[1]})
