"""When a heap object that a function makes becomes visible to others.

    n = malloc(sizeof *n);
    n->value = 1;        no other thread can see it
    list->head = n;      published
    n->next = 0;         an access that counts

A forward may-analysis over the blocks; only functions that both make objects and hand them out
need it.
"""

from __future__ import annotations

from raceproof.engines.summary.effects import Effect, Makes, Publishes
from raceproof.engines.summary.steps import EffectSteps
from raceproof.engines.summary.terms import Origin

_NOTHING: frozenset[Origin] = frozenset()


class Published:
    def __init__(self, steps: EffectSteps) -> None:
        self._steps = steps
        self._candidates = frozenset(o for o in steps.escaped if o in steps.fresh)
        self._contained: dict[tuple[Origin, ...], frozenset[Origin]] = {}
        self._in: list[frozenset[Origin]] = [_NOTHING] * len(steps.blocks)
        if self._candidates:
            self._run()

    def at_start(self, block: int) -> frozenset[Origin]:
        return self._in[block]

    def after(self, published: frozenset[Origin], effect: Effect) -> frozenset[Origin]:
        if not self._candidates:
            return published
        if isinstance(effect, Makes):
            return published.difference(effect.origins)
        if not isinstance(effect, Publishes):
            return published
        shown = self._contained.get(effect.origins)
        if shown is None:
            shown = self._candidates & self._steps.contained(effect.origins)
            self._contained[effect.origins] = shown
        return published if shown <= published else published | shown

    def _run(self) -> None:
        work = [0]
        seen: set[int] = set()
        while work:
            block = work.pop()
            current = self._in[block]
            for effect in self._steps.blocks[block]:
                current = self.after(current, effect)
            for target in self._steps.outline.successors(block):
                merged = self._in[target] | current
                if merged != self._in[target] or target not in seen:
                    seen.add(target)
                    self._in[target] = merged
                    work.append(target)
