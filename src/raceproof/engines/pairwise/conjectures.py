"""Facts that are guessed first and proved later, all together.

A candidate is a boolean variable: "this loop keeps that", "every write of this cell holds that
lock", "this cell only grows". Terms may rely on it; its obligations say when it would be violated.
Those that can be violated while all the others hold are given up, until none can (Houdini). What is
left holds in every execution: in a shortest one that violates some, everything before the violation
is as the terms say, for up to there nothing was violated, so the solver would have found it. That
is why a violation is asked for together with the facts of the points before it only: what is
guessed of later points may be wrong, and must not hide it.

Every use of a candidate is such that less is known if it does not hold, so one that was given up is
taken to be false.
"""

from __future__ import annotations

from raceproof.smt.solver import Solver, SolverResult, TermTranslation
from raceproof.smt.terms import Term, Terms


class ProofTimeout(Exception):
    """The solver did not answer within its time."""


Obligations = dict[Term, list[Term]]
"""Candidate -> when it is violated."""


class Conjectures:
    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.translation = TermTranslation()
        self.alive: dict[Term, None] = {}
        self.dead: dict[Term, None] = {}

    def new(self, name: str) -> Term:
        """The candidate of this name, made when first asked for."""
        found = self.terms.var(f"?{name}", 1)
        if found not in self.dead:
            self.alive.setdefault(found)
        return found

    def is_alive(self, candidate: Term) -> bool:
        return candidate in self.alive

    def give_up(self, candidate: Term) -> None:
        self.alive.pop(candidate, None)
        self.dead[candidate] = None

    def settle(self, obligations: Obligations, deadline: float) -> None:
        """Gives up all conjectures that may be violated."""
        terms = self.terms
        solver = Solver(terms, self.translation)
        for candidate in self.dead:
            solver.add(terms.not_(candidate))
        wrong = {candidate: terms.any(found) for candidate, found in obligations.items()}
        while True:
            open_ = {
                candidate: violation
                for candidate, violation in wrong.items()
                if candidate in self.alive and violation is not terms.false
            }
            if not open_:
                return
            result = solver.check(*self.alive, terms.any(open_.values()), deadline=deadline)
            if result is SolverResult.UNKNOWN:
                raise ProofTimeout
            if result is SolverResult.UNSAT:
                return
            model = solver.model()
            wrong_now = [c for c, violation in open_.items() if model.holds(violation)]
            for candidate in wrong_now:
                self.give_up(candidate)
                solver.add(terms.not_(candidate))
