"""From an IR function to Python source, cut into segments (see `segments`).

Two styles. *Exact* code works on bytes directly and is fast. *Open* code also works on unknown
values: memory is reached through functions that know about unknown bytes, and every branch is a
segment of its own, so that the explorer can go both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from raceproof.ir import (
    AfterInvoke,
    Binary,
    Branch,
    Call,
    Cast,
    Compare,
    Constant,
    ExtractElement,
    ExtractField,
    Fence,
    FloatType,
    Freeze,
    Function,
    FunctionAddress,
    Global,
    GlobalAddress,
    IndirectJump,
    InsertElement,
    InsertField,
    Instruction,
    IntType,
    Jump,
    Layout,
    Negate,
    Offset,
    Phi,
    PointerType,
    Register,
    Return,
    Select,
    Shuffle,
    StackSlot,
    Switch,
    Undefined,
    Unreachable,
    Value,
)
from raceproof.machine.access_code import ACCESS_WRITERS, AccessWriter
from raceproof.machine.call_code import CALL_WRITERS, write_call
from raceproof.machine.constants import BLOCK_ADDRESSES, Linker
from raceproof.machine.operators import binary, cast, compare, signed, width
from raceproof.machine.rendering import render
from raceproof.machine.segments import (
    CompiledFunction,
    Draft,
    Edge,
    SegmentInfo,
    SegmentKind,
)


@dataclass(slots=True, eq=False)
class Surroundings:
    """What compiled code of one machine shares."""

    layout: Layout
    linker: Linker
    globals: Mapping[str, Global]
    functions: Mapping[str, Function]
    operation: Callable[[str, Call | None], Any]
    """The library operation behind a function's name; None for the program's own functions."""
    atomic_operations: Callable[[str], tuple[Any, Any] | None]
    """What begins and ends the atomic section that a function's body is, if it is one."""
    private_slots: Callable[[Function], frozenset[Register]]
    object_of: Callable[[str], Any]
    """The memory object of a global variable."""
    names: dict[str, Any]
    """What the code may call, by name."""
    is_open: bool
    """Whether values may be unknown."""
    unobserved: str
    """A function whose result is not looked at: states that differ in it alone are the same."""


class FunctionCompiler:
    """Compiles one function."""

    def __init__(self, around: Surroundings, function: Function) -> None:
        self.around = around
        self.function = function
        self.layout = around.layout
        self.pointer_bits = around.layout.pointer_size * 8
        self.is_open = around.is_open
        self.names: dict[str, Any] = dict(around.names)
        self.drafts: list[Draft] = []
        self.draft = self._new_draft()
        self.private = around.private_slots(function)
        self.definitions: dict[Register, Instruction] = {
            instruction.result: instruction
            for instruction in function.instructions
            if instruction.result is not None
        }
        self.block = 0

    def compile(self) -> CompiledFunction:
        for _ in self.function.blocks[1:]:
            self._new_draft()
        for block in self.function.blocks:
            self.block = block.index
            self.draft = self.drafts[block.index]
            for instruction in block.instructions:
                self.draft.count += 1
                self._write(instruction)
        return render(self)

    # --- what the writers use ------------------------------------------------------------

    def value(self, value: Value) -> str:
        """The source of an operand."""
        if isinstance(value, Register):
            if value.index not in self.draft.defined:
                self.draft.uses.add(value.index)
            return f"v{value.index}"
        assert isinstance(value, Constant)
        if isinstance(value, GlobalAddress) and self.around.globals[value.name].is_thread_local:
            return f"(thread_local({value.name!r}) + {value.offset})"
        if isinstance(value, Undefined):
            if self.is_open:
                return "UNKNOWN"
            if isinstance(value.type, IntType | PointerType | FloatType):
                return "undefined_value()"
        text = repr(self.around.linker.value(value))
        if "inf" in text or "nan" in text:
            return self.name_for("c", self.around.linker.value(value))
        return text

    def define(self, register: Register | None, expression: str) -> None:
        if register is None:
            self.draft.lines.append((None, expression))
            return
        self.draft.lines.append((register.index, expression))
        self.draft.defined.add(register.index)

    def line(self, text: str) -> None:
        self.draft.lines.append((None, text))

    def name_for(self, prefix: str, thing: Any) -> str:
        """A name under which the code finds `thing`."""
        name = f"{prefix}_{len(self.names)}"
        self.names[name] = thing
        return name

    def special(self, kind: SegmentKind, instruction: Instruction) -> Draft:
        """Start a special segment here; the current one leads to it."""
        current = self.draft
        if current.lines or current.info.kind is not SegmentKind.PLAIN:
            fresh = self._new_draft()
            self.go(current, fresh.number)
            fresh.count, current.count = 1, current.count - 1
            self.draft = fresh
        self.draft.info.kind = kind
        self.draft.info.instruction = instruction
        return self.draft

    def continue_after(self, special: Draft) -> None:
        """Go on in a new segment after a call or operation."""
        self.draft = self._new_draft()
        special.info.next = self.draft.number
        special.edges.append(Edge(self.draft.number))

    def go(self, source: Draft, target: int) -> None:
        source.edges.append(Edge(target))
        source.lines.append((None, f"return @{target}@"))

    # --- one instruction ------------------------------------------------------------

    def _new_draft(self) -> Draft:
        draft = Draft(len(self.drafts), SegmentInfo(SegmentKind.PLAIN))
        self.drafts.append(draft)
        return draft

    def _write(self, instruction: Instruction) -> None:
        writer = _WRITERS.get(type(instruction))
        if writer is not None:
            writer(self, instruction)
            return
        access: AccessWriter | None = ACCESS_WRITERS.get(type(instruction))
        if access is not None:
            access(self, instruction)
            return
        self.line(f"unsupported({type(instruction).__name__!r})")
        if instruction.result is not None:
            self.define(instruction.result, "0")
        if instruction.is_terminator:
            self.line("return 0")

    def edge(self, target: int) -> Edge:
        """To a block, with what its phis become."""
        phis = []
        for phi in self.function.blocks[target].phis:
            assert phi.result is not None
            for source, value in phi.incoming:
                if source == self.block:
                    phis.append((phi.result, self.value(value)))
                    break
        return Edge(target, tuple(phis))

    def leave(self, target: int) -> str:
        """Placeholder of an edge in the source; see `rendering`."""
        self.draft.edges.append(self.edge(target))
        return f"#{len(self.draft.edges) - 1}#"


