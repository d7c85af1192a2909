"""The engine `interleave`: directed search, then the explorer, then the search again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from raceproof.engines.interleave.concrete import Explored, explore
from raceproof.engines.interleave.layers import Cleared, StaticLayers
from raceproof.engines.interleave.search import DirectedSearch
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.machine.findings import Race, outcome_of, replayed_finding
from raceproof.machine.machine import Machine
from raceproof.verdict import Answer, Candidate, Confidence, Covered, Finding, LayerResult, Outcome

DEFAULT_SECONDS = 60.0
_SEARCH_SHARE = 0.1
_SEARCH_SECONDS = 3.0
"""Of the time, and at most, for the first search: most races are met at once."""
_STATIC_SHARE = 0.3
_STATIC_SECONDS = 5.0
"""The same for the layers that run nothing."""
_EXPLORER_SHARE = 0.7
"""Of the time that is left then; the rest is the search's again."""
_MOST_ATTEMPTS = 20
"""How often a race that is only likely is met before we stop to look for a surer schedule."""


class Interleave:
    """Finds schedules for races, and proves small programs race-free."""

    name = "interleave"

    def run(self, program: Program, question: Question) -> Answer:
        if question.options.layers:
            return _layered(program, question)
        return _Run(program, question).answer()


def _layered(program: Program, question: Question) -> Answer:
    """Each layer on what the one before left, with a row for each in the answer."""
    facts = question.facts_of(program)
    left = min(question.seconds_left(), DEFAULT_SECONDS)
    until = time.monotonic() + _STATIC_SHARE * left
    layers = StaticLayers(facts, question.options, lambda: until - time.monotonic())
    asked = question.candidates
    cleared = layers.clear() if asked is None else layers.refute(asked)
    started = time.monotonic()
    given = {candidate.location for candidate in cleared.candidates}
    if not given and cleared.is_proof:
        answer = Answer(Outcome.RACE_FREE, assumptions=tuple(sorted(cleared.assumptions)))
    else:
        candidates = cleared.candidates if cleared.names_all else asked
        concrete = replace(question, candidates=candidates)
        answer = _Run(program, concrete, is_static=False).answer()
    found = len({finding.location for finding in answer.findings})
    rest = {candidate.location for candidate in answer.open}
    if answer.outcome is Outcome.RACE_FREE:
        rest = set()
    elif not answer.open and not found:
        rest = given
    row = LayerResult(
        "schedules",
        len(given),
        len(rest),
        found,
        time.monotonic() - started,
        answer.detail,
    )
    is_complete = answer.is_complete or (cleared.names_all and asked is None)
    return replace(answer, layers=(*cleared.rows, row), is_complete=is_complete)


