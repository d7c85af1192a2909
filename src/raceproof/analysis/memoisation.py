"""Calls that need no second look.

A call is run again and again: at each visit of its block, with each set of locks and of running
threads at it, though what the callee looks at is mostly the same. So we keep what a function did in
a context, together with all that it depended on:

- its arguments, the locks, the threads and whatever else a state says beside memory;
- the objects that it, or what it called, read or changed (`Memory.touched`), as they were when it
  was entered. The rest of memory passes through it untouched;
- what it asked about its callers (`CallerQuestion`).

If a later call agrees in all of that, its exits follow: the changes are made again, on the memory
of the later call. What the function recorded then and told other threads, it would tell again, so
nothing is lost as long as the same thread is being interpreted; but threads that it creates start
with all of memory, and are told of that of the later call. What the analysis knows globally
(interference, weak bases, other threads) may have grown since, but then the thread is interpreted
once more, from nothing. A function that called one of its own callers (its `heads`) depends on how
far those recursions are known: what it did holds until one of them learns something (`epoch`).

A function that is called in one context in many different ways is *joined*: the calls that agree
in locks and threads get what it does for all of their arguments and objects together. So the work
is bounded, whatever is called how often from where. Only the objects that it changes are mixed up
between the callers; those that it reads stay as each caller has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from raceproof.analysis.locks import Symbol
from raceproof.analysis.recursion import Exit
from raceproof.analysis.state import Content, ThreadState, join_contents, widen_contents
from raceproof.domains.memory import EMPTY, Memory, Touched
from raceproof.domains.object_lattice import equal, join, widen
from raceproof.domains.objects import Contents
from raceproof.domains.values import AbstractValue
from raceproof.domains.values import join as join_values

if TYPE_CHECKING:
    from raceproof.analysis.threads import ThreadInfo

_MOST_KEPT = 12
"""Ways to call a function in one context that are kept."""
MANY_WAYS = 12
"""After so many different calls in one context they are joined."""
_PATIENCE = 3
"""Joins before values are widened."""

Symbols = dict[int, Symbol]


class CallerQuestion(NamedTuple):
    """Does a decision on a parameter depend on other threads? Its callers know."""

    parameter: int
    running: int
    is_open: bool
    is_place: bool = False
    """Not a decision on the parameter, but on what stands where it points to."""


class _Left(NamedTuple):
    """How a function is left: memory is what the caller had, with these changes."""

    changes: dict[int, Contents | None]
    state: ThreadState
    value: Content | None


class CallEntry(NamedTuple):
    """A way to call a function."""

    arguments: tuple[Content, ...]
    symbols: Symbols
    state: ThreadState
    variable: AbstractValue | None = None
    """What stands in its variable arguments."""


class Start(NamedTuple):
    """A thread that was created."""

    thread: ThreadInfo
    argument: AbstractValue
    memory: Memory
    depends_on_others: bool


Starts = dict[int, Start]
"""By the index of the thread."""


def add_start(starts: Starts, start: Start) -> None:
    """One start for each thread, which covers all."""
    old = starts.get(start.thread.index)
    if old is not None:
        start = Start(
            start.thread,
            join_values(old.argument, start.argument),
            old.memory.join(start.memory),
            old.depends_on_others or start.depends_on_others,
        )
    starts[start.thread.index] = start


class CallResult(NamedTuple):
    """What a function did."""

    touched: Touched
    exits: list[Exit]
    thrown: list[ThreadState]
    answers: dict[CallerQuestion, bool]
    heads: set[str]
    starts: Starts
    is_entangled: bool = False
    """Did it look at more than what it was given? Then it is not kept."""


class _Kept(NamedTuple):
    entered: CallEntry
    seen: dict[int, Contents | None]
    """The objects it touched, on entry."""
    touched: Touched
    answers: dict[CallerQuestion, bool]
    exits: list[_Left]
    thrown: list[_Left]
    heads: set[str]
    starts: list[tuple[Start, dict[int, Contents | None]]]
    epoch: int

    def again(self, state: ThreadState) -> CallResult:
        """The same, called in a state that agrees or is covered."""
        return CallResult(
            self.touched,
            [(_left(state, left), left.value) for left in self.exits],
            [_left(state, left) for left in self.thrown],
            {},
            self.heads,
            {
                start.thread.index: start._replace(memory=state.memory.set_all(changes))
                for start, changes in self.starts
            },
        )


class CallMemo:
    """What the functions of one thread did, in one interpretation of it."""

    def __init__(self) -> None:
        self._kept: dict[int, list[_Kept]] = {}
        """By the number of the context."""
        self._ways: dict[int, int] = {}
        """How many different calls there were in a context."""
        self._joined: dict[int, list[_Joined]] = {}
        self.epoch = 0
        """How often something was learned about a recursion."""

    def find(
        self, context: int, entered: CallEntry, ask: Callable[[CallerQuestion], bool]
    ) -> CallResult | None:
        """What such a call does, if it is known."""
        for kept in self._kept.get(context, ()):
            if (
                kept.entered.state.facets == entered.state.facets
                and kept.entered.symbols == entered.symbols
                and kept.entered.variable == entered.variable
                and _same_arguments(kept.entered.arguments, entered.arguments)
                and _holds(kept.seen, entered.state)
                and (not kept.heads or kept.epoch == self.epoch)
                and all(ask(question) is answer for question, answer in kept.answers.items())
            ):
                return kept.again(entered.state)
        return None

    def keep(self, context: int, entered: CallEntry, done: CallResult, epoch: int) -> None:
        """Remembers a call that began in an epoch."""
        if done.heads and epoch != self.epoch:
            return
        known = self._kept.setdefault(context, [])
        if len(known) >= _MOST_KEPT:
            known.pop()
        known.insert(0, _kept(entered, done, epoch))

    def joined(self, context: int, entered: CallEntry) -> _Joined | None:
        """The calls to join with, if there are too many in the context. Their callers are not asked
        any more: what is done after may depend on other threads."""
        ways = self._ways[context] = self._ways.get(context, 0) + 1
        if ways <= MANY_WAYS:
            return None
        entered.state.depends_on_others = True
        groups = self._joined.setdefault(context, [])
        for group in groups:
            if group.entered.state.facets == entered.state.facets:
                return group
        groups.append(_Joined(entered))
        return groups[-1]


class _Joined:
    """Calls of a function in a context that agree in locks and threads."""

    def __init__(self, entered: CallEntry) -> None:
        self.entered = entered
        """All that it was called with, so far."""
        self._kept: _Kept | None = None
        self._is_entangled = False
        self._growths = 0

    def known(self, epoch: int) -> _Kept | None:
        kept = self._kept
        if kept is None or self._is_entangled:
            return None
        return kept if not kept.heads or kept.epoch == epoch else None

    def widen(self, entered: CallEntry) -> bool:
        """Takes in another call; was it covered?"""
        arguments = tuple(
            join_contents(old, new) if self._growths < _PATIENCE else widen_contents(old, new, (0,))
            for old, new in zip(self.entered.arguments, entered.arguments, strict=False)
        )
        is_covered = all(
            new is old for new, old in zip(arguments, self.entered.arguments, strict=False)
        )
        symbols = {
            register: symbol
            for register, symbol in self.entered.symbols.items()
            if entered.symbols.get(register) == symbol
        }
        is_covered = is_covered and len(symbols) == len(self.entered.symbols)
        is_covered = is_covered and entered.variable == self.entered.variable
        changes: dict[int, Contents | None] = {}
        if self._kept is not None:
            for base, mine in self._kept.seen.items():
                theirs = entered.state.memory.objects.get(base)
                both = self._both(mine, theirs)
                is_covered = is_covered and both is mine
                if both is not theirs:
                    changes[base] = both
        if not is_covered:
            self._growths += 1
        state = entered.state.copy()
        state.memory = state.memory.set_all(changes)
        self.entered = CallEntry(arguments, symbols, state, entered.variable)
        return is_covered

    def _both(self, mine: Contents | None, theirs: Contents | None) -> Contents | None:
        if mine is None or theirs is None:
            return theirs if mine is None else mine
        if self._growths < _PATIENCE:
            return join(mine, theirs)
        return widen(mine, theirs, (0,))

    def keep(self, done: CallResult, epoch: int) -> _Kept:
        self._kept = _kept(self.entered, done, epoch)
        self._is_entangled = done.is_entangled
        return self._kept


def _kept(entered: CallEntry, done: CallResult, epoch: int) -> _Kept:
    objects = entered.state.memory.objects
    return _Kept(
        entered._replace(state=_bare(entered.state)),
        {base: objects.get(base) for base in done.touched},
        done.touched,
        done.answers,
        [_Left(_changes(entered.state, left), _bare(left), value) for left, value in done.exits],
        [_Left(_changes(entered.state, left), _bare(left), None) for left in done.thrown],
        done.heads,
        _starts(entered.state, done.starts),
        epoch,
    )


def _starts(before: ThreadState, starts: Starts) -> list[tuple[Start, dict[int, Contents | None]]]:
    return [
        (
            start._replace(memory=EMPTY),
            {base: there for base, _, there in before.memory.differences(start.memory)},
        )
        for start in starts.values()
    ]


def _bare(state: ThreadState) -> ThreadState:
    """Without memory."""
    bare = state.copy()
    bare.registers, bare.memory = {}, EMPTY
    return bare


def _changes(before: ThreadState, after: ThreadState) -> dict[int, Contents | None]:
    return {base: there for base, _, there in before.memory.differences(after.memory)}


def _left(state: ThreadState, left: _Left) -> ThreadState:
    after = left.state.copy()
    after.memory = state.memory.set_all(left.changes)
    return after


def _same_arguments(a: tuple[Content, ...], b: tuple[Content, ...]) -> bool:
    return len(a) == len(b) and all(x is y or x == y for x, y in zip(a, b, strict=True))


def _holds(seen: dict[int, Contents | None], state: ThreadState) -> bool:
    """Do the objects hold what they held?"""
    get = state.memory.objects.get
    for base, contents in seen.items():
        now = get(base)
        if now is not contents:
            if now is None or contents is None or not equal(now, contents):
                return False
    return True