def _phi(_: FunctionCompiler, __: Instruction) -> None:
    pass


def _stack_slot(c: FunctionCompiler, i: StackSlot) -> None:
    assert i.result is not None
    source = f"{c.function.name}:{i.number}"
    slot = (c.layout.size(i.type), i.name or "alloca", source, i.result in c.private)
    c.define(i.result, f"push_slot({c.name_for('slot', slot)}, {c.value(i.count)})")


def _offset(c: FunctionCompiler, i: Offset) -> None:
    base = c.value(i.base)
    mask = (1 << c.pointer_bits) - 1
    terms = []
    for index, scale in i.terms:
        if not scale:
            continue
        number = signed(c.value(index), width(index.type, c.pointer_bits))
        terms.append(number if scale == 1 else f"{number} * {scale}")
    if i.constant or not terms:
        terms.append(str(i.constant))
    distance = " + ".join(terms)
    if c.is_open:
        c.define(i.result, f"offset({base}, {distance})")
        return
    if not i.terms and i.constant >= 0:
        c.define(i.result, f"{base} + {i.constant}")
        return
    c.define(i.result, f"{base} + {distance} & {mask}")
    if i.terms and i.inbounds:
        c.line(f"o = P.get({base} >> 10)")
        c.line(
            f"if o is not None and not 0 <= v{i.result.index if i.result else 0} - o.base <= "
            f"o.size: out_of_bounds(o, v{i.result.index if i.result else 0})"
        )


def _binary(c: FunctionCompiler, i: Binary) -> None:
    left, right = c.value(i.left), c.value(i.right)
    c.define(i.result, binary(i.operation, i.left.type, left, right, c.pointer_bits))


def _compare(c: FunctionCompiler, i: Compare) -> None:
    left, right = c.value(i.left), c.value(i.right)
    c.define(i.result, compare(i.predicate, i.left.type, left, right, c.pointer_bits))


def _cast(c: FunctionCompiler, i: Cast) -> None:
    assert i.result is not None
    text = c.value(i.value)
    c.define(i.result, cast(i.operation, i.value.type, i.result.type, text, c.pointer_bits))


def _negate(c: FunctionCompiler, i: Negate) -> None:
    c.define(i.result, f"-{c.value(i.value)}")


def _freeze(c: FunctionCompiler, i: Freeze) -> None:
    if isinstance(i.value, Undefined) and isinstance(i.value.type, IntType | PointerType):
        if not c.is_open:
            c.define(i.result, f"unset({width(i.value.type, c.pointer_bits)}, {i.number})")
            return
    c.define(i.result, c.value(i.value))


def _select(c: FunctionCompiler, i: Select) -> None:
    condition, a, b = c.value(i.condition), c.value(i.if_true), c.value(i.if_false)
    if c.is_open or not isinstance(i.condition.type, IntType):
        c.define(i.result, f"select({condition}, {a}, {b})")
    else:
        c.define(i.result, f"{a} if {condition} else {b}")


