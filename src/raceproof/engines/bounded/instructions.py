"""What each instruction does to the state of the thread that is being unfolded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import Value, choose
from raceproof.ir import (
    ArrayType,
    Assembly,
    AtomicUpdate,
    Binary,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    ExtractElement,
    ExtractField,
    FloatType,
    Freeze,
    InsertElement,
    InsertField,
    Instruction,
    Intrinsic,
    Load,
    Negate,
    NextArgument,
    Offset,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    StructType,
    Type,
    VectorType,
)
from raceproof.ir.unordered import NOTHING, Unordered
from raceproof.smt import compute
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind

_COPY_LIMIT = 4096


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class Instructions(Part):
    """Everything but calls."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands

    def execute(self, instruction: object) -> None:
        assert isinstance(instruction, Instruction)
        kind = type(instruction)
        if kind in _STOPS:
            self.body.ticks.append((instruction.number, self.cursor.state.guard))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, instruction)
        elif instruction.result is not None:
            self.operands.set_result(self._any(instruction.result.type, type(instruction).__name__))

    def _any(self, type_: Type, what: str) -> Value:
        members = self.operands.members(type_)
        if members is not None:
            return tuple(self._any(member, what) for member in members)
        return self.operands.unknown(what, self.space.width(type_))

    # --- memory ------------------------------------------------------------

    def load_value(self, type_: Type, address: Term, *, is_atomic: bool = False) -> Value:
        layout = self.space.program.layout
        if isinstance(type_, StructType):
            with self.cursor.step("read"):
                return tuple(
                    self.load_value(member, self.moved(address, offset), is_atomic=is_atomic)
                    for member, offset in zip(type_.fields, layout.offsets(type_), strict=True)
                )
        if isinstance(type_, ArrayType | VectorType):
            step = layout.size(type_.element)
            with self.cursor.step("read"):
                return tuple(
                    self.load_value(type_.element, self.moved(address, i * step))
                    for i in range(type_.count)
                )
        size = layout.store_size(type_)
        if size == 0:
            return self.terms.const(0, 8)
        raw = self.memory.read(address, size, is_atomic=is_atomic)
        return self.terms.resize(raw, self.space.width(type_))

    def store_value(
        self, type_: Type, address: Term, value: Value, *, is_atomic: bool = False
    ) -> None:
        layout = self.space.program.layout
        if isinstance(value, tuple):
            with self.cursor.step("write"):
                if isinstance(type_, StructType):
                    for member, part, offset in zip(
                        type_.fields, value, layout.offsets(type_), strict=True
                    ):
                        self.store_value(member, self.moved(address, offset), part)
                elif isinstance(type_, ArrayType | VectorType):
                    step = layout.size(type_.element)
                    for i, part in enumerate(value):
                        self.store_value(type_.element, self.moved(address, i * step), part)
            return
        size = layout.store_size(type_)
        if size:
            self.memory.write(address, self.terms.resize(value, size * 8), is_atomic=is_atomic)

    def moved(self, address: Term, distance: int) -> Term:
        return self.terms.binary("add", address, self.terms.const(distance, address.width))

    def _slot(self, i: StackSlot) -> None:
        count = self.operands.term(i.count)
        size = self.space.program.layout.size(i.type)
        if count.is_constant:
            size *= count.constant
        else:
            self.cursor.cut("an array whose length depends on data")
            size *= 16
        key = ("slot", self.thread, self.cursor.label, i.number)
        slot = self.space.make(
            key, BaseKind.STACK, i.name or "local", size, i.position, debug_type=i.debug_type
        )
        self.cursor.born.append(slot.number)
        self.cursor.state.forget(slot)
        self.operands.set_result(self.space.pointer(slot))

    def _load(self, i: Load) -> None:
        value = self.load_value(i.type, self.operands.term(i.pointer), is_atomic=bool(i.atomic))
        if i.atomic and isinstance(value, Term):
            value, _ = self.seen(i, value)
        self.operands.set_result(value)

    def seen(self, i: Instruction, old: Term) -> tuple[Term, Term]:
        """What an atomic read returns that finds `old`: in a proof also what it is unordered for
        (`ir.memory_order`); and when it does."""
        terms = self.terms
        unordered = self.may_see(i)
        if not (unordered.values or unordered.is_complement):
            return old, terms.false
        other = self.open_choice("unordered", old.width)
        numbers = (terms.const(number, old.width) for number in unordered.values)
        among = terms.any(terms.eq(other, number) for number in numbers)
        may_be = terms.not_(among) if unordered.is_complement else among
        is_other = terms.and_(may_be, self.open_choice("is unordered", 1))
        return terms.ite(is_other, other, old), is_other

    def may_see(self, i: Instruction) -> Unordered:
        """What a read may see without order; nothing when we look for races, whose schedules are
        to be replayed."""
        unordered = self.space.program.unordered.get(i.number, NOTHING)
        if unordered and not self.unfolder.limits.cautious:
            self.unfolder.has_choices = True
            return NOTHING
        return unordered

    def open_choice(self, what: str, width: int) -> Term:
        """Any value; no input of the program."""
        variable = self.terms.var(self.cursor.name(what), width)
        if width == self.space.pointer_width:
            self.sharing.define(variable, frozenset([UNKNOWN]))
        return variable

    def _store(self, i: Store) -> None:
        value = self.operands.value(i.value)
        self.store_value(
            i.value.type, self.operands.term(i.pointer), value, is_atomic=bool(i.atomic)
        )

    def _update(self, i: AtomicUpdate) -> None:
        address, value = self.operands.term(i.pointer), self.operands.term(i.value)
        size = self.space.program.layout.store_size(i.value.type)
        with self.cursor.step("update"):
            old = self.terms.resize(self.memory.read(address, size, is_atomic=True), value.width)
            new = compute.update(self.terms, i.operation, old, value)
            if new is None:
                new = self.operands.unknown(f"atomic {i.operation}", value.width)
            seen, is_other = self.seen(i, old)
            new = self.terms.resize(new, size * 8)
            condition = self.changes(old, new)
            if is_other is not self.terms.false and self.may_see(i).stores_in_vain:
                in_vain = self.terms.and_(is_other, self.terms.eq(seen, value))
                stores = self.terms.not_(in_vain)
                condition = stores if condition is None else self.terms.and_(condition, stores)
            self.memory.write(address, new, is_atomic=True, condition=condition)
        self.operands.set_result(seen)

    def changes(self, old: Term, new: Term) -> Term | None:
        """When an update makes a difference, if that is easy to tell: setting a flag that is set
        already is mere waiting."""
        if not old.leaves or not new.leaves or old.width != new.width:
            return None
        return self.terms.not_(self.terms.eq(old, new))

    def _compare_exchange(self, i: CompareExchange) -> None:
        address, expected = self.operands.term(i.pointer), self.operands.term(i.expected)
        replacement = self.operands.term(i.replacement)
        old, success = self.exchange(
            address, expected, replacement, self.may_see(i), is_weak=i.weak
        )
        self.operands.set_result((old, success))

    def exchange(
        self,
        address: Term,
        expected: Term,
        replacement: Term,
        unordered: Unordered,
        *,
        is_weak: bool,
    ) -> tuple[Term, Term]:
        """Compare and exchange: the old value and whether it was replaced."""
        size = (expected.width + 7) // 8
        with self.cursor.step("update"):
            old = self.terms.resize(self.memory.read(address, size, is_atomic=True), expected.width)
            success = self.terms.eq(old, expected)
            if is_weak and success is not self.terms.false:
                fails = self.operands.fresh_input("fails", 1, success)
                success = self.terms.and_(success, self.terms.not_(fails))
            if unordered.may_fail:
                success = self.terms.and_(success, self.open_choice("ordered", 1))
                old = self.open_choice("unordered", old.width)
            if unordered.may_succeed:
                success = self.terms.or_(success, self.open_choice("is unordered", 1))
            if unordered:
                old = self.terms.ite(success, expected, old)
            new = self.terms.resize(replacement, size * 8)
            self.memory.write(address, new, is_atomic=True, condition=success)
        return old, success

    def _copy(self, i: CopyMemory) -> None:
        size = self.operands.term(i.size)
        target, source = self.operands.term(i.target), self.operands.term(i.source)
        with self.cursor.step("copy"):
            self.copy_bytes(target, source, self._known_size(size))

    def _known_size(self, size: Term) -> int:
        if not size.is_constant or size.constant > _COPY_LIMIT:
            self.cursor.cut("a block of memory of unknown or very large size")
            raise PathEnds
        return size.constant

    def copy_bytes(self, target: Term, source: Term, size: int, *, is_access: bool = True) -> None:
        chunks = []
        word = self.space.pointer_width // 8
        offset = 0
        while offset < size:
            step = word if size - offset >= word else 4 if size - offset >= 4 else 1
            chunks.append(
                (offset, self.memory.read(self.moved(source, offset), step, is_access=is_access))
            )
            offset += step
        for offset, value in chunks:
            self.memory.write(self.moved(target, offset), value, is_access=is_access)

    def _set(self, i: SetMemory) -> None:
        target, byte = self.operands.term(i.target), self.operands.term(i.byte)
        size = self._known_size(self.operands.term(i.size))
        word = self.space.pointer_width // 8
        with self.cursor.step("write"):
            offset = 0
            while offset < size:
                step = word if size - offset >= word else 4 if size - offset >= 4 else 1
                value = byte
                while value.width < step * 8:
                    value = self.terms.concat(byte, value)
                self.memory.write(self.moved(target, offset), value)
                offset += step

    # --- computation ------------------------------------------------------------

    def _offset(self, i: Offset) -> None:
        terms = self.terms
        result = self.operands.term(i.base)
        for index, scale in i.terms:
            term = terms.resize(self.operands.term(index), result.width, is_signed=True)
            scaled = terms.binary("mul", term, terms.const(scale, result.width))
            result = terms.binary("add", result, scaled)
        self.operands.set_result(terms.binary("add", result, terms.const(i.constant, result.width)))

    def _elementwise(
        self, values: list[Value], function: Callable[[list[Term]], Term | None], what: str
    ) -> Value:
        first = values[0]
        if isinstance(first, tuple):
            columns = [v if isinstance(v, tuple) else (v,) * len(first) for v in values]
            return tuple(
                self._elementwise(list(row), function, what) for row in zip(*columns, strict=True)
            )
        result = function([v for v in values if isinstance(v, Term)])
        if result is None:
            result = self.operands.unknown(what, first.width)
        return result

    def _binary(self, i: Binary) -> None:
        if i.operation in ("udiv", "sdiv", "urem", "srem"):
            right = self.operands.value(i.right)
            if isinstance(right, Term):
                zero = self.terms.const(0, right.width)
                is_zero = self.terms.eq(right, zero)
                if is_zero is self.terms.true:
                    raise PathEnds
                self.cursor.require(self.terms.not_(is_zero))
        self.operands.set_result(
            self._elementwise(
                [self.operands.value(i.left), self.operands.value(i.right)],
                lambda v: compute.binary(self.terms, i.operation, v[0], v[1]),
                f"floating-point arithmetic ({i.operation})",
            )
        )

    def _compare(self, i: Compare) -> None:
        is_float = isinstance(i.left.type, FloatType)
        left, right = self.operands.value(i.left), self.operands.value(i.right)
        if not (isinstance(left, Term) and isinstance(right, Term)):
            assert i.result is not None
            self.operands.set_result(self._any(i.result.type, "a comparison of vectors"))
            return
        if is_float:
            result = compute.compare_floats(self.terms, i.predicate, left, right)
            if result is None:
                result = self.operands.unknown("a floating-point comparison", 1)
            self.operands.set_result(result)
            return
        self.operands.set_result(self.terms.compare(i.predicate, left, right))

    def _cast(self, i: Cast) -> None:
        assert i.result is not None
        value = self.operands.value(i.value)
        if isinstance(value, tuple):
            self.operands.set_result(self._any(i.result.type, f"{i.operation} of vectors"))
            return
        width = self.space.width(i.result.type)
        result = compute.cast(
            self.terms, i.operation, value, width, is_float=isinstance(i.value.type, FloatType)
        )
        if result is None:
            result = self.operands.unknown(f"a floating-point conversion ({i.operation})", width)
        self.operands.set_result(result)

    def _negate(self, i: Negate) -> None:
        value = self.operands.term(i.value)
        self.operands.set_result(compute.negate(self.terms, value))

    def _select(self, i: Select) -> None:
        condition = self.operands.value(i.condition)
        if not isinstance(condition, Term):
            assert i.result is not None
            self.operands.set_result(self._any(i.result.type, "a select of vectors"))
            return
        self.operands.set_result(
            choose(
                self.terms,
                condition,
                self.operands.value(i.if_true),
                self.operands.value(i.if_false),
            )
        )

    def _intrinsic(self, i: Intrinsic) -> None:
        if i.name == "trap":
            self.fatal()
        arguments = [self.operands.value(a) for a in i.arguments]
        if i.result is None:
            return
        scalars = [a for a in arguments if isinstance(a, Term)]
        result = (
            compute.intrinsic(
                self.terms, i.name, scalars, [a.type for a in i.arguments], i.result.type
            )
            if len(scalars) == len(arguments)
            else None
        )
        self.operands.set_result(result if result is not None else self._any(i.result.type, i.name))

    def fatal(self) -> None:
        """Every thread ends here."""
        with self.cursor.step("exit", always=True) as event:
            event.assume = self.terms.false
            event.is_fatal = True
        raise PathEnds

    # --- members ------------------------------------------------------------

    def _extract_field(self, i: ExtractField) -> None:
        value = self.operands.value(i.aggregate)
        for index in i.path:
            if isinstance(value, tuple):
                value = value[index]
        self.operands.set_result(value)

    def _insert_field(self, i: InsertField) -> None:
        self.operands.set_result(
            _replaced(self.operands.value(i.aggregate), i.path, self.operands.value(i.value))
        )

    def _extract_element(self, i: ExtractElement) -> None:
        vector, index = self.operands.value(i.vector), self.operands.term(i.index)
        assert isinstance(vector, tuple)
        result = vector[0]
        for number, element in enumerate(vector[1:], 1):
            is_it = self.terms.eq(index, self.terms.const(number, index.width))
            result = choose(self.terms, is_it, element, result)
        self.operands.set_result(result)

    def _insert_element(self, i: InsertElement) -> None:
        vector, value, index = (
            self.operands.value(i.vector),
            self.operands.value(i.value),
            self.operands.term(i.index),
        )
        assert isinstance(vector, tuple)
        self.operands.set_result(
            tuple(
                choose(
                    self.terms,
                    self.terms.eq(index, self.terms.const(number, index.width)),
                    value,
                    element,
                )
                for number, element in enumerate(vector)
            )
        )

    def _shuffle(self, i: Shuffle) -> None:
        left, right = self.operands.value(i.left), self.operands.value(i.right)
        assert isinstance(left, tuple) and isinstance(right, tuple)
        both = left + right
        self.operands.set_result(tuple(both[max(index, 0)] for index in i.mask))

    def _assembly(self, i: Assembly) -> None:
        if i.text.strip():
            self.cursor.cut("inline assembly")
        if i.result is not None:
            self.operands.set_result(self._any(i.result.type, "inline assembly"))

    def _next_argument(self, i: NextArgument) -> None:
        self.cursor.cut("a variable argument")
        assert i.result is not None
        self.operands.set_result(self._any(i.result.type, "a variable argument"))

    def _freeze(self, i: Freeze) -> None:
        self.operands.set_result(self.operands.value(i.value))

    def _call(self, i: Call) -> None:
        self.walker.library.call_instruction(i)


def _replaced(value: Value, path: tuple[int, ...], new: Value) -> Value:
    if not path or not isinstance(value, tuple):
        return new
    index = path[0]
    return (*value[:index], _replaced(value[index], path[1:], new), *value[index + 1 :])


_STOPS = frozenset({Load, Store, AtomicUpdate, CompareExchange, CopyMemory, SetMemory, Call})
_W = Instructions
_HANDLERS: dict[type, Callable[..., None]] = {
    StackSlot: _W._slot,
    Load: _W._load,
    Store: _W._store,
    AtomicUpdate: _W._update,
    CompareExchange: _W._compare_exchange,
    CopyMemory: _W._copy,
    SetMemory: _W._set,
    Offset: _W._offset,
    Binary: _W._binary,
    Compare: _W._compare,
    Cast: _W._cast,
    Negate: _W._negate,
    Freeze: _W._freeze,
    Select: _W._select,
    Intrinsic: _W._intrinsic,
    ExtractField: _W._extract_field,
    InsertField: _W._insert_field,
    ExtractElement: _W._extract_element,
    InsertElement: _W._insert_element,
    Shuffle: _W._shuffle,
    Assembly: _W._assembly,
    NextArgument: _W._next_argument,
    Call: _W._call,
}
