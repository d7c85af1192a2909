"""What a program registers to be called at the end of its threads and of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.concurrency.model import Role
from raceproof.ir import Call, Function, FunctionAddress, NullPointer

if TYPE_CHECKING:
    from raceproof.sequentialize.context import ProgramContext

AT_EXIT = ("atexit", "__cxa_atexit")
_MOST = 4
"""Handlers of one kind that are run at most."""


class Handlers:
    """The functions of one kind that a program registers, and by how many calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.functions: dict[str, Function] = {}

    @property
    def rounds(self) -> int:
        return min(self.calls, _MOST)


class Endings:
    """What a program registers for the end of its threads and of the process."""

    def __init__(self, context: ProgramContext) -> None:
        self.cleanups, self.destructors, self.at_exit = Handlers(), Handlers(), Handlers()
        by_role = {
            Role.CLEANUP_PUSH: (self.cleanups, "routine"),
            Role.SPECIFIC_CREATE: (self.destructors, "destructor"),
        }
        for _, instruction in context.program.all_instructions():
            if not isinstance(instruction, Call):
                continue
            callee = instruction.callee
            if not isinstance(callee, FunctionAddress):
                continue
            model = context.models.applicable(callee.name, context.program)
            if model is not None and model.role in by_role:
                handlers, operand = by_role[model.role]
                place = model.operands.get(operand)
                if place is not None and place.index < len(instruction.arguments):
                    _register(context, handlers, instruction, place.index)
            elif callee.name in AT_EXIT and instruction.arguments:
                _register(context, self.at_exit, instruction, 0)

    @property
    def of_threads(self) -> bool:
        """Whether the end of a thread runs anything."""
        return bool(self.cleanups.calls or self.destructors.calls)


def _register(context: ProgramContext, handlers: Handlers, call: Call, index: int) -> None:
    value = call.arguments[index]
    if isinstance(value, NullPointer):
        return
    handlers.calls += 1
    if isinstance(value, FunctionAddress):
        functions = [context.program.functions[value.name]]
    else:
        functions = list(context.address_taken)
    for function in functions:
        if function.is_defined:
            handlers.functions[function.name] = function
