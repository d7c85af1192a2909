"""What the printers of all threads of one program share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from raceproof.analysis.alias.points_to import PointsTo
from raceproof.concurrency import Events, Models
from raceproof.concurrency.model import Role
from raceproof.ir import (
    AggregateConstant,
    AtomicUpdate,
    Call,
    Cast,
    CompareExchange,
    Constant,
    ConstantExpression,
    CopyMemory,
    Freeze,
    Function,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Load,
    Offset,
    Program,
    Register,
    SetMemory,
    Store,
    Value,
)
from raceproof.machine.escape import EscapeAnalysis
from raceproof.machine.library import Library
from raceproof.sequentialize.arena import Arena
from raceproof.sequentialize.handlers import Endings
from raceproof.sequentialize.loops import FunctionLoops

_SILENT_ROLES = frozenset(
    {Role.NONDETERMINISTIC, Role.ASSUME, Role.SELF, Role.SPECIFIC_GET, Role.SPECIFIC_SET}
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the printed program follows the original."""

    unwind: int = 2
    """Iterations of a loop, and calls of a function inside itself."""
    rounds: int = 2
    threads: int = 3
    """Threads that are created besides `main`, in all."""
    anyone_unlocks: bool = False
    """A mutex can be unlocked by a thread that did not lock it."""
    lines: int = 200_000
    """Statements of the longest program that we are ready to print."""


@dataclass(eq=False)
class ProgramContext:
    """One program to be printed."""

    program: Program
    models: Models
    bounds: Bounds
    entries: list[str] = field(default_factory=list)
    """Functions that threads start in, as they are met."""

    def __post_init__(self) -> None:
        self.arena = Arena(self.program)
        self.sync_functions: dict[str, str] = {}
        """Functions that do what synchronisation calls do, by name."""
        self.events = Events(self.program, self.models)
        self._escape = EscapeAnalysis(self.program, Library(self.program, self.models).keeps)
        self._facts: dict[str, FunctionFacts] = {}

    def facts(self, function: Function) -> FunctionFacts:
        found = self._facts.get(function.name)
        if found is None:
            found = self._facts[function.name] = FunctionFacts(self, function)
        return found

    def private_slots(self, function: Function) -> frozenset[Register]:
        return self._escape.private_slots(function)

    def add_entry(self, name: str) -> None:
        if name not in self.entries:
            self.entries.append(name)

    @cached_property
    def address_taken(self) -> tuple[Function, ...]:
        """The functions that some pointer may lead to, in the order of the program."""
        taken: set[str] = set()
        for _, instruction in self.program.all_instructions():
            operands: tuple[Value, ...] = instruction.operands
            if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
                operands = instruction.arguments
            for operand in operands:
                _collect(operand, taken)
        for variable in self.program.globals.values():
            if variable.initializer is not None:
                _collect(variable.initializer, taken)
        return tuple(f for f in self.program.functions.values() if f.name in taken)

    @cached_property
    def _points_to(self) -> PointsTo:
        return PointsTo(self.program, self.events)

    def callees(self, call: Call) -> list[Function]:
        """The functions that a call through a pointer may reach."""
        return self._functions(self._points_to.callees(call.number))

    def created(self, call: Call) -> list[Function]:
        """The functions that a new thread may start in, if a pointer says which."""
        return [f for f in self._functions(self._points_to.entries(call.number)) if f.is_defined]

    def _functions(self, names: Iterable[str]) -> list[Function]:
        wanted = set(names)
        return [f for f in self.program.functions.values() if f.name in wanted]

    @cached_property
    def endings(self) -> Endings:
        return Endings(self)

    @cached_property
    def has_cancellation(self) -> bool:
        return any(
            model is not None and model.role is Role.CANCEL
            for model in map(self.models.lookup, self.program.functions)
        )

    def is_silent_call(self, call: Call) -> bool:
        """Whether a call can never be a visible statement, nor hold one."""
        if not isinstance(call.callee, FunctionAddress):
            return False
        model = self.models.applicable(call.callee.name, self.program)
        function = self.program.functions.get(call.callee.name)
        if model is None:
            return function is None or not function.is_defined
        if model.role is None:
            return not model.no_return and not self.events.effects(call)
        return model.role in _SILENT_ROLES


def _collect(value: Value, taken: set[str]) -> None:
    work: list[Value] = [value]
    while work:
        match work.pop():
            case FunctionAddress(name=name):
                taken.add(name)
            case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                work.extend(parts)


class FunctionFacts:
    """What the printer must know about a function, however often it is inlined."""

    def __init__(self, context: ProgramContext, function: Function) -> None:
        self._context = context
        self._private = context.private_slots(function)
        self._made_by: dict[Register, Instruction] = {
            i.result: i for i in function.instructions if i.result is not None
        }
        self.used = frozenset(
            operand
            for instruction in function.instructions
            for operand in instruction.operands
            if isinstance(operand, Register)
        )
        visible = frozenset(
            block.index
            for block in function.blocks
            if any(self._may_be_visible(instruction) for instruction in block.instructions)
        )
        self.loops = FunctionLoops(function, visible, context.bounds.unwind)

    def is_private_slot(self, register: Register) -> bool:
        return register in self._private

    def is_private(self, pointer: Value) -> bool:
        """Whether no other thread can reach these bytes, or no thread writes them."""
        while isinstance(pointer, Register):
            if pointer in self._private:
                return True
            match self._made_by.get(pointer):
                case Offset(base=base):
                    pointer = base
                case Freeze(value=value) | Cast(operation="bitcast", value=value):
                    pointer = value
                case _:
                    return False
        return self._is_constant(pointer)

    def _is_constant(self, pointer: Value) -> bool:
        if not isinstance(pointer, Constant) or not isinstance(pointer, GlobalAddress):
            return False
        variable = self._context.program.globals.get(pointer.name)
        return variable is not None and variable.is_constant

    def _may_be_visible(self, instruction: Instruction) -> bool:
        match instruction:
            case Load(pointer=p) | Store(pointer=p) | AtomicUpdate(pointer=p):
                return not self.is_private(p)
            case CompareExchange(pointer=p) | SetMemory(target=p):
                return not self.is_private(p)
            case CopyMemory(target=target, source=source):
                return not (self.is_private(target) and self.is_private(source))
            case Call():
                return not self._context.is_silent_call(instruction)
        return False
