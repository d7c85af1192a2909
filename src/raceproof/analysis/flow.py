"""What the interpreter asks about a function's shape, each worked out once.

Registers that are live at a block's start are all that a state must remember there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from raceproof.analysis.counted_loops import CountedLoop, counted_loops
from raceproof.ir import (
    Assembly,
    AtomicUpdate,
    Branch,
    Call,
    Compare,
    CompareExchange,
    CopyMemory,
    Function,
    FunctionAddress,
    Instruction,
    IntConstant,
    Intrinsic,
    Load,
    NextArgument,
    Offset,
    Phi,
    Program,
    Register,
    SetMemory,
    StackSlot,
    Store,
)
from raceproof.ir.cfg import ControlFlow, Loop

_WRITERS = (
    Store,
    AtomicUpdate,
    CompareExchange,
    CopyMemory,
    SetMemory,
    Call,
    Intrinsic,
    NextArgument,
    Assembly,
)
_LONGEST_WAY = 8
_MANY_THRESHOLDS = 24
_MOST_THRESHOLDS = 48


@dataclass(eq=False)
class Flow:
    """One function, prepared."""

    function: Function
    graph: ControlFlow
    nests: list[tuple[int, ...]]
    """For each block the heads of the loops around it, outermost first."""
    loops: dict[int, Loop]
    live: list[tuple[int, ...]]
    """For each block the registers that are used in it or after it, and defined before."""
    definitions: dict[int, Instruction]
    """Register -> the instruction that defines it."""
    private_slots: frozenset[int]
    """Stack slots whose address goes nowhere but into loads and stores of this function."""
    relays: frozenset[int]
    """Blocks that only branch on a phi of their own: `while (a && b)`."""
    _places: dict[int, tuple[int, int]] | None = field(default=None)
    _callees: frozenset[str] | None = field(default=None)
    _counted: dict[int, CountedLoop] | None = field(default=None)
    _thresholds: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def thresholds(self, head: int) -> tuple[int, ...]:
        """Good places to stop widening at the head of a loop: what the function compares with, or
        only what the loop does if that is much."""
        found = self._thresholds.get(head)
        if found is None:
            numbers = _compared(self.function.instructions)
            if len(numbers) > _MANY_THRESHOLDS:
                blocks = self.loops[head].blocks if head in self.loops else ()
                numbers = _compared(
                    i for block in sorted(blocks) for i in self.function.blocks[block].instructions
                )
            found = self._thresholds[head] = tuple(sorted(numbers)[:_MOST_THRESHOLDS])
        return found

    @property
    def counted(self) -> dict[int, CountedLoop]:
        """The loops that count up or down by one, by their heads."""
        if self._counted is None:
            self._counted = counted_loops(self.function, self.graph, self.definitions)
        return self._counted

    def place(self, instruction: Instruction) -> tuple[int, int]:
        """Block and position in the block."""
        if self._places is None:
            self._places = {
                i.number: (block.index, position)
                for block in self.function.blocks
                for position, i in enumerate(block.instructions)
            }
        return self._places[instruction.number]

    def is_undisturbed(
        self, load: Instruction, at: Instruction, is_harmless: Callable[[Call], bool]
    ) -> bool:
        """Is nothing written between a load and a later instruction, on the only way there?"""
        first, start = self.place(load)
        block, end = self.place(at)
        for _ in range(_LONGEST_WAY):
            begin = start + 1 if block == first and start < end else 0
            for instruction in self.function.blocks[block].instructions[begin:end]:
                if isinstance(instruction, _WRITERS):
                    if not (isinstance(instruction, Call) and is_harmless(instruction)):
                        return False
            if begin:
                return True
            before = self.graph.predecessors[block]
            if len(before) != 1:
                return False
            (block,) = before
            end = len(self.function.blocks[block].instructions)
        return False

    @property
    def callees(self) -> frozenset[str]:
        if self._callees is None:
            self._callees = frozenset(
                i.callee.name
                for i in self.function.instructions
                if isinstance(i, Call) and isinstance(i.callee, FunctionAddress)
            )
        return self._callees


class Flows:
    """The prepared functions of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._flows: dict[str, Flow] = {}

    def of(self, function: Function) -> Flow:
        flow = self._flows.get(function.name)
        if flow is None:
            flow = self._flows[function.name] = _prepare(function)
        return flow


