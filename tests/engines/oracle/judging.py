"""The truth about a small program, and what the engines say of it.

The oracle is the explorer without any reduction: every visible step of every thread is a choice,
every boolean input is tried both ways, and a race is two threads about to race, as it is defined.
"""

from __future__ import annotations

import time

from raceproof.engines.interleave.explorer import Conclusion, Explorer, Reduction
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.machine.machine import Machine
from raceproof.options import Options
from raceproof.pipeline.registry import load_engine
from raceproof.verdict import Answer, Confidence, Outcome

MOST_STATES = 20_000


def is_racy(program: Program, most_states: int = MOST_STATES) -> bool | None:
    """Whether some schedule leads to a race; None if there are too many to tell."""
    return concluded(program, Reduction.NONE, most_states)


def concluded(program: Program, reduction: Reduction, most_states: int) -> bool | None:
    """What the explorer finds out with all inputs."""
    explorer = Explorer(Machine(program, is_open=True), reduction=reduction)
    found = explorer.run(lambda: 1.0, most_states)
    if found.conclusion is Conclusion.INCOMPLETE:
        return None
    return found.conclusion is Conclusion.RACE


def answer(engine: str, program: Program, seconds: float) -> Answer:
    question = Question(Options(stop_at_first=True), deadline=time.monotonic() + seconds)
    return load_engine(engine).run(program, question)


def complaint(engine: str, said: Answer, racy: bool) -> str:
    """What is wrong with an answer, if anything."""
    if racy and said.outcome is Outcome.RACE_FREE:
        return "calls a racy program race-free"
    if racy or engine == "summary":  # which names candidates and claims nothing of them
        return ""
    for finding in said.findings:
        if finding.confidence >= Confidence.LIKELY:
            return (
                f"calls a race in a race-free program {finding.confidence}: {finding.location.name}"
            )
    return "says race of a race-free program" if said.outcome is Outcome.RACE else ""