class _Run:
    """One question, being answered."""

    def __init__(self, program: Program, question: Question, *, is_static: bool = True) -> None:
        self._program = program
        self._is_static = is_static
        self._question = question
        self._options = question.options
        self._deadline = time.monotonic() + min(question.seconds_left(), DEFAULT_SECONDS)
        if question.seconds_left() != float("inf"):
            self._deadline = time.monotonic() + question.seconds_left()
        self._facts = question.facts_of(program)
        self._models = self._facts.models
        self._machine = Machine(program, self._models, mutex_rules=self._options.mutex_rules)
        self._candidates: dict[frozenset[int], list[Candidate]] = {}
        for candidate in question.candidates or ():
            pair = frozenset((candidate.first.instruction, candidate.second.instruction))
            self._candidates.setdefault(pair, []).append(candidate)
        self._open = set(self._candidates)
        self._findings: dict[frozenset[int], Finding] = {}
        self._attempts: Counter[frozenset[int]] = Counter()
        """How often a race was met that is only likely."""
        self._settled: set[frozenset[int]] = set()
        self._statistics: list[tuple[str, int | float | str]] = []
        self._detail = ""

    def answer(self) -> Answer:
        asked = self._question.candidates
        if asked is not None and not asked:
            return Answer(Outcome.RACE_FREE)
        pairs = self._candidates if asked is not None else None
        search = DirectedSearch(self._machine, pairs, self._options.seed)
        self._search(search, self._until(_SEARCH_SHARE, _SEARCH_SECONDS))
        if not self._findings and self._is_static:
            cleared = self._clear()
            if cleared.is_proof and not cleared.candidates:
                return self._static_proof(cleared)
            if asked is not None:
                self._refute(cleared)
                search.wanted(self._open)
        if not self._findings:
            explored = self._explore(_EXPLORER_SHARE)
            if explored.is_proved:
                return self._proof(explored)
            if explored.hint and (asked is None or explored.hint in self._open):
                search.wanted([explored.hint])
        if not self._is_enough():
            self._search(search, self._until(1.0))
        self._statistics.append(("executions", search.executions))
        return self._conclude()

    def _search(self, search: DirectedSearch, left: Callable[[], float]) -> None:
        search.run(left, self._take)

    def _clear(self) -> Cleared:
        left = self._until(_STATIC_SHARE, _STATIC_SECONDS)
        layers = StaticLayers(self._facts, self._options, left)
        asked = self._question.candidates
        return layers.clear() if asked is None else layers.refute(asked)

    def _refute(self, cleared: Cleared) -> None:
        """Drop the asked candidates that the threading model cleared for good."""
        if not cleared.is_proof:
            return
        kept = set(cleared.candidates)
        for pair in list(self._open):
            self._candidates[pair] = [c for c in self._candidates[pair] if c in kept]
            if not self._candidates[pair]:
                self._open.discard(pair)

    def _static_proof(self, cleared: Cleared) -> Answer:
        names = ", ".join(row.name for row in cleared.rows)
        return Answer(
            Outcome.RACE_FREE,
            assumptions=tuple(sorted(cleared.assumptions)),
            detail=f"no schedule needed: {names}",
        )

    def _explore(self, share: float) -> Explored:
        explored = explore(
            self._machine, self._models, self._options.mutex_rules, self._until(share)
        )
        self._statistics.append(("states", explored.states))
        self._detail = f"{explored.states} states: {explored.reason or 'no more'}"
        if explored.race is not None:
            self._take(explored.race)
        return explored

    def _until(self, share: float, most: float = float("inf")) -> Callable[[], float]:
        """Seconds left of a share of the time that is left now, or of `most`."""
        now = time.monotonic()
        end = now + min(share * (self._deadline - now), most)
        return lambda: end - time.monotonic()

    def _is_enough(self) -> bool:
        if self._question.candidates is None or self._options.stop_at_first:
            return bool(self._settled)
        return not self._open

    def _proof(self, explored: Explored) -> Answer:
        return Answer(
            Outcome.RACE_FREE,
            assumptions=tuple(sorted(explored.assumptions)),
            detail=f"all schedules were explored: {explored.states} states",
            statistics=tuple(self._statistics),
            is_complete=True,
            covered=() if explored.has_met_undefined else (Covered.PATHS,),
        )

    def _take(self, race: Race) -> bool:
        """Enter a race; whether no more is wanted."""
        known = self._findings.get(race.pair)
        if race.pair in self._settled:
            return self._is_enough()
        candidates = self._candidates.get(race.pair)
        found = replayed_finding(self._machine, race, candidates[0] if candidates else None)
        if known is None or found.confidence > known.confidence:
            self._findings[race.pair] = found
        self._attempts[race.pair] += 1
        if found.confidence is Confidence.CONFIRMED or self._attempts[race.pair] >= _MOST_ATTEMPTS:
            self._solve(race.pair)
        return self._is_enough()

    def _solve(self, pair: frozenset[int]) -> None:
        """A location with a confirmed race needs no more work, nor do others of the same pair."""
        self._settled.add(pair)
        settled = {candidate.location for candidate in self._candidates.get(pair, ())}
        self._open.discard(pair)
        self._open = {
            other
            for other in self._open
            if any(candidate.location not in settled for candidate in self._candidates[other])
        }

    def _conclude(self) -> Answer:
        open_candidates = tuple(
            candidate for pair in self._open for candidate in self._candidates[pair]
        )
        return Answer(
            outcome_of(self._findings.values()),
            findings=tuple(self._findings.values()),
            open=open_candidates,
            assumptions=tuple(sorted(self._machine.assumptions)),
            detail=self._detail,
            statistics=tuple(self._statistics),
        )
