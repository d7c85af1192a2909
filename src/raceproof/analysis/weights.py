"""How much work the functions and loops of a program are, before anything is run.

The weight of a function is about how many blocks are visited when it is called once: its own, as
often as the rounds of the loops around them are kept apart, and those of the functions that it
calls by name or starts as threads. Loops inside of loops, and calls inside of those, multiply:

    for (chip ...) for (port ...) open(chip, port);      // open() has 2,000 blocks, all told

With two rounds of each kept apart, and one for the rest, that is nine times `open`. So a loop gets
as many rounds of its own as stay within `HEAVIEST` visits, from the innermost loop outwards; a
loop whose body is heavier than that gets none, and its first round is like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from raceproof.analysis.flow import Flow, Flows
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.events import ThreadCreate
from raceproof.ir import Call, Function, FunctionAddress, Instruction, Program, Value

HEAVIEST = 4000
"""Visits of blocks in all rounds of a loop together, if it is not one heavy round."""
LIGHTER = 6
"""A thread weighs so much less where it is started: it is run by itself, not at each visit."""
_HUGE = 10**9


class Weights:
    """Each function is weighed when it is asked for, after those that it calls."""

    def __init__(
        self,
        program: Program,
        events: Events,
        flows: Flows,
        wanted: Callable[[Flow, int], int],
    ) -> None:
        """`wanted` says how many rounds of a loop are kept apart if it is not too heavy."""
        self._program = program
        self._events = events
        self._flows = flows
        self._wanted = wanted
        self._weights: dict[str, int] = {}
        self._rounds: dict[tuple[str, int], int] = {}

    def rounds(self, flow: Flow, head: int) -> int:
        self.of(flow.function)
        return self._rounds[(flow.function.name, head)]

    def of(self, function: Function) -> int:
        """A function that calls itself counts once on each way to it."""
        if function.name not in self._weights:
            for name in self._callees_first(function.name):
                self._weights[name] = self._weigh(self._flows.of(self._program.functions[name]))
        return self._weights[function.name]

    def _callees_first(self, root: str) -> list[str]:
        """The functions called from `root` not weighed yet, and itself."""
        order: list[str] = []
        seen = {root}
        stack = [(root, iter(self._calls(self._program.functions[root].instructions)))]
        while stack:
            name, rest = stack[-1]
            for callee in rest:
                if callee not in seen and callee not in self._weights:
                    seen.add(callee)
                    function = self._program.functions[callee]
                    stack.append((callee, iter(self._calls(function.instructions))))
                    break
            else:
                order.append(name)
                stack.pop()
        return order

    def _weigh(self, flow: Flow) -> int:
        costs = [1 + self._cost(block.instructions) for block in flow.function.blocks]
        for head in sorted(flow.loops, key=lambda h: (len(flow.loops[h].blocks), -h)):
            blocks = flow.loops[head].blocks
            body = sum(costs[block] for block in blocks)
            rounds = min(self._wanted(flow, head), max(0, HEAVIEST // body - 1))
            self._rounds[(flow.function.name, head)] = rounds
            for block in blocks:
                costs[block] *= rounds + 1
        return min(sum(costs), _HUGE)

    def _cost(self, instructions: Iterable[Instruction]) -> int:
        """Of what is called and started."""
        started = self._started(instructions)
        return sum(self._weights.get(name, 0) for name in self._called(instructions)) + sum(
            self._weights.get(name, 0) // LIGHTER for name in started
        )

    def _calls(self, instructions: Iterable[Instruction]) -> list[str]:
        """The functions of the program that are called by name, or started as threads."""
        instructions = list(instructions)
        return [*self._called(instructions), *self._started(instructions)]

    def _called(self, instructions: Iterable[Instruction]) -> list[str]:
        return self._defined(
            i.callee for i in instructions if isinstance(i, Call) and self._events.of(i) is None
        )

    def _started(self, instructions: Iterable[Instruction]) -> list[str]:
        events = (self._events.of(i) for i in instructions if isinstance(i, Call))
        return self._defined(event.entry for event in events if isinstance(event, ThreadCreate))

    def _defined(self, targets: Iterable[Value]) -> list[str]:
        functions = self._program.functions
        names = [target.name for target in targets if isinstance(target, FunctionAddress)]
        return [name for name in names if name in functions and functions[name].is_defined]
