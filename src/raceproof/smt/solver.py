"""Bitwuzla behind our terms: translates, asks, reads the model back.

Only what is asserted is translated, and each term once, however many solvers are asked about it, so
that asking again with more rounds costs only the new part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum

import bitwuzla

from raceproof.smt.evaluate import evaluate
from raceproof.smt.terms import Term, Terms, subterms

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


class SolverResult(Enum):
    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


class Model:
    """A satisfying assignment, to be looked at before its solver is asked again; variables that
    don't occur in the formula are 0."""

    def __init__(self, value_of: Callable[[Term], int]) -> None:
        self._value_of = value_of
        self._cache: dict[int, int] = {}

    def value(self, term: Term) -> int:
        return evaluate(term, self._cache, self._value_of)

    def holds(self, term: Term) -> bool:
        return bool(self.value(term))


class TermTranslation:
    """Our terms as Bitwuzla's, each translated once: several solvers can work with them."""

    def __init__(self) -> None:
        self.manager = bitwuzla.TermManager()
        self._done: dict[int, bitwuzla.Term] = {}
        self._seen: set[int] = set()
        self._sorts: dict[int, bitwuzla.Sort] = {1: self.manager.mk_bool_sort()}

    def __len__(self) -> int:
        return len(self._done)

    def _sort(self, width: int) -> bitwuzla.Sort:
        sort = self._sorts.get(width)
        if sort is None:
            sort = self._sorts[width] = self.manager.mk_bv_sort(width)
        return sort

    def find(self, term: Term) -> bitwuzla.Term | None:
        return self._done.get(term.number)

    def translate(self, root: Term) -> bitwuzla.Term:
        done, manager = self._done, self.manager
        make = manager.mk_term
        for term in subterms([root], self._seen):
            operation = term.operation
            arguments = [done[a.number] for a in term.arguments]
            if operation == "const":
                if term.width == 1:
                    new = manager.mk_true() if term.value else manager.mk_false()
                else:
                    new = manager.mk_bv_value(self._sort(term.width), term.constant)
            elif operation == "var":
                new = manager.mk_const(self._sort(term.width), str(term.value))
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


_LARGE = 60_000
"""Terms from which on a formula goes to the SAT solver as it is. Bitwuzla's own simplifications
take many seconds then, and cannot be interrupted: a question would end long after its deadline."""
_DEAF_SECONDS = 1e-5
"""How long for each term the solver may not ask whether its time is over."""


class Solver:
    """One incremental Bitwuzla."""

    def __init__(
        self,
        terms: Terms,
        translation: TermTranslation | None = None,
        check_time: Callable[[], None] = lambda: None,
    ) -> None:
        self._terms = terms
        self._check_time = check_time
        self._translation = translation or TermTranslation()
        self._asserted: list[bitwuzla.Term] = []
        """What the solver has not been told yet."""
        self._started: bitwuzla.Bitwuzla | None = None
        self._deadline = float("inf")
        self.seconds = 0.0
        """Time spent inside the solver."""
        self.seconds_translating = 0.0

    def add(self, term: Term) -> None:
        """Asserts the term for good."""
        if term is self._terms.true:
            return
        if term.operation == "and":
            for argument in term.arguments:
                self.add(argument)
            return
        self._check_time()
        start = time.perf_counter()
        self._asserted.append(self._translation.translate(term))
        self.seconds_translating += time.perf_counter() - start

    def check(self, *assumptions: Term, deadline: float = float("inf")) -> SolverResult:
        """Whether everything added and the assumptions can hold together."""
        start = time.perf_counter()
        translated = [self._translation.translate(term) for term in assumptions]
        middle = time.perf_counter()
        if time.monotonic() + _DEAF_SECONDS * len(self._translation) > deadline:
            return SolverResult.UNKNOWN
        self._deadline = deadline
        solver = self._solver()
        for formula in self._asserted:
            solver.assert_formula(formula)
        self._asserted.clear()
        answer = solver.check_sat(*translated)
        self.seconds_translating += middle - start
        self.seconds += time.perf_counter() - middle
        if answer == bitwuzla.Result.SAT:
            return SolverResult.SAT
        return SolverResult.UNSAT if answer == bitwuzla.Result.UNSAT else SolverResult.UNKNOWN

    def _solver(self) -> bitwuzla.Bitwuzla:
        """Made for the first question, when we know how large it is."""
        if self._started is None:
            options = bitwuzla.Options()
            options.set(bitwuzla.Option.PRODUCE_MODELS, True)
            options.set(bitwuzla.Option.PREPROCESS, len(self._translation) <= _LARGE)
            self._started = bitwuzla.Bitwuzla(self._translation.manager, options)
            self._started.configure_terminator(lambda: time.monotonic() > self._deadline)
        return self._started

    def model(self) -> Model:
        """After `check` said SAT."""
        return Model(self._value)

    def _value(self, variable: Term) -> int:
        translated = self._translation.find(variable)
        if translated is None:
            return 0
        assert self._started is not None
        value = self._started.get_value(translated)
        return int(value.value(10) if variable.width > 1 else value.value())
