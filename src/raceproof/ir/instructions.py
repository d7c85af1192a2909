"""Instructions: what a program does, one small step each.

Every instruction has a program-wide `number`, a source `position` and perhaps a `result`. A block
ends with one terminator; terminators name their targets by block index in their function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from raceproof.ir.position import Position
from raceproof.ir.types import FunctionType, Type
from raceproof.ir.values import Constant, Register, Value


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    number: int
    position: Position | None
    result: Register | None

    is_terminator: ClassVar[bool] = False

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values it uses, in order."""
        return ()


# --- memory ------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class StackSlot(Instruction):
    """A local variable whose address matters: `result` is the address of `count` x `type`.

    `name` is the C variable, `debug_type` a key into the program's debug types. A slot that is not
    in the entry block, or has no constant count, is a variable-length array or `alloca`.
    """

    type: Type
    count: Value
    name: str = ""
    debug_type: str = ""

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.count,)


@dataclass(frozen=True, slots=True, eq=False)
class Load(Instruction):
    """`result = *pointer`. `atomic` is the memory order, empty for a plain access."""

    type: Type
    pointer: Value
    atomic: str = ""
    volatile: bool = False

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.pointer,)


@dataclass(frozen=True, slots=True, eq=False)
class Store(Instruction):
    """`*pointer = value`."""

    value: Value
    pointer: Value
    atomic: str = ""
    volatile: bool = False

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value, self.pointer)


@dataclass(frozen=True, slots=True, eq=False)
class AtomicUpdate(Instruction):
    """`result = *pointer; *pointer = operation(result, value)`, in one step.

    `operation`: add sub and or xor nand xchg max min umax umin fadd fsub ...
    """

    operation: str
    pointer: Value
    value: Value
    atomic: str

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.pointer, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class CompareExchange(Instruction):
    """`result = {old, old == expected}`, storing `replacement` if equal, in one step.

    A `weak` exchange may fail for no reason. `atomic` is its memory order if it takes place,
    `failure` if it does not.
    """

    pointer: Value
    expected: Value
    replacement: Value
    atomic: str
    weak: bool = False
    failure: str = "seq_cst"

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.pointer, self.expected, self.replacement)


@dataclass(frozen=True, slots=True, eq=False)
class Fence(Instruction):
    atomic: str


@dataclass(frozen=True, slots=True, eq=False)
class CopyMemory(Instruction):
    """`memcpy` or `memmove`: `size` bytes from `source` to `target`; overlap is allowed."""

    target: Value
    source: Value
    size: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.target, self.source, self.size)


@dataclass(frozen=True, slots=True, eq=False)
class SetMemory(Instruction):
    """`memset`: `size` bytes of `byte` to `target`."""

    target: Value
    byte: Value
    size: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.target, self.byte, self.size)


# --- computation ------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Offset(Instruction):
    """Pointer arithmetic: `result = base + constant + sum(index * scale for terms)`, in bytes.

    Indices are signed and of any width; `inbounds` says that leaving the object is undefined.
    """

    base: Value
    constant: int
    terms: tuple[tuple[Value, int], ...] = ()
    inbounds: bool = True

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.base, *(index for index, _ in self.terms))


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Instruction):
    """`operation`: add sub mul udiv sdiv urem srem shl lshr ashr and or xor, fadd ... frem.

    `flags` holds `nsw`, `nuw`, `exact`, `disjoint` where the source language promises them.
    """

    operation: str
    left: Value
    right: Value
    flags: frozenset[str] = frozenset()

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Compare(Instruction):
    """`predicate`: eq ne ugt uge ult ule sgt sge slt sle; for floats oeq one ... uno ord."""

    predicate: str
    left: Value
    right: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Instruction):
    """`operation`: trunc zext sext bitcast ptrtoint inttoptr addrspacecast fptosi fptoui sitofp
    uitofp fptrunc fpext; the target type is `result.type`."""

    operation: str
    value: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True, eq=False)
class Negate(Instruction):
    """Floating-point negation."""

    value: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True, eq=False)
class Freeze(Instruction):
    """A copy that makes an undefined value some fixed one."""

    value: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True, eq=False)
class Select(Instruction):
    condition: Value
    if_true: Value
    if_false: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.condition, self.if_true, self.if_false)


