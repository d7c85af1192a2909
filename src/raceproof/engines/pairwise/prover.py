"""Asks about every pair that the thread-modular analysis leaves open."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from raceproof.analysis.facts import ProgramFacts
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.races.detect import BaseReport, detect
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.pairwise.aliases import ASSUMPTION as INDEX_ASSUMPTION
from raceproof.engines.pairwise.aliases import Aliases
from raceproof.engines.pairwise.arrays import Sightings
from raceproof.engines.pairwise.conjectures import Conjectures, Obligations, ProofTimeout
from raceproof.engines.pairwise.query import Query
from raceproof.engines.pairwise.shared import NotModelled, World
from raceproof.engines.pairwise.state import SharedCell
from raceproof.engines.pairwise.threads import Template, TemplateKey, execute_all
from raceproof.engines.pairwise.values import conjuncts
from raceproof.options import MutexRules, Options
from raceproof.smt.solver import Solver, SolverResult
from raceproof.smt.terms import Term, Terms

_MOST_PAIRS = 400
_QUERY_SECONDS = 5.0

OpenPair = tuple[TemplateKey, int, TemplateKey, int]
"""Threads and instructions."""


@dataclass(frozen=True, slots=True)
class Proof:
    """That none of the pairs is a race."""

    pairs: int
    assumptions: tuple[str, ...]

    @property
    def detail(self) -> str:
        what = "the one pair" if self.pairs == 1 else f"each of the {self.pairs} pairs"
        return f"{what} of accesses left open is excluded, for any number of threads and rounds"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no proof."""

    reason: str


def prove_pairs(facts: ProgramFacts, options: Options, deadline: float) -> Proof | Failure:
    """Tries to exclude all pairs, for any number of threads, rounds and context switches."""
    if options.mutex_rules is MutexRules.LINUX:
        return Failure("any thread may unlock a mutex")
    try:
        analysis = Analysis(
            facts.program,
            facts.models,
            events=facts.events,
            unroll=options.unroll,
            deadline=deadline,
        )
        analysis.run()
        reports = detect(analysis, deadline)
    except OutOfBudget:
        return Failure("out of time")
    if analysis.unseen or any(info.records.blind for info in analysis.threads.all):
        return Failure("something is not followed")
    found = _open_pairs(analysis, reports)
    if found is None:
        return Failure("too many pairs")
    if not found:
        return Failure("no pair is open")
    pairs, apart = _without_apart(facts, found, deadline)
    seen = Sightings()
    reason = ""
    for assumes_no_overflow in (False, True):
        while True:
            try:
                reason, world = _attempt(analysis, pairs, assumes_no_overflow, seen, deadline)
            except NotModelled as why:
                return Failure(f"not modelled: {why}")
            except ProofTimeout:
                return Failure("out of time")
            if not reason:
                return Proof(len(found), _assumptions(world, apart))
            if seen.arrays() or not world.sightings.arrays() or not world.counters:
                break
            seen = world.sightings
    return Failure(reason)


def _open_pairs(analysis: Analysis, reports: list[BaseReport]) -> list[OpenPair] | None:
    """What the analysis leaves open; None if that is too much."""
    keys = [(info.call, info.entry) for info in analysis.threads.all]
    pairs: dict[OpenPair, None] = {}
    for report in reports:
        for a, b in report.pairs:
            for x in report.kinds[a.signature()]:
                for y in report.kinds[b.signature()]:
                    one, two = sorted(
                        ((keys[x.thread], x.instruction), (keys[y.thread], y.instruction))
                    )
                    pairs[(*one, *two)] = None
                if len(pairs) > _MOST_PAIRS:
                    return None
    return list(pairs)


def _without_apart(
    facts: ProgramFacts, pairs: list[OpenPair], deadline: float
) -> tuple[list[OpenPair], bool]:
    """Those that are no race for another reason than that they never meet; whether that was the
    reason for some."""
    aliases = Aliases(facts, deadline)
    left = [pair for pair in pairs if not aliases.are_apart(pair[1], pair[3])]
    return left, len(left) < len(pairs)


def _assumptions(world: World, apart: bool) -> tuple[str, ...]:
    found = {a for info in world.analysis.threads.all for a in info.records.assumptions}
    found.add("there are never 2^32 threads at once")
    if world.assumes_no_overflow:
        found.add("signed arithmetic does not overflow (undefined in C)")
    if apart:
        found.add(INDEX_ASSUMPTION)
    if world.is_counting:
        found.add("fewer than 2^32 threads are created")
    found.add("addresses are computed inside of their objects (undefined in C else)")
    return tuple(sorted(found))


