"""Variable arguments: each `va_arg` may give any of those passed at the call.

The arguments of a call lie in an object of their own, without order: the list that `va_start` fills
in points somewhere into it. However the compiler spells `va_arg`, and to whatever function the list
is handed on, what is read in the end are the arguments' addresses, with unknown offsets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.state import Content, ThreadState
from raceproof.domains import integers as ints
from raceproof.domains import objects as contents_of
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Intrinsic, NextArgument, PointerType

if TYPE_CHECKING:
    from raceproof.analysis.contexts import Context
    from raceproof.analysis.interpreter import Activation, Interpreter


class VariableArguments:
    """Arguments by the context of their callee."""

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self._passed: dict[int, AbstractValue] = {}

    def pass_on(self, context: Context, values: list[AbstractValue]) -> None:
        passed = self._passed.get(context.number, domain.any_integer(8))
        for value in values:
            passed = domain.join(passed, domain.garbled(value, 8))
        self._passed[context.number] = passed

    def passed(self, context: Context) -> AbstractValue | None:
        """What may stand in the variable arguments of the context's function, by all calls."""
        return self._passed.get(context.number)

    def intrinsic(self, act: Activation, instruction: Intrinsic, state: ThreadState) -> None:
        memory = self.run.calls.memory
        if instruction.name == "va_copy":
            target, source = (memory.address(act, state, a) for a in instruction.arguments[:2])
            memory.copy_bytes(state, target, source, None)
        elif instruction.name == "va_start":
            base = self._arguments(act, state)
            place = domain.AbstractValue(ints.top(memory.bits), {base: ints.top(memory.bits)})
            memory.put_addresses(state, memory.address(act, state, instruction.arguments[0]), place)

    def _arguments(self, act: Activation, state: ThreadState) -> int:
        base = self.run.analysis.objects.arguments(act.context)
        byte = self._passed.get(act.context.number)
        if byte is None:
            byte = domain.garbled(self.run.analysis.external_pointer, 8)
        state.memory = state.memory.set(base, contents_of.unknown(None, byte))
        if byte.pointers:
            self.run.analysis.stored_addresses(base, byte.pointers)
        return base

    def next(self, act: Activation, instruction: NextArgument, state: ThreadState) -> Content:
        memory = self.run.calls.memory
        width = self.run.evaluator.width(instruction.type) or memory.bits
        place = memory.read(
            state, memory.address(act, state, instruction.list), 0, memory.bits // 8, memory.bits
        )
        found = memory.read(state, place, 0, (width + 7) // 8, width)
        if isinstance(instruction.type, PointerType):
            return domain.join(found, domain.any_integer(width))
        return found
