"""How many rounds of a loop are kept apart; `weights` has the last word."""

from __future__ import annotations

from raceproof.analysis.flow import Flow, Flows
from raceproof.analysis.weights import Weights
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.callbacks.sites import is_synthesized
from raceproof.concurrency.events import Event, ThreadCreate, ThreadJoin
from raceproof.ir import Call, FunctionAddress, Program
from raceproof.ir.cfg import direct_calls

_FEW_ROUNDS = 2
_MANY_ROUNDS = 20
_ROUNDS_OF_A_SERVER = 2
"""Of a loop without a count that creates a thread and waits for it, now or in a later round: the
threads of many rounds would be more than there are states kept apart."""
_MOST_COPIES = 20_000
"""Of instructions, in all rounds together."""

Kinds = tuple[type[Event], ...]


class Rounds:
    """Many where threads are created or joined, so that each round's thread is known by itself;
    few elsewhere."""

    def __init__(
        self, program: Program, events: Events, flows: Flows, unroll: int, is_coarse: bool
    ) -> None:
        """`unroll` is what the user wants, if anything; `is_coarse`: no round is kept apart."""
        self._few = 0 if is_coarse else unroll or _FEW_ROUNDS
        most = 0 if is_coarse else _MOST_COPIES // max(1, program.instruction_count)
        self._many = max(self._few, min(_MANY_ROUNDS, most))
        self._unroll = 0 if is_coarse else unroll
        self._threads = _Loops(program, events, (ThreadCreate, ThreadJoin))
        self._joins = _Loops(program, events, (ThreadJoin,))
        self._creates = creates = _Loops(program, events, (ThreadCreate,))
        self.weights = Weights(program, events, flows, self._wanted)
        self.creates_threads = any(
            creates.has(flows.of(program.functions[name]), head)
            for name in sorted(creates.functions)
            for head in flows.of(program.functions[name]).loops
        )
        """Does a loop create threads, in itself or in what it calls by name?"""

    def of(self, flow: Flow, head: int) -> int:
        """None of the loops that call handlers: their rounds are all alike."""
        if is_synthesized(flow.function.name):
            return 0
        return max(self.weights.rounds(flow, head), self._unroll)

    def _wanted(self, flow: Flow, head: int) -> int:
        if is_synthesized(flow.function.name):
            return 0
        if not self._threads.has(flow, head):
            return self._few
        is_server = head not in flow.counted and self._is_both(flow, head)
        return min(self._many, _ROUNDS_OF_A_SERVER) if is_server else self._many

    def _is_both(self, flow: Flow, head: int) -> bool:
        return self._creates.has(flow, head) and self._joins.has(flow, head)

    def joins(self, flow: Flow, block: int) -> bool:
        """Is the block in a loop that waits for threads?"""
        return any(self._joins.has(flow, head) for head in flow.nests[block])


class _Loops:
    """The loops with events of some kinds, in themselves or in what they call by name."""

    def __init__(self, program: Program, events: Events, kinds: Kinds) -> None:
        self._events = events
        self._kinds = kinds
        self.functions = _functions_with(program, events, kinds)
        self._known: dict[tuple[str, int], bool] = {}

    def has(self, flow: Flow, head: int) -> bool:
        key = (flow.function.name, head)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = any(
                isinstance(instruction, Call) and self._concerns(instruction)
                for block in flow.loops[head].blocks
                for instruction in flow.function.blocks[block].instructions
            )
        return found

    def _concerns(self, call: Call) -> bool:
        if isinstance(self._events.of(call), self._kinds):
            return True
        return isinstance(call.callee, FunctionAddress) and call.callee.name in self.functions


def _functions_with(program: Program, events: Events, kinds: Kinds) -> set[str]:
    callers: dict[str, set[str]] = {}
    work: list[str] = []
    for function in program.defined:
        for call, name in direct_calls(function):
            callers.setdefault(name, set()).add(function.name)
            if isinstance(events.of(call), kinds):
                work.append(function.name)
    found: set[str] = set()
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work.extend(callers.get(name, ()))
    return found
