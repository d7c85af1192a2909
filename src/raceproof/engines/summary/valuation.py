"""What the registers of one function hold, as terms over its parameters, globals and calls.

Registers are in SSA form, so one walk over the blocks says it all, but for loops: a pointer that
walks an array becomes one term with a stride, and one that walks a list is followed for a step
(where the list goes from there is known to memory, see `memory`).
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.engines.summary.numbering import Numbering
from raceproof.engines.summary.terms import (
    NULL,
    OBJECTS,
    UNKNOWN,
    Term,
    Terms,
    depth,
    dereference,
    index_of,
    is_number,
    is_pointer_like,
    number,
    parameter,
    shift,
    unite,
)
from raceproof.ir import (
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    ConstantExpression,
    ExtractField,
    Freeze,
    Function,
    FunctionAddress,
    GlobalAddress,
    InsertField,
    Instruction,
    IntConstant,
    IntType,
    Load,
    NullPointer,
    Offset,
    Phi,
    PointerType,
    Register,
    Select,
    StackSlot,
    Undefined,
    Value,
)

Naming = Callable[[str], str]
"""From the name of a global or function in its translation unit to the one in the project."""

_TRANSPARENT = frozenset(
    {"trunc", "zext", "sext", "bitcast", "ptrtoint", "inttoptr", "addrspacecast"}
)


def constant_terms(value: Constant, naming: Naming) -> Terms:
    """The terms of a constant operand."""
    if isinstance(value, IntConstant):
        bits = value.type.bits if isinstance(value.type, IntType) else 64
        return (number(value.signed if bits > 1 else value.value),)
    if isinstance(value, GlobalAddress):
        return ((("g", naming(value.name)), value.offset, 0, ()),)
    if isinstance(value, FunctionAddress):
        return ((("f", naming(value.name)), 0, 0, ()),)
    if isinstance(value, NullPointer):
        return (NULL,)
    if isinstance(value, ConstantExpression) and value.operands:
        first = constant_terms(value.operands[0], naming)
        if value.operation in _TRANSPARENT:
            return first
        if value.operation in ("offset", "add") and len(value.operands) == 2:
            second = value.operands[1]
            if isinstance(second, IntConstant):
                return tuple(shift(term, second.signed) for term in first)
    if isinstance(value, Undefined):
        return ()
    return (UNKNOWN,)


class Valuation:
    """The terms of every register of a function."""

    def __init__(self, function: Function, naming: Naming) -> None:
        self.function = function
        self.name = naming(function.name)
        self._naming = naming
        self._terms: dict[int, Terms] = {
            register.index: (parameter(index),)
            for index, register in enumerate(function.parameters)
        }
        self._constants: dict[Constant, Terms] = {}
        self.numbering = Numbering(function.first_number, self.terms)
        self._second_round = False
        phis = False
        for block in function.blocks:
            for instruction in block.instructions:
                phis = phis or isinstance(instruction, Phi)
                self._evaluate(instruction)
        if phis:
            self._second_round = True
            for block in function.blocks:
                for instruction in block.instructions:
                    self._evaluate(instruction)

    def terms(self, value: Value) -> Terms:
        """What a value may be."""
        if isinstance(value, Register):
            return self._terms.get(value.index, ())
        assert isinstance(value, Constant)
        known = self._constants.get(value)
        if known is None:
            known = self._constants[value] = constant_terms(value, self._naming)
        return known

    def opaque(self, instruction: Instruction) -> Terms:
        return ((("r", self.name, self.numbering.of(instruction)), 0, 0, ()),)

    def bind(self, register: Register, terms: Terms) -> None:
        self._terms[register.index] = terms

    def _evaluate(self, instruction: Instruction) -> None:
        result = instruction.result
        if result is None:
            return
        handler = _HANDLERS.get(type(instruction))
        if handler is None:
            self._terms[result.index] = self.opaque(instruction)
        else:
            self._terms[result.index] = handler(self, instruction)

    def _slot(self, instruction: StackSlot) -> Terms:
        return ((("s", self.name, self.numbering.of(instruction)), 0, 0, ()),)

    def _load(self, instruction: Load) -> Terms:
        found = [dereference(address) for address in self.terms(instruction.pointer)]
        if not isinstance(instruction.type, PointerType) and (not found or UNKNOWN in found):
            return self.opaque(instruction)
        return unite(found)

    def _offset(self, instruction: Offset) -> Terms:
        found = []
        for base in self.terms(instruction.base):
            term = shift(base, instruction.constant)
            for index, scale in instruction.terms:
                term = self._element(term, index, scale)
            found.append(term)
        return unite(found)

    def _element(self, term: Term, index: Value, scale: int) -> Term:
        indices = self.terms(index)
        if len(indices) != 1:
            return shift(term, 0, abs(scale) or 1)
        known, rest = index_of(indices[0])
        if rest is None:
            return shift(term, known * scale)
        return shift(term, known * scale, abs(scale) or 1, rest)

    def _binary(self, instruction: Binary) -> Terms:
        left, right = self.terms(instruction.left), self.terms(instruction.right)
        operation = instruction.operation
        if len(left) == 1 and len(right) == 1:
            first, second = left[0], right[0]
            if is_number(first) and is_number(second):
                folded = _fold(operation, first[1], second[1])
                if folded is not None:
                    return (number(folded),)
            elif operation == "add" and is_number(second):
                return (shift(first, second[1]),)
            elif operation == "add" and is_number(first):
                return (shift(second, first[1]),)
            elif operation == "sub" and is_number(second):
                return (shift(first, -second[1]),)
        if operation in ("and", "or", "add", "sub"):
            # Tag bits and alignment masks on pointers: still the same object.
            objects = [t for t in (*left, *right) if t[0][0] in OBJECTS]
            if objects:
                return unite([shift(term, 0, 1) for term in objects])
        return self.opaque(instruction)

    def _cast(self, instruction: Cast) -> Terms:
        if instruction.operation in _TRANSPARENT:
            terms = self.terms(instruction.value)
            result = instruction.result
            assert result is not None
            if isinstance(result.type, IntType) and result.type.bits == 1:
                return self.opaque(instruction)
            return terms
        return self.opaque(instruction)

    def _compare(self, instruction: Compare) -> Terms:
        left, right = self.terms(instruction.left), self.terms(instruction.right)
        if len(left) == 1 == len(right) and is_number(right[0]):
            return ((("b", instruction.predicate, left[0], right[0]), 0, 0, ()),)
        return self.opaque(instruction)

    def _same(self, instruction: Freeze) -> Terms:
        value = instruction.value
        if isinstance(value, Undefined) and not isinstance(value.type, PointerType):
            return self.opaque(instruction)  # A number that was never set may be any.
        return self.terms(instruction.value)

    def _extract(self, instruction: ExtractField) -> Terms:
        result = instruction.result
        if result is not None and isinstance(result.type, PointerType):
            return self.terms(instruction.aggregate)
        return self.opaque(instruction)

    def _insert(self, instruction: InsertField) -> Terms:
        return unite([*self.terms(instruction.aggregate), *self.terms(instruction.value)])

    def _select(self, instruction: Select) -> Terms:
        found = [*self.terms(instruction.if_true), *self.terms(instruction.if_false)]
        if isinstance(instruction.if_true.type, PointerType):
            return unite([term for term in found if term != NULL] or found)
        return self.opaque(instruction)

    def _phi(self, instruction: Phi) -> Terms:
        found: list[Term] = []
        for _, value in instruction.incoming:
            found.extend(self.terms(value))
        assert instruction.result is not None
        if not isinstance(instruction.result.type, PointerType):
            if found and all(is_pointer_like(term) for term in found):
                return unite(_widen(found))
            if len(set(found)) == 1 and is_number(found[0]) and self._second_round:
                return (found[0],)
            return self.opaque(instruction)
        if self._second_round:
            before = self._terms.get(instruction.result.index, ())
            deepest = max((depth(term) for term in before), default=0)
            found = [term for term in found if depth(term) <= deepest + 1]
        found = [term for term in found if term != NULL] or found
        return unite(_widen(found))

    def _call(self, instruction: Call) -> Terms:
        return ((("x", self.name, self.numbering.of(instruction)), 0, 0, ()),)


def _widen(terms: list[Term]) -> list[Term]:
    """One term with a stride for those that differ in their constant only."""
    by_origin: dict[object, list[Term]] = {}
    for term in terms:
        by_origin.setdefault(term[0], []).append(term)
    if len(by_origin) == len(terms):
        return terms
    found = []
    for same in by_origin.values():
        unique = list(dict.fromkeys(same))
        first = unique[0]
        for other in unique[1:]:
            distance = abs(other[1] - first[1])
            if distance:
                first = shift(first, 0, distance)
            elif other[2]:
                first = shift((first[0], first[1], 0, ()), 0, other[2])
        found.append(first)
    return found


def _fold(operation: str, left: int, right: int) -> int | None:
    match operation:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "shl" if 0 <= right < 64:
            return left << right
        case "and":
            return left & right
        case "or":
            return left | right
    return None


_HANDLERS: dict[type[Instruction], Callable[..., Terms]] = {
    StackSlot: Valuation._slot,
    Load: Valuation._load,
    Offset: Valuation._offset,
    Binary: Valuation._binary,
    Cast: Valuation._cast,
    Compare: Valuation._compare,
    Freeze: Valuation._same,
    ExtractField: Valuation._extract,
    InsertField: Valuation._insert,
    Select: Valuation._select,
    Phi: Valuation._phi,
    Call: Valuation._call,
}
