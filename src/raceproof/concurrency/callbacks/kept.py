"""What a library keeps of a call that hands functions over, and calls them with later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raceproof.concurrency.callbacks.building import FunctionBuilder
from raceproof.concurrency.callbacks.sites import Handler, Registration
from raceproof.concurrency.model import CallbackArgument, CallbackValue
from raceproof.ir import (
    I64,
    POINTER,
    Call,
    Constant,
    FunctionAddress,
    StructType,
    Type,
    Value,
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A field of the node: what the library keeps of the call."""

    field: int


Source = Kept | Constant | None
"""What a handler is called with; None: unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A handler as the code that calls it sees it."""

    site: Registration
    handler: Handler
    function: Kept | FunctionAddress
    arguments: tuple[Source, ...]
    choices: tuple[Source, ...]
    """Pointers that unknown code may pass instead of something unknown."""
    variable: str
    """The global that holds the list, or the flag if nothing is kept."""
    node: StructType
    is_own: bool = False
    """The list is a thread's own."""


class KeptValues:
    """What the library keeps of one call, in the order of the node's fields."""

    def __init__(self, call: Call, pointer_size: int) -> None:
        self._call = call
        self._pointer_size = pointer_size
        self._fields: dict[tuple[CallbackValue, int, int], int] = {}
        self.types: list[Type] = []

    def function(self, handler: Handler) -> Kept | FunctionAddress:
        if handler.named:
            return FunctionAddress(POINTER, handler.named)
        where = handler.model.function
        value = self._call.arguments[where.index]
        if not where.indirect and isinstance(value, FunctionAddress):
            return value
        if not where.indirect:
            return self._field(CallbackValue.ITSELF, where.index, 0, POINTER)
        offset = where.offset.of(self._pointer_size) if where.offset is not None else 0
        return self._field(CallbackValue.POINTEE, where.index, offset, POINTER)

    def arguments(self, handler: Handler) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
        """What the handler is called with; for unknown code, from what it may choose."""
        sources = tuple(self._source(argument) for argument in handler.model.arguments)
        return ((), sources) if handler.named else (sources, ())

    def _source(self, argument: CallbackArgument) -> Source:
        if argument.how is CallbackValue.ANY or argument.index >= len(self._call.arguments):
            return None
        value = self._call.arguments[argument.index]
        if argument.how is CallbackValue.ITSELF:
            if isinstance(value, Constant):
                return value
            return self._field(argument.how, argument.index, 0, value.type)
        offset = argument.offset.of(self._pointer_size) if argument.offset is not None else 0
        return self._field(argument.how, argument.index, offset, POINTER)

    def _field(self, how: CallbackValue, index: int, offset: int, type_: Type) -> Kept:
        key = (how, index, offset)
        if key not in self._fields:
            self._fields[key] = len(self.types)
            self.types.append(type_)
        return Kept(self._fields[key])

    def values(self, builder: FunctionBuilder, anything: Callable[[Type], Value]) -> list[Value]:
        """The fields, read from the parameters of the function that is being built."""
        found: list[Value] = []
        for how, index, offset in self._fields:
            value: Value = builder.parameters[index]
            if how is CallbackValue.POINTEE:
                value = builder.load(POINTER, builder.offset(value, offset), atomic="")
            elif how is CallbackValue.INTO:
                value = builder.offset(value, 0, anything(I64))
            found.append(value)
        return found
