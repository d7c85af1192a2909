"""The terms of one outline with the results of its calls and its own memory looked up.

Memory of the function's own stack slots is known here and nowhere else, so paths through a slot
(`struct job j; init(&j); j.queue->lock`) are followed now; paths through anything else stay paths.

Slots may hold what other slots hold, in circles: a term that is asked for while it is being looked
up has nothing to add there. What was found without meeting such a term is the same wherever it is
asked for, and remembered. What met one depends on the way to it: looked up anew each time, circles
of many slots take exponential time, so after `_MANY` steps the first answer stands for the rest of
the question.
"""

from __future__ import annotations

from collections import defaultdict

from raceproof.engines.summary.outline import Outline
from raceproof.engines.summary.terms import (
    Term,
    Terms,
    dereference,
    is_known,
    shift,
    unite,
)

_MANY = 256
_NONE = 1 << 30


class Scope:
    def __init__(self, outline: Outline) -> None:
        self.name = outline.name
        self.results: dict[int, Terms] = {}
        self._slots: dict[int, list[tuple[int, int, Term]]] = defaultdict(list)
        self._memo: dict[Term, Terms] = {}
        self._held: dict[tuple[int, int, int], Terms | None] = {}
        """What slots hold: by slot, offset and stride."""
        self._under_way: dict[Term, int] = {}
        """Terms being looked up, outermost first, and how deep each is."""
        self._met = _NONE
        """The depth of the outermost of them that the current one met."""
        self._steps = 0
        self._partial: dict[Term, Terms] = {}
        """Answers to the current question that depend on the way to them."""
        for events, _ in outline.blocks:
            for event in events:
                if event[0] == "store":
                    for address in event[2]:
                        for value in event[3]:
                            self.remember(address, value)

    def remember(self, address: Term, value: Term) -> None:
        """A value is stored at an address; matters if that is in a slot of the function."""
        origin = address[0]
        if origin[0] == "s" and origin[1] == self.name:
            entry = (address[1], address[2], value)
            if entry not in self._slots[origin[2]]:
                self._slots[origin[2]].append(entry)
                self._memo.clear()
                self._held.clear()

    def set_result(self, number: int, terms: Terms) -> None:
        known = self.results.get(number)
        if known is None:
            self.results[number] = terms
        else:
            self.results[number] = unite([*known, *terms])
        self._memo.clear()
        self._held.clear()

    def resolve(self, term: Term) -> Terms:
        kind = term[0][0]
        if kind != "x" and kind != "*":
            return (term,)
        found = self._memo.get(term)
        if found is not None:
            return found
        depth = self._under_way.get(term)
        if depth is not None:
            self._met = min(self._met, depth)
            return ()
        depth = len(self._under_way)
        if depth == 0:
            self._steps = 0
            self._partial.clear()
        self._steps += 1
        if self._steps > _MANY and term in self._partial:
            self._met = 0
            return self._partial[term]
        before, self._met = self._met, _NONE
        self._under_way[term] = depth
        found = self._resolve(term)
        del self._under_way[term]
        if self._met >= depth:
            self._memo[term] = found
            self._met = before
        else:
            self._partial[term] = found
            self._met = min(before, self._met)
        return found

    def resolve_all(self, terms: Terms) -> Terms:
        if len(terms) == 1:
            return self.resolve(terms[0])
        return unite([found for term in terms for found in self.resolve(term)])

    def _resolve(self, term: Term) -> Terms:
        origin, constant, stride, symbol = term
        if origin[0] == "x":
            bases = self.results.get(origin[2], ())
        else:
            found: list[Term] = []
            for address in self.resolve(origin[1]):
                known = self.contents(address)
                found.extend((dereference(address),) if known is None else known)
            bases = unite(found)
        return tuple(shift(base, constant, stride, symbol) for base in bases if is_known(base))

    def contents(self, address: Term) -> Terms | None:
        """What a slot of the function may hold at the address; None if that is not known here."""
        origin = address[0]
        if origin[0] != "s" or origin[1] != self.name:
            return None
        key = (origin[2], address[1], address[2])
        if not self._under_way and key in self._held:
            return self._held[key]
        found = [
            resolved
            for constant, stride, value in self._slots.get(origin[2], ())
            if overlap(constant, stride, address[1], address[2])
            for resolved in self.resolve(value)
        ]
        held = unite(found) if found else None
        if not self._under_way:
            self._held[key] = held
        return held


def overlap(left: int, left_stride: int, right: int, right_stride: int, size: int = 1) -> bool:
    """Whether two offsets, each plus any multiple of its stride, can be less than `size` apart."""
    distance = left - right
    if left_stride == 0 and right_stride == 0:
        return -size < distance < size
    step = left_stride or right_stride
    if left_stride and right_stride:
        step = _gcd(left_stride, right_stride)
    rest = distance % step
    return rest < size or step - rest < size


def _gcd(left: int, right: int) -> int:
    while right:
        left, right = right, left % right
    return left
