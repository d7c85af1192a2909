"""Where functions are handed over, and what the models say becomes of them.

    event_set(&c->event, fd, EV_READ, on_read, c);

is a *registration*: one call, with one `Handler` for each function that it hands over. What a
handler is called with is a *source* each: a value of the call that the library keeps, a constant,
or something unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from raceproof.concurrency.callbacks.tables import FunctionTables
from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.model import (
    Argument,
    ArgumentCondition,
    CallbackArgument,
    CallbackModel,
    CallbackTime,
    CallbackValue,
    FunctionModel,
)
from raceproof.ir import (
    Call,
    Function,
    FunctionAddress,
    IntConstant,
    NullPointer,
    PointerType,
    Program,
)

PREFIX = "raceproof$"
"""So begin the names of functions and variables that we add to a program."""
OWN = "raceproof_"
"""And those that they call, see `models/callbacks.toml`."""
UNKNOWN_CODE = "unknown code"
"""The loop that unknown code runs."""


def is_synthesized(name: str) -> bool:
    return name.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that is handed over: argument `function`, or one that is `named` inside of what
    the arguments lead to."""

    model: CallbackModel
    named: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """`number` counts those of the calling function."""

    call: Call
    caller: Function
    number: int
    handlers: tuple[Handler, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def callee(self) -> str:
        assert isinstance(self.call.callee, FunctionAddress)
        return self.call.callee.name


@dataclass(slots=True)
class Sites:
    """What there is to be lowered."""

    registrations: list[Registration] = field(default_factory=list)
    unknown: list[Registration] = field(default_factory=list)
    """Calls of unknown functions, with the functions that they are given."""

    @property
    def given(self) -> list[str]:
        """The unknown functions that are given functions of the program."""
        return sorted({site.callee for site in self.unknown if site.handlers})


def find_sites(program: Program, models: Models) -> Sites:
    found = Sites()
    tables = FunctionTables(program)
    for function in program.defined:
        if is_synthesized(function.name):
            continue
        number = 0
        for instruction in function.instructions:
            if not isinstance(instruction, Call):
                continue
            if not isinstance(instruction.callee, FunctionAddress):
                continue
            name = instruction.callee.name
            model = models.applicable(name, program)
            if model is not None:
                handlers = tuple(handlers_of(model, instruction))
                if handlers or model.runs:
                    site = Registration(instruction, function, number, handlers, model.runs)
                    found.registrations.append(site)
                    number += 1
            elif _is_unknown(program, name):
                given = tuple(_given(tables, function, instruction))
                found.unknown.append(Registration(instruction, function, number, given))
                number += 1
    return found


def _is_unknown(program: Program, name: str) -> bool:
    function = program.functions.get(name)
    return (function is None or not function.is_defined) and not name.startswith(OWN)


def handlers_of(model: FunctionModel, call: Call) -> Iterator[Handler]:
    """The functions that the call hands over to be called later."""
    for callback in model.callbacks:
        index = callback.function.index
        if not callback.is_lowered or index >= len(call.arguments):
            continue
        if not isinstance(call.arguments[index], NullPointer):
            if callback.when is None or may_hold(callback.when, call):
                yield Handler(callback)


def may_hold(condition: ArgumentCondition, call: Call) -> bool:
    """As far as the call tells."""
    if condition.argument.index >= len(call.arguments):
        return False
    value = call.arguments[condition.argument.index]
    if condition.argument.indirect or not isinstance(value, IntConstant):
        return True
    return value.value in condition.values


def _given(tables: FunctionTables, caller: Function, call: Call) -> Iterator[Handler]:
    """The program's functions among the arguments, and in the tables that they name."""
    seen: dict[str, int] = {}
    for index, argument in enumerate(call.arguments):
        for name in tables.functions(caller, argument):
            seen.setdefault(name, index)
    pointers = tuple(
        CallbackArgument(CallbackValue.ITSELF, index)
        for index, argument in enumerate(call.arguments)
        if isinstance(argument.type, PointerType) and not isinstance(argument, FunctionAddress)
    )
    for name, index in seen.items():
        model = CallbackModel(Argument(index), pointers, CallbackTime.LOOP, UNKNOWN_CODE)
        yield Handler(model, name)
