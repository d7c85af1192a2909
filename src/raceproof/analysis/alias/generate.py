"""From instructions to constraints. Registers are nodes, cells of memory are nodes.

Only values as wide as a pointer, and structs, can carry an address. Integer arithmetic keeps the
object and loses the offset; a comparison or a floating point number carries nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raceproof.analysis.alias import shapes
from raceproof.analysis.alias.cells import Cells, Thing
from raceproof.analysis.alias.frames import Frames
from raceproof.analysis.alias.shapes import Shape
from raceproof.analysis.alias.solver import InclusionSolver
from raceproof.ir import (
    AggregateConstant,
    Assembly,
    AtomicUpdate,
    Binary,
    BytesConstant,
    Cast,
    CompareExchange,
    Constant,
    ConstantExpression,
    CopyMemory,
    ExtractElement,
    ExtractField,
    Freeze,
    Function,
    FunctionAddress,
    Global,
    GlobalAddress,
    InsertElement,
    InsertField,
    Instruction,
    IntConstant,
    Intrinsic,
    IntType,
    LandingPad,
    Load,
    NextArgument,
    Offset,
    Phi,
    PointerType,
    Program,
    Register,
    Return,
    Select,
    Shuffle,
    StackSlot,
    Store,
    StructType,
    Type,
    Value,
)
from raceproof.verdict import BaseKind

_KEEP_OFFSETS = ("offset", "add", "ptrtoint", "inttoptr", "bitcast", "addrspacecast")
"""Constant expressions whose value is an operand, moved by the numbers among the others."""

STRINGS = ("strings",)
_LIBRARY_GLOBALS = frozenset(
    [
        "stdin",
        "stdout",
        "stderr",
        "environ",
        "__environ",
        "optarg",
        "tzname",
        "__tzname",
        "__progname",
        "program_invocation_name",
        "program_invocation_short_name",
    ]
)


class Generator:
    """Owns the nodes of registers and constants."""

    def __init__(
        self, program: Program, cells: Cells, solver: InclusionSolver, frames: Frames
    ) -> None:
        self.program = program
        self.frames = frames
        self.cells = cells
        self.solver = solver
        self.layout = program.layout
        self.word = program.layout.pointer_size
        self._registers: dict[tuple[str, int], int] = {}
        self._constants: dict[tuple[str, int | None], int] = {}
        self.returns: dict[str, int] = {}
        self.varargs: dict[str, int] = {}
        self.frame = ""
        """Whose registers are meant."""
        self._copies = 0
        self._outside: dict[str, int] = {}
        self._handlers: dict[type[Instruction], Callable[[Any], None]] = {
            StackSlot: self._slot,
            Load: self._load,
            Store: self._store,
            AtomicUpdate: self._update,
            CompareExchange: self._exchange,
            CopyMemory: self._copy_memory,
            Offset: self._offset,
            Binary: self._binary,
            Cast: self._cast,
            Freeze: self._all_operands,
            Select: self._select,
            Phi: self._all_operands,
            ExtractField: self._all_operands,
            InsertField: self._all_operands,
            ExtractElement: self._all_operands,
            InsertElement: self._all_operands,
            Shuffle: self._all_operands,
            Intrinsic: self._intrinsic,
            NextArgument: self._next_argument,
            Assembly: self._assembly,
            LandingPad: self._unknown_result,
            Return: self._return,
        }

    # --- nodes ------------------------------------------------------------

    def carries(self, type_: Type) -> bool:
        """Can a value of this type be, or hold, an address?"""
        if isinstance(type_, IntType):
            return type_.bits == self.word * 8
        return isinstance(type_, PointerType) or type_.is_aggregate

    def register(self, frame: str, index: int) -> int:
        key = (frame, index)
        node = self._registers.get(key)
        if node is None:
            node = self._registers[key] = self.solver.node()
        return node

    def known_register(self, frame: str, index: int) -> int | None:
        return self._registers.get((frame, index))

    def result(self, instruction: Instruction) -> int | None:
        register = instruction.result
        if register is None or not self.carries(register.type):
            return None
        return self.register(self.frame, register.index)

    def value(self, value: Value) -> int | None:
        """The node of a value; None if it holds no address for sure."""
        if isinstance(value, Register):
            if not self.carries(value.type):
                return None
            return self.register(self.frame, value.index)
        if isinstance(value, GlobalAddress):
            return self._constant(value.name, value.offset)
        if isinstance(value, FunctionAddress):
            return self._constant(value.name, None)
        if isinstance(value, ConstantExpression | AggregateConstant):
            return self._expression(value)
        return None

    def _constant(self, name: str, offset: int | None) -> int:
        """The address of a function, or of a place in or near a global: `a - 1` may come back."""
        key = (name, offset)
        node = self._constants.get(key)
        if node is None:
            node = self._constants[key] = self.solver.node()
            if offset is None:
                self.add_address(node, self.function_thing(name))
            else:
                thing = self.global_thing(name)
                is_inside = thing.shape.cell(offset) is not None
                self.add_address(node, thing, offset if is_inside else None)
        return node

    def _expression(self, value: ConstantExpression | AggregateConstant) -> int:
        node = self.solver.node()
        is_offset = isinstance(value, ConstantExpression) and value.operation in ("offset", "add")
        parts = value.elements if isinstance(value, AggregateConstant) else value.operands
        distance = sum(p.signed for p in parts if isinstance(p, IntConstant)) if is_offset else 0
        keeps = not isinstance(value, ConstantExpression) or value.operation in _KEEP_OFFSETS
        for part in parts:
            source = self.value(part)
            if source is not None and keeps:
                self.solver.shift(source, node, distance, ())
            elif source is not None:
                self._lose_offset(source, node)
        return node

    def outside(self, origin: str = "") -> int:
        """A node that holds the address of memory outside of the program, and what is stored there.

        Memory from different origins is kept apart as far as models tell: what the program was
        started with, what a function with a model gives away. All that comes from unknown code
        (no origin) is one. It is one object for the race detector in any case.
        """
        node = self._outside.get(origin)
        if node is None:
            thing = self.cells.thing(("external", origin), BaseKind.EXTERNAL, Shape())
            self.cells.fold(thing, 1)
            node = self._outside[origin] = self.solver.node()
            self.add_address(node, thing)
            self.solver.copy(node, self.cells.content(thing, 0))
            self.solver.load(node, node)
        return node

    def add_address(self, node: int, thing: Thing, offset: int | None = 0) -> None:
        self.solver.add(node, 1 << self.cells.address(thing, offset))

    def flow(self, value: Value, target: int | None) -> None:
        source = self.value(value)
        if source is not None and target is not None:
            self.solver.copy(source, target)

    # --- things ------------------------------------------------------------

    def function_thing(self, name: str) -> Thing:
        return self.cells.thing(("function", name), BaseKind.EXTERNAL, Shape(1))

    def global_thing(self, name: str) -> Thing:
        variable = self.program.globals.get(name)
        if variable is None:
            return self.cells.thing(("lock", name), BaseKind.EXTERNAL, Shape(1))
        if variable.is_string and isinstance(variable.initializer, BytesConstant):
            return self._strings()
        kind = BaseKind.GLOBAL
        if variable.is_thread_local:
            kind = BaseKind.THREAD_LOCAL
        elif variable.is_string:
            kind = BaseKind.STRING
        known = self.cells.find("global", name)
        if known is not None:
            return known
        shape = shapes.of_type(variable.type, self.layout, 1)
        return self.cells.thing(("global", name), kind, shape)

    def _strings(self) -> Thing:
        """All string literals: no thread writes them, and they hold no addresses. A function that
        prints texts would have a set of hundreds of them else."""
        known = self.cells.find(*STRINGS)
        if known is None:
            known = self.cells.thing(STRINGS, BaseKind.STRING, Shape())
            self.cells.fold(known, 1)
        return known

    def heap_thing(self, call: int, size: int | None) -> Thing:
        pointer = self.program.heap_types.get(call, "")
        debug = self.program.debug
        pointee = debug.type(pointer).target if pointer else ""
        shape = shapes.of_heap(debug, pointee, size)
        calls = self.frames.calls(self.frame)
        descriptor = ("heap", call, calls) if calls else ("heap", call)
        return self.cells.thing(descriptor, BaseKind.HEAP, shape, call, calls)

    # --- the program ------------------------------------------------------------

    def globals(self) -> None:
        for variable in self.program.globals.values():
            thing = self.global_thing(variable.name)
            if thing.descriptor == STRINGS:
                continue
            if variable.initializer is not None:
                self._initialise(variable, thing)
            elif not variable.is_string:
                self.solver.copy(self.outside(_origin(variable)), self.cells.content(thing, 0))
                self.cells.fold(thing, 1)

    def _initialise(self, variable: Global, thing: Thing) -> None:
        work: list[tuple[Constant, int]] = [(variable.initializer, 0)]  # type: ignore[list-item]
        while work:
            constant, at = work.pop()
            if isinstance(constant, AggregateConstant):
                type_ = constant.type
                if isinstance(type_, StructType):
                    offsets = self.layout.offsets(type_)
                    work.extend(
                        (e, at + o) for e, o in zip(constant.elements, offsets, strict=True)
                    )
                else:
                    size = self.layout.size(constant.elements[0].type) if constant.elements else 0
                    work.extend((e, at + i * size) for i, e in enumerate(constant.elements))
                continue
            node = self.value(constant)
            if node is not None:
                self.solver.copy(node, self.cells.content(thing, at))

    def body(self, function: Function, frame: str, calls: Callable[[Any], None]) -> None:
        self.frame = frame
        for instruction in function.instructions:
            handler = self._handlers.get(type(instruction))
            if handler is not None:
                handler(instruction)
            elif type(instruction).__name__ == "Call":
                calls(instruction)

    def return_node(self, frame: str) -> int:
        node = self.returns.get(frame)
        if node is None:
            node = self.returns[frame] = self.solver.node()
        return node

    def variable_arguments(self, function: str) -> Thing:
        """What a variadic function was given beyond its parameters: one cell."""
        thing = self.cells.thing(("arguments", function), BaseKind.STACK, Shape())
        self.cells.fold(thing, 1)
        return thing

    # --- instructions ------------------------------------------------------------

    def _slot(self, slot: StackSlot) -> None:
        node = self.result(slot)
        assert node is not None
        count = slot.count.value if isinstance(slot.count, IntConstant) else None
        shape = shapes.of_type(slot.type, self.layout, count)
        thing = self.cells.thing(("slot", slot.number), BaseKind.STACK, shape, slot.number)
        self.add_address(node, thing)

    def words(self, type_: Type) -> range:
        """Where in a value of this type addresses may lie."""
        if not type_.is_aggregate:
            return range(1)
        return range(0, max(min(self.layout.size(type_), 256), 1), self.word)

    def _load(self, load: Load) -> None:
        node, pointer = self.result(load), self.value(load.pointer)
        if node is not None and pointer is not None:
            for at in self.words(load.type):
                self.solver.load(pointer, node, at)

    def _store(self, store: Store) -> None:
        if not self.carries(store.value.type):
            return
        value, pointer = self.value(store.value), self.value(store.pointer)
        if value is not None and pointer is not None:
            for at in self.words(store.value.type):
                self.solver.store(pointer, value, at)

    def _update(self, update: AtomicUpdate) -> None:
        node, pointer = self.result(update), self.value(update.pointer)
        if pointer is None or not self.carries(update.value.type):
            return
        if node is not None:
            self.solver.load(pointer, node)
        mixed = self.solver.node()
        if update.operation == "xchg":
            self.flow(update.value, mixed)
        else:
            self.mix(update.value, mixed)
            if node is not None:
                self._lose_offset(node, mixed)
        self.solver.store(pointer, mixed)

    def _exchange(self, exchange: CompareExchange) -> None:
        node, pointer = self.result(exchange), self.value(exchange.pointer)
        if pointer is None or not self.carries(exchange.replacement.type):
            return
        if node is not None:
            self.solver.load(pointer, node)
        value = self.value(exchange.replacement)
        if value is not None:
            self.solver.store(pointer, value)

    def _copy_memory(self, copy: CopyMemory) -> None:
        size = copy.size.value if isinstance(copy.size, IntConstant) else None
        self.copy_between(copy.target, copy.source, size)

    def copy_between(self, target: Value, source: Value, size: int | None) -> None:
        """All sources are copied to one object in between, and that to all targets: many of both
        would make too many pairs."""
        to, origin = self.value(target), self.value(source)
        if to is None or origin is None:
            return
        cells = self.cells
        self._copies += 1
        bridge = cells.address(cells.thing(("copied", self._copies), BaseKind.STACK, Shape()))
        self.solver.each(origin, lambda a: cells.copy_memory(bridge, a, size))
        self.solver.each(to, lambda a: cells.copy_memory(a, bridge, size))

    def _offset(self, offset: Offset) -> None:
        node, base = self.result(offset), self.value(offset.base)
        assert node is not None
        if base is None:
            for index, scale in offset.terms:
                if scale == 1:
                    self.mix(index, node)
            return
        if not offset.constant and not offset.terms:
            self.solver.copy(base, node)
            return
        scales = tuple(sorted({abs(scale) or 1 for _, scale in offset.terms}))
        self.solver.shift(base, node, offset.constant, scales)

    def _binary(self, binary: Binary) -> None:
        node = self.result(binary)
        if node is None or binary.number in self.program.within_ranges:
            return  # a distance within an object leads nowhere else
        if isinstance(binary.right, IntConstant) and binary.operation in ("add", "sub"):
            left = self.value(binary.left)
            number = binary.right.signed
            if left is not None:
                distance = number if binary.operation == "add" else -number
                self.solver.shift(left, node, distance, ())
            return
        self.mix(binary.left, node)
        self.mix(binary.right, node)

    def mix(self, value: Value, target: int) -> None:
        """The target holds addresses into the same objects, it is unknown where."""
        source = self.value(value)
        if source is not None:
            self._lose_offset(source, target)

    def _lose_offset(self, source: int, target: int) -> None:
        cells, solver = self.cells, self.solver
        solver.each(
            source, lambda a: solver.add(target, 1 << cells.address(cells.addresses[a][0], None))
        )

    def _cast(self, cast: Cast) -> None:
        node = self.result(cast)
        if node is not None and self.carries(cast.value.type):
            self.flow(cast.value, node)

    def _select(self, select: Select) -> None:
        node = self.result(select)
        self.flow(select.if_true, node)
        self.flow(select.if_false, node)

    def _all_operands(self, instruction: Instruction) -> None:
        node = self.result(instruction)
        if node is not None:
            for operand in instruction.operands:
                self.flow(operand, node)

    def _intrinsic(self, intrinsic: Intrinsic) -> None:
        if intrinsic.name == "va_start":
            thing = self.variable_arguments(self.frames.function(self.frame))
            node = self.solver.node()
            self.add_address(node, thing)
            pointer = self.value(intrinsic.arguments[0])
            if pointer is not None:
                for at in range(0, 4 * self.word, self.word):
                    self.solver.store(pointer, node, at)
        elif intrinsic.name == "va_copy" and len(intrinsic.arguments) == 2:
            self.copy_between(*intrinsic.arguments, None)
        else:
            node_ = self.result(intrinsic)
            if node_ is not None:
                for argument in intrinsic.arguments:
                    self.mix(argument, node_)

    def _next_argument(self, instruction: NextArgument) -> None:
        node, pointer = self.result(instruction), self.value(instruction.list)
        if node is not None and pointer is not None:
            area = self.solver.node()
            self.solver.load(pointer, area)
            self.solver.load(area, node)

    def _assembly(self, assembly: Assembly) -> None:
        """Its result and what its operands point to may hold any of the operands."""
        mixed = self.solver.node()
        for argument in assembly.arguments:
            self.mix(argument, mixed)
        result = self.result(assembly)
        if result is not None:
            self.solver.copy(mixed, result)
        self._unknown_result(assembly)
        if assembly.text.strip():
            for argument in assembly.arguments:
                self.havoc(argument)
                pointer = self.value(argument)
                if pointer is not None:
                    self.solver.store(pointer, mixed)

    def havoc(self, pointer: Value) -> None:
        """Unknown pointers are written."""
        node = self.value(pointer)
        if node is not None:
            self.solver.store(node, self.outside())

    def _unknown_result(self, instruction: Instruction) -> None:
        node = self.result(instruction)
        if node is not None:
            self.solver.copy(self.outside(), node)

    def _return(self, instruction: Return) -> None:
        if instruction.value is not None and self.carries(instruction.value.type):
            self.flow(instruction.value, self.return_node(self.frame))


def _origin(variable: Global) -> str:
    """Of what a global of other code holds at the start."""
    return variable.name if variable.name in _LIBRARY_GLOBALS else ""
