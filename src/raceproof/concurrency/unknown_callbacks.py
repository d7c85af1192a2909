"""Unknown code that may call back: functions without body and model that can get hold of functions.

    static struct operations *operations;    // filled in somewhere
    run_server(operations);                  // it is unknown what run_server does

Such a call may run `open_server`, which nothing else calls, and all that it starts. What is handed
over by name, or in a table that can be seen, is followed (`raceproof.concurrency.callbacks`). An
engine that has no points-to analysis of its own to see what else is handed over proves nothing
about such programs; nor does any where a library keeps functions and no model wrote its calls into
the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.concurrency.accesses import Events
from raceproof.concurrency.callbacks.sites import PREFIX, handlers_of, is_synthesized
from raceproof.concurrency.callbacks.tables import FunctionTables
from raceproof.concurrency.model import FunctionModel
from raceproof.ir import (
    AggregateConstant,
    Call,
    Constant,
    ConstantExpression,
    Function,
    FunctionAddress,
    Instruction,
    Value,
)


def unknown_callers(events: Events) -> tuple[str, ...]:
    """The unknown functions that may call functions of the program."""
    return _Search(events).callers()


class _Search:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._program = events.program
        self._tables = FunctionTables(events.program)

    def callers(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for function, instruction in self._own_instructions():
            if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
                name = _original(instruction.callee.name)
                if self._is_defined(name) or self._is_followed(function, instruction):
                    continue
                if any(self._may_lead_on(function, instruction, a) for a in instruction.arguments):
                    found[name] = None
        if found and not self._has_loose_functions():
            found = {}
        return tuple(sorted({*found, *self._kept()}))

    def _may_lead_on(self, caller: Function, call: Call, argument: Value) -> bool:
        """May the argument lead unknown code to functions that are not followed?"""
        if not self._tables.is_certain(caller, argument):
            return True
        assert isinstance(call.callee, FunctionAddress)
        is_lowered = is_synthesized(call.callee.name)
        return not is_lowered and bool(self._tables.functions(caller, argument))

    def _own_instructions(self) -> Iterator[tuple[Function, Instruction]]:
        for function in self._program.defined:
            if not is_synthesized(function.name):
                for instruction in function.instructions:
                    yield function, instruction

    def _is_defined(self, name: str) -> bool:
        function = self._program.functions.get(name)
        return function is not None and function.is_defined

    def _is_followed(self, caller: Function, call: Call) -> bool:
        """Is it known whom the called function calls?"""
        assert isinstance(call.callee, FunctionAddress)
        model = self._events.models.applicable(_original(call.callee.name), self._program)
        return model is not None and not model.caveat

    def _kept(self) -> set[str]:
        """Library functions whose callbacks were not written into the program."""
        found = set()
        for _, instruction in self._own_instructions():
            for operand in instruction.operands:
                if isinstance(operand, FunctionAddress) and not self._is_defined(operand.name):
                    model = self._events.models.applicable(operand.name, self._program)
                    if model is not None and _keeps(model, operand, instruction):
                        found.add(operand.name)
        return found

    def _has_loose_functions(self) -> bool:
        """Is the address of some function kept or handed on, but to a call that is followed?"""
        for variable in self._program.globals.values():
            if variable.initializer is not None and self._names_body(variable.initializer):
                if not variable.name.startswith("llvm."):
                    return True
        return any(
            self._names_body(operand)
            for function, instruction in self._own_instructions()
            for operand in self._loose_operands(function, instruction)
        )

    def _loose_operands(self, caller: Function, instruction: Instruction) -> Iterator[Value]:
        if isinstance(instruction, Call):
            callee = instruction.callee
            if not isinstance(callee, FunctionAddress) or not (
                callee.name.startswith(PREFIX) or self._is_followed(caller, instruction)
            ):
                yield from instruction.arguments
        else:
            yield from instruction.operands

    def _names_body(self, value: Value) -> bool:
        work: list[Value] = [value]
        while work:
            match work.pop():
                case FunctionAddress(name=name):
                    if self._is_defined(name):
                        return True
                case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                    work.extend(part for part in parts if isinstance(part, Constant))
        return False


def _original(name: str) -> str:
    """The library function that a call of one of our functions stands for."""
    return name[len(PREFIX) :].partition("$")[0] if is_synthesized(name) else name


def _keeps(model: FunctionModel, function: FunctionAddress, instruction: Instruction) -> bool:
    """May the library keep functions that it gets here, or by whoever gets its address here?"""
    if isinstance(instruction, Call) and instruction.callee is function:
        return any(handlers_of(model, instruction))
    return any(callback.is_lowered for callback in model.callbacks)
