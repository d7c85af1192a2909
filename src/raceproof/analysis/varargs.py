"""Variable arguments: each `va_arg` may give any of those passed at the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.state import Content, State
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Intrinsic, NextArgument, PointerType

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter


class VariableArguments:
    """Arguments by the context of their callee. A list handed to another function is unknown."""

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self._passed: dict[int, AbstractValue] = {}

    def pass_on(self, context: int, values: list[AbstractValue]) -> None:
        joined = self._passed.get(context, domain.BOTTOM)
        for value in values:
            joined = domain.join(joined, value.pointers_only() if value.pointers else joined)
        self._passed[context] = joined

    def intrinsic(self, act: Activation, instruction: Intrinsic, state: State) -> None:
        """The list object points to the arguments; reading them goes through external memory."""
        memory = self.run.calls.memory
        for argument in instruction.arguments:
            memory.write_unknown(act, state, argument)

    def next(self, act: Activation, instruction: NextArgument, state: State) -> Content:
        context = act.context
        found = self._passed.get(context.number, domain.BOTTOM)
        width = self.run.evaluator.width(instruction.type) or 64
        if isinstance(instruction.type, PointerType):
            return domain.join(found, self.run.analysis.external_pointer)
        return (
            domain.join(found, domain.any_integer(width))
            if found.pointers
            else (domain.any_integer(width))
        )