def _attempt(
    analysis: Analysis,
    pairs: list[OpenPair],
    assumes_no_overflow: bool,
    seen: Sightings,
    deadline: float,
) -> tuple[str, World]:
    """Empty if all pairs are excluded, else why not; `seen` are arrays to watch."""
    terms = Terms()
    conjectures = Conjectures(terms)
    world = World(analysis.program, analysis, terms, conjectures, assumes_no_overflow, seen)
    templates = execute_all(world)
    _check_complete(analysis, templates)
    _check_recorded(pairs, templates)
    obligations: Obligations = {}
    for template in templates.values():
        for candidate, wrong in template.log.obligations.items():
            obligations.setdefault(candidate, []).extend(wrong)
    query = Query(world, tuple(templates.values()))
    questions = _Questions(conjectures, deadline)
    conjectures.settle(obligations, deadline)
    while any(
        not _is_ticket_lock(cell, world, templates, query, questions) for cell in world.ticket_locks
    ):
        conjectures.settle(obligations, deadline)
    for first, instruction, second, other in pairs:
        one, two = templates[first], templates[second]
        ways = [
            terms.all(query.conditions(one, a, two, b))
            for a in one.log.accesses.get(instruction, ())
            for b in two.log.accesses.get(other, ())
            if a.is_write or b.is_write
        ]
        result = questions.ask([terms.any(ways)])
        if result is not SolverResult.UNSAT:
            place = analysis.program.instruction(instruction).position
            there = analysis.program.instruction(other).position
            return f"{place} and {there} are not excluded ({result.value})", world
    return "", world


class _Questions:
    """Asks under the conjectures that are left."""

    def __init__(self, conjectures: Conjectures, deadline: float) -> None:
        self.conjectures = conjectures
        self.deadline = deadline

    def ask(self, conditions: Iterable[Term]) -> SolverResult:
        terms = self.conjectures.terms
        solver = Solver(terms, self.conjectures.translation)
        for candidate in self.conjectures.alive:
            solver.add(candidate)
        for candidate in self.conjectures.dead:
            solver.add(terms.not_(candidate))
        for condition in conditions:
            for part in conjuncts(condition):
                solver.add(part)
        limit = min(self.deadline, time.monotonic() + _QUERY_SECONDS)
        return solver.check(deadline=limit)


def _is_ticket_lock(
    cell: SharedCell,
    world: World,
    templates: dict[TemplateKey, Template],
    query: Query,
    questions: _Questions,
) -> bool:
    """Whether nothing had to be given up: no two threads find their turn by equal tickets."""
    candidate = world.is_ticket_lock(cell)
    if not world.conjectures.is_alive(candidate):
        return True
    looks = [
        (template, taking)
        for template in templates.values()
        for taking in template.log.takings.get(cell, ())
    ]
    for index, (first, a) in enumerate(looks):
        for second, b in looks[index:]:
            if first.is_main and second.is_main:
                continue
            if questions.ask(query.equal_tickets(first, a, second, b)) is not SolverResult.UNSAT:
                world.conjectures.give_up(candidate)
                return False
    return True


def _check_complete(analysis: Analysis, templates: dict[TemplateKey, Template]) -> None:
    """Everything that accesses memory must have been executed."""
    for info in analysis.threads.all:
        entered = templates[(info.call, info.entry)].log.entered
        for access in info.records.accesses.values():
            function = analysis.program.function_of(access.instruction)
            if function.name not in entered:
                raise NotModelled(f"`{function.display}` runs unseen")


def _check_recorded(pairs: list[OpenPair], templates: dict[TemplateKey, Template]) -> None:
    """An access that was executed but not recorded would be in no question: one by library code
    that only the analysis knows of, say. So would two of which it recorded only that they read."""
    for first, instruction, second, other in pairs:
        writes = False
        for key, number in ((first, instruction), (second, other)):
            log = templates[key].log
            if number not in log.reached:
                break
            if number not in log.accesses:
                raise NotModelled("an access that only the analysis sees")
            writes |= any(access.is_write for access in log.accesses[number])
        else:
            if not writes:
                raise NotModelled("a write that only the analysis sees")
