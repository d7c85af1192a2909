"""The engine: over-approximation proves, under-approximation finds.

It stands on the `value` backend, or on a cheaper one if the user says so. A small program goes
straight to values. When they run out of their share of the time, they are computed once more in a
worklist without contexts: much is not told apart any more, but nothing is
left out. When that is too slow, or there is no memory, `alias` answers with what is left of the
time. The answer says so.

A large program is looked at by `alias` first, in time about linear in its size, and that names all
candidates. Values get what is left of a budget, and may only take candidates away: a pair that one
of the two excludes is excluded (`races.combine`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof.analysis.facts import ProgramFacts
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.detect import detect
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.certainty import with_doubts
from raceproof.engines.modular.answer import answer_of, sure_pairs
from raceproof.engines.modular.sequential import answer_if_sequential
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.options import BackendChoice, Options, Strategy
from raceproof.verdict import Answer, Covered, Outcome

if TYPE_CHECKING:
    from raceproof.analysis.walk.analysis import Walk
    from raceproof.engines.modular.cheap import Walked

_PATIENCE = 108.0
"""Seconds for all backends together, if the user names no limit."""
_SHORT = 2.0
"""Seconds for a second opinion."""
_FINE_SHARE = 0.4
"""Of the value backend's time, before it goes on without contexts."""
_CHEAP_SHARE = 0.5
"""Of all time, at most, for the cheaper backend."""
_VALUE_SECONDS = 8.0
_VALUE_SHARE = 0.5
"""For the values of a large program: seconds, or a share of the time that the user named."""
_WEIGHT_PER_SECOND = 1000
"""With more weight for each second of its budget the value analysis would not get anywhere."""
COARSE = "backend `value` ran out of time and told calls and loop rounds apart no more"
_OUT_OF_TIME = Answer(Outcome.UNKNOWN, detail="out of time")


class Modular:
    name = "modular"

    def run(self, program: Program, question: Question) -> Answer:
        return with_doubts(self._answer(program, question), program, question)

    def _answer(self, program: Program, question: Question) -> Answer:
        facts = question.facts_of(program)
        backend = question.options.backend
        question = _limited(question)
        sequential: Answer | None = None
        if question.candidates is None and _may_prove(question.options):
            sequential = answer_if_sequential(facts, question)
            if sequential is not None and sequential.outcome is Outcome.RACE_FREE:
                return sequential
        if backend is not BackendChoice.VALUE:
            answer = _answer_cheaply(facts, question, backend)
            return _OUT_OF_TIME if answer is None else answer
        if not facts.is_small and question.options.strategy is not Strategy.UNDER:
            return _coarse_first(facts, question)
        lacking = "time"
        for is_coarse in (False, True):
            try:
                return _answer_by_values(facts, question, is_coarse)
            except OutOfBudget:
                if sequential is not None:
                    return sequential
            except MemoryError:
                lacking = "memory"
                break
        answer = _answer_cheaply(facts, question, BackendChoice.ALIAS)
        why = f"backend `value` ran out of {lacking}"
        if answer is None:
            return replace(_OUT_OF_TIME, notices=(f"{why}, and so did `alias`",))
        why += ", the answer is that of backend `alias`"
        return replace(answer, detail=why, notices=(*answer.notices, why))


def _answer_cheaply(
    facts: ProgramFacts, question: Question, choice: BackendChoice
) -> Answer | None:
    from raceproof.engines.modular.cheap import answer_cheaply

    return answer_cheaply(facts, question, choice)


def _coarse_first(facts: ProgramFacts, question: Question) -> Answer:
    """The answer of `alias`, less what values exclude within their budget."""
    from raceproof.engines.modular.cheap import answer_by, look_cheaply

    seen = look_cheaply(facts, question, BackendChoice.ALIAS)
    if seen is None:
        return replace(_OUT_OF_TIME, notices=("backend `alias` ran out of time or memory",))
    if any(report.pairs for report in seen.reports):
        how = _narrow(facts, question, seen)
    else:
        how = "backend `alias` leaves no pair open"
    answer = answer_by(seen, question)
    if answer.outcome is Outcome.RACE_FREE:
        return answer
    detail = answer.detail or how
    return replace(answer, detail=detail, notices=(*answer.notices, how))


