"""Answers by the backends without values: `alias` and `syntactic`.

One walk gives may- and must-answers at once, so the strategies only decide what is made of them:
`over` proves and finds nothing for sure, `under` finds and proves nothing, `combined` does both.
A backend whose answers do not cover every execution proves nothing, either.
"""

from __future__ import annotations

from dataclasses import replace

from raceproof.analysis.backend import Backend
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.detect import detect
from raceproof.analysis.walk.analysis import Walk
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular.answer import answer_of
from raceproof.engines.question import Question, without_strangers
from raceproof.ir import Program
from raceproof.options import BackendChoice, Strategy
from raceproof.verdict import Answer, Outcome


def walked(
    program: Program,
    models: Models,
    choice: BackendChoice,
    context_depth: int,
    deadline: float | None,
) -> Walk:
    """The program's threads, locks and accesses as the backend sees them."""
    walk = Walk(_backend(program, models, choice, deadline), context_depth, deadline)
    walk.run()
    return walk


def _backend(
    program: Program, models: Models, choice: BackendChoice, deadline: float | None
) -> Backend:
    from raceproof.analysis.alias.backend import AliasBackend
    from raceproof.analysis.alias.solver import OutOfTime
    from raceproof.analysis.syntactic import SyntacticBackend

    events = Events(program, models)
    if choice is BackendChoice.SYNTACTIC:
        return SyntacticBackend(program, events)
    try:
        return AliasBackend(program, events, deadline)
    except OutOfTime:
        raise OutOfBudget from None


def answer_cheaply(
    program: Program, models: Models, question: Question, choice: BackendChoice
) -> Answer | None:
    """None if there was not enough time or memory."""
    options = question.options
    try:
        walk = walked(program, models, choice, options.latest_calls, question.deadline)
        reports = detect(walk, question.deadline)
    except (OutOfBudget, MemoryError):
        return None
    under = None if options.strategy is Strategy.OVER else walk
    answer = answer_of(walk, reports, under, options)
    if not walk.backend.can_prove:
        return _without_proof(answer, f"backend `{choice}` finds races and proves nothing")
    if options.strategy is Strategy.UNDER:
        return _without_proof(answer, "strategy `under` finds races and proves nothing")
    return without_strangers(answer, program, question)


def _without_proof(answer: Answer, why: str) -> Answer:
    outcome = Outcome.UNKNOWN if answer.outcome is Outcome.RACE_FREE else answer.outcome
    return replace(answer, outcome=outcome, detail=why, is_complete=False)
