"""The layers in their order, and how they share the time."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.options import Options
from raceproof.pipeline.registry import is_installed

DEFAULT_TIMEOUT = 300.0
"""Seconds for one program, if the user names no limit."""
_SHORT_TIMEOUT = 30.0
_HARD_WEIGHT = 400
"""The same for programs beyond this weight (`ProgramFacts.weight`): what is not decided there in so
many seconds is hardly decided in ten times as many."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One engine's turn. It may use `share` of the time that is left when its turn comes, and no
    more than `most` seconds."""

    engine: str
    share: float
    names_candidates: bool = False
    """Asked only if no engine has named candidates yet; its `likely` is taken as `possible`."""
    decides: bool = False
    """Works on candidates of others, so that several such can work at once."""
    only_proves: bool = False
    """Has nothing to say about a program with a confirmed race."""
    most: float = float("inf")


# Most races are met within seconds, and most small proofs are found within seconds; so a short look
# by each comes before the long one.
_AUTO: tuple[Layer, ...] = (
    Layer("modular", 0.5),
    Layer("summary", 0.3, names_candidates=True),
    Layer("interleave", 0.08, decides=True),
    Layer("pairwise", 0.15, most=20.0, decides=True, only_proves=True),
    Layer("bounded", 0.5, decides=True),
    Layer("interleave", 1.0, decides=True),
)


_LARGE: tuple[Layer, ...] = (
    Layer("modular", 0.8),
    Layer("summary", 0.3, names_candidates=True),
    Layer("interleave", 1.0, most=5.0, decides=True),
)
"""For large programs. What they compute is mostly beyond the bounds of pairwise and bounded, and a
search that has met no race within seconds hardly meets one."""
_PATIENT = tuple(layer for layer in _AUTO if layer.decides)
"""What follows on a large program if the user gives it a time of their own."""
LARGE_MEMORY = 2.0
"""GiB for each engine on a large program, if the user names no limit."""


def seconds_for(options: Options, weight: int, is_large: bool) -> float:
    """How long one program may take in all. The layers of large programs have limits of their
    own."""
    if options.timeout:
        return options.timeout
    is_hard = options.engine == "auto" and weight > _HARD_WEIGHT and not is_large
    return _SHORT_TIMEOUT if is_hard else DEFAULT_TIMEOUT


def layers(options: Options, is_large: bool = False) -> tuple[Layer, ...]:
    """Who is asked, in this order."""
    if options.engine != "auto":
        return (Layer(options.engine, 1.0),)
    plan = _AUTO
    if is_large:
        plan = _LARGE + (_PATIENT[1:] if options.timeout else ())
    return tuple(layer for layer in plan if is_installed(layer.engine))


def side_by_side(plan: tuple[Layer, ...], jobs: int) -> list[tuple[Layer, ...]]:
    """The layers in groups that run at once: up to `jobs` of those that decide candidates.

    Naming candidates comes first: the others work on what it leaves open.
    """
    groups: list[tuple[Layer, ...]] = []
    for layer in plan:
        last = groups[-1] if groups else ()
        if layer.decides and last and len(last) < jobs and all(other.decides for other in last):
            groups[-1] = (*last, layer)
        else:
            groups.append((layer,))
    return groups
