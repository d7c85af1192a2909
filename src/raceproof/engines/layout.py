"""No proofs that hold for one way to lay objects out in memory.

The machine and the solver's executions have one place for each object. A race that one of them
finds there is real; that there is none says nothing about a program that acts by where they lie.
Nor does any engine know whether an object is put where another one was.
"""

from __future__ import annotations

from dataclasses import replace

from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.ir.comparisons import may_tell_reuse
from raceproof.verdict import Answer, Outcome


def for_any_layout(answer: Answer, program: Program, question: Question) -> Answer:
    """The answer, but no proof if the program looks at where its objects lie."""
    if answer.outcome is not Outcome.RACE_FREE:
        return answer
    from raceproof.analysis.alias.layout import look_at_layout
    from raceproof.analysis.alias.solver import OutOfTime

    facts = question.facts_of(program)
    try:
        look = look_at_layout(program, lambda: facts.points_to(question.deadline))
    except OutOfTime:
        return _unproved(answer, question, "out of time")
    if look is None:
        return answer
    where = program.instruction(look).position
    detail = "the program looks at where an object lies, and only one place for it was tried"
    return _unproved(answer, question, f"{detail}: {where}" if where else detail)


def without_reuse(answer: Answer, program: Program, question: Question) -> Answer:
    """The answer, but no proof if the program can tell whether an address is used again."""
    if answer.outcome is not Outcome.RACE_FREE or not may_tell_reuse(program):
        return answer
    from raceproof.analysis.alias.reuse import tells_reuse
    from raceproof.analysis.alias.solver import OutOfTime

    facts = question.facts_of(program)
    try:
        number = tells_reuse(facts.points_to(question.deadline))
    except OutOfTime:
        return _unproved(answer, question, "out of time")
    if number is None:
        return answer
    where = program.instruction(number).position
    detail = "the program compares addresses or thread ids that may be used again"
    return _unproved(answer, question, f"{detail}: {where}" if where else detail)


def _unproved(answer: Answer, question: Question, why: str) -> Answer:
    left = question.candidates or ()
    return replace(answer, outcome=Outcome.UNKNOWN, open=left, detail=why, is_complete=False)
