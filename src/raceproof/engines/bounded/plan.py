"""In what order the bounds grow.

Small bounds find most races in no time, so they come first. With no time limit the engine stops at
the bounds that the options name; with one, it goes on with larger ones while there is time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from raceproof.engines.bounded.events import Unfolding
from raceproof.engines.bounded.repeating import LONG_LOOP, UNWOUND
from raceproof.engines.bounded.unfold import LoopLimit, UnfoldLimits
from raceproof.options import MutexRules, Options

_FEW_THREADS = 10
_MANY_THREADS = 100
_MANY_EVENTS = 600


@dataclass(frozen=True, slots=True)
class Stage:
    """One unfolding and the rounds to try on it; `proves`: also try to prove it race-free."""

    limits: UnfoldLimits
    rounds: tuple[int, ...]
    proves: bool = False

    def __str__(self) -> str:
        return (
            f"unwind {self.limits.unwind}, {self.rounds[-1]} rounds, "
            f"{self.limits.total_threads} threads"
        )


def stages(options: Options, *, has_time: bool) -> Iterator[Stage]:
    """The stages in their order; endless ones are not among them."""
    base = UnfoldLimits(
        unwind=options.unwind,
        loops=tuple(map(LoopLimit.parse, options.unwind_loops)),
        total_threads=_FEW_THREADS,
        site_threads=options.threads,
        anyone_unlocks=options.mutex_rules is MutexRules.LINUX,
    )
    asked = tuple(range(1, options.rounds + 1))
    yield Stage(base, asked, proves=True)
    if not has_time:
        return
    unwind, rounds = options.unwind, options.rounds
    many = replace(base, total_threads=_MANY_THREADS)
    yield Stage(replace(base, unwind=unwind + 1), (1, rounds), proves=True)
    yield Stage(many, (1, rounds))
    yield Stage(base, (rounds + 1, rounds + 2))
    yield Stage(replace(base, unwind=unwind + 2), (1, rounds, rounds + 1), proves=True)
    more = replace(base, events=_MANY_EVENTS)
    yield Stage(replace(more, unwind=unwind + 4), (1, rounds, rounds + 1), proves=True)
    yield Stage(replace(more, unwind=unwind + 8), (1, rounds), proves=True)
    yield Stage(base, (rounds + 3,))
    yield Stage(replace(base, unwind=unwind + 2), (rounds + 2, rounds + 3))
    yield Stage(replace(more, unwind=unwind + 18), (1, rounds), proves=True)


def can_go_on(stage: Stage, unfolding: Unfolding) -> bool:
    """Whether only long loops stand in the way of a proof, and they could be unrolled further."""
    reasons = {cut.reason for thread in unfolding.threads for cut in thread.cuts}
    return (
        stage.proves
        and stage.limits.events < _MANY_EVENTS
        and LONG_LOOP in reasons
        and UNWOUND not in reasons
    )


def longer(stage: Stage) -> Stage:
    """The same with loops unrolled further; most of its races have been looked for."""
    return replace(stage, limits=replace(stage.limits, events=_MANY_EVENTS), rounds=(1,))
