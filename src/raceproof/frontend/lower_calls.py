"""Calls, inline assembly and the compiler's intrinsics."""

from __future__ import annotations

import re
from collections.abc import Callable

from raceproof.frontend.llvm_text import LlvmSyntaxError, Reader, string_bytes
from raceproof.frontend.lowering import Lowering
from raceproof.ir import (
    POINTER,
    VOID,
    Assembly,
    Call,
    CopyMemory,
    FunctionAddress,
    FunctionType,
    IntConstant,
    Intrinsic,
    IntType,
    Load,
    Offset,
    SetMemory,
    Type,
    Undefined,
    Value,
)

_SUFFIX = re.compile(r"(?:\.(?:[ifpv]\d+\w*|bf16|sl_\w+|isVoid))+$")


def lower_call(low: Lowering, tokens: list[str], at: int) -> None:
    """`call`, `invoke` and `callbr`: the callee decides what becomes of it."""
    reader = Reader(tokens, low.names, at)
    while not reader.at_type():
        reader.next()
        if reader.peek() == "(":
            reader.skip_parentheses()
    result = reader.type()
    declared = reader.function_type(result) if reader.peek() == "(" else None
    if reader.peek() == "asm":
        _assembly(low, reader, result)
        return
    callee = low.read(reader, POINTER)
    name = callee.name if isinstance(callee, FunctionAddress) else ""
    if name.startswith("llvm."):
        if not name.startswith(_IGNORED):
            _intrinsic(low, reader, result, name)
        return
    arguments, types = _arguments(low, reader)
    by_value = types["byval"]
    if declared is not None and declared.variadic and by_value:
        arguments, by_value = _spread(low, arguments, by_value, len(declared.parameters))
    type_ = declared or FunctionType(result, tuple(a.type for a in arguments))
    no_return = low.is_no_return(tokens[reader.at :])
    number = low.new_number()
    register = None if result == VOID else low.register(tokens[0], result)
    low.emit(Call(number, low.position, register, callee, arguments, type_, by_value, no_return))


def _arguments(
    low: Lowering, reader: Reader
) -> tuple[tuple[Value, ...], dict[str, tuple[tuple[int, Type], ...]]]:
    """The arguments, and the types that their attributes name: of copies passed by value, of
    operands in memory."""
    reader.expect("(")
    arguments: list[Value] = []
    types: dict[str, tuple[tuple[int, Type], ...]] = {"byval": (), "elementtype": ()}
    while not reader.accept(")"):
        type_ = reader.type()
        kept = reader.skip_attributes()
        for attribute in types:
            if attribute in kept:
                types[attribute] += ((len(arguments), kept[attribute]),)
        if reader.peek()[:1] == "!":
            reader.next()
            if reader.peek() == "(":
                reader.skip_parentheses()
            arguments.append(Undefined(type_))
        else:
            arguments.append(low.read(reader, type_))
        reader.accept(",")
    return tuple(arguments), types


def _spread(
    low: Lowering,
    arguments: tuple[Value, ...],
    by_value: tuple[tuple[int, Type], ...],
    fixed: int,
) -> tuple[tuple[Value, ...], tuple[tuple[int, Type], ...]]:
    """Structs among the variable arguments, word by word.

    Such a struct lies in the caller's argument area as its words would if they were passed one by
    one, and `va_arg` takes it from there.
    """
    structs = {index: type_ for index, type_ in by_value if index >= fixed}
    given: list[Value] = []
    for index, argument in enumerate(arguments):
        if index in structs:
            given += _words(low, argument, low.names.layout.size(structs[index]))
        else:
            given.append(argument)
    return tuple(given), tuple(entry for entry in by_value if entry[0] < fixed)


