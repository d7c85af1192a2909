"""How the bounded engine stores the fields of synchronisation objects, and reads the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from raceproof.semantics.sync_expressions import expression, fold
from raceproof.semantics.synchronisation import CONSTANTS
from raceproof.smt.terms import Term, Terms

Number = Term | int
"""A formula, or a number that is known."""

NORMAL = CONSTANTS["NORMAL"]
EPOCH = "epoch"


@dataclass(frozen=True, slots=True)
class Word:
    """Bytes at an offset, and the fields in them: lowest bit and width."""

    offset: int
    size: int
    fields: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Layout:
    words: tuple[Word, ...]
    fixed: Mapping[str, int] = field(default_factory=dict)
    """Fields that are not stored, with the value that they are taken to have."""
    own: str = ""
    """The field that stands for each thread's own one."""


PLAIN = Layout(
    (Word(0, 2, {"owner": (0, 16)}),), {"depth": 1, "readers": 0, "kind": NORMAL, "own": 0}
)
"""A lock of a program in which all mutexes are normal ones."""
MUTEX = Layout(
    (Word(0, 2, {"owner": (0, 8), "depth": (8, 6), "kind": (14, 2)}),), {"readers": 0, "own": 0}
)
SHARED = Layout(
    (Word(0, 2, {"readers": (0, 8), "owner": (8, 8)}),), {"depth": 1, "kind": NORMAL}, "readers"
)
LAYOUTS: Mapping[str, Layout] = {
    "attribute": Layout((Word(0, 1, {"type": (0, 8)}),)),
    "condition": Layout((Word(0, 4, {"waiting": (0, 16), "tokens": (16, 16)}),)),
    "barrier": Layout(
        (
            Word(0, 4, {"parties": (0, 32)}),
            Word(4, 4, {"waiting": (0, 32)}),
            Word(8, 4, {EPOCH: (0, 32)}),
        )
    ),
    "semaphore": Layout((Word(0, 4, {"tokens": (0, 32)}),)),
    "control": Layout((Word(0, 1, {"state": (0, 8)}),)),
}


class Formulas:
    """The table's expressions as formulas; what is known is computed."""

    def __init__(self, terms: Terms, values: dict[str, Number]) -> None:
        self.terms = terms
        self.values = values

    def constant(self, value: int) -> Number:
        return value

    def name(self, name: str) -> Number:
        return self.values[name]

    def binary(self, operator: str, left: Number, right: Number) -> Number:
        if isinstance(left, int) and isinstance(right, int):
            return _COMPUTED[operator](left, right)
        a, b = self.term(left, right), self.term(right, left)
        if operator in _ARITHMETIC:
            return self.terms.binary(_ARITHMETIC[operator], a, b)
        return self.terms.compare(_COMPARISONS[operator], a, b)

    def term(self, value: Number, like: Number) -> Term:
        """As a formula, of the width of another."""
        if isinstance(value, Term):
            return value
        return self.terms.const(value, like.width if isinstance(like, Term) else 8)

    def truth(self, value: Number) -> Term:
        return value if isinstance(value, Term) else self.terms.truth(bool(value))

    def both(self, left: Number, right: Number) -> Number:
        return self.terms.and_(self.truth(left), self.truth(right))

    def either(self, left: Number, right: Number) -> Number:
        return self.terms.or_(self.truth(left), self.truth(right))

    def negation(self, operand: Number) -> Number:
        return self.terms.not_(self.truth(operand))

    def choice(self, condition: Number, then: Number, otherwise: Number) -> Number:
        holds = self.truth(condition)
        if holds is self.terms.true or then is otherwise:
            return then
        if holds is self.terms.false:
            return otherwise
        return self.terms.ite(holds, self.term(then, otherwise), self.term(otherwise, then))

    def of(self, text: str) -> Number:
        return fold(expression(text), self)


_ARITHMETIC = {"+": "add", "-": "sub", "&": "bvand"}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}
_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "&": int.__and__,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
