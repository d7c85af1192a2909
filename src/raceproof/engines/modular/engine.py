"""The engine: over-approximation proves, under-approximation finds.

It stands on the `value` backend, or on a cheaper one if the user says so. When the value backend
runs out of its share of the time, it tries once more in a coarse way, with functions and loops as
they come: much is not told apart any more, but nothing is left out. When that is too slow, or there
is no memory, `alias` answers with what is left of the time. The answer says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.detect import detect
from raceproof.analysis.thread_modular import Analysis
from raceproof.analysis.walk.analysis import Walk
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular.answer import answer_of
from raceproof.engines.modular.cheap import answer_cheaply, walked
from raceproof.engines.modular.sequential import answer_if_sequential
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.options import BackendChoice, Options, Strategy
from raceproof.verdict import Answer, Outcome

_PATIENCE = 108.0
"""Seconds for all backends together, if the user names no limit."""
_SHORT = 2.0
"""Seconds for a second opinion."""
_FINE_SHARE = 0.4
"""Of the value backend's time, before it goes on in a coarse way."""
_CHEAP_SHARE = 0.5
"""Of all time, at most, for the cheaper backend."""
COARSE = "backend `value` ran out of time and told calls and loop rounds apart no more"
_OUT_OF_TIME = Answer(Outcome.UNKNOWN, detail="out of time")


class Modular:
    name = "modular"

    def run(self, program: Program, question: Question) -> Answer:
        models = Models.load(question.options.models)
        backend = question.options.backend
        question = _limited(question)
        sequential: Answer | None = None
        if question.candidates is None and _may_prove(question.options):
            sequential = answer_if_sequential(program, models, question)
            if sequential is not None and sequential.outcome is Outcome.RACE_FREE:
                return sequential
        if backend is not BackendChoice.VALUE:
            answer = answer_cheaply(program, models, question, backend)
            return _OUT_OF_TIME if answer is None else answer
        lacking = "time"
        for is_coarse in (False, True):
            try:
                return _answer_by_values(program, models, question, is_coarse)
            except OutOfBudget:
                if sequential is not None:
                    return sequential
            except MemoryError:
                lacking = "memory"
                break
        answer = answer_cheaply(program, models, question, BackendChoice.ALIAS)
        why = f"backend `value` ran out of {lacking}"
        if answer is None:
            return replace(_OUT_OF_TIME, notices=(f"{why}, and so did `alias`",))
        why += ", the answer is that of backend `alias`"
        return replace(answer, detail=why, notices=(*answer.notices, why))


def by_values(
    program: Program,
    models: Models,
    options: Options,
    is_coarse: bool,
    deadline: float | None,
    *,
    sees_others: bool = True,
) -> Analysis:
    """The value backend, done."""
    analysis = Analysis(
        program,
        models,
        unroll=options.unroll,
        context_depth=0 if is_coarse else options.context_depth,
        is_coarse=is_coarse,
        sees_others=sees_others,
        deadline=deadline,
    )
    analysis.run()
    return analysis


def _answer_by_values(
    program: Program, models: Models, question: Question, is_coarse: bool
) -> Answer:
    options = question.options
    deadline = value_deadline(program, question, is_coarse)

    def analysed(sees_others: bool) -> Analysis:
        return by_values(program, models, options, is_coarse, deadline, sees_others=sees_others)

    def second_opinion() -> Walk | None:
        return _second_opinion(program, models, options, deadline)

    answer = _answer(analysed, second_opinion, options, deadline)
    return replace(answer, notices=(*answer.notices, COARSE)) if is_coarse else answer


def _answer(
    analysed: Callable[[bool], Analysis],
    second_opinion: Callable[[], Walk | None],
    options: Options,
    deadline: float | None,
) -> Answer:
    if options.strategy is Strategy.UNDER:
        under = analysed(False)
        return answer_of(under, detect(under, deadline), under, options)
    over = analysed(True)
    reports = detect(over, deadline)
    if not any(r.pairs for r in reports) or options.strategy is Strategy.OVER:
        return answer_of(over, reports, None, options)
    try:
        under = analysed(False)
        answer = answer_of(over, reports, under, options)
        if answer.outcome is Outcome.RACE:
            return answer
        second = second_opinion()
        return answer if second is None else answer_of(over, reports, under, options, second)
    except OutOfBudget:
        why = "out of time before any race could be called likely"
        return replace(answer_of(over, reports, None, options), notices=(why,))


def _second_opinion(
    program: Program, models: Models, options: Options, deadline: float | None
) -> Walk | None:
    """What `alias` says of the candidates that are left. It does not see what values decide, but
    which blocks every run goes through, and is sure of races where values look too open."""
    end = time.monotonic() + _SHORT
    try:
        return walked(
            program,
            models,
            BackendChoice.ALIAS,
            options.latest_calls,
            end if deadline is None else min(end, deadline),
        )
    except (OutOfBudget, MemoryError):
        return None


def _may_prove(options: Options) -> bool:
    return options.strategy is not Strategy.UNDER and options.backend is not BackendChoice.SYNTACTIC


def _limited(question: Question) -> Question:
    """Done soon enough for a user who named no limit."""
    if question.deadline is None or question.options.timeout is not None:
        return question
    return replace(question, deadline=min(question.deadline, time.monotonic() + _PATIENCE))


def value_deadline(program: Program, question: Question, is_coarse: bool) -> float | None:
    """When the value backend must be done, so that a cheaper one has time left."""
    if question.deadline is None:
        return None
    now = time.monotonic()
    deadline = question.deadline - _reserve(program, question.seconds_left())
    return deadline if is_coarse else now + (deadline - now) * _FINE_SHARE


def _reserve(program: Program, left: float) -> float:
    """Seconds kept for the cheaper backend: it needs more for larger programs."""
    return min(left * _CHEAP_SHARE, 3.0 + program.instruction_count / 500)


ENGINE = Modular()
