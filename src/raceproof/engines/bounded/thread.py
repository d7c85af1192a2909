"""The life of one thread, from its first step to its last."""

from __future__ import annotations

from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.library import CallingWalker
from raceproof.engines.bounded.state import Value
from raceproof.ir import Function, IntType
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind


class ThreadWalker(CallingWalker):
    """One thread from its first step to its last."""

    def run_main(self, function: Function) -> None:
        self.label = "0"
        arguments: list[Value] = []
        for parameter in function.parameters:
            self.unfolder.has_choices = True
            if isinstance(parameter.type, IntType):
                arguments.append(self._argument_count(self.space.width(parameter.type)))
            else:
                vector = self.space.make(
                    ("arguments", parameter.index),
                    BaseKind.EXTERNAL,
                    parameter.name,
                    64,
                    is_defined=not self.unfolder.limits.cautious,
                )
                vector.is_partial = self.unfolder.limits.cautious
                arguments.append(self.space.pointer(vector))
        try:
            for name in self.unfolder.program.constructors:
                constructor = self.unfolder.program.functions.get(name)
                if constructor is not None and constructor.is_defined:
                    self.call(constructor, [])
            self.call(function, arguments)
            self.fatal()
        except PathEnds:
            pass
        self._finish()

    def _argument_count(self, width: int) -> Term:
        """Like the machine, we call `main` with its name only; a proof takes any number."""
        if not self.unfolder.limits.cautious:
            return self.terms.const(1, width)
        count = self.fresh_input("argc", width)
        self.require(self.terms.compare("sle", self.terms.const(0, width), count))
        return count

    def run_thread(self, function: Function, argument: Value | None) -> None:
        self.label = str(self.thread)
        self.state = self.unfolder.start_state()
        with self.step("start", always=True):
            started = self.peek(self.control("started", self.thread))
            if self.event is not None and self.event.operations:
                self.event.assume = self.terms.eq(started, self.byte(1))
        arguments = [argument] if argument is not None else []
        if function.parameters and arguments:
            width = self.space.width(function.parameters[0].type)
            if isinstance(arguments[0], Term):
                arguments[0] = self.terms.resize(arguments[0], width)
        try:
            result = self.call(function, arguments) if function.is_defined else None
            self.ends.append((self.state, result))
        except PathEnds:
            pass
        self._finish()

    def _finish(self) -> None:
        """One last step for all the ways in which the thread may end."""
        if not self.ends:
            return
        self.state = self.ends[0][0]
        width = self.space.pointer_width
        results: list[tuple[Term, Term]] = []
        for state, value in self.ends:
            if isinstance(value, Term):
                results.append((state.guard, self.terms.resize(value, width)))
        self.state = self.merge([state.copy(state.guard) for state, _ in self.ends])
        if not self.state.is_threaded:
            return
        result = self.terms.const(0, width)
        for guard, value in results:
            result = self.terms.ite(guard, value, result)
        self.instruction = None
        self.state.section = 0
        with self.step("end", always=True):
            self.poke(self.control("finished", self.thread), self.byte(1))
            self.poke(self.control("result", self.thread), result)
