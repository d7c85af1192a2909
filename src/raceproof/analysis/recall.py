"""Calls that need no second look.

A call is run again and again: at each visit of its block, with each set of locks and of running
threads at it, though what the callee looks at is mostly the same. So we keep what a function did in
a context, together with all that it depended on:

- its arguments, the locks, the threads and whatever else a state says beside memory;
- the objects that it, or what it called, read or changed (`Memory.touched`), as they were when it
  was entered. The rest of memory passes through it untouched;
- what it asked about its callers (`Question`).

If a later call agrees in all of that, its exits follow: the changes are made again, on the memory
of the later call. What the function recorded then and told other threads, it would tell again, so
nothing is lost as long as the same thread is being interpreted. What the analysis knows globally
(interference, weak bases, other threads) may have grown since, but then the thread is interpreted
once more, from nothing. A function that called one of its own callers depends on how far the
recursion is known, and is not kept; nor is one with variable arguments, which lie elsewhere, nor
one that creates threads, which start with all of memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from raceproof.analysis.recursion import Exit
from raceproof.analysis.state import Content, State, Symbol
from raceproof.domains.object_lattice import equal
from raceproof.domains.objects import Contents

_MOST_KEPT = 12
"""Ways to call a function in one context."""

Symbols = dict[int, Symbol]


class Question(NamedTuple):
    """Does a decision on a parameter depend on other threads? Its callers know."""

    parameter: int
    running: int
    is_open: bool
    is_place: bool = False
    """Not a decision on the parameter, but on what stands where it points to."""


class _Left(NamedTuple):
    """How a function is left: memory is what the caller had, with these changes."""

    changes: dict[int, Contents | None]
    state: State
    value: Content | None


class _Kept(NamedTuple):
    arguments: tuple[Content, ...]
    symbols: Symbols
    state: State
    """On entry; its memory is not looked at as a whole."""
    seen: list[tuple[int, Contents | None]]
    answers: dict[Question, bool]
    exits: list[_Left]
    thrown: list[_Left]


class Recall:
    """What the functions of one thread did, in one interpretation of it."""

    def __init__(self) -> None:
        self._kept: dict[int, list[_Kept]] = {}
        """By the number of the context."""

    def find(
        self,
        context: int,
        arguments: tuple[Content, ...],
        symbols: Symbols,
        state: State,
        ask: Callable[[Question], bool],
    ) -> tuple[list[Exit], list[State]] | None:
        """The exits and what is thrown, if such a call is known."""
        for kept in self._kept.get(context, ()):
            if (
                _agrees(kept.state, state)
                and kept.symbols == symbols
                and _same_arguments(kept.arguments, arguments)
                and _holds(kept.seen, state)
                and all(ask(question) is answer for question, answer in kept.answers.items())
            ):
                if state.memory.touched is not None:
                    state.memory.touched.update(base for base, _ in kept.seen)
                return (
                    [(_left(state, left), left.value) for left in kept.exits],
                    [_left(state, left) for left in kept.thrown],
                )
        return None

    def keep(
        self,
        context: int,
        arguments: tuple[Content, ...],
        symbols: Symbols,
        state: State,
        touched: set[int],
        answers: dict[Question, bool],
        exits: list[Exit],
        thrown: list[State],
    ) -> None:
        """Remembers a call that was entered in `state`."""
        objects = state.memory.objects
        known = self._kept.setdefault(context, [])
        if len(known) >= _MOST_KEPT:
            known.pop()
        known.insert(
            0,
            _Kept(
                arguments,
                symbols,
                state,
                [(base, objects.get(base)) for base in touched],
                answers,
                [_Left(_changes(state, left), left.copy(), value) for left, value in exits],
                [_Left(_changes(state, left), left.copy(), None) for left in thrown],
            ),
        )


def _changes(before: State, after: State) -> dict[int, Contents | None]:
    return {base: there for base, _, there in before.memory.differences(after.memory)}


def _left(state: State, left: _Left) -> State:
    after = left.state.copy()
    after.memory = state.memory.set_all(left.changes)
    return after


def _agrees(a: State, b: State) -> bool:
    """In all but memory and registers."""
    return (
        a.running == b.running
        and a.held == b.held
        and a.maybe == b.maybe
        and a.guided == b.guided
        and a.sure == b.sure
        and a.acquired == b.acquired
        and a.symbolic == b.symbolic
        and a.fresh == b.fresh
        and a.unmatched == b.unmatched
        and a.zeros == b.zeros
        and a.gates == b.gates
        and a.passed == b.passed
        and a.phases == b.phases
        and (a.cohorts is b.cohorts or a.cohorts == b.cohorts)
    )


def _same_arguments(a: tuple[Content, ...], b: tuple[Content, ...]) -> bool:
    return len(a) == len(b) and all(x is y or x == y for x, y in zip(a, b, strict=True))


def _holds(seen: list[tuple[int, Contents | None]], state: State) -> bool:
    """Do the objects hold what they held?"""
    get = state.memory.objects.get
    for base, contents in seen:
        now = get(base)
        if now is not contents:
            if now is None or contents is None or not equal(now, contents):
                return False
    return True
