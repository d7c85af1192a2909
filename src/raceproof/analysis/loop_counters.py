"""Loops that count up or down by one to a limit that their head looks at.

for (int j = any(); j < limit; j++) ...
"""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.ir import Binary, Branch, Compare, Function, IntConstant, Phi, Register
from raceproof.ir import Value as Operand

_SWAPPED = {"slt": "sgt", "sle": "sge", "ult": "ugt", "ule": "uge"}
_SWAPPED |= {after: before for before, after in _SWAPPED.items()}
_NEGATED = {"slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
_NEGATED |= {after: before for before, after in _NEGATED.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """The loop goes on while `phi predicate limit`; each iteration adds `step`, 1 or -1."""

    phi: Phi
    step: int
    predicate: str
    limit: Operand

    def start(self, source: int) -> Operand | None:
        """What it counts from when the loop is entered from a block."""
        return next((value for block, value in self.phi.incoming if block == source), None)


def counter_of(function: Function, head: int, body: frozenset[int]) -> Counter | None:
    """The counter that the head of a loop looks at."""
    block = function.blocks[head]
    branch = block.instructions[-1]
    if not isinstance(branch, Branch) or (branch.if_true in body) == (branch.if_false in body):
        return None
    compare = next((i for i in block.instructions if i.result == branch.condition), None)
    if not isinstance(compare, Compare) or compare.predicate not in _NEGATED:
        return None
    predicate = compare.predicate if branch.if_true in body else _NEGATED[compare.predicate]
    for phi in block.phis:
        for one, other, holds in (
            (compare.left, compare.right, predicate),
            (compare.right, compare.left, _SWAPPED[predicate]),
        ):
            if isinstance(one, Register) and one == phi.result:
                step = _step(function, phi, body)
                if step == (1 if holds[1] == "l" else -1):
                    return Counter(phi, step, holds, other)
    return None


def _step(function: Function, phi: Phi, body: frozenset[int]) -> int | None:
    """What every iteration adds to it, if they all add the same constant."""
    steps = set()
    for block, value in phi.incoming:
        if block not in body:
            continue
        added = next(
            (i for b in body for i in function.blocks[b].instructions if i.result == value), None
        )
        if not isinstance(added, Binary) or added.operation not in ("add", "sub"):
            return None
        if added.left != phi.result or not isinstance(added.right, IntConstant):
            return None
        constant = added.right.signed
        steps.add(constant if added.operation == "add" else -constant)
    return steps.pop() if len(steps) == 1 else None
