"""When a heap object that a function makes becomes visible to others.

    n = malloc(sizeof *n);
    n->value = 1;        no other thread can see it
    list->head = n;      published
    n->next = 0;         an access that counts

A forward may-analysis over the blocks; only functions that both make objects and hand them out
need it.
"""

from __future__ import annotations

from raceproof.engines.summary.steps import Step, Steps
from raceproof.engines.summary.terms import Origin

_NOTHING: frozenset[Origin] = frozenset()


class Published:
    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._candidates = frozenset(o for o in steps.escaped if o in steps.fresh)
        self._in: list[frozenset[Origin]] = [_NOTHING] * len(steps.blocks)
        if self._candidates:
            self._run()

    def at_start(self, block: int) -> frozenset[Origin]:
        return self._in[block]

    def after(self, published: frozenset[Origin], step: Step) -> frozenset[Origin]:
        if not self._candidates:
            return published
        if step[0] == "fresh":
            return published.difference(step[1])
        return published | (self._steps.contained(step[1]) & self._candidates)

    def _run(self) -> None:
        work = [0]
        seen: set[int] = set()
        while work:
            block = work.pop()
            current = self._in[block]
            for step in self._steps.blocks[block]:
                if step[0] == "fresh" or step[0] == "publish":
                    current = self.after(current, step)
            for target in self._steps.outline.successors(block):
                merged = self._in[target] | current
                if merged != self._in[target] or target not in seen:
                    seen.add(target)
                    self._in[target] = merged
                    work.append(target)
