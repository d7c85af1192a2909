"""What every engine is asked, and how it answers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Protocol

from raceproof.analysis.facts import ProgramFacts
from raceproof.concurrency import Models
from raceproof.ir import Program
from raceproof.options import Options, UnknownCallbacks
from raceproof.verdict import NOT_SEEN, Answer, Candidate, Outcome


@dataclass(frozen=True, slots=True)
class Question:
    """`candidates` are what earlier engines left open; None asks about the whole program."""

    options: Options
    candidates: tuple[Candidate, ...] | None = None
    deadline: float | None = None
    """On the clock of `time.monotonic`."""
    lost: tuple[str, ...] | None = None
    """See `Answer`: what the analysis of values has found out about that; None: nothing yet."""
    facts: ProgramFacts | None = field(default=None, compare=False, repr=False)
    """What is known of the program already."""

    def facts_of(self, program: Program) -> ProgramFacts:
        """The facts that came with the question, or new ones."""
        if self.facts is not None and self.facts.program is program:
            return self.facts
        return ProgramFacts(program, Models.load(self.options.models))

    def seconds_left(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()


def without_unknown_callbacks(answer: Answer, program: Program, question: Question) -> Answer:
    """The answer, but no proof about a whole program in which unknown code may call back, or
    threads call functions that change what only the C library sees.

    About candidates it stands: who named them has looked at that.
    """
    is_about_all = question.candidates is None or answer.is_complete
    if answer.outcome is not Outcome.RACE_FREE or not is_about_all:
        return answer
    from raceproof.concurrency.hidden import hidden_calls
    from raceproof.concurrency.unknown_callbacks import unknown_callers

    events = question.facts_of(program).events
    is_ignored = question.options.callbacks is UnknownCallbacks.IGNORE
    callers = () if is_ignored else unknown_callers(events)
    unseen = (
        *(f"{NOT_SEEN}: functions of the program that `{n}` may call" for n in callers),
        *(f"{NOT_SEEN}: what `{n}` changes in the C library" for n in hidden_calls(events)),
    )
    if not unseen:
        return answer
    if question.candidates is not None:
        return replace(answer, is_complete=False)
    return replace(
        answer,
        outcome=Outcome.UNKNOWN,
        assumptions=(*answer.assumptions, *unseen),
        detail=unseen[0],
    )


class Engine(Protocol):
    name: str

    def run(self, program: Program, question: Question) -> Answer: ...
