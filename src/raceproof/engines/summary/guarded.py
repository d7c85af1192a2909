"""Which tests of shared memory decide whether a block runs.

A block is decided by a branch if it runs on one side only: it post-dominates a successor of the
branch, but not the branch (control dependence, here with what decides the branch itself). A loop
that only looks at memory until it changes decides all that comes after it.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.engines.summary.outline import Outline, loops
from raceproof.engines.summary.terms import Term, Terms

MAX_GUARDS = 4


class Guarded:
    """`at(block)`: the addresses tested; `leaving(block, target)`: those that a loop waited for."""

    def __init__(self, outline: Outline, resolve: Callable[[Terms], Terms]) -> None:
        self._at: dict[int, Terms] = {}
        self._leaving: dict[tuple[int, int], Terms] = {}
        if not outline.tests:
            return
        tests = {block: resolve(terms) for block, (terms, _) in outline.tests.items()}
        tests = {block: terms for block, terms in tests.items() if terms}
        if not tests:
            return
        for _, body in loops(outline):
            for block in body & tests.keys():
                if outline.tests[block][1]:
                    for target in outline.successors(block):
                        if target not in body:
                            self._leaving[block, target] = tests[block]
        self._decide(outline, tests)

    @property
    def waits(self) -> bool:
        """Whether some loop waits for memory to change."""
        return bool(self._leaving)

    def at(self, block: int) -> Terms:
        return self._at.get(block, ())

    def leaving(self, block: int, target: int) -> Terms:
        return self._leaving.get((block, target), ())

    def _decide(self, outline: Outline, tests: dict[int, Terms]) -> None:
        after = post_dominators(outline)
        count = len(outline.blocks)
        deciding: dict[int, list[int]] = {}
        for branch in range(count):
            successors = outline.successors(branch)
            if len(successors) < 2:
                continue
            either = 0
            for successor in successors:
                either |= after[successor]
            decided = either & ~(after[branch] & ~(1 << branch))
            for block in range(count):
                if decided >> block & 1:
                    deciding.setdefault(block, []).append(branch)
        for block in deciding:
            found: dict[Term, None] = {}
            seen: set[int] = set()
            stack = [block]
            while stack:
                for branch in deciding.get(stack.pop(), ()):
                    if branch not in seen:
                        seen.add(branch)
                        stack.append(branch)
                        found.update(dict.fromkeys(tests.get(branch, ())))
            if found:
                self._at[block] = tuple(sorted(found))[:MAX_GUARDS]


def post_dominators(outline: Outline) -> list[int]:
    """For each block the blocks that every way from it passes, itself included, as bit sets."""
    count = len(outline.blocks)
    everything = (1 << count) - 1
    found = [everything] * count
    changed = True
    while changed:
        changed = False
        for block in reversed(range(count)):
            successors = outline.successors(block)
            common = everything if successors else 0
            for successor in successors:
                common &= found[successor]
            common |= 1 << block
            if common != found[block]:
                found[block] = common
                changed = True
    return found
