"""Bit-vector terms, shared and simplified while they are built.

Most of what a program computes is constant: addresses, loop counters, flags before the first
thread starts. Folding it here, before the solver sees anything, is what keeps formulas small. Equal
terms are one object (hash-consing), so `is` compares, and a term can key a dictionary.

A term of width 1 is a boolean: C's comparisons and the guards of paths never become bit-vectors of
one bit. Constants are unsigned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from raceproof.smt.arithmetic import COMPARE, FOLD
from raceproof.smt.arithmetic import signed as signed

TREE_LIMIT = 24
"""Operations are pushed into choices between constants with at most this many leaves."""


class Term:
    """One node. `value` is a constant's number, a variable's name, or an extract's (high, low)."""

    __slots__ = ("arguments", "leaves", "number", "operation", "value", "width")

    def __init__(
        self,
        operation: str,
        width: int,
        arguments: tuple[Term, ...],
        value: int | str | tuple[int, int] | None,
        number: int,
        leaves: int,
    ) -> None:
        self.operation = operation
        self.width = width
        self.arguments = arguments
        self.value = value
        self.number = number
        self.leaves = leaves
        """How many constants it chooses between; 0 if it is not such a choice."""

    @property
    def is_constant(self) -> bool:
        return self.operation == "const"

    @property
    def constant(self) -> int:
        assert isinstance(self.value, int)
        return self.value

    def __repr__(self) -> str:
        if self.operation in ("const", "var"):
            return str(self.value)
        extra = f" {self.value}" if self.value is not None else ""
        return f"({self.operation}{extra} {' '.join(map(repr, self.arguments))})"


_COMMUTES = frozenset({"add", "mul", "bvand", "bvor", "bvxor"})
_REFLEXIVE = {"ult": False, "ule": True, "slt": False, "sle": True}


