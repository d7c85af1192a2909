"""Objects and where they lie.

Every object of the unfolded program (a global, a stack slot of one call, one call of `malloc`) gets
its own constant address, so a pointer is a plain bit-vector and casts, differences and comparisons
of pointers need no special care. Addresses are small and close together: their upper bits are zero
everywhere and cost the solver nothing.

What a lock, a condition or a semaphore at some address is doing lives in a *shadow* of its object,
`SHADOW` bytes further on, where no pointer of the program leads. Synchronisation is then ordinary
reading and writing, by steps that may have to wait.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from raceproof.ir import (
    AggregateConstant,
    ArrayType,
    BlockAddress,
    BytesConstant,
    Constant,
    ConstantExpression,
    FloatConstant,
    FloatType,
    FunctionAddress,
    GlobalAddress,
    IntConstant,
    IntType,
    NullPointer,
    PointerType,
    Position,
    Program,
    StructType,
    Type,
    Undefined,
    VectorType,
)
from raceproof.smt.terms import Term, Terms
from raceproof.verdict import BaseKind

SHADOW = 1 << 28
_FIRST_ADDRESS = 0x4000
_GAP = 16

Key = tuple[object, ...]


class TooBig(Exception):
    """The unfolding has outgrown its limits."""


@dataclass(eq=False, slots=True)
class UnfoldObject:
    """`key` names it the same way in every pass over the program."""

    number: int
    key: Key
    kind: BaseKind
    name: str
    address: int
    size: int
    initial: dict[int, Term] | None = None
    """Offset -> value, zero elsewhere; None: undefined until written."""
    position: Position | None = None
    debug_type: str = ""
    shadow: UnfoldObject | None = field(default=None, repr=False)
    is_shadow: bool = False
    freed: UnfoldObject | None = field(default=None, repr=False)
    """A byte of ours: whether a thread that looks at its own state knows it to be freed."""
    is_read_only: bool = False
    is_partial: bool = False
    """It may be longer than we know."""
    length: Term | None = None
    """The true size, if it depends on data; then `size` is the largest we look at."""
    function: str = ""
    """The function whose code this is."""

    def __repr__(self) -> str:
        return f"<{self.name} at {self.address:#x}>"


def float_bits(value: float, bits: int) -> int:
    """The number's IEEE pattern."""
    import struct

    if bits == 64:
        return int.from_bytes(struct.pack("<d", value), "little")
    if bits == 32:
        try:
            return int.from_bytes(struct.pack("<f", value), "little")
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    return hash(value) & ((1 << bits) - 1)


