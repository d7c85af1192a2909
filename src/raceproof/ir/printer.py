"""The program model as text: one line an instruction, with its source line at the right.

worker(ptr %0.arg) -> ptr                                            # worker
  block 0:
     12  %3 = load i32 &counter                                      counter.c:9
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

from raceproof.ir.instructions import (
    AfterInvoke,
    Assembly,
    AtomicUpdate,
    Binary,
    Branch,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    ExtractElement,
    ExtractField,
    Fence,
    Freeze,
    IndirectJump,
    InsertElement,
    InsertField,
    Instruction,
    Intrinsic,
    Jump,
    LandingPad,
    Load,
    Negate,
    NextArgument,
    Offset,
    Phi,
    Resume,
    Return,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    Switch,
    Unreachable,
)
from raceproof.ir.program import Function, Global, Program
from raceproof.ir.values import (
    AggregateConstant,
    BlockAddress,
    BytesConstant,
    ConstantExpression,
    FloatConstant,
    FunctionAddress,
    GlobalAddress,
    IntConstant,
    NullPointer,
    Undefined,
    Value,
    ZeroConstant,
)

_WIDTH = 84


def print_program(program: Program, out: TextIO) -> None:
    """All of a program; declared functions are named at the end."""
    out.write(f"program of {', '.join(program.files) or 'nothing'} ({program.data_model}), ")
    out.write(f"starts at {program.entry}\n")
    for variable in program.globals.values():
        out.write(global_line(variable) + "\n")
    for function in program.defined:
        out.write("\n")
        print_function(function, out)
    declared = [f.name for f in program.functions.values() if not f.is_defined]
    if declared:
        out.write(f"\ndefined elsewhere: {', '.join(declared)}\n")


def global_line(variable: Global) -> str:
    words = [
        word
        for word, holds in (
            ("thread-local", variable.is_thread_local),
            ("constant", variable.is_constant),
            ("external", variable.initializer is None),
        )
        if holds
    ]
    text = f"global {variable.name}: {variable.type}, {variable.size} bytes"
    if words:
        text += f" ({', '.join(words)})"
    if variable.initializer is not None:
        text += f" = {value_text(variable.initializer)}"
    return _with_position(text, variable.position)


def print_function(function: Function, out: TextIO) -> None:
    parameters = ", ".join(f"{p.type} {p!r}" for p in function.parameters)
    if function.type.variadic:
        parameters += ", ..." if parameters else "..."
    title = f"{function.display}({parameters}) -> {function.type.result}"
    out.write(_with_position(title, function.position) + "\n")
    for block in function.blocks:
        out.write(f"  block {block.index}:\n")
        for instruction in block.instructions:
            out.write(instruction_line(instruction) + "\n")


def instruction_line(instruction: Instruction) -> str:
    text = instruction_text(instruction)
    if instruction.result is not None:
        text = f"{instruction.result!r} = {text}"
    return _with_position(f"{instruction.number:7}  {text}", instruction.position)


def _with_position(text: str, position: object) -> str:
    return f"{text:<{_WIDTH}}  {position}" if position is not None else text


def value_text(value: Value) -> str:
    """A value as an operand."""
    match value:
        case IntConstant():
            return str(value.signed)
        case FloatConstant(_, number):
            return repr(number)
        case NullPointer():
            return "null"
        case GlobalAddress(_, name, offset):
            return f"&{name}+{offset}" if offset else f"&{name}"
        case FunctionAddress(_, name):
            return name
        case BlockAddress(_, function, block):
            return f"&&{function}.{block}"
        case Undefined():
            return "undefined"
        case ZeroConstant():
            return "zero"
        case BytesConstant(_, data):
            return repr(data)[1:]
        case AggregateConstant(_, elements):
            return "{" + ", ".join(map(value_text, elements)) + "}"
        case ConstantExpression(_, operation, operands):
            return f"{operation}({', '.join(map(value_text, operands))})"
    return repr(value)


def instruction_text(instruction: Instruction) -> str:
    """An instruction without number, result and position."""
    return _TEXTS[type(instruction)](instruction)


_v = value_text


def _values(values: tuple[Value, ...]) -> str:
    return ", ".join(map(value_text, values))


def _access(instruction: Load | Store) -> str:
    words = ("atomic " if instruction.atomic else "") + (
        "volatile " if instruction.volatile else ""
    )
    order = f" {instruction.atomic}" if instruction.atomic else ""
    if isinstance(instruction, Load):
        return f"{words}load {instruction.type} {_v(instruction.pointer)}{order}"
    value = instruction.value
    return f"{words}store {value.type} {_v(value)} to {_v(instruction.pointer)}{order}"


def _slot(instruction: StackSlot) -> str:
    name = f" {instruction.name}" if instruction.name else ""
    return f"slot{name}: {instruction.type} x {_v(instruction.count)}"


def _offset(instruction: Offset) -> str:
    parts = [_v(instruction.base)]
    if instruction.constant or not instruction.terms:
        parts.append(str(instruction.constant))
    parts += [f"{_v(index)}*{scale}" for index, scale in instruction.terms]
    return " + ".join(parts)


def _phi(instruction: Phi) -> str:
    return "phi " + ", ".join(f"{block}: {_v(value)}" for block, value in instruction.incoming)


def _switch(instruction: Switch) -> str:
    cases = "".join(f", {value} -> {block}" for value, block in instruction.cases)
    return f"switch {_v(instruction.value)}{cases}, else -> {instruction.default}"


_TEXTS: dict[type[Instruction], Callable[[Any], str]] = {
    StackSlot: _slot,
    Load: _access,
    Store: _access,
    AtomicUpdate: lambda i: f"atomic {i.operation} {_v(i.pointer)}, {_v(i.value)} {i.atomic}",
    CompareExchange: lambda i: (
        f"atomic exchange {_v(i.pointer)}, {_v(i.expected)} -> {_v(i.replacement)} {i.atomic}"
        f" {i.failure}"
    ),
    Fence: lambda i: f"fence {i.atomic}",
    CopyMemory: lambda i: f"copy {_v(i.size)} bytes from {_v(i.source)} to {_v(i.target)}",
    SetMemory: lambda i: f"set {_v(i.size)} bytes of {_v(i.byte)} at {_v(i.target)}",
    Offset: _offset,
    Binary: lambda i: f"{i.operation} {i.left.type} {_v(i.left)}, {_v(i.right)}",
    Compare: lambda i: f"{i.predicate} {i.left.type} {_v(i.left)}, {_v(i.right)}",
    Cast: lambda i: f"{i.operation} {i.value.type} {_v(i.value)} to {i.result.type}",
    Negate: lambda i: f"-{_v(i.value)}",
    Freeze: lambda i: f"freeze {_v(i.value)}",
    Select: lambda i: f"{_v(i.condition)} ? {_v(i.if_true)} : {_v(i.if_false)}",
    Phi: _phi,
    ExtractField: lambda i: f"{_v(i.aggregate)}.{'.'.join(map(str, i.path))}",
    InsertField: lambda i: f"{_v(i.aggregate)} with .{'.'.join(map(str, i.path))} = {_v(i.value)}",
    ExtractElement: lambda i: f"{_v(i.vector)}[{_v(i.index)}]",
    InsertElement: lambda i: f"{_v(i.vector)} with [{_v(i.index)}] = {_v(i.value)}",
    Shuffle: lambda i: f"shuffle {_v(i.left)}, {_v(i.right)} by {i.mask}",
    Intrinsic: lambda i: f"{i.name}({_values(i.arguments)})",
    NextArgument: lambda i: f"next argument {i.type} of {_v(i.list)}",
    Call: lambda i: f"call {_v(i.callee)}({_values(i.arguments)})",
    Assembly: lambda i: f"asm {i.text!r}({_values(i.arguments)})",
    LandingPad: lambda i: f"landing pad ({_values(i.catches)})",
    Jump: lambda i: f"jump {i.target}",
    Branch: lambda i: f"if {_v(i.condition)} then {i.if_true} else {i.if_false}",
    Switch: _switch,
    IndirectJump: lambda i: f"jump to {_v(i.address)}, one of {i.possible}",
    AfterInvoke: lambda i: f"then {i.normal}, on exception {i.unwind}",
    Return: lambda i: "return" if i.value is None else f"return {_v(i.value)}",
    Resume: lambda i: f"resume {_v(i.value)}",
    Unreachable: lambda i: "unreachable",
}
