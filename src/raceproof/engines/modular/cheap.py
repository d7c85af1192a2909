"""Answers by the backends without values: `alias` and `syntactic`.

One walk gives may- and must-answers at once, so the strategies only decide what is made of them:
`over` proves and finds nothing for sure, `under` finds and proves nothing, `combined` does both.
A backend whose answers do not cover every execution proves nothing, either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from raceproof.analysis.facts import ProgramFacts
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.detect import BaseReport, detect
from raceproof.analysis.walk.analysis import Walk
from raceproof.engines.modular.answer import answer_of, sure_pairs
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Strategy
from raceproof.verdict import Answer, Covered, Outcome


def walked(
    facts: ProgramFacts, choice: BackendChoice, context_depth: int, deadline: float | None
) -> Walk:
    """The program's threads, locks and accesses as the backend sees them."""
    if choice is BackendChoice.ALIAS:
        return facts.walk(context_depth, deadline)
    from raceproof.analysis.syntactic import SyntacticBackend

    walk = Walk(SyntacticBackend(facts.program, facts.events), context_depth, deadline)
    walk.run()
    return walk


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk through the whole program, and the pairs that it leaves open."""

    walk: Walk
    reports: list[BaseReport]


def look_cheaply(facts: ProgramFacts, question: Question, choice: BackendChoice) -> Walked | None:
    """None if there was not enough time or memory."""
    try:
        walk = walked(facts, choice, question.options.latest_calls, question.deadline)
        return Walked(walk, detect(walk, question.deadline))
    except (OutOfBudget, MemoryError):
        return None


def answer_cheaply(facts: ProgramFacts, question: Question, choice: BackendChoice) -> Answer | None:
    """None if there was not enough time or memory."""
    seen = look_cheaply(facts, question, choice)
    return None if seen is None else answer_by(seen, question)


def answer_by(seen: Walked, question: Question) -> Answer:
    options = question.options
    walk = seen.walk
    sure = () if options.strategy is Strategy.OVER else sure_pairs(seen.reports)
    answer = answer_of(walk, seen.reports, sure, options)
    if not walk.backend.can_prove:
        name = walk.backend.name
        return _without_proof(answer, f"backend `{name}` finds races and proves nothing")
    if options.strategy is Strategy.UNDER:
        return _without_proof(answer, "strategy `under` finds races and proves nothing")
    covered = (Covered.PATHS, Covered.LAYOUTS)
    return replace(answer, covered=covered, lost=None)


def _without_proof(answer: Answer, why: str) -> Answer:
    outcome = Outcome.UNKNOWN if answer.outcome is Outcome.RACE_FREE else answer.outcome
    return replace(answer, outcome=outcome, detail=why, is_complete=False)
