"""A facet cannot be left out of what is done with a whole state.

`SAMPLES` has values of each facet that differ; a new facet without samples fails here, and with
them takes part in every test.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from raceproof.analysis import facets
from raceproof.analysis.contexts import Contexts
from raceproof.analysis.facets import FACETS, START, Facets
from raceproof.analysis.facets.barrier_waits import Phase
from raceproof.analysis.facets.facet import Facet, InAccess
from raceproof.analysis.facets.semaphore_order import Uses
from raceproof.analysis.facets.thread_pools import NOTHING, Count, RunningLoop
from raceproof.analysis.locks import Held, LockKey, Symbol, SymbolicLock
from raceproof.analysis.memoisation import CallEntry, CallMemo, CallResult
from raceproof.analysis.names import Linear, Token
from raceproof.analysis.records import RawAccess, Records
from raceproof.analysis.state import ThreadState, join_states
from raceproof.domains import integers as ints
from raceproof.domains.memory import EMPTY, Touched

M, N = LockKey(1, 0), LockKey(2, 0)
P, Q = Token(0, 1), Token(0, 2)
_LOOP = RunningLoop(0, 1)
SAMPLES: dict[str, list[Any]] = {
    "may_parallel": [0, 1, 2, 6],
    "must_parallel": [0, 1, 2, 6],
    "barrier_waits": [(), (Phase(M, 1, 1),), (Phase(M, 0, 2), Phase(N, 1, 1)), None],
    "semaphore_order": [(), (Uses(M, 1, 0),), (Uses(M, 0, 1), Uses(N, 2, 2)), None],
    "creation_lockset": [frozenset(), frozenset({(1, M)}), frozenset({(1, M), (2, N)})],
    "creation_locks_taken": [frozenset(), frozenset({M}), frozenset({M, N})],
    "must_lockset": [frozenset(), frozenset({Held(M, True)}), frozenset({Held(M, False)})],
    "may_lockset": [frozenset(), frozenset({M}), frozenset({M, N})],
    "symbolic_locks": [frozenset(), frozenset({SymbolicLock(Symbol(P, 8), True)})],
    "acquisition_order": [(), (M,), (M, N)],
    "depends_on_others": [False, True],
    "unmatched_releases": [frozenset(), frozenset({M}), frozenset({M, N})],
    "zero_cells": [frozenset(), frozenset({(1, 0, 4)}), frozenset({(1, 0, 4), (2, 0, 4)})],
    "fresh_objects": [frozenset(), frozenset({(P, 3)}), frozenset({(P, 3), (Q, 4)})],
    "thread_pools": [
        NOTHING,
        replace(NOTHING, aliases={P: Linear(Q, 0)}),
        replace(NOTHING, counts={_LOOP: Count(_LOOP, P, Linear(None, 0))}),
    ],
}
EACH = [(name, value) for name, values in SAMPLES.items() for value in values]


def with_value(name: str, value: Any) -> Facets:
    return START._replace(**{name: value})


def test_every_facet_has_samples() -> None:
    assert tuple(SAMPLES) == Facets._fields
    assert len(FACETS) == len(Facets._fields) == len(START)
    assert all(isinstance(facet, Facet) for facet in FACETS)


def test_every_file_is_in_the_list() -> None:
    """A facet that is written and not listed would be silently without effect."""
    listed = {type(facet) for facet in FACETS}
    for module in pkgutil.iter_modules(facets.__path__):
        content = vars(importlib.import_module(f"{facets.__name__}.{module.name}"))
        written = {
            value
            for value in content.values()
            if isinstance(value, type) and issubclass(value, Facet) and value is not Facet
        }
        assert written <= listed
        assert written or module.name in ("facet", "notes")


def test_each_facet_says_what_it_is() -> None:
    for facet in FACETS:
        module = importlib.import_module(type(facet).__module__)
        assert module.__doc__
        assert type(facet).join is not Facet.join
    assert any(facet.reason for facet in FACETS)
    assert any(facet.conditions for facet in FACETS)


@pytest.mark.parametrize(("name", "value"), EACH)
def test_copies_keep_it(name: str, value: Any) -> None:
    state = ThreadState(EMPTY, with_value(name, value))
    assert state.copy().facets == state.facets


@pytest.mark.parametrize("name", SAMPLES)
def test_joins_are_least_upper_bounds_of_it(name: str) -> None:
    values = SAMPLES[name]
    for a, b, c in product(values, repeat=3):
        one, two, three = (with_value(name, value) for value in (a, b, c))
        joined = one.join(two)
        assert joined == two.join(one)
        assert joined.covers(one)
        assert joined.covers(two)
        assert one.join(one) is one
        assert joined.join(three) == one.join(two.join(three))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_join_of_states_tells_whether_it_has_grown(name: str) -> None:
    for a, b in product(SAMPLES[name], repeat=2):
        one, two = (ThreadState(EMPTY, with_value(name, value)) for value in (a, b))
        joined = join_states(one, two)
        assert (joined is one) == (joined.facets == one.facets)
        assert joined.facets == one.facets.join(two.facets)


@pytest.mark.parametrize("name", SAMPLES)
def test_memoised_calls_are_told_apart_by_it(name: str) -> None:
    context = Contexts(None).root(0, "f")
    for a, b in product(SAMPLES[name], repeat=2):
        memo = CallMemo()
        way = CallEntry((), {}, ThreadState(EMPTY, with_value(name, a)))
        memo.keep(context.number, way, CallResult(Touched(), [], [], {}, set(), {}), memo.epoch)
        other = CallEntry((), {}, ThreadState(EMPTY, with_value(name, b)))
        found = memo.find(context.number, other, lambda question: True)
        assert (found is not None) == (a == b)


def access(value: Facets) -> RawAccess:
    context = Contexts(None).root(0, "f")
    offsets = ints.constant(0, 64)
    found = value.of_access()
    return RawAccess(0, context, 7, 1, offsets, 4, True, False, found, frozenset(), True)


@pytest.mark.parametrize("name", SAMPLES)
def test_accesses_record_it(name: str) -> None:
    facet = FACETS[Facets._fields.index(name)]
    for a, b in product(SAMPLES[name], repeat=2):
        one, two = with_value(name, a), with_value(name, b)
        records = Records()
        records.add(access(one))
        records.add(access(two))
        is_same = access(one).signature() == access(two).signature()
        match facet.in_access:
            case InAccess.APART:
                assert len(records.accesses) == (1 if a == b else 2)
                assert is_same == (a == b)
            case InAccess.JOINED:
                (found,) = records.accesses.values()
                assert found.facets == one.join(two)
            case InAccess.ABSENT:
                (found,) = records.accesses.values()
                assert found.facets == START
