"""A look at a program without a verdict: its threads, locks and accesses, for people who ask.

It goes down the same ladder as the engine: values, values without contexts, `alias`; of a large
program `alias` at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from raceproof.analysis.backend import Analysed
from raceproof.analysis.facts import ProgramFacts
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.detect import BaseReport, detect
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular.cheap import walked
from raceproof.engines.modular.engine import COARSE, by_values, value_deadline
from raceproof.engines.question import Question
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.options import BackendChoice, Options

_DEFAULT_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Look:
    analysis: Analysed
    reports: list[BaseReport]
    """Every object that more than one thread accesses."""
    notices: tuple[str, ...] = ()


def look(program: Program, options: Options) -> Look:
    """By the user's backend; by a cheaper one if it is out of time or memory."""
    facts = ProgramFacts(program, Models.load(options.models))
    seconds = options.timeout or _DEFAULT_TIMEOUT
    question = Question(options, deadline=time.monotonic() + seconds)
    choice = options.backend
    notices: tuple[str, ...] = ()
    if choice is BackendChoice.VALUE and not facts.is_small:
        choice = BackendChoice.ALIAS
        notices = ("the program is large: points-to sets and locksets answer, without values",)
    elif choice is BackendChoice.VALUE:
        seen = _by_values(facts, question)
        if seen is not None:
            return seen
        choice = BackendChoice.ALIAS
        notices = ("backend `value` ran out of time or memory, `alias` answers",)
    try:
        walk = walked(facts, choice, options.latest_calls, question.deadline)
        return Look(walk, detect(walk, question.deadline), notices)
    except (OutOfBudget, MemoryError):
        raise UserError(
            f"not done within {seconds:.0f} s: give more time (--timeout) or a cheaper backend "
            "(--backend alias, or syntactic)"
        ) from None


def _by_values(facts: ProgramFacts, question: Question) -> Look | None:
    """None if there was not enough time or memory, without contexts either."""
    options = question.options
    for is_coarse in (False, True):
        deadline = value_deadline(facts.program, question, is_coarse)
        try:
            analysis = by_values(facts, options, is_coarse, deadline)
            return Look(analysis, detect(analysis, deadline), (COARSE,) if is_coarse else ())
        except OutOfBudget:
            continue
        except MemoryError:
            break
    return None
