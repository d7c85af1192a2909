"""The rule for `confirmed`, the same for every schedule of every engine.

A race is *confirmed* when its schedule was replayed and every value on it was computed, or is a
genuine input: what the environment really chooses (arguments, files, sockets, time, functions that
are nondeterministic, data that was never set). What an unknown function returns is none, nor what
an object holds that another part of the program defines: some value had to be *invented* there to
go on. Such a race is *likely* only, and the finding says which function would have to return what.

    if (check(p) == 3) x = 1;        likely, if check(...) returns 3

A library function of fixed meaning that we do not compute (`fnmatch`) returns one certain value,
and the invented one may not be it: such a race is *possible*.

What the standards leave open (`raceproof_unspecified` in the bodies of library functions) is chosen
by no one, and what the machine does not do exactly is not what happens: a race that needs one of
them is *possible* at most.

Nor is a race confirmed that an execution reaches in a function which only the model of a library
says is called (`Machine.granted`): it is *likely*.

An invented value that nothing was computed from does not count. To see that, the schedule is
replayed once more with the invented values withheld (`Indeterminate`): they may be handed on, but
the execution stops where one is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.machine.inputs import Invention
from raceproof.machine.machine import Machine
from raceproof.machine.replay import replay
from raceproof.verdict import Confidence, Schedule

_MOST_NAMED = 3
_UNSPECIFIED = "raceproof_unspecified"


@dataclass(frozen=True, slots=True)
class Judgement:
    """`caveat`: what has to hold for the race to be one; empty if it is confirmed."""

    confidence: Confidence
    caveat: str = ""

    @property
    def is_confirmed(self) -> bool:
        return self.confidence is Confidence.CONFIRMED


CONFIRMED = Judgement(Confidence.CONFIRMED)


def judge(machine: Machine, schedule: Schedule) -> Judgement | None:
    """What a schedule shows; None if it does not lead to a race. The machine stands at its end."""
    if not replay(machine, schedule).reached:
        return None
    inventions = machine.inventions
    granted = Judgement(Confidence.LIKELY, f"if {' and '.join(sorted(machine.granted))}")
    without_inventions = granted if machine.granted else CONFIRMED
    if not inventions:
        return without_inventions
    if _needs_none(machine, schedule):
        found = without_inventions
    else:
        is_open = any(m.is_inexact or m.is_fixed or m.function == _UNSPECIFIED for m in inventions)
        confidence = Confidence.POSSIBLE if is_open else Confidence.LIKELY
        found = Judgement(confidence, f"if {_named(inventions)}")
    replay(machine, schedule)
    return found


def _needs_none(machine: Machine, schedule: Schedule) -> bool:
    """Whether the schedule leads to its race whatever the invented values are."""
    machine.withholds_inventions = True
    try:
        return replay(machine, schedule).reached
    finally:
        machine.withholds_inventions = False


def _named(inventions: list[Invention]) -> str:
    texts = list(
        dict.fromkeys(
            f"{made.function} is as the machine has it"
            if made.is_inexact
            else f"{made.function} gives {made.value:#x}"
            for made in inventions
        )
    )
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return ", ".join(texts[:_MOST_NAMED]) + more
