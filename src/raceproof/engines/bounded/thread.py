"""The unfolding of one thread, from its first step to its last.

A thread is unfolded by parts, each of which knows one kind of thing and uses only those made before
it (two of them also ask for calls, which come last):

    cursor        where we are: path, step, names
    memory        accesses through pointers
    operands      what registers and constants hold; inputs
    loops         whether a loop goes on
    instructions  all but calls
    functions     blocks, branches, calls of the program's functions
    hidden        variables of ours: locks, barriers, ends of threads
    allocation, threads, sync_objects, atomics    what library functions mean
    library       who is called, and which part does it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.engines.bounded.accesses import ThreadMemory
from raceproof.engines.bounded.allocation import Allocation
from raceproof.engines.bounded.atomics import Atomics
from raceproof.engines.bounded.cursor import Cursor, PathEnds
from raceproof.engines.bounded.events import ThreadBody
from raceproof.engines.bounded.hidden import HiddenVariables
from raceproof.engines.bounded.instructions import Instructions
from raceproof.engines.bounded.library import LibraryCalls
from raceproof.engines.bounded.operands import Operands
from raceproof.engines.bounded.repeating import LoopEnds
from raceproof.engines.bounded.state import Value
from raceproof.engines.bounded.sync_objects import SyncObjects
from raceproof.engines.bounded.synchronisation import ThreadCreation
from raceproof.engines.bounded.walk import Functions
from raceproof.ir import Function, IntType
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.engines.bounded.unfold import Unfolder


class ThreadWalker:
    """One thread from its first step to its last."""

    def __init__(self, unfolder: Unfolder, body: ThreadBody) -> None:
        self.cursor = Cursor(unfolder, body)
        self.memory = ThreadMemory(self)
        self.operands = Operands(self)
        self.loops = LoopEnds(self)
        self.instructions = Instructions(self)
        self.functions = Functions(self)
        self.hidden = HiddenVariables(self)
        self.allocation = Allocation(self)
        self.threads = ThreadCreation(self)
        self.sync_objects = SyncObjects(self)
        self.atomics = Atomics(self)
        self.library = LibraryCalls(self)

    def run_main(self, function: Function) -> None:
        self.cursor.label = "0"
        arguments: list[Value] = []
        for parameter in function.parameters:
            self.cursor.unfolder.has_choices = True
            if isinstance(parameter.type, IntType):
                arguments.append(self._argument_count(self.cursor.space.width(parameter.type)))
            else:
                vector = self.cursor.space.make(
                    ("arguments", parameter.index),
                    BaseKind.EXTERNAL,
                    parameter.name,
                    64,
                    is_defined=not self.cursor.unfolder.limits.cautious,
                )
                vector.is_partial = self.cursor.unfolder.limits.cautious
                arguments.append(self.cursor.space.pointer(vector))
        try:
            for name in self.cursor.unfolder.program.constructors:
                constructor = self.cursor.unfolder.program.functions.get(name)
                if constructor is not None and constructor.is_defined:
                    self.functions.call(constructor, [])
            self.functions.call(function, arguments)
            self.instructions.fatal()
        except PathEnds:
            pass
        self._finish()

    def _argument_count(self, width: int) -> Term:
        """Like the machine, we call `main` with its name only; a proof takes any number."""
        if not self.cursor.unfolder.limits.cautious:
            return self.cursor.terms.const(1, width)
        count = self.operands.fresh_input("argc", width)
        self.cursor.require(
            self.cursor.terms.compare("sle", self.cursor.terms.const(0, width), count)
        )
        return count

    def run_thread(self, function: Function, argument: Value | None) -> None:
        self.cursor.label = str(self.cursor.thread)
        self.cursor.state = self.cursor.unfolder.start_state()
        with self.cursor.step("start", always=True):
            started = self.hidden.peek(self.hidden.control("started", self.cursor.thread))
            if self.cursor.event is not None and self.cursor.event.operations:
                self.cursor.event.assume = self.cursor.terms.eq(started, self.hidden.byte(1))
        arguments = [argument] if argument is not None else []
        if function.parameters and arguments:
            width = self.cursor.space.width(function.parameters[0].type)
            if isinstance(arguments[0], Term):
                arguments[0] = self.cursor.terms.resize(arguments[0], width)
        try:
            result = self.functions.call(function, arguments) if function.is_defined else None
            self.library.ends.append((self.cursor.state, result))
        except PathEnds:
            pass
        self._finish()

    def _finish(self) -> None:
        """One last step for all the ways in which the thread may end."""
        if not self.library.ends:
            return
        self.cursor.state = self.library.ends[0][0]
        width = self.cursor.space.pointer_width
        results: list[tuple[Term, Term]] = []
        for state, value in self.library.ends:
            if isinstance(value, Term):
                results.append((state.guard, self.cursor.terms.resize(value, width)))
        self.cursor.state = self.functions.merge(
            [state.copy(state.guard) for state, _ in self.library.ends]
        )
        if not self.cursor.state.is_threaded:
            return
        result = self.cursor.terms.const(0, width)
        for guard, value in results:
            result = self.cursor.terms.ite(guard, value, result)
        self.cursor.instruction = None
        self.cursor.state.section = 0
        with self.cursor.step("end", always=True):
            self.hidden.poke(
                self.hidden.control("finished", self.cursor.thread), self.hidden.byte(1)
            )
            self.hidden.poke(self.hidden.control("result", self.cursor.thread), result)
