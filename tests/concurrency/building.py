"""Small pieces of programs, made by hand."""

from collections.abc import Mapping

from raceproof.concurrency import Models, event
from raceproof.concurrency.events import Event
from raceproof.ir import (
    I32,
    I64,
    POINTER,
    VOID,
    Block,
    BytesConstant,
    Call,
    DebugInfo,
    Function,
    FunctionAddress,
    FunctionType,
    Global,
    GlobalAddress,
    IntConstant,
    Layout,
    Program,
    Register,
    Return,
    Type,
    Value,
)

LP64 = Layout.parse("e-m:e-i64:64-f80:128-n8:16:32:64-S128")
ILP32 = Layout.parse("e-m:e-p:32:32-i64:64-f80:32-n8:16:32-S128")
MODELS = Models.load()


def pointer(name: str = "p") -> Register:
    return Register(POINTER, 0, name)


def number(value: int, type_: Type = I32) -> IntConstant:
    return IntConstant(type_, value)


def size_value(name: str = "n") -> Register:
    return Register(I64, 0, name)


def address(name: str) -> GlobalAddress:
    return GlobalAddress(POINTER, name)


def call(name: str, *arguments: Value, result: Type = I32) -> Call:
    type_ = FunctionType(result, tuple(argument.type for argument in arguments))
    register = None if result is VOID else Register(result, 0)
    return Call(0, None, register, FunctionAddress(POINTER, name), arguments, type_)


def function(name: str, *, defined: bool) -> Function:
    body = (Block(0, (Return(0, None, None, None),)),) if defined else ()
    return Function(name, name, FunctionType(VOID, ()), (), body)


def program(
    *functions: Function, strings: Mapping[str, str] | None = None, layout: Layout = LP64
) -> Program:
    texts = {
        name: Global(
            name,
            name,
            POINTER,
            len(text) + 1,
            BytesConstant(POINTER, text.encode() + b"\0"),
            is_constant=True,
        )
        for name, text in (strings or {}).items()
    }
    return Program({f.name: f for f in functions}, texts, layout, DebugInfo(), ())


def meaning(
    name: str,
    *arguments: Value,
    result: Type = I32,
    of: Program | None = None,
    models: Models = MODELS,
) -> Event | None:
    """The event of a call in a program."""
    return event(call(name, *arguments, result=result), of or program(), models)
