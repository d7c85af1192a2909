"""Constants and initial memory as abstract values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.state import Content
from raceproof.domains import float_operations, value_operations
from raceproof.domains import integers as ints
from raceproof.domains import objects as contents_of
from raceproof.domains import values as domain
from raceproof.domains.memory import EMPTY, Memory
from raceproof.domains.objects import Contents
from raceproof.domains.values import AbstractValue
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
    Global,
    GlobalAddress,
    IntConstant,
    IntType,
    NullPointer,
    StructType,
    Type,
    Undefined,
    Value,
    VectorType,
    ZeroConstant,
)

if TYPE_CHECKING:
    from raceproof.analysis.thread_modular import Analysis


class Evaluator:
    """For one thread, since thread-locals differ."""

    def __init__(self, analysis: Analysis, thread: int) -> None:
        self.program = analysis.program
        self.objects = analysis.objects
        self.thread = thread
        self._is_coarse = analysis.is_coarse
        """Then all strings are one: functions are called with so many."""
        self.pointer_bits = analysis.program.layout.pointer_size * 8
        self._constants: dict[int, tuple[Value, Content]] = {}
        """By identity; the constant is kept so that its identity stays its own."""

    def width(self, type_: Type) -> int | None:
        """Bits of a scalar type; None for aggregates."""
        if isinstance(type_, IntType | FloatType):
            return type_.bits
        return None if type_.is_aggregate else self.pointer_bits

    def constant(self, value: Value) -> Content:
        found = self._constants.get(id(value))
        if found is None:
            found = self._constants[id(value)] = (value, self._evaluate(value))
        return found[1]

    def scalar(self, value: Value) -> AbstractValue:
        found = self.constant(value)
        return found if isinstance(found, AbstractValue) else domain.UNKNOWN

    def _evaluate(self, value: Value) -> Content:
        match value:
            case IntConstant(type=IntType(bits=bits), value=number):
                return domain.constant(number, bits)
            case NullPointer():
                return domain.constant(0, self.pointer_bits)
            case FloatConstant(type=type_, value=number):
                return float_operations.number(number, self.width(type_) or 64)
            case GlobalAddress(name=name, offset=offset):
                base = self._global(name)
                if base == self.objects.any_string:
                    return AbstractValue(None, {base: ints.top(self.pointer_bits)})
                return domain.address(base, offset, self.pointer_bits)
            case FunctionAddress(name=name):
                return domain.address(self.objects.function_base(name), 0, self.pointer_bits)
            case BlockAddress():
                return domain.any_integer(self.pointer_bits)
            case ConstantExpression():
                return self._expression(value)
            case Undefined(type=type_):
                return self.of_type(type_, domain.UNINITIALISED)
            case ZeroConstant(type=type_):
                return self._zero(type_)
            case AggregateConstant(elements=elements):
                return tuple(self.constant(element) for element in elements)
        return domain.UNKNOWN

    def _global(self, name: str) -> int:
        variable = self.program.globals.get(name)
        if variable is None:
            return self.objects.lock_object(name)
        if self._is_coarse and variable.is_string:
            if isinstance(variable.initializer, BytesConstant):
                return self.objects.any_string
        return self.objects.global_base(variable, self.thread)

    def of_type(self, type_: Type, value: AbstractValue) -> Content:
        """The same value in every member."""
        match type_:
            case StructType(fields=fields):
                return tuple(self.of_type(field, value) for field in fields)
            case ArrayType(element=element, count=count) if count <= 16:
                return tuple(self.of_type(element, value) for _ in range(count))
        return value

    def _zero(self, type_: Type) -> Content:
        match type_:
            case StructType(fields=fields):
                return tuple(self._zero(field) for field in fields)
            case ArrayType(element=element, count=count) if count <= 16:
                return tuple(self._zero(element) for _ in range(count))
            case VectorType():
                return domain.any_integer(64)
        width = self.width(type_)
        return domain.constant(0, width) if width is not None else domain.UNKNOWN

    def _expression(self, value: ConstantExpression) -> AbstractValue:
        operands = [self.scalar(operand) for operand in value.operands]
        width = self.width(value.type) or self.pointer_bits
        if value.operation == "offset":
            delta = operands[1].as_integers(self.pointer_bits)
            return value_operations.offset(operands[0], delta)
        if len(operands) == 1:
            from_width = self.width(value.operands[0].type) or self.pointer_bits
            return value_operations.cast(value.operation, operands[0], from_width, width)
        if value.operation == "icmp":
            return domain.any_integer(1)
        return value_operations.binary(value.operation, operands[0], operands[1], width)


class InitialMemory:
    """Globals before `main` starts."""

    def __init__(self, analysis: Analysis, thread: int, evaluator: Evaluator) -> None:
        info = analysis.threads[thread]
        self.is_repeated = info.is_repeated or not info.is_unique
        self.layout = analysis.program.layout
        self.objects = analysis.objects
        self.thread = thread
        self.evaluator = evaluator
        self.stored = analysis.stored_addresses

    def of_globals(self, variables: list[Global]) -> Memory:
        string = contents_of.unknown(None, domain.any_integer(8))
        memory = EMPTY.set(self.objects.any_string, string)
        for variable in variables:
            base = self.objects.global_base(variable, self.thread, self.is_repeated)
            memory = memory.set(base, self._contents(variable, base))
        return memory

    def _contents(self, variable: Global, base: int) -> Contents:
        size = variable.size or None
        if variable.initializer is None:
            return contents_of.unknown(size, domain.any_integer(8))
        contents = contents_of.zeroed(size)
        return self._write(contents, base, 0, variable.initializer)

    def _write(self, contents: Contents, base: int, offset: int, constant: Constant) -> Contents:
        match constant:
            case ZeroConstant():
                return contents
            case Undefined():
                return contents
            case BytesConstant(data=data):
                for index, byte in enumerate(data[:256]):
                    if byte:
                        value = domain.constant(byte, 8)
                        contents = contents.write(offset + index, 1, value, True)
                if len(data) > 256:
                    end = offset + len(data)
                    contents = contents.fill(offset + 256, end, domain.any_integer(8))
                return contents
            case AggregateConstant(type=type_, elements=elements):
                for place, element in zip(
                    self._places(type_, len(elements)), elements, strict=False
                ):
                    contents = self._write(contents, base, offset + place, element)
                return contents
        if isinstance(constant, IntConstant) and constant.value == 0:
            return contents
        if isinstance(constant, NullPointer):
            return contents
        value = self.evaluator.scalar(constant)
        if value.pointers:
            self.stored(base, value.pointers)
        return contents.write(offset, self.layout.store_size(constant.type), value, True)

    def _places(self, type_: Type, count: int) -> list[int]:
        if isinstance(type_, StructType):
            return list(self.layout.offsets(type_))
        assert isinstance(type_, ArrayType | VectorType)
        step = self.layout.size(type_.element)
        return [index * step for index in range(count)]


def any_of_type(width: int | None) -> AbstractValue:
    return domain.UNKNOWN if width is None else domain.any_integer(width)
