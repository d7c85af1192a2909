"""Hidden variables: what locks, conditions, barriers and threads are doing, as memory of ours.

The state of a lock at address `a` is in the bytes at `a + SHADOW`, that of a thread in variables of
its own. A step reads them, can only take place if they say so (`wait_until`), and writes them. So
blocking needs nothing of its own in the encoders.
"""

from __future__ import annotations

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import Success
from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.instructions import InstructionWalker
from raceproof.engines.bounded.objects import SHADOW
from raceproof.engines.bounded.state import Value
from raceproof.ir import Value as Operand
from raceproof.smt.terms import Term

_EBUSY = 16


class HiddenVariables(InstructionWalker):
    """Reads and writes them, and knows what a call returns that waited for them."""

    def shadow(self, address: Term) -> Term:
        return self.moved(address, SHADOW)

    def peek(self, address: Term, size: int = 1) -> Term:
        return self.read(address, size, is_access=False)

    def poke(self, address: Term, value: Term, condition: Term | None = None) -> None:
        self.write(address, value, is_access=False, condition=condition)

    def control(self, what: str, thread: int) -> Term:
        return self.space.pointer(self.unfolder.control(what, thread))

    def byte(self, value: int) -> Term:
        return self.terms.const(value, 8)

    def wait_until(self, condition: Term) -> None:
        """The current step can only take place if the condition holds."""
        assert self.event is not None
        self.event.assume = self.terms.and_(self.event.assume, condition)
        if condition is self.terms.false:
            raise PathEnds

    def operand_address(self, operand: Operand, is_indirect: bool) -> Term:
        address = self.term(operand)
        if is_indirect:
            address = self.read(address, address.width // 8)
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
        return self._error(event.model.name, width)

    def _error(self, function: str, width: int) -> Term:
        """POSIX names the error; for others a proof takes any."""
        if function.startswith("pthread_"):
            return self.terms.const(_EBUSY, width)
        if not self.unfolder.limits.cautious:
            self.unfolder.has_choices = True
            return self.terms.const(_EBUSY, width)
        error = self.fresh_input("error", width)
        self.require(self.terms.not_(self.terms.eq(error, self.terms.const(0, width))))
        return error

    def _set_choice(self, event: meaning.Event, is_success: Term) -> None:
        yes, no = self.result_of(event, True), self.result_of(event, False)
        if isinstance(yes, Term) and isinstance(no, Term):
            self.set_result(self.terms.ite(is_success, yes, no))
