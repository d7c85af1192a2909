"""Hidden variables: what locks, conditions, barriers and threads are doing, as memory of ours.

The state of a lock at address `a` is in the bytes at `a + SHADOW`, that of a thread in variables of
its own. A step reads them, can only take place if they say so (`wait_until`), and writes them. So
blocking needs nothing of its own in the encoders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import Success
from raceproof.concurrency.synchronisation import error_value
from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.engines.bounded.objects import SHADOW
from raceproof.engines.bounded.state import Value
from raceproof.ir import Value as Operand
from raceproof.semantics.synchronisation import CONSTANTS
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class HiddenVariables(Part):
    """Reads and writes them, and knows what a call returns that waited for them."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.instructions = walker.instructions

    def shadow(self, address: Term) -> Term:
        return self.instructions.moved(address, SHADOW)

    def peek(self, address: Term, size: int = 1) -> Term:
        return self.memory.read(address, size, is_access=False)

    def poke(self, address: Term, value: Term, condition: Term | None = None) -> None:
        self.memory.write(address, value, is_access=False, condition=condition)

    def control(self, what: str, thread: int) -> Term:
        return self.space.pointer(self.unfolder.control(what, thread))

    def byte(self, value: int) -> Term:
        return self.terms.const(value, 8)

    def wait_until(self, condition: Term) -> None:
        """The current step can only take place if the condition holds."""
        assert self.cursor.event is not None
        self.cursor.event.assume = self.terms.and_(self.cursor.event.assume, condition)
        if condition is self.terms.false:
            raise PathEnds

    def operand_address(self, operand: Operand, is_indirect: bool) -> Term:
        address = self.operands.term(operand)
        if is_indirect:
            address = self.memory.read(address, address.width // 8)
        return address

    # --- results ------------------------------------------------------------

    def result_of(self, event: meaning.Event, is_success: bool) -> Value | None:
        """What a call returns when it did, or did not do, what it is for."""
        result = event.call.result
        if result is None:
            return None
        width = self.space.width(result.type)
        success = getattr(event, "success", Success.ALWAYS)
        if success is Success.NONZERO:
            return self.terms.const(1 if is_success else 0, width)
        if is_success:
            return self.terms.const(0, width)
        return self.error(event, CONSTANTS["BUSY"], width)

    def error(self, event: meaning.Event, error: int, width: int) -> Term:
        """What a call returns that fails, where that is known; else a proof takes any error."""
        value = error_value(event.model, event.model.name, error)
        if value is not None:
            return self.terms.const(value, width)
        if not self.unfolder.limits.cautious:
            self.unfolder.has_choices = True
            return self.terms.const(error, width)
        found = self.operands.fresh_input("error", width)
        self.cursor.require(self.terms.not_(self.terms.eq(found, self.terms.const(0, width))))
        return found

    def set_choice(self, event: meaning.Event, is_success: Term) -> None:
        yes, no = self.result_of(event, True), self.result_of(event, False)
        if isinstance(yes, Term) and isinstance(no, Term):
            self.operands.set_result(self.terms.ite(is_success, yes, no))
