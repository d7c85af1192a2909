"""Barriers, semaphores and what happens once: counters that threads wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import Wait
from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.smt.terms import Term

_MOST = 0x7FFFFFFF
"""`SEM_VALUE_MAX`."""


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class Meetings(Part):
    """Threads that wait until others have come as far."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.instructions = walker.instructions
        self.functions = walker.functions
        self.hidden = walker.hidden
        self.allocation = walker.allocation

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {
            meaning.BarrierInit: self.initialise_barrier,
            meaning.BarrierWait: self.wait_at_barrier,
            meaning.SemaphoreInit: self.initialise_semaphore,
            meaning.SemaphoreWait: self.wait_semaphore,
            meaning.SemaphorePost: self.post_semaphore,
            meaning.SemaphoreValue: self.semaphore_value,
            meaning.Once: self.once,
        }

    # --- barriers ------------------------------------------------------------

    def initialise_barrier(self, event: meaning.BarrierInit) -> None:
        barrier = self.hidden.shadow(self.operands.term(event.barrier))
        with self.cursor.step("init"):
            self.hidden.poke(barrier, self.terms.resize(self.operands.term(event.count), 32))
            self.hidden.poke(self.instructions.moved(barrier, 4), self.terms.const(0, 32))
        self.operands.set_result(self.hidden.result_of(event, True))

    def wait_at_barrier(self, event: meaning.BarrierWait) -> None:
        terms = self.terms
        barrier = self.hidden.shadow(self.operands.term(event.barrier))
        arrivals = self.instructions.moved(barrier, 4)
        one = terms.const(1, 32)
        with self.cursor.step("arrive"):
            count = self.hidden.peek(barrier, 4)
            mine = self.hidden.peek(arrivals, 4)
            self.hidden.poke(arrivals, terms.binary("add", mine, one))
        generation = terms.binary("add", terms.binary("udiv", mine, count), one)
        with self.cursor.step("leave"):
            now = self.hidden.peek(arrivals, 4)
            self.hidden.wait_until(
                terms.compare("uge", now, terms.binary("mul", generation, count))
            )
        result = event.call.result
        if result is not None:
            is_last = terms.eq(
                terms.binary("add", mine, one), terms.binary("mul", generation, count)
            )
            width = self.space.width(result.type)
            self.operands.set_result(
                terms.ite(is_last, terms.const(-1, width), terms.const(0, width))
            )

    # --- semaphores ------------------------------------------------------------

    def initialise_semaphore(self, event: meaning.SemaphoreInit) -> None:
        initial = self.terms.const(event.initial, 32)
        value = self.operands.term(event.value) if event.value is not None else initial
        if event.semaphore is None:
            semaphore = self.space.pointer(self.allocation.new_object("semaphore", 32, zeroed=True))
        else:
            semaphore = self.operands.term(event.semaphore)
        with self.cursor.step("init"):
            self.hidden.poke(self.hidden.shadow(semaphore), self.terms.resize(value, 32))
        if event.semaphore is None:
            self.operands.set_result(semaphore)
        else:
            self.operands.set_result(self.hidden.result_of(event, True))

    def wait_semaphore(self, event: meaning.SemaphoreWait) -> None:
        terms = self.terms
        semaphore = self.hidden.shadow(self.operands.term(event.semaphore))
        with self.cursor.step("semaphore-wait"):
            old = self.hidden.peek(semaphore, 4)
            is_positive = terms.not_(terms.eq(old, terms.const(0, 32)))
            new = terms.binary("sub", old, terms.const(1, 32))
            if event.wait is Wait.BLOCK:
                self.hidden.wait_until(is_positive)
                self.hidden.poke(semaphore, new)
                self.operands.set_result(self.hidden.result_of(event, True))
                return
            self.hidden.poke(semaphore, new, is_positive)
            self.hidden.set_choice(event, is_positive)

    def post_semaphore(self, event: meaning.SemaphorePost) -> None:
        semaphore = self.hidden.shadow(self.operands.term(event.semaphore))
        with self.cursor.step("semaphore-post"):
            old = self.hidden.peek(semaphore, 4)
            is_full = self.terms.eq(old, self.terms.const(_MOST, 32))
            more = self.terms.binary("add", old, self.terms.const(1, 32))
            self.hidden.poke(semaphore, self.terms.ite(is_full, old, more))
        result = self.hidden.result_of(event, True)
        if is_full is not self.terms.false and isinstance(result, Term):
            result = self.terms.ite(is_full, self.terms.const(-1, result.width), result)
        self.operands.set_result(result)

    def semaphore_value(self, event: meaning.SemaphoreValue) -> None:
        semaphore = self.hidden.shadow(self.operands.term(event.semaphore))
        with self.cursor.step("semaphore-value"):
            value = self.hidden.peek(semaphore, 4)
            if event.result_pointer is not None:
                self.memory.write(self.operands.term(event.result_pointer), value)
        if event.result_pointer is not None:
            self.operands.set_result(self.hidden.result_of(event, True))
        else:
            self.operands.set_result(value)

    # --- once ------------------------------------------------------------

    def once(self, event: meaning.Once) -> None:
        terms = self.terms
        control = self.hidden.shadow(self.operands.term(event.control))
        with self.cursor.step("once"):
            old = self.hidden.peek(control)
            is_first = terms.eq(old, self.hidden.byte(0))
            self.hidden.wait_until(terms.not_(terms.eq(old, self.hidden.byte(1))))
            self.hidden.poke(control, self.hidden.byte(1), is_first)

        def initialise() -> None:
            arguments = [self.operands.value(event.argument)] if event.argument is not None else []
            self.walker.library.call_pointer(self.operands.term(event.routine), arguments)
            with self.cursor.step("once-end"):
                self.hidden.poke(control, self.hidden.byte(2))

        self.under(is_first, initialise)
        self.operands.set_result(self.hidden.result_of(event, True))

    def under(self, condition: Term, action: Callable[[], None]) -> None:
        """Does something on the paths where the condition holds."""
        terms = self.terms
        base = self.cursor.state
        taken = base.copy(terms.and_(base.guard, condition))
        other = base.copy(terms.and_(base.guard, terms.not_(condition)))
        if taken.guard is terms.false:
            return
        self.cursor.state = taken
        try:
            action()
        except PathEnds:
            if other.guard is terms.false:
                raise
            self.cursor.state = other
            return
        if other.guard is not terms.false:
            self.cursor.state = self.functions.merge([self.cursor.state, other])