class AddressSpace:
    """All objects of the program, by key and by address."""

    def __init__(self, program: Program, terms: Terms) -> None:
        self.program = program
        self.terms = terms
        self.pointer_width = program.layout.pointer_size * 8
        self._by_key: dict[Key, UnfoldObject] = {}
        self._addresses: list[int] = []
        self._objects: list[UnfoldObject] = []
        self._next = self.first_address = _FIRST_ADDRESS
        self.all: list[UnfoldObject] = []

    def make(
        self,
        key: Key,
        kind: BaseKind,
        name: str,
        size: int,
        position: Position | None = None,
        *,
        is_defined: bool = False,
        debug_type: str = "",
    ) -> UnfoldObject:
        """The object of this key; a new one if there is none, zero if `is_defined`."""
        size = max(size, 1)
        found = self._by_key.get(key)
        if found is not None:
            found.is_partial = found.is_partial or found.size < size
            return found
        initial: dict[int, Term] | None = {} if is_defined else None
        new = UnfoldObject(
            len(self.all), key, kind, name, self._next, size, initial, position, debug_type
        )
        self._next += (size + _GAP + 15) // 16 * 16
        if self._next >= SHADOW:
            raise TooBig
        self._by_key[key] = new
        self._addresses.append(new.address)
        self._objects.append(new)
        self.all.append(new)
        return new

    def shadow(self, of: UnfoldObject) -> UnfoldObject:
        """Where the synchronisation state of an object is kept."""
        if of.shadow is None:
            of.shadow = UnfoldObject(
                len(self.all),
                ("shadow", of.key),
                of.kind,
                of.name,
                of.address + SHADOW,
                of.size + 64,
                {},
                of.position,
                of.debug_type,
                is_shadow=True,
            )
            self.all.append(of.shadow)
        return of.shadow

    def freed(self, of: UnfoldObject) -> UnfoldObject:
        """Where a thread keeps in mind that an object has been freed."""
        if of.freed is None:
            key = ("freed", of.number)
            of.freed = self.make(key, BaseKind.EXTERNAL, f"freed {of.name}", 1, is_defined=True)
        return of.freed

    def at(self, address: int) -> tuple[UnfoldObject, int] | None:
        """The object that an address points into (or just behind) and the offset."""
        if address >= 2 * SHADOW:
            return None
        if address >= SHADOW:
            found = self.at(address - SHADOW)
            return (self.shadow(found[0]), found[1]) if found else None
        index = bisect_right(self._addresses, address) - 1
        if index < 0:
            return None
        candidate = self._objects[index]
        offset = address - candidate.address
        return (candidate, offset) if offset <= candidate.size else None

    def pointer(self, of: UnfoldObject, offset: int = 0) -> Term:
        return self.terms.const(of.address + offset, self.pointer_width)

    # --- globals and functions ------------------------------------------------------------

    def global_object(self, name: str) -> UnfoldObject:
        key: Key = ("global", name)
        found = self._by_key.get(key)
        if found is not None:
            return found
        variable = self.program.globals.get(name)
        if variable is None:
            new = self.make(key, BaseKind.EXTERNAL, name, 64)
            new.is_partial = not name.startswith("$")
            return new
        kind = BaseKind.STRING if variable.is_string else BaseKind.GLOBAL
        new = self.make(
            key,
            kind,
            variable.display,
            variable.size,
            variable.position,
            is_defined=True,
            debug_type=variable.debug_type,
        )
        new.is_read_only = variable.is_constant
        if variable.initializer is not None:
            assert new.initial is not None
            self.spread(variable.initializer, variable.initializer.type, 0, new.initial)
        elif name not in self.program.globals or variable.is_external:
            new.initial = None
        return new

    def thread_local(self, name: str, thread: int) -> UnfoldObject:
        """One thread's copy of a thread-local global."""
        key: Key = ("thread-local", name, thread)
        found = self._by_key.get(key)
        if found is None:
            original = self.global_object(name)
            found = self.make(
                key, BaseKind.THREAD_LOCAL, original.name, original.size, original.position
            )
            found.initial = original.initial
            found.debug_type = original.debug_type
        return found

    def function_object(self, name: str) -> UnfoldObject:
        new = self.make(("function", name), BaseKind.GLOBAL, name, 1, is_defined=True)
        new.is_read_only = True
        new.function = name
        return new

    # --- constants ------------------------------------------------------------

    def width(self, type_: Type) -> int:
        """Bits of a scalar; 1 for booleans."""
        match type_:
            case IntType(bits) | FloatType(bits):
                return bits
            case PointerType():
                return self.pointer_width
        return self.program.layout.size(type_) * 8

    def constant(self, value: Constant) -> Term:
        """A scalar constant as a term; undefined ones are zero."""
        terms = self.terms
        match value:
            case IntConstant():
                return terms.const(value.value, self.width(value.type))
            case GlobalAddress():
                return self.pointer(self.global_object(value.name), value.offset)
            case FunctionAddress():
                return self.pointer(self.function_object(value.name))
            case NullPointer():
                return terms.const(0, self.pointer_width)
            case FloatConstant():
                width = self.width(value.type)
                return terms.const(float_bits(value.value, width), width)
            case BlockAddress():
                return terms.const(value.block + 1, self.pointer_width)
            case ConstantExpression():
                return self._expression(value)
        return terms.const(0, self.width(value.type))

    def _expression(self, value: ConstantExpression) -> Term:
        terms, width = self.terms, self.width(value.type)
        operands = [self.constant(operand) for operand in value.operands]
        match value.operation:
            case "ptrtoint" | "inttoptr" | "bitcast" | "trunc" | "zext" | "addrspacecast":
                return terms.resize(operands[0], width)
            case "sext":
                return terms.resize(operands[0], width, is_signed=True)
            case "offset":
                return terms.binary(
                    "add", operands[0], terms.resize(operands[1], width, is_signed=True)
                )
            case "add" | "sub" | "mul":
                return terms.binary(value.operation, operands[0], operands[1])
            case "and" | "or" | "xor":
                return terms.binary("bv" + value.operation, operands[0], operands[1])
        return terms.const(0, width)

    def spread(self, value: Constant, type_: Type, offset: int, into: dict[int, Term]) -> None:
        """Puts an initializer into memory, scalar by scalar; zero is left out."""
        layout = self.program.layout
        match value:
            case AggregateConstant(elements=elements):
                if isinstance(type_, StructType):
                    for element, field_type, start in zip(
                        elements, type_.fields, layout.offsets(type_), strict=True
                    ):
                        self.spread(element, field_type, offset + start, into)
                elif isinstance(type_, ArrayType | VectorType):
                    step = layout.size(type_.element)
                    for index, element in enumerate(elements):
                        self.spread(element, type_.element, offset + index * step, into)
            case BytesConstant(data=data):
                for index, byte in enumerate(data):
                    if byte:
                        into[offset + index] = self.terms.const(byte, 8)
            case Undefined():
                pass
            case _ if not type_.is_aggregate:
                size = layout.store_size(type_)
                term = self.terms.resize(self.constant(value), size * 8)
                if not (term.is_constant and term.constant == 0):
                    into[offset] = term
