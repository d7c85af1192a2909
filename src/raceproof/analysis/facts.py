"""What is known of one program, each fact computed once, when it is asked for.

The pipeline makes one `ProgramFacts` for a program and hands it to every engine with its question.
Engines are forked, so what is asked for before the fork reaches them all; what an engine finds out
afterwards is its own. A fact that could not be computed in time is tried again only by whoever has
more time.

From cheap to dear: the events of the calls; how much work the program is (`weight`); where pointers
point to; who runs beside whom with which locks (`walk`).
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING

from raceproof.concurrency.accesses import Events
from raceproof.concurrency.catalogue import Models
from raceproof.ir import Program

if TYPE_CHECKING:
    from raceproof.analysis.alias.backend import AliasBackend
    from raceproof.analysis.alias.points_to import PointsTo
    from raceproof.analysis.walk.analysis import Walk

SMALL_WEIGHT = 1500
SMALL_PROGRAM = 3000
"""Visits of blocks, and instructions, up to which the value analysis of a whole program takes
seconds: most programs of one idea and a few hundred lines are far below, programs of thousands of
lines far above."""


class ProgramFacts:
    def __init__(self, program: Program, models: Models) -> None:
        self.program = program
        self.models = models
        self._points_to: PointsTo | None = None
        self._alias: AliasBackend | None = None
        self._walks: dict[int, Walk] = {}
        self._failed_with = 0.0
        """So many seconds were not enough for points-to sets."""

    @cached_property
    def events(self) -> Events:
        return Events(self.program, self.models)

    @cached_property
    def weight(self) -> int:
        """About how many blocks the value analysis would visit: see `weights`."""
        from raceproof.analysis.flow import Flows
        from raceproof.analysis.rounds import Rounds

        entry = self.program.functions.get(self.program.entry)
        if entry is None or not entry.is_defined:
            return 0
        rounds = Rounds(self.program, self.events, Flows(self.program), 0, False)
        return rounds.weights.of(entry)

    @property
    def is_small(self) -> bool:
        """May values be computed for the whole program at once?"""
        if self.program.instruction_count > SMALL_PROGRAM:
            return False
        return self.weight <= SMALL_WEIGHT

    def points_to(self, deadline: float | None = None) -> PointsTo:
        """Raises `OutOfTime` if it is not done by then."""
        from raceproof.analysis.alias.points_to import PointsTo
        from raceproof.analysis.alias.solver import OutOfTime

        if self._points_to is None:
            left = float("inf") if deadline is None else deadline - time.monotonic()
            if left <= self._failed_with:
                raise OutOfTime
            try:
                self._points_to = PointsTo(self.program, self.events, deadline)
            except OutOfTime:
                self._failed_with = left
                raise
        return self._points_to

    def alias(self, deadline: float | None = None) -> AliasBackend:
        """The backend over the points-to sets; raises `OutOfTime`."""
        from raceproof.analysis.alias.backend import AliasBackend

        if self._alias is None:
            self._alias = AliasBackend(self.program, self.events, self.points_to(deadline))
        return self._alias

    def walk(self, context_depth: int, deadline: float | None = None) -> Walk:
        """Threads, locks and accesses over the points-to sets; raises `OutOfBudget`."""
        from raceproof.analysis.alias.solver import OutOfTime
        from raceproof.analysis.interpreter import OutOfBudget
        from raceproof.analysis.walk.analysis import Walk

        found = self._walks.get(context_depth)
        if found is None:
            try:
                backend = self.alias(deadline)
            except OutOfTime:
                raise OutOfBudget from None
            found = Walk(backend, context_depth, deadline)
            found.run()
            self._walks[context_depth] = found
        return found
