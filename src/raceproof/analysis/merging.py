"""Calls of a function that share a context, because the depth of contexts is bounded.

Each call is run from the join of all states, arguments and symbols with which the function was
entered in that context so far, apart by the locks held and the threads running as in the paper's
summaries (c, L) -> L'. So every result covers its own call and all before it. A call that adds
nothing to the join is one that `memoisation` knows: that is what a small depth saves.
"""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.analysis.contexts import Context
from raceproof.analysis.fixpoint import Variants
from raceproof.analysis.locks import Symbol
from raceproof.analysis.state import Content, ThreadState, join_states

_PATIENCE = 3
_VARIANTS = 6
"""So many different sets of locks and running threads are kept apart."""


@dataclass(eq=False, slots=True)
class MergedEntry:
    """How a function is entered in one context."""

    state: ThreadState
    """Its registers are the arguments, numbered from -1 downwards."""
    symbols: dict[int, Symbol]
    count: int
    """Of arguments."""
    meetings: int = 0

    @property
    def arguments(self) -> tuple[Content, ...]:
        return tuple(self.state.registers[-1 - i] for i in range(self.count))

    def start(self, caller: ThreadState) -> ThreadState:
        """The state to run the function in for one of its callers. What was joined is something
        that the caller's own result depends on."""
        state = self.state.copy()
        state.registers = {}
        touched = caller.memory.touched
        if touched is not None:
            touched.update(base for base, _, _ in caller.memory.differences(state.memory))
        state.memory = state.memory.watched(touched)
        return state


class Entries:
    """Of one thread, while it is interpreted."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, object], MergedEntry] = {}
        self._variants = Variants(_VARIANTS)

    def meet(
        self,
        context: Context,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: ThreadState,
    ) -> MergedEntry:
        """The function of the context is entered like this, too."""
        met = state.copy()
        met.registers = {-1 - i: value for i, value in enumerate(arguments)}
        met.memory = met.memory.watched(None)
        key = (context.number, self._variants.of(context.number, state.facets.block_key))
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = MergedEntry(met, dict(symbols), len(arguments))
            return entry
        entry.meetings += 1
        wide = (0,) if entry.meetings > _PATIENCE else None
        joined = join_states(entry.state, met, wide)
        if joined is not entry.state:
            entry.state = joined.copy()
        entry.symbols = {i: s for i, s in entry.symbols.items() if symbols.get(i) == s}
        entry.count = min(entry.count, len(arguments))
        return entry