@dataclass(frozen=True, slots=True, eq=False)
class Phi(Instruction):
    """Chooses by the block we came from; phis stand first in their block and act at once."""

    incoming: tuple[tuple[int, Value], ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(value for _, value in self.incoming)


@dataclass(frozen=True, slots=True, eq=False)
class ExtractField(Instruction):
    """A member of a struct or array value."""

    aggregate: Value
    path: tuple[int, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.aggregate,)


@dataclass(frozen=True, slots=True, eq=False)
class InsertField(Instruction):
    """A copy of a struct or array value with one member replaced."""

    aggregate: Value
    value: Value
    path: tuple[int, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.aggregate, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class ExtractElement(Instruction):
    vector: Value
    index: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.vector, self.index)


@dataclass(frozen=True, slots=True, eq=False)
class InsertElement(Instruction):
    vector: Value
    value: Value
    index: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.vector, self.value, self.index)


@dataclass(frozen=True, slots=True, eq=False)
class Shuffle(Instruction):
    """Elements of `left ++ right` picked by `mask`; -1 picks an undefined one."""

    left: Value
    right: Value
    mask: tuple[int, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsic(Instruction):
    """A pure operation of the compiler (`ctpop`, `sadd.with.overflow`, `bswap`, `fabs`, ...), or
    one of `trap`, `va_start`, `va_end`, `va_copy`. `name` is without `llvm.` and type suffix."""

    name: str
    arguments: tuple[Value, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.arguments


@dataclass(frozen=True, slots=True, eq=False)
class NextArgument(Instruction):
    """`va_arg`: the next variable argument of the given type from the list at `list`."""

    list: Value
    type: Type

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.list,)


# --- calls ------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Call(Instruction):
    """A call; `callee` is a `FunctionAddress` if direct. `by_value` holds, for the arguments that
    are structs passed by value (as pointers that the callee copies), index and struct type."""

    callee: Value
    arguments: tuple[Value, ...]
    function_type: FunctionType
    by_value: tuple[tuple[int, Type], ...] = ()
    no_return: bool = False

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.callee, *self.arguments)


@dataclass(frozen=True, slots=True, eq=False)
class Assembly(Instruction):
    """Inline assembly, opaque: may read and write through its pointer arguments, and anything if
    `clobbers_memory`. An empty `text` is a compiler barrier and does nothing."""

    text: str
    constraints: str
    arguments: tuple[Value, ...]
    clobbers_memory: bool
    places: tuple[tuple[int, Type], ...] = ()
    """Arguments that are the address of an operand in memory: index, type of the operand."""

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.arguments


@dataclass(frozen=True, slots=True, eq=False)
class LandingPad(Instruction):
    """Receives a C++ exception as {pointer, selector}; `catches` are type infos (null: all)."""

    catches: tuple[Constant, ...]
    cleanup: bool


# --- terminators ------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Terminator(Instruction):
    is_terminator: ClassVar[bool] = True

    @property
    def targets(self) -> tuple[int, ...]:
        """Indices of the blocks that may come next, in order, perhaps repeated."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Jump(Terminator):
    target: int

    @property
    def targets(self) -> tuple[int, ...]:
        return (self.target,)


@dataclass(frozen=True, slots=True, eq=False)
class Branch(Terminator):
    condition: Value
    if_true: int
    if_false: int

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.condition,)

    @property
    def targets(self) -> tuple[int, ...]:
        return (self.if_true, self.if_false)


@dataclass(frozen=True, slots=True, eq=False)
class Switch(Terminator):
    value: Value
    default: int
    cases: tuple[tuple[int, int], ...]
    """(unsigned value, block) pairs."""

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)

    @property
    def targets(self) -> tuple[int, ...]:
        return (self.default, *(block for _, block in self.cases))


@dataclass(frozen=True, slots=True, eq=False)
class IndirectJump(Terminator):
    """Computed goto."""

    address: Value
    possible: tuple[int, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.address,)

    @property
    def targets(self) -> tuple[int, ...]:
        return self.possible


@dataclass(frozen=True, slots=True, eq=False)
class AfterInvoke(Terminator):
    """Stands after a call that may throw: goes to `normal`, or to `unwind` on an exception."""

    normal: int
    unwind: int

    @property
    def targets(self) -> tuple[int, ...]:
        return (self.normal, self.unwind)


@dataclass(frozen=True, slots=True, eq=False)
class Return(Terminator):
    value: Value | None

    @property
    def operands(self) -> tuple[Value, ...]:
        return () if self.value is None else (self.value,)


@dataclass(frozen=True, slots=True, eq=False)
class Resume(Terminator):
    """Goes on with an exception."""

    value: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True, eq=False)
class Unreachable(Terminator):
    """Undefined behaviour, or after a call that never returns."""