class Terms:
    """Makes terms; owns the table of all that exist."""

    def __init__(self) -> None:
        self._table: dict[object, Term] = {}
        self._fresh = 0
        self.true = self._node("const", 1, (), 1)
        self.false = self._node("const", 1, (), 0)

    def __len__(self) -> int:
        return len(self._table)

    def _node(
        self,
        operation: str,
        width: int,
        arguments: tuple[Term, ...],
        value: int | str | tuple[int, int] | None = None,
    ) -> Term:
        key = (operation, width, value, *[argument.number for argument in arguments])
        found = self._table.get(key)
        if found is None:
            leaves = 0
            if operation == "const":
                leaves = 1
            elif operation == "ite" and arguments[1].leaves and arguments[2].leaves:
                leaves = arguments[1].leaves + arguments[2].leaves
            found = Term(operation, width, arguments, value, len(self._table), leaves)
            self._table[key] = found
        return found

    # --- leaves ------------------------------------------------------------

    def const(self, value: int, width: int) -> Term:
        if width == 1:
            return self.true if value & 1 else self.false
        return self._node("const", width, (), value & ((1 << width) - 1))

    def truth(self, value: bool) -> Term:
        return self.true if value else self.false

    def var(self, name: str, width: int) -> Term:
        """The variable of this name."""
        return self._node("var", width, (), name)

    def fresh(self, name: str, width: int) -> Term:
        self._fresh += 1
        return self.var(f"{name}#{self._fresh}", width)

    # --- booleans ------------------------------------------------------------

    def not_(self, a: Term) -> Term:
        if a.operation == "const":
            return self.false if a.value else self.true
        if a.operation == "not":
            return a.arguments[0]
        return self._node("not", 1, (a,))

    def and_(self, a: Term, b: Term) -> Term:
        if a is b or b is self.true:
            return a
        if a is self.true:
            return b
        if a is self.false or b is self.false:
            return self.false
        if a.number > b.number:
            a, b = b, a
        if self.not_(a) is b:
            return self.false
        for x, y in ((a, b), (b, a)):
            if x.operation == "and":
                if y in x.arguments:
                    return x
                complement = self.not_(y)
                if complement in x.arguments:
                    return self.false
            elif x.operation == "or":
                if y in x.arguments:
                    return y
                complement = self.not_(y)
                if x.arguments[0] is complement:
                    return self.and_(x.arguments[1], y)
                if x.arguments[1] is complement:
                    return self.and_(x.arguments[0], y)
        return self._node("and", 1, (a, b))

    def or_(self, a: Term, b: Term) -> Term:
        if a is b or b is self.false:
            return a
        if a is self.false:
            return b
        if a is self.true or b is self.true:
            return self.true
        if a.number > b.number:
            a, b = b, a
        if self.not_(a) is b:
            return self.true
        if a.operation == "and" and b.operation == "and":
            common = [x for x in a.arguments if x in b.arguments]
            if common:
                shared = common[0]
                left = a.arguments[0] if a.arguments[1] is shared else a.arguments[1]
                right = b.arguments[0] if b.arguments[1] is shared else b.arguments[1]
                return self.and_(shared, self.or_(left, right))
        for x, y in ((a, b), (b, a)):
            if x.operation == "or":
                if y in x.arguments:
                    return x
                if self.not_(y) in x.arguments:
                    return self.true
            elif x.operation == "and":
                if y in x.arguments:
                    return y
                complement = self.not_(y)
                if x.arguments[0] is complement:
                    return self.or_(x.arguments[1], y)
                if x.arguments[1] is complement:
                    return self.or_(x.arguments[0], y)
        return self._node("or", 1, (a, b))

    def all(self, terms: Iterable[Term]) -> Term:
        result = self.true
        for term in terms:
            result = self.and_(result, term)
        return result

    def any(self, terms: Iterable[Term]) -> Term:
        """A balanced disjunction: deep chains would hurt the translation and the solver."""
        level = [term for term in terms if term is not self.false]
        while len(level) > 1:
            level = [
                self.or_(level[i], level[i + 1]) if i + 1 < len(level) else level[i]
                for i in range(0, len(level), 2)
            ]
        return level[0] if level else self.false

    def implies(self, a: Term, b: Term) -> Term:
        return self.or_(self.not_(a), b)

    def ite(self, condition: Term, a: Term, b: Term) -> Term:
        if a is b or condition is self.true:
            return a
        if condition is self.false:
            return b
        if condition.operation == "not":
            condition, a, b = condition.arguments[0], b, a
        if a.width == 1:
            return self._ite_bool(condition, a, b)
        if a.operation == "ite" and a.arguments[0] is condition:
            a = a.arguments[1]
        if b.operation == "ite" and b.arguments[0] is condition:
            b = b.arguments[2]
        if a is b:
            return a
        if b.operation == "ite" and b.arguments[1] is a:
            return self.ite(self.or_(condition, b.arguments[0]), a, b.arguments[2])
        return self._node("ite", a.width, (condition, a, b))

    def _ite_bool(self, condition: Term, a: Term, b: Term) -> Term:
        if a.is_constant:
            return self.or_(condition, b) if a.value else self.and_(self.not_(condition), b)
        if b.is_constant:
            return self.implies(condition, a) if b.value else self.and_(condition, a)
        if a is condition or b is condition:
            return self.or_(condition, b) if a is condition else self.and_(condition, a)
        return self.or_(self.and_(condition, a), self.and_(self.not_(condition), b))

    def eq(self, a: Term, b: Term) -> Term:
        if a is b:
            return self.true
        if a.width == 1:
            if a.is_constant:
                return b if a.value else self.not_(b)
            if b.is_constant:
                return a if b.value else self.not_(a)
        elif a.is_constant and b.is_constant:
            return self.false
        if a.is_constant or (not b.is_constant and a.number > b.number):
            a, b = b, a
        if b.is_constant:
            if a.operation == "ite" and (a.arguments[1].is_constant or a.arguments[2].is_constant):
                condition, x, y = a.arguments
                return self.ite(condition, self.eq(x, b), self.eq(y, b))
            if 1 < a.leaves <= TREE_LIMIT:
                return self._map(a, lambda leaf: self.eq(leaf, b))
            if a.operation == "add" and a.arguments[1].is_constant:
                return self.eq(a.arguments[0], self.binary("sub", b, a.arguments[1]))
            if a.operation == "zext":
                inner = a.arguments[0]
                if b.constant >> inner.width:
                    return self.false
                return self.eq(inner, self.const(b.constant, inner.width))
        return self._node("eq", 1, (a, b))

    # --- arithmetic ------------------------------------------------------------

    def _map(self, tree: Term, function: Callable[[Term], Term]) -> Term:
        """The choice between constants, with each of them replaced."""
        if tree.operation != "ite":
            return function(tree)
        condition, a, b = tree.arguments
        return self.ite(condition, self._map(a, function), self._map(b, function))

    def binary(self, operation: str, a: Term, b: Term) -> Term:
        width = a.width
        if width == 1:
            return self._binary_bool(operation, a, b)
        if a.is_constant and b.is_constant:
            return self.const(FOLD[operation](a.constant, b.constant, width), width)
        if operation == "sub":
            if b.is_constant:
                return self.binary("add", a, self.const(-b.constant, width))
            if a is b:
                return self.const(0, width)
            if a.operation == "add" and a.arguments[0] is b:
                return a.arguments[1]
        if operation in _COMMUTES and (
            a.is_constant or (a.number > b.number and not b.is_constant)
        ):
            a, b = b, a
        if b.is_constant:
            simple = self._with_constant(operation, a, b)
            if simple is not None:
                return simple
        elif a.is_constant and 1 < b.leaves <= TREE_LIMIT:
            return self._map(b, lambda leaf: self.binary(operation, a, leaf))
        if operation in ("bvand", "bvor") and a is b:
            return a
        if operation == "bvxor" and a is b:
            return self.const(0, width)
        return self._node(operation, width, (a, b))

    def _with_constant(self, operation: str, a: Term, b: Term) -> Term | None:
        number, width = b.constant, a.width
        if 1 < a.leaves <= TREE_LIMIT:
            return self._map(a, lambda leaf: self.binary(operation, leaf, b))
        if number == 0:
            if operation in ("add", "bvor", "bvxor", "shl", "lshr", "ashr"):
                return a
            if operation in ("mul", "bvand"):
                return b
        if number == 1 and operation in ("mul", "udiv", "sdiv"):
            return a
        if operation == "bvand" and number == (1 << width) - 1:
            return a
        if operation == "bvand" and a.operation == "zext":
            inner = a.arguments[0]
            if (number + 1) & ((1 << inner.width) - 1) == 0 and number:
                return a
        if operation == "add" and a.operation == "add" and a.arguments[1].is_constant:
            return self.binary("add", a.arguments[0], self.binary("add", a.arguments[1], b))
        if number and number & (number - 1) == 0 and operation in ("urem", "udiv"):
            if operation == "urem":
                return self.binary("bvand", a, self.const(number - 1, width))
            return self.binary("lshr", a, self.const(number.bit_length() - 1, width))
        return None

    def _binary_bool(self, operation: str, a: Term, b: Term) -> Term:
        if operation in ("add", "sub", "bvxor"):
            return self.not_(self.eq(a, b))
        if operation in ("mul", "bvand"):
            return self.and_(a, b)
        if operation == "bvor":
            return self.or_(a, b)
        return a if operation in ("udiv", "sdiv", "ashr") else self.and_(a, self.not_(b))

    def compare(self, predicate: str, a: Term, b: Term) -> Term:
        """One of LLVM's ten integer predicates."""
        match predicate:
            case "eq":
                return self.eq(a, b)
            case "ne":
                return self.not_(self.eq(a, b))
            case "ugt" | "uge" | "sgt" | "sge":
                return self.compare(predicate[0] + "l" + predicate[2], b, a)
        if a.width == 1:
            zero, one = self.const(0, 2), self.const(1, 2)
            if predicate[0] == "s":
                one = self.const(3, 2)
            a, b = self.ite(a, one, zero), self.ite(b, one, zero)
        if a is b:
            return self.truth(_REFLEXIVE[predicate])
        if a.is_constant and b.is_constant:
            return self.truth(COMPARE[predicate](a.constant, b.constant, a.width))
        if a.is_constant and 1 < b.leaves <= TREE_LIMIT:
            return self._map(b, lambda leaf: self.compare(predicate, a, leaf))
        if b.is_constant and 1 < a.leaves <= TREE_LIMIT:
            return self._map(a, lambda leaf: self.compare(predicate, leaf, b))
        if predicate == "ult":
            if b.is_constant and b.constant == 0:
                return self.false
            if b.is_constant and b.constant == 1:
                return self.eq(a, self.const(0, a.width))
        if predicate == "ule":
            if a.is_constant and a.constant == 0:
                return self.true
            return self.not_(self.compare("ult", b, a))
        if predicate == "sle":
            return self.not_(self.compare("slt", b, a))
        return self._node(predicate, 1, (a, b))

    # --- widths ------------------------------------------------------------

    def extract(self, a: Term, high: int, low: int) -> Term:
        width = high - low + 1
        if width == a.width:
            return a
        if width == 1:
            mask = self.const(1 << low, a.width)
            return self.not_(self.eq(self.binary("bvand", a, mask), self.const(0, a.width)))
        if a.is_constant:
            return self.const(a.constant >> low, width)
        if 1 < a.leaves <= TREE_LIMIT:
            return self._map(a, lambda leaf: self.extract(leaf, high, low))
        if a.operation == "extract":
            assert isinstance(a.value, tuple)
            return self.extract(a.arguments[0], high + a.value[1], low + a.value[1])
        if a.operation == "concat":
            upper, lower = a.arguments
            if high < lower.width:
                return self.extract(lower, high, low)
            if low >= lower.width:
                return self.extract(upper, high - lower.width, low - lower.width)
        if a.operation in ("zext", "sext"):
            inner = a.arguments[0]
            if inner.width > 1 and high < inner.width:
                return self.extract(inner, high, low)
            if a.operation == "zext" and low >= inner.width:
                return self.const(0, width)
            if low == 0 and inner.width > 1:
                return self._node(a.operation, width, (inner,))
        return self._node("extract", width, (a,), (high, low))

    def concat(self, upper: Term, lower: Term) -> Term:
        width = upper.width + lower.width
        if upper.is_constant and lower.is_constant:
            return self.const(upper.constant << lower.width | lower.constant, width)
        if upper.operation == "extract" and lower.operation == "extract":
            if upper.arguments[0] is lower.arguments[0]:
                assert isinstance(upper.value, tuple) and isinstance(lower.value, tuple)
                if upper.value[1] == lower.value[0] + 1:
                    return self.extract(upper.arguments[0], upper.value[0], lower.value[1])
        if upper.is_constant and upper.constant == 0:
            return self.zext(lower, width)
        return self._node("concat", width, (upper, lower))

    def zext(self, a: Term, width: int) -> Term:
        if a.width == width:
            return a
        if a.width == 1:
            return self.ite(a, self.const(1, width), self.const(0, width))
        if a.is_constant:
            return self.const(a.constant, width)
        if 1 < a.leaves <= TREE_LIMIT:
            return self._map(a, lambda leaf: self.zext(leaf, width))
        if a.operation == "zext":
            a = a.arguments[0]
        return self._node("zext", width, (a,))

    def sext(self, a: Term, width: int) -> Term:
        if a.width == width:
            return a
        if a.width == 1:
            return self.ite(a, self.const(-1, width), self.const(0, width))
        if a.is_constant:
            return self.const(signed(a.constant, a.width), width)
        if 1 < a.leaves <= TREE_LIMIT:
            return self._map(a, lambda leaf: self.sext(leaf, width))
        if a.operation == "zext":
            return self.zext(a.arguments[0], width)
        return self._node("sext", width, (a,))

    def resize(self, a: Term, width: int, *, is_signed: bool = False) -> Term:
        """Truncated or extended to `width`."""
        if width < a.width:
            return self.extract(a, width - 1, 0)
        return self.sext(a, width) if is_signed else self.zext(a, width)


def subterms(roots: Iterable[Term], seen: set[int]) -> Iterator[Term]:
    """All terms under the roots that are not in `seen`, arguments first; adds them to `seen`."""
    stack = [(root, False) for root in roots]
    while stack:
        term, is_expanded = stack.pop()
        if is_expanded:
            yield term
            continue
        if term.number in seen:
            continue
        seen.add(term.number)
        stack.append((term, True))
        stack.extend((argument, False) for argument in term.arguments)
