"""Calling contexts: the chain of calls from a thread's entry, with loop rounds kept apart.

Each context is one object, so it can be compared by identity and used as part of other keys.
"""

from __future__ import annotations

Counters = tuple[int, ...]
"""Rounds of the loops around a point, outermost first."""


class Context:
    """Where a function was called from; the root has no parent and belongs to one thread."""

    __slots__ = ("call", "counters", "depth", "function", "is_capped", "number", "parent", "thread")

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
        """May stand for more than one activation: in a loop that is not unrolled, or recursive."""
        self.depth: int = 0 if parent is None else parent.depth + 1

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

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Context] = {}

    def root(self, thread: int, function: str, is_capped: bool = False) -> Context:
        return self._intern(thread, function, None, -1, (), is_capped)

    def enter(
        self, parent: Context, call: int, counters: Counters, function: str, is_capped: bool
    ) -> Context:
        return self._intern(
            parent.thread, function, parent, call, counters, is_capped or parent.is_capped
        )

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