def _extract_field(c: FunctionCompiler, i: ExtractField) -> None:
    path = "".join(f"[{index}]" for index in i.path)
    c.define(i.result, c.value(i.aggregate) + path)


def _insert_field(c: FunctionCompiler, i: InsertField) -> None:
    c.define(i.result, f"insert({c.value(i.aggregate)}, {c.value(i.value)}, {i.path!r})")


def _extract_element(c: FunctionCompiler, i: ExtractElement) -> None:
    c.define(i.result, f"{c.value(i.vector)}[{c.value(i.index)}]")


def _insert_element(c: FunctionCompiler, i: InsertElement) -> None:
    vector, value, index = c.value(i.vector), c.value(i.value), c.value(i.index)
    c.define(i.result, f"insert({vector}, {value}, ({index},))")


def _shuffle(c: FunctionCompiler, i: Shuffle) -> None:
    both = f"({c.value(i.left)} + {c.value(i.right)})"
    c.define(i.result, f"tuple({both}[k] if k >= 0 else 0 for k in {i.mask!r})")


def _fence(c: FunctionCompiler, i: Fence) -> None:
    c.line(f"fence({i.atomic!r})")


def _jump(c: FunctionCompiler, i: Jump) -> None:
    c.line(f"goto {c.leave(i.target)}")


def _after_invoke(c: FunctionCompiler, i: AfterInvoke) -> None:
    c.line(f"goto {c.leave(i.normal)}")


def _choose(
    c: FunctionCompiler, i: Instruction, value: Value, cases: list[tuple[int, int]], default: int
) -> None:
    """A branch as a segment of its own: each way on is a segment that sets the phis."""
    draft = c.special(SegmentKind.CHOICE, i)
    c.line(f"return {c.value(value)}")
    table: dict[int, int] = {}
    ways: dict[int, int] = {}
    for number, block in [*cases, (-1, default)]:
        if block not in ways:
            c.draft = c._new_draft()
            ways[block] = c.draft.number
            c.line(f"goto {c.leave(block)}")
            draft.edges.append(Edge(c.draft.number))
        table[number] = ways[block]
    draft.info.operation = table
    draft.info.targets = tuple(ways.values())


def _branch(c: FunctionCompiler, i: Branch) -> None:
    if c.is_open:
        _choose(c, i, i.condition, [(1, i.if_true)], i.if_false)
        return
    c.line(f"if {c.value(i.condition)}: goto {c.leave(i.if_true)}")
    c.line(f"goto {c.leave(i.if_false)}")


def _switch(c: FunctionCompiler, i: Switch) -> None:
    if c.is_open:
        _choose(c, i, i.value, list(i.cases), i.default)
        return
    value = c.value(i.value)
    for number, block in i.cases:
        c.line(f"if {value} == {number}: goto {c.leave(block)}")
    c.line(f"goto {c.leave(i.default)}")


def _indirect_jump(c: FunctionCompiler, i: IndirectJump) -> None:
    cases = [(BLOCK_ADDRESSES + block, block) for block in i.possible]
    if c.is_open:
        _choose(c, i, i.address, cases, i.possible[-1])
        return
    value = c.value(i.address)
    for number, block in cases:
        c.line(f"if {value} == {number}: goto {c.leave(block)}")
    c.line("undefined('a jump to nowhere')")


def _return(c: FunctionCompiler, i: Return) -> None:
    c.special(SegmentKind.RETURN, i)
    is_unobserved = c.is_open and c.function.name == c.around.unobserved
    c.line(f"return {'None' if i.value is None or is_unobserved else c.value(i.value)}")


def _unreachable(c: FunctionCompiler, _: Unreachable) -> None:
    c.line("undefined('unreachable code')")


def _call(c: FunctionCompiler, i: Call) -> None:
    if isinstance(i.callee, FunctionAddress):
        write_call(c, i, i.callee.name)
    else:
        write_call(c, i, None)


_WRITERS: dict[type[Instruction], Callable[[FunctionCompiler, Any], None]] = {
    Phi: _phi,
    StackSlot: _stack_slot,
    Offset: _offset,
    Binary: _binary,
    Compare: _compare,
    Cast: _cast,
    Negate: _negate,
    Freeze: _freeze,
    Select: _select,
    ExtractField: _extract_field,
    InsertField: _insert_field,
    ExtractElement: _extract_element,
    InsertElement: _insert_element,
    Shuffle: _shuffle,
    Fence: _fence,
    Jump: _jump,
    AfterInvoke: _after_invoke,
    Branch: _branch,
    Switch: _switch,
    IndirectJump: _indirect_jump,
    Return: _return,
    Unreachable: _unreachable,
    Call: _call,
    **CALL_WRITERS,
}
