"""The engine: a proof about all pairs that are left open, or the reason why there is none."""

from __future__ import annotations

import sys
import time

from raceproof.engines.pairwise.prover import Failure, prove_pairs
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.verdict import Answer, Outcome

_RECURSION = 12_000
_MARGIN = 0.3
"""Seconds that are kept for what cannot be interrupted."""


class PairwiseEngine:
    """See the package's docstring. It finds no races, and says nothing about single candidates."""

    name = "pairwise"

    def run(self, program: Program, question: Question) -> Answer:
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(max(old, _RECURSION))
        try:
            return _answer(program, question)
        finally:
            sys.setrecursionlimit(old)


def _answer(program: Program, question: Question) -> Answer:
    started = time.monotonic()
    deadline = float("inf") if question.deadline is None else question.deadline - _MARGIN
    facts = question.facts_of(program)
    outcome = prove_pairs(facts, question.options, deadline)
    statistics = (("seconds", round(time.monotonic() - started, 3)),)
    if isinstance(outcome, Failure):
        left = question.candidates or ()
        return Answer(
            Outcome.UNKNOWN, open=left, detail=f"no proof: {outcome.reason}", statistics=statistics
        )
    # It looked at all pairs of the program, not only at the candidates it was asked about.
    return Answer(
        Outcome.RACE_FREE,
        assumptions=outcome.assumptions,
        detail=outcome.detail,
        statistics=statistics,
        is_complete=True,
    )


ENGINE = PairwiseEngine()
