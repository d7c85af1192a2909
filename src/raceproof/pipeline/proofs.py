"""What every proof must stand up to, whichever engine made it.

`race-free` is said of the whole program, so it never rests on code that was not looked at:

- *Paths.* Threads and functions that are out of reach only because executions end before them at
  something undefined, or because the analysis has lost a path (`analysis.lost_code`). The value
  analysis says it for all engines but those that end no execution there.
- *Layouts.* Executions with one place for each object say nothing about a program that acts by
  where objects lie.
- *Reuse.* A comparison that tells whether an object has the address of one that is gone, or a
  thread the id of one that has ended.
- *Callbacks.* Functions of the program that unknown code may call.

Then the verdict is `unknown`, and says why. What was lost is also told with an answer that is no
proof: when all of its candidates are refuted, that is none either.
"""

from __future__ import annotations

import time
from dataclasses import replace

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.lost_code import in_words
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.layout import for_any_layout, without_reuse
from raceproof.engines.question import Question, without_unknown_callbacks
from raceproof.ir import Program
from raceproof.pipeline.registry import load_engine
from raceproof.verdict import NOT_SEEN, Answer, Covered, Outcome

_FINE_SHARE = 0.4
"""Of the time that is left, for the value analysis, before it goes on without contexts."""


def ask(engine: str, program: Program, question: Question) -> Answer:
    """The answer of an engine, with no proof that does not stand up."""
    return examined(load_engine(engine).run(program, question), program, question)


def examined(answer: Answer, program: Program, question: Question) -> Answer:
    """The answer as far as it stands up."""
    if Covered.PATHS not in answer.covered:
        answer = without_lost_code(answer, program, question)
    if Covered.LAYOUTS not in answer.covered:
        answer = for_any_layout(answer, program, question)
    answer = without_reuse(answer, program, question)
    if Covered.CALLBACKS not in answer.covered:
        answer = without_unknown_callbacks(answer, program, question)
    return answer


def without_lost_code(answer: Answer, program: Program, question: Question) -> Answer:
    """The answer, but no proof about a whole program of which a part was lost."""
    is_proof = answer.outcome is Outcome.RACE_FREE
    is_about_all = question.candidates is None or answer.is_complete
    lost = answer.lost
    if lost is None:
        if not is_proof or not is_about_all:
            return answer
        lost = question.lost
    if lost is None:
        lost = _lost_by_values(program, question)
        if lost is None:
            why = "out of time before it was clear that all code was looked at"
            return _unproved(answer, question, why)
    answer = replace(answer, lost=lost)
    if not lost:
        return answer
    unseen = tuple(f"{NOT_SEEN}: {what}" for what in lost)
    answer = replace(answer, assumptions=(*answer.assumptions, *unseen), is_complete=False)
    return _unproved(answer, question, unseen[0]) if is_proof and is_about_all else answer


def _unproved(answer: Answer, question: Question, why: str) -> Answer:
    left = question.candidates or ()
    return replace(answer, outcome=Outcome.UNKNOWN, open=left, detail=why, is_complete=False)


def _lost_by_values(program: Program, question: Question) -> tuple[str, ...] | None:
    """What the value analysis lost; None if it takes too long."""
    facts = question.facts_of(program)
    for is_coarse in (False, True):
        left = question.seconds_left()
        deadline = None
        if left != float("inf"):
            deadline = time.monotonic() + (left if is_coarse else left * _FINE_SHARE)
        depth = 0 if is_coarse else None
        analysis = Analysis(
            program,
            facts.models,
            events=facts.events,
            context_depth=depth,
            is_coarse=is_coarse,
            deadline=deadline,
        )
        try:
            analysis.run()
        except OutOfBudget:
            continue
        lost = analysis.lost()
        return () if lost is None else (in_words(lost, program),)
    return None
