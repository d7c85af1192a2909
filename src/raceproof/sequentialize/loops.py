"""Which loops stay loops, and how often the others are unrolled.

A loop without visible statements stays a loop of C: no context can end inside. One that counts
between constants is unrolled as often as it runs (up to a limit), the others `unwind` times.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from raceproof.analysis.unrolling import CopyName, LoopOrder
from raceproof.ir import Binary, Branch, Compare, Function, IntConstant, IntType, Phi, Register
from raceproof.ir.cfg import ControlFlow, Loop
from raceproof.semantics.integers import to_signed

MOST_COUNTED = 64
"""Iterations of a counting loop that are unrolled without being asked."""


class FunctionLoops:
    """For one function; `visible` are the blocks with visible statements."""

    def __init__(self, function: Function, visible: frozenset[int], unwind: int) -> None:
        flow = ControlFlow(function)
        self.order = LoopOrder(flow)
        self._function = function
        self._unwind = unwind
        self._loops = {loop.head: loop for loop in flow.loops}
        is_reducible = all(
            block == loop.head or all(p in loop.blocks for p in flow.predecessors[block])
            for loop in flow.loops
            for block in loop.blocks
        )
        self._silent = frozenset(
            head for head, loop in self._loops.items() if is_reducible and not loop.blocks & visible
        )
        self._counts = {
            head: trip_count(function, loop) if is_reducible else None
            for head, loop in self._loops.items()
        }

    def follow(self, source: CopyName, target: int) -> tuple[CopyName, bool, bool]:
        """The copy of `target` after `source`; whether that leaves the bounds; whether it is a
        step back in a loop that stays one."""
        name, repeated = self.order.follow(source, target)
        if repeated is None:
            return name, self._is_cut(source, target), False
        if repeated in self._silent:
            return self._same_iteration(name, repeated), False, True
        count = self._counts.get(repeated)
        limit = self._unwind if count is None else count
        return name, iteration(name, repeated) > limit, False

    def _is_cut(self, source: CopyName, target: int) -> bool:
        """Whether the head of a loop enters its body once too often."""
        head = source[-1]
        loop = self._loops.get(head)
        if loop is None or head in self._silent or target not in loop.blocks:
            return False
        if not any(t not in loop.blocks for t in self._function.blocks[head].terminator.targets):
            return False
        count = self._counts.get(head)
        return iteration(source, head) >= (self._unwind if count is None else count)

    @staticmethod
    def _same_iteration(name: CopyName, head: int) -> CopyName:
        parts = list(name)
        for index in range(0, len(parts) - 1, 2):
            if parts[index] == head:
                parts[index + 1] -= 1
        return tuple(parts)


def iteration(name: CopyName, head: int) -> int:
    """How often the loop has started over in this copy."""
    for index in range(0, len(name) - 1, 2):
        if name[index] == head:
            return name[index + 1]
    return 0


def trip_count(function: Function, loop: Loop) -> int | None:
    """How often the body runs, if the head leaves by comparing a counter with a constant."""
    head = function.blocks[loop.head]
    branch = head.terminator
    if not isinstance(branch, Branch) or not isinstance(branch.condition, Register):
        return None
    inside = [target in loop.blocks for target in branch.targets]
    made = {i.result: i for i in function.instructions if i.result is not None}
    test = made.get(branch.condition)
    if inside[0] == inside[1] or not isinstance(test, Compare):
        return None
    counter, limit = test.left, test.right
    if not isinstance(limit, IntConstant) or not isinstance(counter, Register):
        return None
    phi = made.get(counter)
    if not isinstance(phi, Phi) or phi not in head.instructions:
        return None
    start = [value for block, value in phi.incoming if block not in loop.blocks]
    again = [value for block, value in phi.incoming if block in loop.blocks]
    if len(set(again)) != 1 or len(set(start)) != 1:
        return None
    step = made.get(again[0]) if isinstance(again[0], Register) else None
    if not isinstance(step, Binary) or step.operation not in ("add", "sub"):
        return None
    if step.left is not counter or not isinstance(step.right, IntConstant):
        return None
    if not isinstance(start[0], IntConstant):
        return None
    return _simulate(start[0], step, limit, test.predicate, goes_on_if=inside[0])


_TESTS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _simulate(
    start: IntConstant, step: Binary, limit: IntConstant, predicate: str, *, goes_on_if: bool
) -> int | None:
    assert isinstance(start.type, IntType)
    assert isinstance(step.right, IntConstant)
    bits = start.type.bits
    change = step.right.value if step.operation == "add" else -step.right.value
    test = _TESTS[predicate[-2:]]
    value = start.value
    for count in range(MOST_COUNTED + 1):
        pair = (value, limit.value)
        if predicate[0] == "s":
            pair = (to_signed(value, bits), to_signed(limit.value, bits))
        if test(*pair) is not goes_on_if:
            return count
        value = (value + change) & ((1 << bits) - 1)
    return None
