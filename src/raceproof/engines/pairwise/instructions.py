"""What single instructions do to registers and memory, as terms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raceproof.concurrency.effects import Reachable
from raceproof.engines.pairwise.execution_log import Nest
from raceproof.engines.pairwise.shared import NotModelled
from raceproof.engines.pairwise.state import ATOMIC, PairState
from raceproof.engines.pairwise.values import Object, PairPlace, PairValue, chosen
from raceproof.ir import (
    Assembly,
    AtomicUpdate,
    Binary,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    ExtractElement,
    ExtractField,
    Fence,
    FloatConstant,
    FloatType,
    Freeze,
    Function,
    FunctionAddress,
    GlobalAddress,
    InsertElement,
    InsertField,
    Instruction,
    IntConstant,
    Intrinsic,
    IntType,
    Load,
    Negate,
    NullPointer,
    Offset,
    PointerType,
    Register,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    Type,
)
from raceproof.ir import Value as Operand
from raceproof.ir.unordered import NOTHING
from raceproof.smt import compute
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.pairwise.execution import Execution

Content = PairValue | tuple[PairValue, ...] | None
"""What a register holds; None: something that is not followed."""
_LARGEST_SCALE = 1 << 24
ANY_RESULT = (InsertField, InsertElement, ExtractElement, Shuffle)
"""Instructions whose result is not followed: any value of its type."""


@dataclass(eq=False, slots=True)
class PairActivation:
    """A function that is being executed; `path` are the calls that led to it."""

    function: Function
    path: tuple[int, ...]
    nest: Nest
    functions: tuple[str, ...] = ()
    """Those that are being executed, this one the last."""
    registers: dict[int, Content] = field(default_factory=dict)


class PairInstructions:
    def __init__(self, run: Execution) -> None:
        self.run = run
        self.log = run.log
        self.terms = run.log.terms
        self.world = run.log.world
        self.bits = self.world.program.layout.pointer_size * 8

    # --- operands ------------------------------------------------------------

    def width(self, type_: Type) -> int | None:
        if isinstance(type_, IntType):
            return type_.bits
        if isinstance(type_, PointerType):
            return self.bits
        if isinstance(type_, FloatType):
            return self.world.program.layout.size(type_) * 8
        return None

    def anything(self, type_: Type) -> Content:
        width = self.width(type_)
        return None if width is None else PairValue(self.log.fresh("any", width))

    def content(self, act: PairActivation, operand: Operand) -> Content:
        terms = self.terms
        match operand:
            case Register(index=index):
                found = act.registers.get(index)
                return found if found is not None else self.anything(operand.type)
            case IntConstant(value=value):
                width = self.width(operand.type)
                assert width is not None
                return PairValue(terms.const(value, width))
            case NullPointer():
                return PairValue(terms.const(0, self.bits))
            case FloatConstant(value=number):
                width = self.width(operand.type)
                if width in (32, 64):
                    return PairValue(terms.const(compute.from_float(number, width), width))
            case GlobalAddress(name=name, offset=offset):
                variable = self.world.program.globals.get(name)
                if variable is not None and variable.is_thread_local:
                    return self._moved(self._thread_local(name), terms.const(offset, self.bits))
                return self.log.global_address(name, offset)
            case FunctionAddress(name=name):
                return PairValue(terms.var(f"&{name}", self.bits))
        return self.anything(operand.type)

    def scalar(self, act: PairActivation, operand: Operand) -> PairValue:
        found = self.content(act, operand)
        if isinstance(found, PairValue):
            return found
        raise NotModelled("a value that is not a scalar")

    def _thread_local(self, name: str) -> PairValue:
        address = self.terms.var(f"{self.log.name}:&{name}", self.bits)
        self.log.nests.setdefault(address, ())
        zero = self.terms.const(0, self.log.offset_width)
        target = Object(("thread-local", name), self.run.identity)
        return PairValue(address, (PairPlace(self.terms.true, target, zero),))

    def _moved(self, base: PairValue, distance: Term) -> PairValue:
        wide = self.terms.sext(distance, self.log.offset_width)
        return PairValue(
            self.terms.binary("add", base.bits, distance),
            tuple(
                PairPlace(p.condition, p.object, self.terms.binary("add", p.offset, wide))
                for p in base.places
            ),
        )

    # --- dispatch ------------------------------------------------------------

    def execute(self, act: PairActivation, instruction: Instruction, state: PairState) -> None:
        value: Content = None
        match instruction:
            case StackSlot():
                value = self._slot(act, instruction, state)
            case Load():
                value = self._load(act, instruction, state)
            case Store():
                self._store(act, instruction, state)
            case AtomicUpdate():
                value = self._update(act, instruction, state)
            case CompareExchange():
                value = self._exchange(act, instruction, state)
            case CopyMemory() | SetMemory():
                self.effects(act, instruction, state)
            case Offset():
                value = self._offset(act, instruction, state)
            case Binary():
                value = self._binary(act, instruction, state)
            case Compare():
                value = self._compare(act, instruction)
            case Cast():
                value = self._cast(act, instruction)
            case Freeze():
                value = self.content(act, instruction.value)
            case Select():
                value = self._select(act, instruction)
            case ExtractField():
                value = self._extract(act, instruction)
            case Intrinsic():
                value = self._intrinsic(act, instruction)
            case Assembly():
                if instruction.text:
                    raise NotModelled("inline assembly")
            case Negate():
                value = self._negate(act, instruction)
            case _ if isinstance(instruction, ANY_RESULT):
                pass
            case Fence():
                pass
            case _:
                raise NotModelled(type(instruction).__name__)
        if instruction.result is not None:
            if value is None:
                value = self.anything(instruction.result.type)
            act.registers[instruction.result.index] = value

    # --- memory ------------------------------------------------------------

    def _slot(self, act: PairActivation, instruction: StackSlot, state: PairState) -> PairValue:
        key = ("slot", self.log.name, act.path, instruction.number)
        for cell in [c for c in state.memory if c.key == key]:
            del state.memory[cell]
        return self.log.new_object(key, self.run.identity)

    def _size(self, type_: Type) -> int:
        return self.world.program.layout.store_size(type_)

    def _load(self, act: PairActivation, instruction: Load, state: PairState) -> Content:
        address = self.scalar(act, instruction.pointer)
        size = self._size(instruction.type)
        entered = self.run.locking.atomically(state) if instruction.atomic else self.terms.false
        self.run.memory.record(state, instruction.number, address, size, False)
        width = self.width(instruction.type)
        value = None
        if width is not None:
            value = self.run.memory.read(state, address, size, width)
        if instruction.atomic:
            self.run.locking.release(state, ATOMIC, entered)
            if value is not None:
                value = self._seen(instruction, instruction.type, value)
        return value

    def _seen(self, instruction: Instruction, type_: Type, value: PairValue) -> PairValue:
        """What an atomic read returns that finds `value`: that, or what it is unordered for
        (`ir.memory_order`)."""
        unordered = self.world.program.unordered.get(instruction.number)
        if unordered is None:
            return value
        other = self.anything(type_)
        if not isinstance(type_, IntType) or not isinstance(other, PairValue):
            return other if isinstance(other, PairValue) else value
        terms = self.terms
        numbers = (terms.const(number, other.bits.width) for number in unordered.values)
        among = terms.any(terms.eq(other.bits, number) for number in numbers)
        may_be = terms.not_(among) if unordered.is_complement else among
        is_other = terms.and_(may_be, self.log.fresh("unordered", 1))
        return PairValue(terms.ite(is_other, other.bits, value.bits))

    def _store(self, act: PairActivation, instruction: Store, state: PairState) -> None:
        address = self.scalar(act, instruction.pointer)
        value = self.content(act, instruction.value)
        entered = self.run.locking.atomically(state) if instruction.atomic else self.terms.false
        size = self._size(instruction.value.type)
        self.run.memory.record(state, instruction.number, address, size, True)
        known = value if isinstance(value, PairValue) else None
        self.run.memory.write(state, instruction.number, address, size, known)
        if instruction.atomic:
            self.run.locking.release(state, ATOMIC, entered)

    def _update(
        self, act: PairActivation, instruction: AtomicUpdate, state: PairState
    ) -> PairValue:
        address, operand = (self.scalar(act, v) for v in (instruction.pointer, instruction.value))
        size = self._size(instruction.value.type)
        entered = self.run.locking.atomically(state)
        self.run.memory.record(state, instruction.number, address, size, True)
        old = self.run.memory.read(state, address, size, operand.bits.width)
        new = compute.update(self.terms, instruction.operation, old.bits, operand.bits)
        if new is None:
            new = self.log.fresh("updated", operand.bits.width)
        value = operand if instruction.operation == "xchg" else PairValue(new)
        self.run.memory.write(state, instruction.number, address, size, value)
        self.run.locking.release(state, ATOMIC, entered)
        return self._seen(instruction, instruction.value.type, old)

    def _exchange(
        self, act: PairActivation, instruction: CompareExchange, state: PairState
    ) -> tuple[PairValue, ...]:
        terms = self.terms
        address = self.scalar(act, instruction.pointer)
        expected = self.scalar(act, instruction.expected)
        new = self.scalar(act, instruction.replacement)
        size = self._size(instruction.expected.type)
        entered = self.run.locking.atomically(state)
        self.run.memory.record(state, instruction.number, address, size, True)
        old = self.run.memory.read(state, address, size, expected.bits.width)
        done = terms.eq(old.bits, expected.bits)
        unordered = self.world.program.unordered.get(instruction.number, NOTHING)
        if instruction.weak or unordered.may_fail:
            done = terms.and_(done, self.log.fresh("lucky", 1))
        if unordered.may_succeed:
            done = terms.or_(done, self.log.fresh("unordered", 1))
        self.run.memory.write(
            state, instruction.number, address, size, chosen(terms, done, new, old)
        )
        self.run.locking.release(state, ATOMIC, entered)
        if unordered:
            other = self.anything(instruction.expected.type) if unordered.may_fail else old
            old = chosen(terms, done, expected, other if isinstance(other, PairValue) else old)
        return old, PairValue(done)

    def effects(self, act: PairActivation, instruction: Instruction, state: PairState) -> None:
        """Records and spoils what the instruction accesses besides loads and stores."""
        for effect in self.run.events.effects(instruction):
            content = self.content(act, effect.pointer)
            address = content if isinstance(content, PairValue) else None
            if address is None:
                raise NotModelled("an access through something that is not an address")
            size = effect.constant_size
            if isinstance(effect.size, IntConstant):
                size = effect.size.value
            if isinstance(effect.size, Reachable):
                address = PairValue(address.bits)
            elif size is None:
                address = _anywhere_in(self, address)
            self.run.memory.record(state, instruction.number, address, size, effect.is_write)
            if effect.is_write:
                self.run.memory.write(
                    state, instruction.number, PairValue(address.bits), None, None
                )
                self.run.memory.write(state, instruction.number, address, None, None)

    # --- computation ------------------------------------------------------------

    def _offset(self, act: PairActivation, instruction: Offset, state: PairState) -> PairValue:
        terms = self.terms
        base = self.scalar(act, instruction.base)
        wide_width = self.log.offset_width
        distance = terms.const(instruction.constant, self.bits)
        wide = terms.const(instruction.constant, wide_width)
        is_exact = instruction.inbounds or not instruction.terms
        for index, scale in instruction.terms:
            bits = self.scalar(act, index).bits
            narrow = terms.resize(bits, self.bits, is_signed=True)
            factor = terms.const(scale, self.bits)
            distance = terms.binary("add", distance, terms.binary("mul", narrow, factor))
            far = terms.resize(bits, wide_width, is_signed=True)
            factor = terms.const(scale, wide_width)
            wide = terms.binary("add", wide, terms.binary("mul", far, factor))
            is_exact = is_exact and abs(scale) < _LARGEST_SCALE and bits.width <= self.bits
        places: tuple[PairPlace, ...] = ()
        if is_exact:
            places = tuple(
                PairPlace(p.condition, p.object, terms.binary("add", p.offset, wide))
                for p in base.places
            )
            scales = [scale for _, scale in instruction.terms]
            for before, after in zip(base.places, places, strict=True):
                self.world.forms.moved(before.offset, after.offset, instruction.constant, scales)
        if instruction.inbounds:
            self._stays_inside(places, state)
        return PairValue(terms.binary("add", base.bits, distance), places)

    def _stays_inside(self, places: tuple[PairPlace, ...], state: PairState) -> None:
        """An address in bounds is not before its object, nor further than memory goes."""
        terms = self.terms
        low = terms.const(0, self.log.offset_width)
        high = terms.const(1 << self.bits, self.log.offset_width)
        for place in places:
            inside = terms.and_(
                terms.compare("sge", place.offset, low), terms.compare("slt", place.offset, high)
            )
            self.log.learn(terms.and_(state.guard, place.condition), inside)

    def _binary(self, act: PairActivation, instruction: Binary, state: PairState) -> Content:
        left, right = (self.content(act, v) for v in (instruction.left, instruction.right))
        if not isinstance(left, PairValue) or not isinstance(right, PairValue):
            return None
        a, b = left.bits, right.bits
        found = compute.binary(self.terms, instruction.operation, a, b)
        if found is None:
            return None
        if "nsw" in instruction.flags and self.world.assumes_no_overflow:
            self._no_overflow(instruction.operation, a, b, found, state)
        return PairValue(found)

    def _no_overflow(
        self, operation: str, a: Term, b: Term, result: Term, state: PairState
    ) -> None:
        """Signed overflow is undefined: no execution goes on past it."""
        terms = self.terms
        if operation not in ("add", "sub", "mul") or a.width < 2:
            return
        wide = a.width + 1 if operation != "mul" else a.width * 2
        exact = terms.binary(operation, terms.sext(a, wide), terms.sext(b, wide))
        self.log.learn(state.guard, terms.eq(exact, terms.sext(result, wide)))

    def _compare(self, act: PairActivation, instruction: Compare) -> Content:
        left, right = (self.content(act, v) for v in (instruction.left, instruction.right))
        if not isinstance(left, PairValue) or not isinstance(right, PairValue):
            return None
        if isinstance(instruction.left.type, FloatType):
            found = compute.compare_floats(self.terms, instruction.predicate, left.bits, right.bits)
            return None if found is None else PairValue(found)
        return PairValue(self.terms.compare(instruction.predicate, left.bits, right.bits))

    def _negate(self, act: PairActivation, instruction: Negate) -> Content:
        value = self.content(act, instruction.value)
        return (
            PairValue(compute.negate(self.terms, value.bits))
            if isinstance(value, PairValue)
            else None
        )

    def _cast(self, act: PairActivation, instruction: Cast) -> Content:
        assert instruction.result is not None
        value = self.content(act, instruction.value)
        width = self.width(instruction.result.type)
        if not isinstance(value, PairValue) or width is None:
            return None
        found = compute.cast(
            self.terms,
            instruction.operation,
            value.bits,
            width,
            is_float=isinstance(instruction.value.type, FloatType),
        )
        if found is None:
            return None
        return PairValue(found, value.places if width == self.bits == value.bits.width else ())

    def _select(self, act: PairActivation, instruction: Select) -> Content:
        condition, a, b = (
            self.content(act, v)
            for v in (instruction.condition, instruction.if_true, instruction.if_false)
        )
        if (
            isinstance(condition, PairValue)
            and isinstance(a, PairValue)
            and isinstance(b, PairValue)
        ):
            return chosen(self.terms, condition.bits, a, b)
        return None

    def _extract(self, act: PairActivation, instruction: ExtractField) -> Content:
        whole = self.content(act, instruction.aggregate)
        if isinstance(whole, tuple) and len(instruction.path) == 1:
            return whole[instruction.path[0]]
        return None

    def _intrinsic(self, act: PairActivation, instruction: Intrinsic) -> Content:
        if instruction.name in ("va_start", "va_end", "va_copy"):
            raise NotModelled("variable arguments")
        if instruction.name == "is.constant":
            return None
        arguments = [self.content(act, a) for a in instruction.arguments]
        known = [a.bits for a in arguments if isinstance(a, PairValue)]
        if len(known) < len(arguments):
            return None
        assert instruction.result is not None
        types = [a.type for a in instruction.arguments]
        found = compute.intrinsic(
            self.terms, instruction.name, known, types, instruction.result.type
        )
        if isinstance(found, tuple):
            return tuple(PairValue(part) for part in found)
        return None if found is None else PairValue(found)


def _anywhere_in(instructions: PairInstructions, address: PairValue) -> PairValue:
    """The same objects, at any offset."""
    fresh = instructions.log.fresh("offset", instructions.log.offset_width)
    return PairValue(
        address.bits, tuple(PairPlace(p.condition, p.object, fresh) for p in address.places)
    )
