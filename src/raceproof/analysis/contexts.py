"""Calling contexts: the chain of calls from a thread's entry, with loop rounds kept apart.

Each context is one object, so it can be compared by identity and used as part of other keys.

With a depth, a context is told by its latest calls only (the paper's *analysis contexts*), so that
all ways to a function that end in the same calls share one. Such a context is *capped* as soon as a
second way leads to it: it stands for more than one activation, and what is made there for more than
one object. `merging` says what becomes of the states.
"""

from __future__ import annotations

Counters = tuple[int, ...]
"""Rounds of the loops around a point, outermost first."""


class Context:
    """Where a function was called from; the root has no parent and belongs to one thread."""

    __slots__ = (
        *("_calls", "call", "counters", "depth", "function"),
        *("is_capped", "number", "parent", "thread"),
    )

    def __init__(
        self,
        number: int,
        thread: int,
        function: str,
        parent: Context | None,
        call: int,
        counters: Counters,
        is_capped: bool,
    ) -> None:
        self.number = number
        self.thread = thread
        self.function = function
        self.parent = parent
        self.call = call
        self.counters = counters
        self.is_capped = is_capped
        """May stand for more than one activation: in a loop that is not unrolled, recursive, or
        merged with others."""
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._calls: tuple[int, ...] | None = None

    @property
    def calls(self) -> tuple[int, ...]:
        """On the way from the root to this one."""
        if self._calls is None:
            self._calls = tuple(context.call for context in self.chain()[1:])
        return self._calls

    def chain(self) -> list[Context]:
        """From the root to this one."""
        found = []
        at: Context | None = self
        while at is not None:
            found.append(at)
            at = at.parent
        found.reverse()
        return found

    def __repr__(self) -> str:
        return "/".join(f"{c.function}@{c.call}" for c in self.chain())


class Contexts:
    """Makes each context once."""

    def __init__(self, depth: int | None = None) -> None:
        self.depth = depth
        """How many of the latest calls tell contexts apart; None: all."""
        self.merges = 0
        """How many contexts turned out to stand for several ways."""
        self._known: dict[tuple[object, ...], Context] = {}
        self._ways: dict[int, tuple[object, ...]] = {}
        """Number of a context with a bounded depth -> the first way into it."""

    def root(self, thread: int, function: str, is_capped: bool = False) -> Context:
        return self._intern(thread, function, None, -1, (), is_capped)

    def enter(
        self, parent: Context, call: int, counters: Counters, function: str, is_capped: bool
    ) -> Context:
        is_capped = is_capped or parent.is_capped
        if self.depth is None:
            return self._intern(parent.thread, function, parent, call, counters, is_capped)
        return self._enter_bounded(parent, call, counters, function, is_capped)

    def _enter_bounded(
        self, parent: Context, call: int, counters: Counters, function: str, is_capped: bool
    ) -> Context:
        """The context of the latest calls; its parent is that of the first way into it."""
        latest: list[object] = []
        at: Context | None = parent
        step: tuple[int, Counters] = (call, counters)
        while len(latest) < (self.depth or 0):
            latest.append(step)
            if at is None or at.parent is None:
                break
            step, at = (at.call, at.counters), at.parent
        key = (parent.thread, function, tuple(latest))
        found = self._known.get(key)
        way = (parent.number, call, counters)
        if found is None:
            found = Context(
                len(self._known), parent.thread, function, parent, call, counters, is_capped
            )
            self._known[key] = found
            self._ways[found.number] = way
        elif not found.is_capped and (is_capped or self._ways[found.number] != way):
            found.is_capped = True
            self.merges += 1
        return found

    def capped(self, context: Context) -> Context:
        """The same, standing for more than one activation."""
        if context.is_capped:
            return context
        return self._intern(
            context.thread,
            context.function,
            context.parent,
            context.call,
            context.counters,
            True,
        )

    def _intern(
        self,
        thread: int,
        function: str,
        parent: Context | None,
        call: int,
        counters: Counters,
        is_capped: bool,
    ) -> Context:
        key = (thread, function, parent and parent.number, call, counters, is_capped)
        found = self._known.get(key)
        if found is None:
            found = Context(len(self._known), thread, function, parent, call, counters, is_capped)
            self._known[key] = found
        return found
