"""The layered approach (the paper's section 3.3): lock sets, the threading model, real schedules.

Each layer sees only the variables that the one before it could not clear. The first two look at the
program without its data and are cheap; what they clear is safe for all inputs and, where the
model's cut-off holds, any number of threads. The third is the concrete explorer and the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from raceproof.analysis.facts import ProgramFacts
from raceproof.engines.interleave.abstract import ModelChecked, Reachability, check
from raceproof.engines.interleave.lock_sets import LockSets
from raceproof.engines.interleave.skeleton import Skeleton
from raceproof.engines.interleave.suspects import Suspect, from_candidates, from_variable, pair_of
from raceproof.engines.interleave.variables import SharedVariables
from raceproof.options import DEFAULT_THREADS, Options
from raceproof.verdict import Candidate, LayerResult


@dataclass(slots=True)
class Cleared:
    """What the static layers leave. `is_proof`: what they cleared is safe, and they saw all."""

    suspects: list[Suspect]
    rows: list[LayerResult]
    is_proof: bool
    assumptions: frozenset[str] = frozenset()
    bounded: list[Suspect] = field(default_factory=list)
    """Cleared only for as many threads as the bound says."""

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        found = [*self.suspects, *self.bounded]
        return tuple(candidate for suspect in found for candidate in suspect.candidates)

    @property
    def names_all(self) -> bool:
        """Whether every race of the program is among the candidates."""
        return self.is_proof and not any(suspect.has_more for suspect in self.suspects)


class StaticLayers:
    """The two layers that never run the program."""

    def __init__(
        self,
        facts: ProgramFacts,
        options: Options,
        seconds_left: Callable[[], float],
    ) -> None:
        self._program = facts.program
        self._options = options
        self._threads = options.threads or DEFAULT_THREADS
        self._seconds_left = seconds_left
        self._started = time.monotonic()
        self.skeleton = Skeleton(facts, seconds_left())

    @property
    def _is_followed(self) -> bool:
        return not self.skeleton.not_followed

    def clear(self) -> Cleared:
        """Both layers on the whole program."""
        lock_sets = LockSets(
            self.skeleton, self._options.mutex_rules, lambda: self._seconds_left() <= 0
        )
        variables = SharedVariables(self.skeleton, lock_sets).all()
        unsafe = [
            from_variable(lock_sets, self._program, variable)
            for variable in variables
            if not variable.is_safe
        ]
        spent = time.monotonic() - self._started
        row = LayerResult("lock set", len(variables), len(unsafe), 0, spent)
        cleared = self._model_check(unsafe, None)
        cleared.rows.insert(0, row)
        cleared.is_proof &= lock_sets.is_complete
        return cleared

    def refute(self, candidates: tuple[Candidate, ...]) -> Cleared:
        """The threading model on what other engines left open."""
        return self._model_check(from_candidates(candidates), candidates)

    def _model_check(self, suspects: list[Suspect], asked: tuple[Candidate, ...] | None) -> Cleared:
        started = time.monotonic()
        left: list[Suspect] = []
        bounded: list[Suspect] = []
        states = 0
        for index, suspect in enumerate(suspects):
            share = max(self._seconds_left(), 0.0) / (len(suspects) - index)
            checked = self._check(suspect, share, by_pair=asked is not None)
            states += checked.states
            if checked.pairs:
                left.append(_only(suspect, checked))
            elif checked.reachability is Reachability.BOUNDED:
                bounded.append(suspect)
            elif checked.reachability is not Reachability.REFUTED:
                left.append(suspect)
        detail = f"{states} configurations"
        if bounded:
            detail += f"; {len(bounded)} cleared within {self._threads} threads only"
        if not self._is_followed:
            detail += f"; not followed: {', '.join(sorted(self.skeleton.not_followed))}"
        spent = time.monotonic() - started
        row = LayerResult("threading model", len(suspects), len(left), 0, spent, detail)
        assumptions = frozenset(self.skeleton.assumptions)
        return Cleared(left, [row], self._is_followed, assumptions, bounded)

    def _check(self, suspect: Suspect, seconds: float, *, by_pair: bool) -> ModelChecked:
        end = time.monotonic() + seconds
        return check(
            self.skeleton,
            suspect.accesses,
            self._threads,
            self._options.mutex_rules,
            lambda: end - time.monotonic(),
            suspect.pairs if by_pair else None,
        )


def _only(suspect: Suspect, checked: ModelChecked) -> Suspect:
    """With the candidates that are not refuted."""
    if checked.reachability is not Reachability.REFUTED:
        return suspect
    kept = [candidate for candidate in suspect.candidates if pair_of(candidate) in checked.pairs]
    return replace(suspect, candidates=tuple(kept))
