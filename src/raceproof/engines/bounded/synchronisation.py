"""Threads: creating and joining them.

A thread's first step waits for its `started` variable, a join for `finished` (see `hidden`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import Wait
from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.ir import Function, NullPointer
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class ThreadCreation(Part):
    """Threads and what they wait for."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.hidden = walker.hidden

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {
            meaning.ThreadCreate: self.create_thread,
            meaning.ThreadJoin: self.join_thread,
        }

    def create_thread(self, event: meaning.ThreadCreate) -> None:
        terms = self.terms
        entry = self.operands.term(event.entry)
        argument = self.operands.value(event.argument) if event.argument is not None else None
        functions = self.functions_at(entry)
        if not functions or not all(function.is_defined for function, _ in functions):
            self.cursor.cut("the creation of a thread whose entry is not known")
            raise PathEnds
        if not self.cursor.state.is_threaded:
            self.unfolder.publish(self.cursor.state)
        instruction = self.cursor.instruction
        assert instruction is not None
        identity = terms.const(0, 32)
        started: list[tuple[int, Term]] = []
        for function, pointer in functions:
            is_it = terms.eq(entry, pointer)
            key = f"{self.thread}:{self.cursor.label}:{instruction.number}:{function.name}"
            number = self.unfolder.create(key, function, argument, self.thread, instruction)
            if number is None:
                # A thread that exists and is never scheduled.
                self.cursor.cut("more threads than allowed")
                number = self.unfolder.limits.total_threads + 1
            else:
                started.append((number, is_it))
            identity = terms.ite(is_it, terms.const(number, 32), identity)
        width = self._identity_width(event)
        with self.cursor.step("create", always=bool(started)) as step:
            step.creates = tuple(started)
            for number, is_it in started:
                self.hidden.poke(self.hidden.control("started", number), self.hidden.byte(1), is_it)
            if event.id_pointer is not None and not isinstance(event.id_pointer, NullPointer):
                self.memory.write(
                    self.operands.term(event.id_pointer), terms.resize(identity, width)
                )
        if event.id_is_result:
            self.operands.set_result(terms.resize(identity, self.space.pointer_width))
        else:
            self.operands.set_result(self.hidden.result_of(event, True))

    def _identity_width(self, event: meaning.ThreadCreate) -> int:
        for effect in event.effects:
            if effect.is_write and isinstance(effect.size, int) and effect.size in (4, 8):
                return effect.size * 8
        return self.space.pointer_width

    def functions_at(self, pointer: Term) -> list[tuple[Function, Term]]:
        """The functions a pointer may lead to, with their addresses."""
        found = []
        for number, _ in sorted(self.sharing.targets(pointer), key=lambda t: t[0]):
            name = self.space.all[number].function if number >= 0 else ""
            function = self.unfolder.program.functions.get(name) if name else None
            if function is not None:
                found.append((function, self.space.pointer(self.space.all[number])))
        return found

    def _cut_deadlock(self, identity: Term) -> None:
        """A thread that joins itself is told so, and goes on: the machine follows it, we do not."""
        mine = self.terms.eq(identity, self.terms.const(self.thread, identity.width))
        if mine is not self.terms.false:
            self.cursor.cut("a thread that waits for itself", mine)

    def join_thread(self, event: meaning.ThreadJoin) -> None:
        terms = self.terms
        identity = self.operands.term(event.thread)
        if event.is_indirect:
            identity = self.memory.read(identity, self.space.pointer_width // 8)
        result_width = self.space.pointer_width
        value = terms.const(0, result_width)
        wants_result = event.result_pointer is not None and not isinstance(
            event.result_pointer, NullPointer
        )
        with self.cursor.step("join", always=True):
            joined = terms.false
            for number in self.unfolder.thread_numbers():
                is_it = terms.eq(identity, terms.const(number, identity.width))
                if is_it is terms.false:
                    continue
                has_finished = terms.eq(
                    self.hidden.peek(self.hidden.control("finished", number)), self.hidden.byte(1)
                )
                joined = terms.or_(joined, terms.and_(is_it, has_finished))
                if wants_result:
                    size = result_width // 8
                    result = self.hidden.peek(self.hidden.control("result", number), size)
                    value = terms.ite(is_it, result, value)
            if event.wait is Wait.BLOCK:
                self._cut_deadlock(identity)
                self.hidden.wait_until(joined)
            if wants_result:
                assert event.result_pointer is not None
                self.memory.write(self.operands.term(event.result_pointer), value, condition=joined)
        if event.wait is Wait.BLOCK:
            self.operands.set_result(self.hidden.result_of(event, True))
        else:
            self.hidden.set_choice(event, joined)
