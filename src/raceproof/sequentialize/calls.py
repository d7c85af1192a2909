"""Calls: the program's own functions are inlined, the library's become operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from raceproof.concurrency.effects import MemoryEffect, Product, Size, StringLength
from raceproof.concurrency.model import FunctionModel, ReturnKind, Role
from raceproof.ir import (
    Call,
    FloatType,
    Function,
    FunctionAddress,
    IntType,
    PointerType,
    Value,
)
from raceproof.machine.libc.call import CANCEL_POINTS
from raceproof.machine.libc.registry import FUNCTIONS, INPUTS
from raceproof.sequentialize.accesses import touched
from raceproof.sequentialize.c_text import comment, leaves, wrapped
from raceproof.sequentialize.expressions import converted
from raceproof.sequentialize.frames import Given, PrintedFrame
from raceproof.sequentialize.handlers import AT_EXIT
from raceproof.sequentialize.instructions import any_value
from raceproof.sequentialize.library import LIBRARY, QUIET
from raceproof.sequentialize.writer import Touched

if TYPE_CHECKING:
    from raceproof.sequentialize.thread_printer import ThreadPrinter

_NEW_PROCESSES = ("fork", "vfork", "_Fork", "__fork")

_SET_JUMPS = ("setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp")
_CALL = re.compile(r"\w+\(")


def write_call(printer: ThreadPrinter, frame: PrintedFrame, call: Call) -> None:
    if isinstance(call.callee, FunctionAddress):
        _write_named(printer, frame, call, call.callee.name, is_direct=True)
        return
    dispatch(
        printer,
        frame,
        frame.address(call.callee),
        printer.context.callees(call),
        lambda function: _write_named(printer, frame, call, function.name, is_direct=False),
    )


def dispatch(
    printer: ThreadPrinter,
    frame: PrintedFrame,
    pointer: str,
    functions: Sequence[Function],
    write: Callable[[Function], None],
) -> None:
    """A call through a pointer: one of `functions`."""
    writer = frame.writer
    labels = [writer.fresh("c") for _ in functions]
    macros = printer.context.arena.function_macros
    for function, label in zip(functions, labels, strict=True):
        writer.line(f"if ({pointer} == {macros[function.name]}) {writer.jump(label)}")
    writer.line("must(0); /* a call of no function */")
    after = writer.fresh("c")
    for function, label in zip(functions, labels, strict=True):
        writer.label(label)
        write(function)
        writer.goto(after)
    writer.label(after)


def _write_named(
    printer: ThreadPrinter, frame: PrintedFrame, call: Call, name: str, *, is_direct: bool
) -> None:
    context = printer.context
    model = context.models.applicable(name, context.program)
    function = context.program.functions.get(name)
    is_defined = function is not None and function.is_defined
    if model is not None and model.role not in (None, Role.ATOMIC_FUNCTION):
        from raceproof.sequentialize.operations import write_operation

        write_operation(printer, frame, call, name, model)
    elif (
        function is not None and is_defined and (model is None or not model.override or model.role)
    ):
        is_atomic = is_direct and model is not None and model.role is Role.ATOMIC_FUNCTION
        if is_atomic:
            frame.writer.visible((), is_sync=True)
            frame.writer.line("++thread[t].atomic;")
        _write_own(printer, frame, call, function)
        if is_atomic:
            frame.writer.line("if (thread[t].atomic) --thread[t].atomic;")
    elif name in AT_EXIT and call.arguments:
        _write_at_exit(frame, call)
    elif name in _SET_JUMPS:
        frame.writer.line(comment(f"{name}: jumps back to it are not followed"))
        set_result(frame, call, "0")
    elif model is not None and model.no_return:
        frame.writer.visible((), is_sync=True)
        frame.writer.line(f"must(0); {comment(f'{name} ends the program')}")
    else:
        _write_library(printer, frame, call, name, model)


def _write_at_exit(frame: PrintedFrame, call: Call) -> None:
    given = as_address(frame, call.arguments[1]) if len(call.arguments) > 1 else "0"
    frame.writer.visible((), is_sync=True)
    frame.writer.line("must(exit_handler_count < HANDLERS);")
    frame.writer.line(f"exit_handlers[exit_handler_count][0] = {frame.address(call.arguments[0])};")
    frame.writer.line(f"exit_handlers[exit_handler_count][1] = {given};")
    frame.writer.line("++exit_handler_count;")
    set_result(frame, call, "0")


def _write_own(printer: ThreadPrinter, frame: PrintedFrame, call: Call, function: Function) -> None:
    copied = tuple((index, frame.layout.size(type_)) for index, type_ in call.by_value)
    read = [
        access
        for index, size in copied
        for access in touched(frame, call.arguments[index], str(size), "READ")
    ]
    if read:
        frame.writer.visible(read, is_sync=False)
    arguments = tuple(frame.given(argument) for argument in call.arguments)
    printer.inline(frame, call.number, function, arguments, call.result, copied)


def enter(
    printer: ThreadPrinter,
    frame: PrintedFrame,
    call: Call,
    routine: str,
    arguments: tuple[Given, ...],
) -> None:
    """The library calls a function of the program."""
    functions = [
        function
        for function in printer.context.address_taken
        if function.is_defined and len(function.parameters) <= len(arguments)
    ]
    dispatch(
        printer,
        frame,
        routine,
        functions,
        lambda function: printer.inline(frame, call.number, function, arguments, None),
    )


# --- what calls touch and return ------------------------------------------------------------


def size_text(frame: PrintedFrame, size: Size, start: str) -> str:
    """How many bytes, as C."""
    match size:
        case int():
            return str(size)
        case Product(factors=factors, scale=scale):
            text = " * ".join(f"(uint64_t){frame.value(factor)}" for factor in factors)
            return text if scale == 1 else f"{text} * {scale}"
        case StringLength(pointer=pointer, limit=limit, width=width):
            most = "SIZE"
            if isinstance(limit, int):
                most = str(limit)
            elif limit is not None:
                most = frame.value(limit)
            return f"string_size({frame.address(pointer)}, {most}, {width})"
        case Value():
            return frame.value(size)
    return f"extent({start})"


def effects_of(frame: PrintedFrame, call: Call, name: str) -> list[tuple[MemoryEffect, Touched]]:
    """What the call touches by its model."""
    event = frame.context.events.of(call, name)
    found = []
    for effect in event.effects if event is not None else ():
        start = frame.address(effect.pointer)
        size = size_text(frame, effect.size, start)
        kind = ("ATOMIC_" if effect.is_atomic else "") + ("WRITE" if effect.is_write else "READ")
        is_shared = f"shared({start})"
        if frame.facts.is_private(effect.pointer):
            is_shared = "0"
        elif not isinstance(effect.size, int):
            is_shared = f"({is_shared} && {size} > 0)"
        found.append((effect, Touched(start, size, kind, is_shared)))
    return found


def set_result(frame: PrintedFrame, call: Call, text: str) -> None:
    """The call returns a number."""
    if call.result is None or call.result not in frame.facts.used:
        if _CALL.match(text):
            frame.writer.line(f"(void){text};")
        return
    parts = [type_ for type_, _ in leaves(call.result.type, frame.layout)]
    if len(parts) != 1:
        return
    if isinstance(parts[0], FloatType):
        frame.define(call.result, [text])
    else:
        frame.define(call.result, [wrapped(parts[0], text, frame.layout)])


def _write_library(
    printer: ThreadPrinter, frame: PrintedFrame, call: Call, name: str, model: FunctionModel | None
) -> None:
    from raceproof.sequentialize.endings import write_cancel_point

    effects = effects_of(frame, call, name)
    seen = [access for _, access in effects if access.is_shared != "0"]
    if name in CANCEL_POINTS:
        write_cancel_point(printer, frame, seen)
    elif seen:
        frame.writer.visible(seen, is_sync=False)
    known = LIBRARY.get(name)
    if known is not None and len(call.arguments) >= known.arguments:
        values = call.arguments[: known.arguments]
        texts = [
            frame.address(value) if isinstance(value.type, PointerType) else frame.value(value)
            for value in values
        ]
        set_result(frame, call, f"{known.function}({', '.join(texts)})")
        return
    for effect, access in effects:
        if effect.is_write:
            frame.writer.line(
                f"if ({access.start}) forget({access.start}, {access.size});"
                f" {comment(f'{name} writes')}"
            )
    if name in QUIET:
        frame.writer.line(comment(f"{name}: no effect here"))
        if call.result is not None and call.result in frame.facts.used:
            set_result(frame, call, "0" if QUIET[name] else "unmodelled()")
        return
    if model is None:
        frame.writer.line(comment(f"{name} is not modelled: taken to touch nothing"))
    for callback in model.callbacks if model is not None else ():
        frame.writer.line(comment(f"{name}: the function it is given ({callback.time}) is not run"))
    _write_returned(frame, call, name, model)


def _write_returned(
    frame: PrintedFrame, call: Call, name: str, model: FunctionModel | None
) -> None:
    if call.result is None:
        return
    returns = model.returns if model is not None else None
    kind = returns.kind if returns is not None else ReturnKind.ANY
    if returns is not None and kind is ReturnKind.CONSTANT:
        set_result(frame, call, f"{returns.constant & (1 << 64) - 1}u")
    elif returns is not None and kind in (ReturnKind.ARGUMENT, ReturnKind.INTO):
        set_result(frame, call, frame.value(call.arguments[returns.index]))
    elif kind is ReturnKind.FRESH:
        set_result(frame, call, "allocate(256, UNKNOWN)")
    elif returns is not None and kind in (ReturnKind.STATIC, ReturnKind.THREAD_LOCAL):
        is_local = kind is ReturnKind.THREAD_LOCAL
        start = frame.context.arena.library_object(returns.name, is_thread_local=is_local)
        set_result(frame, call, f"LOCALS(t) + {start}" if is_local else start)
    elif name in _NEW_PROCESSES:
        frame.writer.line(comment(f"{name}: the new process is not followed"))
        set_result(frame, call, "2u")
    elif name in FUNCTIONS and name not in INPUTS:
        set_result(frame, call, "unmodelled()")
    else:
        texts = [any_value(type_, frame) for type_, _ in leaves(call.result.type, frame.layout)]
        frame.define(call.result, texts)


def as_address(frame: PrintedFrame, value: Value) -> str:
    """A value of any scalar type, as the machine word of a pointer."""
    if isinstance(value.type, IntType | PointerType):
        return converted(value.type, PointerType(), frame.value(value), frame.layout)
    return "0"
