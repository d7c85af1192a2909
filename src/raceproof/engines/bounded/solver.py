"""Bitwuzla behind our terms: translates, asks, reads the model back.

Only what is asserted is translated, each term once for the life of the solver, so that asking again
with more rounds costs only the new part.
"""

from __future__ import annotations

import time
from enum import Enum

import bitwuzla

from raceproof.engines.bounded.terms import Term, Terms, evaluate, subterms

_Kind = bitwuzla.Kind
_KINDS = {
    "not": _Kind.NOT,
    "and": _Kind.AND,
    "or": _Kind.OR,
    "ite": _Kind.ITE,
    "eq": _Kind.EQUAL,
    "add": _Kind.BV_ADD,
    "sub": _Kind.BV_SUB,
    "mul": _Kind.BV_MUL,
    "udiv": _Kind.BV_UDIV,
    "urem": _Kind.BV_UREM,
    "sdiv": _Kind.BV_SDIV,
    "srem": _Kind.BV_SREM,
    "shl": _Kind.BV_SHL,
    "lshr": _Kind.BV_SHR,
    "ashr": _Kind.BV_ASHR,
    "bvand": _Kind.BV_AND,
    "bvor": _Kind.BV_OR,
    "bvxor": _Kind.BV_XOR,
    "ult": _Kind.BV_ULT,
    "slt": _Kind.BV_SLT,
    "concat": _Kind.BV_CONCAT,
}


class Result(Enum):
    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


class Model:
    """A satisfying assignment; variables that don't occur in the formula are 0."""

    def __init__(self, values: dict[int, int]) -> None:
        self._values = values
        self._cache: dict[int, int] = {}

    def value(self, term: Term) -> int:
        return evaluate(term, self._cache, lambda variable: self._values.get(variable.number, 0))

    def holds(self, term: Term) -> bool:
        return bool(self.value(term))


class Solver:
    """One incremental Bitwuzla."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._manager = bitwuzla.TermManager()
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        self._solver = bitwuzla.Bitwuzla(self._manager, options)
        self._deadline = float("inf")
        self._solver.configure_terminator(lambda: time.monotonic() > self._deadline)
        self._done: dict[int, bitwuzla.Term] = {}
        self._seen: set[int] = set()
        self._variables: list[Term] = []
        self._sorts: dict[int, bitwuzla.Sort] = {1: self._manager.mk_bool_sort()}
        self.seconds = 0.0
        """Time spent inside the solver."""
        self.seconds_translating = 0.0

    def _sort(self, width: int) -> bitwuzla.Sort:
        sort = self._sorts.get(width)
        if sort is None:
            sort = self._sorts[width] = self._manager.mk_bv_sort(width)
        return sort

    def _translate(self, root: Term) -> bitwuzla.Term:
        done, make = self._done, self._manager.mk_term
        for term in subterms([root], self._seen):
            operation = term.operation
            arguments = [done[a.number] for a in term.arguments]
            if operation == "const":
                if term.width == 1:
                    new = self._manager.mk_true() if term.value else self._manager.mk_false()
                else:
                    new = self._manager.mk_bv_value(self._sort(term.width), term.constant)
            elif operation == "var":
                self._variables.append(term)
                new = self._manager.mk_const(self._sort(term.width), str(term.value))
            elif operation == "extract":
                assert isinstance(term.value, tuple)
                new = make(_Kind.BV_EXTRACT, arguments, list(term.value))
            elif operation in ("zext", "sext"):
                kind = _Kind.BV_ZERO_EXTEND if operation == "zext" else _Kind.BV_SIGN_EXTEND
                new = make(kind, arguments, [term.width - term.arguments[0].width])
            else:
                new = make(_KINDS[operation], arguments)
            done[term.number] = new
        return done[root.number]

    def add(self, term: Term) -> None:
        """Asserts the term for good."""
        if term is self._terms.true:
            return
        if term.operation == "and":
            for argument in term.arguments:
                self.add(argument)
            return
        start = time.perf_counter()
        self._solver.assert_formula(self._translate(term))
        self.seconds_translating += time.perf_counter() - start

    def check(self, *assumptions: Term, deadline: float = float("inf")) -> Result:
        """Whether everything added and the assumptions can hold together."""
        start = time.perf_counter()
        translated = [self._translate(term) for term in assumptions]
        middle = time.perf_counter()
        self._deadline = deadline
        answer = self._solver.check_sat(*translated)
        self.seconds_translating += middle - start
        self.seconds += time.perf_counter() - middle
        if answer == bitwuzla.Result.SAT:
            return Result.SAT
        return Result.UNSAT if answer == bitwuzla.Result.UNSAT else Result.UNKNOWN

    def model(self) -> Model:
        """After `check` said SAT."""
        values = {}
        for variable in self._variables:
            value = self._solver.get_value(self._done[variable.number])
            number = value.value(10) if variable.width > 1 else value.value()
            values[variable.number] = int(number)
        return Model(values)
