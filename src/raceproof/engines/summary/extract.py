"""From a function of the program model to its outline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raceproof.concurrency.catalogue import Models
from raceproof.engines.summary.calls import call_events
from raceproof.engines.summary.outline import Event, Outline, Test
from raceproof.engines.summary.terms import (
    UNKNOWN,
    Term,
    Terms,
    dereference,
    is_dereference,
    is_function,
    is_number,
    is_pointer_like,
    shift,
)
from raceproof.engines.summary.tested import MAX_TESTED, Tested, tested
from raceproof.engines.summary.valuation import Naming, Valuation
from raceproof.ir import (
    AtomicUpdate,
    Binary,
    Branch,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    Function,
    IndirectJump,
    Instruction,
    IntConstant,
    IntType,
    Jump,
    Load,
    Phi,
    PointerType,
    Program,
    Register,
    Return,
    SetMemory,
    StackSlot,
    Store,
    Switch,
    Terminator,
    Unreachable,
    Value,
)
from raceproof.ir.names import heap_type

_NEGATED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
    "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt",
}  # fmt: skip
_MAX_WORDS = 8
"""Pointers copied one by one by a struct assignment; more are copied as an array."""


class Extractor:
    """Makes the outline of one function."""

    def __init__(self, function: Function, program: Program, models: Models, naming: Naming):
        self.function = function
        self.program = program
        self.models = models
        self.naming = naming
        self.values = Valuation(function, naming)
        self.name = self.values.name
        self.events: list[Event] = []
        self.mentions: dict[str, None] = {}
        self.places: dict[int, tuple[int, int, str]] = {}
        self.allocations: dict[int, tuple[str, int]] = {}
        self._definitions: dict[int, Instruction] = {}

    def outline(self) -> Outline:
        function = self.function
        for instruction in function.instructions:
            if instruction.result is not None:
                self._definitions[instruction.result.index] = instruction
        blocks = []
        for block in function.blocks:
            self.events = []
            stopped = False
            for instruction in block.instructions[:-1]:
                handler = _HANDLERS.get(type(instruction))
                if handler is not None:
                    handler(self, instruction)
                    if self.events and self.events[-1][0] == "exit":
                        stopped = True
                        break
            terminator = ("stop",) if stopped else self._terminator(block.terminator)
            blocks.append((tuple(self.events), terminator))
        position = function.position
        outline = Outline(
            self.name,
            function.display or function.name,
            position.file if position else "",
            position.line if position else 0,
            len(function.parameters),
            function.is_external,
            f"{len(function.type.parameters)}{'+' if function.type.variadic else ''}",
            tuple(blocks),
            self._phis(),
            self._inductions(),
            tuple(self.mentions),
            self.places,
            self._slots(),
            self.allocations,
            *self._tests(),
        )
        outline.order = {
            number: place
            for number, place in self.values.numbering.order.items()
            if number in self.places
        }
        outline.is_flat = not any(
            event[0] in _FLOW for events, _ in outline.blocks for event in events
        )
        outline.seal()
        return outline

    # --- helpers ------------------------------------------------------------

    def terms(self, value: Value) -> Terms:
        found = self.values.terms(value)
        for term in found:
            if is_function(term):
                self.mentions[term[0][1]] = None
        return found

    def place(self, instruction: Instruction) -> int:
        """Notes where the instruction stands in the source; returns its number."""
        number = self.values.numbering.of(instruction)
        position = instruction.position
        if position is not None:
            self.places[number] = (position.line, position.column, position.file)
        return number

    def access(
        self,
        instruction: Instruction,
        pointer: Value,
        size: int | None,
        *,
        writes: bool,
        atomic: bool = False,
    ) -> None:
        addresses = tuple(t for t in self.values.terms(pointer) if is_pointer_like(t))
        if addresses:
            event = ("access", self.place(instruction), addresses, size, writes, atomic)
            self.events.append(event)

    def store(self, instruction: Instruction, addresses: Terms, values: Terms) -> None:
        """Remembers what memory may point to."""
        values = tuple(v for v in values if is_pointer_like(v))
        addresses = tuple(a for a in addresses if is_pointer_like(a) and not is_function(a))
        for value in values:
            if is_function(value):
                self.mentions[value[0][1]] = None
        if values and addresses:
            number = self.values.numbering.of(instruction)
            self.events.append(("store", number, addresses, values))

    def size_of(self, value: Value) -> int | None:
        return value.value if isinstance(value, IntConstant) else None

    def heap_type(self, call: Call) -> str:
        return heap_type(self.program, call.number)

    def copy(
        self, instruction: Instruction, target: Terms, source: Terms, size: int | None
    ) -> None:
        """The points-to effect of copying bytes."""
        word = self.program.layout.pointer_size
        if size is not None and size < word:
            return
        if size is not None and size <= word * _MAX_WORDS:
            for offset in range(0, size - word + 1, word):
                self.store(
                    instruction,
                    tuple(shift(term, offset) for term in target),
                    tuple(dereference(shift(term, offset)) for term in source),
                )
        else:
            self.store(
                instruction,
                tuple(shift(term, 0, word) for term in target),
                tuple(dereference(shift(term, 0, word)) for term in source),
            )

    # --- instructions ------------------------------------------------------------

    def _load(self, instruction: Load) -> None:
        size = self.program.layout.store_size(instruction.type)
        self.access(
            instruction, instruction.pointer, size, writes=False, atomic=bool(instruction.atomic)
        )

    def _store(self, instruction: Store) -> None:
        size = self.program.layout.store_size(instruction.value.type)
        self.access(
            instruction, instruction.pointer, size, writes=True, atomic=bool(instruction.atomic)
        )
        values = self.values.terms(instruction.value)
        if not isinstance(instruction.value.type, PointerType):
            # An address or a thread's id that is kept as an integer, not a sum of integers.
            values = tuple(v for v in values if not is_dereference(v) or v[1:3] == (0, 0))
        self.store(instruction, self.values.terms(instruction.pointer), values)

    def _update(self, instruction: AtomicUpdate) -> None:
        size = self.program.layout.store_size(instruction.value.type)
        self.access(instruction, instruction.pointer, size, writes=True, atomic=True)
        self.store(
            instruction,
            self.values.terms(instruction.pointer),
            self.values.terms(instruction.value),
        )

    def _exchange(self, instruction: CompareExchange) -> None:
        size = self.program.layout.store_size(instruction.replacement.type)
        self.access(instruction, instruction.pointer, size, writes=True, atomic=True)
        self.store(
            instruction,
            self.values.terms(instruction.pointer),
            self.values.terms(instruction.replacement),
        )

    def _copy(self, instruction: CopyMemory) -> None:
        size = self.size_of(instruction.size)
        self.access(instruction, instruction.source, size, writes=False)
        self.access(instruction, instruction.target, size, writes=True)
        self.copy(
            instruction,
            self.values.terms(instruction.target),
            self.values.terms(instruction.source),
            size,
        )

    def _set(self, instruction: SetMemory) -> None:
        self.access(instruction, instruction.target, self.size_of(instruction.size), writes=True)

    def _call(self, instruction: Call) -> None:
        call_events(self, instruction)

    # --- control ------------------------------------------------------------

    def _terminator(self, terminator: Terminator) -> tuple[Any, ...]:
        match terminator:
            case Jump():
                return ("jump", (terminator.target,))
            case Branch():
                test = self._test(terminator.condition)
                if test is None:
                    return ("jump", (terminator.if_true, terminator.if_false))
                return ("branch", terminator.if_true, terminator.if_false, test)
            case Switch():
                keys = self.values.terms(terminator.value)
                if len(keys) != 1:
                    return ("jump", tuple(dict.fromkeys(terminator.targets)))
                cases = tuple(
                    (_signed(constant, terminator.value), target)
                    for constant, target in terminator.cases
                )
                return ("switch", keys[0], cases, terminator.default)
            case Return():
                value = terminator.value
                terms = () if value is None else self.terms(value)
                return ("return", terms)
            case Unreachable():
                return ("stop",)
            case IndirectJump():
                return ("jump", tuple(dict.fromkeys(terminator.targets)))
        return ("jump", tuple(dict.fromkeys(terminator.targets)))

    def _test(self, condition: Value, negated: bool = False) -> Test | None:
        """A branch condition as a comparison of a term with a number."""
        if not isinstance(condition, Register):
            return None
        made = self._definitions.get(condition.index)
        if isinstance(made, Binary) and made.operation == "xor":
            right = made.right
            if isinstance(right, IntConstant) and right.value == 1:
                return self._test(made.left, not negated)
        if isinstance(made, Cast) and made.operation == "trunc":
            terms = self.values.terms(made.value)
            return (terms[0], "eq" if negated else "ne", 0) if len(terms) == 1 else None
        if not isinstance(made, Compare):
            return None
        left, right_terms = self.values.terms(made.left), self.values.terms(made.right)
        predicate = _NEGATED.get(made.predicate, "") if negated else made.predicate
        if predicate not in _NEGATED or len(left) != 1 or len(right_terms) != 1:
            return None
        if is_number(right_terms[0]):
            inner = self._definitions.get(getattr(made.left, "index", -1))
            if isinstance(inner, Cast) and inner.operation == "zext" and right_terms[0][1] == 0:
                nested = self._test(inner.value, negated != (made.predicate == "eq"))
                if nested is not None and made.predicate in ("eq", "ne"):
                    return nested
            return (left[0], predicate, right_terms[0][1])
        positive = min(predicate, _NEGATED[predicate])
        key = (("b", positive, left[0], right_terms[0]), 0, 0, ())
        return (key, "ne" if positive == predicate else "eq", 0)

    def _tests(self) -> tuple[dict[int, Tested], Terms]:
        found: dict[int, Tested] = {}
        returned: dict[Term, None] = {}
        for block in self.function.blocks:
            match block.terminator:
                case Branch(condition=value) | Switch(value=value):
                    result = tested(value, self._definitions, self.values)
                    if result[0]:
                        found[block.index] = result
                case Return(value=value):
                    terms, _ = tested(value, self._definitions, self.values)
                    returned.update(dict.fromkeys(terms))
        return found, tuple(returned)[:MAX_TESTED]

    def _phis(self) -> dict[int, tuple[tuple[Term, tuple[tuple[int, int], ...]], ...]]:
        found: dict[int, tuple[tuple[Term, tuple[tuple[int, int], ...]], ...]] = {}
        for block in self.function.blocks:
            phis = []
            for phi in block.phis:
                if phi.result is None or isinstance(phi.result.type, PointerType):
                    continue
                constants = tuple(
                    (source, value.signed)
                    for source, value in phi.incoming
                    if isinstance(value, IntConstant)
                )
                terms = self.values.terms(phi.result)
                if constants and len(terms) == 1:
                    phis.append((terms[0], constants))
            if phis:
                found[block.index] = tuple(phis)
        return found

    def _inductions(self) -> dict[int, tuple[int, int, str, Term]]:
        """Registers that count from a number by a number while a comparison holds."""
        found: dict[int, tuple[int, int, str, Term]] = {}
        for block in self.function.blocks:
            for phi in block.phis:
                if phi.result is None or len(phi.incoming) != 2:
                    continue
                signature = self._induction(phi, block.index)
                if signature is not None:
                    found[self.values.numbering.of(phi)] = signature
        return found

    def _induction(self, phi: Phi, block: int) -> tuple[int, int, str, Term] | None:
        assert phi.result is not None
        counter = ("r", self.name, self.values.numbering.of(phi))
        start = step = None
        for source, value in phi.incoming:
            terms = self.values.terms(value)
            if len(terms) != 1:
                return None
            term = terms[0]
            if source < block and is_number(term):
                start = term[1]
            elif term[0] == counter and term[2] == 0:
                step = term[1]
        if start is None or not step:
            return None
        terminator = self.function.blocks[block].terminator
        if isinstance(terminator, Branch) and isinstance(terminator.condition, Register):
            made = self._definitions.get(terminator.condition.index)
            if isinstance(made, Compare):
                bound = self.values.terms(made.right)
                key = self.values.terms(made.left)
                if len(bound) == 1 and key and key[0][0] == counter:
                    return (start, step, made.predicate.lstrip("su"), bound[0])
        return (start, step, "", UNKNOWN)

    def _slots(self) -> dict[int, tuple[str, str, int]]:
        found = {}
        for instruction in self.function.instructions:
            if isinstance(instruction, StackSlot):
                size = self.program.layout.size(instruction.type)
                if isinstance(instruction.count, IntConstant):
                    size *= instruction.count.value
                number = self.values.numbering.of(instruction)
                found[number] = (instruction.name, instruction.debug_type, size)
        return found


def _signed(value: int, operand: Value) -> int:
    bits = operand.type.bits if isinstance(operand.type, IntType) else 64
    return value - (1 << bits) if value >> (bits - 1) else value


_FLOW = frozenset({"lock", "unlock", "create", "join", "wait", "post", "exit"})
_HANDLERS: dict[type[Instruction], Callable[..., None]] = {
    Load: Extractor._load,
    Store: Extractor._store,
    AtomicUpdate: Extractor._update,
    CompareExchange: Extractor._exchange,
    CopyMemory: Extractor._copy,
    SetMemory: Extractor._set,
    Call: Extractor._call,
}
