"""Barriers, semaphores and what happens once: counters that threads wait for."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import Wait
from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.locks import LockingWalker
from raceproof.engines.bounded.objects import MemoryObject
from raceproof.engines.bounded.state import Value
from raceproof.smt.terms import Term

_MOST = 0x7FFFFFFF
"""`SEM_VALUE_MAX`."""


class MeetingWalker(LockingWalker):
    """Threads that wait until others have come as far."""

    def new_object(self, what: str, size: int, *, zeroed: bool) -> MemoryObject:
        raise NotImplementedError

    def call_pointer(self, callee: Term, arguments: list[Value]) -> Value | None:
        raise NotImplementedError

    # --- barriers ------------------------------------------------------------

    def initialise_barrier(self, event: meaning.BarrierInit) -> None:
        barrier = self.shadow(self.term(event.barrier))
        with self.step("init"):
            self.poke(barrier, self.terms.resize(self.term(event.count), 32))
            self.poke(self.moved(barrier, 4), self.terms.const(0, 32))
        self.set_result(self.result_of(event, True))

    def wait_at_barrier(self, event: meaning.BarrierWait) -> None:
        terms = self.terms
        barrier = self.shadow(self.term(event.barrier))
        arrivals = self.moved(barrier, 4)
        one = terms.const(1, 32)
        with self.step("arrive"):
            count = self.peek(barrier, 4)
            mine = self.peek(arrivals, 4)
            self.poke(arrivals, terms.binary("add", mine, one))
        generation = terms.binary("add", terms.binary("udiv", mine, count), one)
        with self.step("leave"):
            now = self.peek(arrivals, 4)
            self.wait_until(terms.compare("uge", now, terms.binary("mul", generation, count)))
        result = event.call.result
        if result is not None:
            is_last = terms.eq(
                terms.binary("add", mine, one), terms.binary("mul", generation, count)
            )
            width = self.space.width(result.type)
            self.set_result(terms.ite(is_last, terms.const(-1, width), terms.const(0, width)))

    # --- semaphores ------------------------------------------------------------

    def initialise_semaphore(self, event: meaning.SemaphoreInit) -> None:
        initial = self.terms.const(event.initial, 32)
        value = self.term(event.value) if event.value is not None else initial
        if event.semaphore is None:
            semaphore = self.space.pointer(self.new_object("semaphore", 32, zeroed=True))
        else:
            semaphore = self.term(event.semaphore)
        with self.step("init"):
            self.poke(self.shadow(semaphore), self.terms.resize(value, 32))
        if event.semaphore is None:
            self.set_result(semaphore)
        else:
            self.set_result(self.result_of(event, True))

    def wait_semaphore(self, event: meaning.SemaphoreWait) -> None:
        terms = self.terms
        semaphore = self.shadow(self.term(event.semaphore))
        with self.step("semaphore-wait"):
            old = self.peek(semaphore, 4)
            is_positive = terms.not_(terms.eq(old, terms.const(0, 32)))
            new = terms.binary("sub", old, terms.const(1, 32))
            if event.wait is Wait.BLOCK:
                self.wait_until(is_positive)
                self.poke(semaphore, new)
                self.set_result(self.result_of(event, True))
                return
            self.poke(semaphore, new, is_positive)
            self._set_choice(event, is_positive)

    def post_semaphore(self, event: meaning.SemaphorePost) -> None:
        semaphore = self.shadow(self.term(event.semaphore))
        with self.step("semaphore-post"):
            old = self.peek(semaphore, 4)
            is_full = self.terms.eq(old, self.terms.const(_MOST, 32))
            more = self.terms.binary("add", old, self.terms.const(1, 32))
            self.poke(semaphore, self.terms.ite(is_full, old, more))
        result = self.result_of(event, True)
        if is_full is not self.terms.false and isinstance(result, Term):
            result = self.terms.ite(is_full, self.terms.const(-1, result.width), result)
        self.set_result(result)

    def semaphore_value(self, event: meaning.SemaphoreValue) -> None:
        semaphore = self.shadow(self.term(event.semaphore))
        with self.step("semaphore-value"):
            value = self.peek(semaphore, 4)
            if event.result_pointer is not None:
                self.write(self.term(event.result_pointer), value)
        if event.result_pointer is not None:
            self.set_result(self.result_of(event, True))
        else:
            self.set_result(value)

    # --- once ------------------------------------------------------------

    def once(self, event: meaning.Once) -> None:
        terms = self.terms
        control = self.shadow(self.term(event.control))
        with self.step("once"):
            old = self.peek(control)
            is_first = terms.eq(old, self.byte(0))
            self.wait_until(terms.not_(terms.eq(old, self.byte(1))))
            self.poke(control, self.byte(1), is_first)

        def initialise() -> None:
            arguments = [self.value(event.argument)] if event.argument is not None else []
            self.call_pointer(self.term(event.routine), arguments)
            with self.step("once-end"):
                self.poke(control, self.byte(2))

        self.under(is_first, initialise)
        self.set_result(self.result_of(event, True))

    def under(self, condition: Term, action: Callable[[], None]) -> None:
        """Does something on the paths where the condition holds."""
        terms = self.terms
        base = self.state
        taken = base.copy(terms.and_(base.guard, condition))
        other = base.copy(terms.and_(base.guard, terms.not_(condition)))
        if taken.guard is terms.false:
            return
        self.state = taken
        try:
            action()
        except PathEnds:
            if other.guard is terms.false:
                raise
            self.state = other
            return
        if other.guard is not terms.false:
            self.state = self.merge([self.state, other])