def _words(low: Lowering, pointer: Value, size: int) -> list[Value]:
    word = low.names.layout.pointer_size
    found: list[Value] = []
    for start in range(0, size, word):
        place = pointer
        if start:
            number = low.new_number()
            place = low.register(f"%byval.{number}", POINTER)
            low.emit(Offset(number, low.position, place, pointer, start))
        rest = min(word, size - start)
        type_: Type = POINTER if rest == word else IntType(8 * rest)
        number = low.new_number()
        loaded = low.register(f"%byval.{number}", type_)
        low.emit(Load(number, low.position, loaded, type_, place))
        found.append(loaded)
    return found


def _assembly(low: Lowering, reader: Reader, result: Type) -> None:
    reader.expect("asm")
    while not reader.peek().startswith('"'):
        reader.next()
    text = string_bytes(reader.next()).decode("utf-8", "replace")
    reader.expect(",")
    constraints = string_bytes(reader.next()).decode("utf-8", "replace")
    arguments, types = _arguments(low, reader)
    number = low.new_number()
    register = None if result == VOID else low.register(reader.tokens[0], result)
    clobbers = "~{memory}" in constraints
    places = types["elementtype"]
    low.emit(
        Assembly(number, low.position, register, text, constraints, arguments, clobbers, places)
    )


# --- intrinsics ------------------------------------------------------------


def _intrinsic(low: Lowering, reader: Reader, result: Type, name: str) -> None:
    token = reader.tokens[0]
    arguments, _ = _arguments(low, reader)
    short = _SUFFIX.sub("", name.removeprefix("llvm."))
    handler = _SPECIAL.get(short)
    if handler is not None:
        handler(low, token, result, arguments)
        return
    if short in ("debugtrap", "ubsantrap"):
        short = "trap"
    number = low.new_number()
    register = None if result == VOID else low.register(token, result)
    low.emit(Intrinsic(number, low.position, register, short, arguments))


def _copy(low: Lowering, token: str, result: Type, arguments: tuple[Value, ...]) -> None:
    target, source, size = arguments[:3]
    low.emit(CopyMemory(low.new_number(), low.position, None, target, source, size))


def _set(low: Lowering, token: str, result: Type, arguments: tuple[Value, ...]) -> None:
    target, byte, size = arguments[:3]
    low.emit(SetMemory(low.new_number(), low.position, None, target, byte, size))


def _first_argument(low: Lowering, token: str, result: Type, arguments: tuple[Value, ...]) -> None:
    low.alias(token, arguments[0])


def _object_size(low: Lowering, token: str, result: Type, arguments: tuple[Value, ...]) -> None:
    if not isinstance(result, IntType):
        raise LlvmSyntaxError("objectsize is not an integer")
    least = isinstance(arguments[1], IntConstant) and arguments[1].value == 1
    low.alias(token, IntConstant(result, 0 if least else (1 << result.bits) - 1))


def _zero(low: Lowering, token: str, result: Type, arguments: tuple[Value, ...]) -> None:
    low.alias(token, IntConstant(result, 0))


def _undefined(low: Lowering, token: str, result: Type, arguments: tuple[Value, ...]) -> None:
    low.alias(token, Undefined(result))


_IGNORED = tuple(
    f"llvm.{name}"
    for name in (
        "dbg.",
        "lifetime.",
        "stackrestore",
        "assume",
        "var.annotation",
        "prefetch",
        "donothing",
        "invariant.end",
        "experimental.noalias",
        "pseudoprobe",
        "codeview",
    )
)

_SPECIAL: dict[str, Callable[[Lowering, str, Type, tuple[Value, ...]], None]] = {
    "memcpy": _copy,
    "memcpy.inline": _copy,
    "memmove": _copy,
    "memset": _set,
    "memset.inline": _set,
    "expect": _first_argument,
    "expect.with.probability": _first_argument,
    "threadlocal.address": _first_argument,
    "launder.invariant.group": _first_argument,
    "strip.invariant.group": _first_argument,
    "ptr.annotation": _first_argument,
    "annotation": _first_argument,
    "ssa.copy": _first_argument,
    "objectsize": _object_size,
    "is.constant": _zero,
    "stacksave": _undefined,
    "invariant.start": _undefined,
}