def _narrow(facts: ProgramFacts, question: Question, seen: Walked) -> str:
    """Take out what values exclude, if there is time for them; says what became of that."""
    from raceproof.analysis.races.combine import close_pairs

    options = question.options
    left = question.seconds_left()
    budget = left * _VALUE_SHARE if options.timeout is not None else min(left, _VALUE_SECONDS)
    if facts.weight > budget * _WEIGHT_PER_SECOND:
        return "the program is large: points-to sets and locksets answer, without values"
    deadline = None if left == float("inf") else time.monotonic() + budget
    try:
        values = by_values(facts, options, False, deadline)
        reports = detect(values, deadline)
    except (OutOfBudget, MemoryError):
        return "the program is large, and values take too long: points-to sets and locksets answer"
    if values.lost() is not None:
        return "values end executions at something undefined: points-to sets and locksets answer"
    if not close_pairs(seen.reports, seen.walk, values, reports):
        return "values could not follow the program: points-to sets and locksets answer"
    return "points-to sets, locksets and values answer together"


def by_values(
    facts: ProgramFacts,
    options: Options,
    is_coarse: bool,
    deadline: float | None,
    *,
    sees_others: bool = True,
) -> Analysis:
    """The value backend, done."""
    analysis = Analysis(
        facts.program,
        facts.models,
        events=facts.events,
        unroll=options.unroll,
        context_depth=0 if is_coarse else options.context_depth,
        is_coarse=is_coarse,
        sees_others=sees_others,
        deadline=deadline,
    )
    analysis.run()
    return analysis


def _answer_by_values(facts: ProgramFacts, question: Question, is_coarse: bool) -> Answer:
    options = question.options
    deadline = value_deadline(facts.program, question, is_coarse)

    def analysed(sees_others: bool) -> Analysis:
        return by_values(facts, options, is_coarse, deadline, sees_others=sees_others)

    def second_opinion() -> Walk | None:
        return _second_opinion(facts, options, deadline)

    covered = (Covered.LAYOUTS, Covered.CALLBACKS)
    answer = replace(_answer(analysed, second_opinion, options, deadline), covered=covered)
    return replace(answer, notices=(*answer.notices, COARSE)) if is_coarse else answer


def _answer(
    analysed: Callable[[bool], Analysis],
    second_opinion: Callable[[], Walk | None],
    options: Options,
    deadline: float | None,
) -> Answer:
    if options.strategy is Strategy.UNDER:
        under = analysed(False)
        reports = detect(under, deadline)
        return answer_of(under, reports, sure_pairs(reports), options)
    over = analysed(True)
    reports = detect(over, deadline)
    if not any(r.pairs for r in reports) or options.strategy is Strategy.OVER:
        return answer_of(over, reports, (), options)
    try:
        sure = sure_pairs(reports)
        if sure:
            sure &= sure_pairs(detect(analysed(False), deadline))
        if not sure:
            second = second_opinion()
            sure = set() if second is None else sure_pairs(detect(second, deadline))
        return answer_of(over, reports, sure, options)
    except OutOfBudget:
        why = "out of time before any race could be called likely"
        return replace(answer_of(over, reports, (), options), notices=(why,))


def _second_opinion(facts: ProgramFacts, options: Options, deadline: float | None) -> Walk | None:
    """What `alias` says of the candidates that are left. It does not see what values decide, but
    which blocks every run goes through, and is sure of races where values look too open."""
    from raceproof.engines.modular.cheap import walked

    end = time.monotonic() + _SHORT
    try:
        return walked(
            facts,
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