def _compared(instructions: Iterable[Instruction]) -> set[int]:
    """The constants in comparisons, and their neighbours."""
    found = {-1, 0, 1}
    for instruction in instructions:
        if isinstance(instruction, Compare):
            for value in (instruction.left, instruction.right):
                if isinstance(value, IntConstant):
                    number = value.signed
                    found |= {number - 1, number, number + 1}
    return found


def _prepare(function: Function) -> Flow:
    graph = ControlFlow(function)
    loops = {loop.head: loop for loop in graph.loops}
    nests: list[list[int]] = [[] for _ in function.blocks]
    for head in sorted(loops, key=lambda h: (-len(loops[h].blocks), h)):
        for block in loops[head].blocks:
            nests[block].append(head)
    definitions = {i.result.index: i for i in function.instructions if i.result is not None}
    relays = frozenset(
        block.index
        for block in function.blocks
        if len(block.instructions) == 2
        and isinstance(block.instructions[0], Phi)
        and isinstance(block.instructions[1], Branch)
        and block.instructions[1].condition is block.instructions[0].result
    )
    return Flow(
        function,
        graph,
        [tuple(nest) for nest in nests],
        loops,
        _live_registers(graph),
        definitions,
        _private_slots(function),
        relays,
    )


def _live_registers(graph: ControlFlow) -> list[tuple[int, ...]]:
    blocks = graph.function.blocks
    used: list[int] = []
    defined: list[int] = []
    phi_uses: list[int] = [0] * len(blocks)
    for block in blocks:
        uses = defs = 0
        for instruction in block.instructions:
            if isinstance(instruction, Phi):
                for source, value in instruction.incoming:
                    if isinstance(value, Register):
                        phi_uses[source] |= 1 << value.index
            else:
                for value in instruction.operands:
                    if isinstance(value, Register):
                        bit = 1 << value.index
                        if not defs & bit:
                            uses |= bit
            if instruction.result is not None:
                defs |= 1 << instruction.result.index
        used.append(uses)
        defined.append(defs)
    live = [0] * len(blocks)
    work = list(range(len(blocks)))
    waiting = set(work)
    while work:
        index = work.pop()
        waiting.discard(index)
        out = phi_uses[index]
        for successor in graph.successors[index]:
            out |= live[successor]
        new = used[index] | (out & ~defined[index])
        if new != live[index]:
            live[index] = new
            for previous in graph.predecessors[index]:
                if previous not in waiting:
                    waiting.add(previous)
                    work.append(previous)
    return [_bits(bits) for bits in live]


def _bits(bits: int) -> tuple[int, ...]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return tuple(found)


def _private_slots(function: Function) -> frozenset[int]:
    """Numbers of the slots that only loads, stores and address computations mention."""
    owner: dict[int, int] = {}
    slots: set[int] = set()
    for instruction in function.instructions:
        if isinstance(instruction, StackSlot):
            assert instruction.result is not None
            owner[instruction.result.index] = instruction.number
            slots.add(instruction.number)
    if not slots:
        return frozenset()
    changed = True
    while changed:
        changed = False
        for instruction in function.instructions:
            if isinstance(instruction, Offset) and isinstance(instruction.base, Register):
                slot = owner.get(instruction.base.index)
                assert instruction.result is not None
                if slot is not None and instruction.result.index not in owner:
                    owner[instruction.result.index] = slot
                    changed = True
    for instruction in function.instructions:
        if isinstance(instruction, Load):
            continue
        values = instruction.operands
        if isinstance(instruction, Store):
            values = (instruction.value,)
        elif isinstance(instruction, Offset):
            values = tuple(index for index, _ in instruction.terms)
        elif isinstance(instruction, StackSlot):
            continue
        for value in values:
            if isinstance(value, Register) and value.index in owner:
                slots.discard(owner[value.index])
    return frozenset(slots)
