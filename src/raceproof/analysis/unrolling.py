"""The order in which the copies of a function's blocks are visited when loops are unrolled.

A copy of a block is named by the iterations of the loops around it: `(head, iteration, head,
iteration, ..., block)`. Blocks are numbered in reverse post-order, so comparing these names puts
every copy after the copies that lead to it, and all copies of a loop before what follows the loop.
"""

from __future__ import annotations

from raceproof.analysis.loop_counters import Counter, counter_of
from raceproof.ir import Phi, Register, Return
from raceproof.ir.cfg import ControlFlow

CopyName = tuple[int, ...]


class LoopOrder:
    """For one function."""

    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        count = len(flow.successors)
        loops = flow.loops
        self._bodies = {loop.head: loop.blocks for loop in loops}
        is_reducible = all(
            block == loop.head or all(p in loop.blocks for p in flow.predecessors[block])
            for loop in loops
            for block in loop.blocks
        )
        if not is_reducible:
            self._bodies = {0: frozenset(range(count))}
        self.is_reducible = is_reducible
        self._returning = _backwards(flow)
        self._read: dict[int, frozenset[int]] = {}
        self._counters: dict[int, Counter | None] = {}
        self._chains: list[tuple[int, ...]] = [
            tuple(
                head
                for head, body in sorted(
                    self._bodies.items(), key=lambda item: (-len(item[1]), item[0])
                )
                if block in body
            )
            for block in range(count)
        ]

    def first(self) -> CopyName:
        return self._name(self._chains[0], {}, 0)

    def _name(self, chain: tuple[int, ...], iterations: dict[int, int], block: int) -> CopyName:
        parts: list[int] = []
        for head in chain:
            parts += (head, iterations.get(head, 0))
        return (*parts, block)

    def follow(self, source: CopyName, target: int) -> tuple[CopyName, int | None]:
        """The copy of `target` that comes after `source`, and the head whose loop starts over."""
        block = source[-1]
        iterations = {source[i]: source[i + 1] for i in range(0, len(source) - 1, 2)}
        chain = self._chains[target]
        inside = set(self._chains[block])
        kept = {head: iterations[head] for head in chain if head in inside}
        repeated = None
        if self.is_reducible:
            if target in self._bodies and target in inside:
                repeated = target
        elif target <= block:
            repeated = 0
        if repeated is not None:
            kept[repeated] += 1
            for head in chain[chain.index(repeated) + 1 :]:
                kept.pop(head, None)
        return self._name(chain, kept, target), repeated

    def returns(self, block: int) -> bool:
        """Whether some way from the block leads back to the caller: not from a failed assertion."""
        return block in self._returning

    def loops_left(self, block: int, target: int) -> tuple[int, ...]:
        """The heads of the loops that an edge leaves."""
        after = set(self._chains[target])
        return tuple(head for head in self._chains[block] if head not in after)

    def reads(self, head: int) -> frozenset[int]:
        """The registers that a loop's own instructions use; not what a phi keeps for itself."""
        found = self._read.get(head)
        if found is None:
            found = self._read[head] = frozenset(
                operand.index
                for block in self._bodies[head]
                for instruction in self.flow.function.blocks[block].instructions
                for operand in instruction.operands
                if isinstance(operand, Register)
                and not (isinstance(instruction, Phi) and operand == instruction.result)
            )
        return found

    def counter(self, head: int) -> Counter | None:
        """What the loop with this head counts, if it counts by one."""
        if head not in self._counters:
            body = self._bodies.get(head) if self.is_reducible else None
            found = None if body is None else counter_of(self.flow.function, head, body)
            self._counters[head] = found
        return self._counters[head]

    @staticmethod
    def at_iteration(name: CopyName, iteration: int) -> CopyName:
        """Another copy of the head of a loop."""
        return (*name[:-2], iteration, name[-1])

    def loops_around(self, block: int) -> tuple[int, ...]:
        return self._chains[block]

    @staticmethod
    def instance(name: CopyName, head: int) -> CopyName:
        """The loop's instance (its name without its own iteration)."""
        for index in range(0, len(name) - 1, 2):
            if name[index] == head:
                return name[: index + 1]
        return name


def _backwards(flow: ControlFlow) -> frozenset[int]:
    """The blocks from which a return can be reached."""
    found = {
        number
        for number, block in enumerate(flow.function.blocks)
        if isinstance(block.instructions[-1], Return)
    }
    queue = sorted(found)
    while queue:
        for block in flow.predecessors[queue.pop()]:
            if block not in found:
                found.add(block)
                queue.append(block)
    return frozenset(found)
