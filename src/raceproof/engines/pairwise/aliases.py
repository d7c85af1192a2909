"""Accesses that never meet, because the types of a program keep its pointers apart.

    node = container_of(at, struct node, link);   node->count++;   at = node->link.next;

The thread-modular analysis follows values from write to read. Where a list is followed, a write
through a pointer of which it has lost the offset may change any link, so that it loses the next one
too, and it never gets back. The points-to analysis of the backend `alias` knows nothing of the
order of statements, but what a member of a struct may hold it tells for each member of its own, and
starts from nothing: as long as no count is written to a link, no link is anything but a link. Two
accesses whose pointers reach no byte in common, in any execution, are not a race.

The points-to analysis counts on addresses being kept and moved as a whole. So it is trusted only if
nothing in the program could take one to pieces: no copy of memory, no access of another width to
bytes that may hold an address, no narrowing of one, no constant address outside of its object.
"""

from __future__ import annotations

from raceproof.analysis.alias.places import Bytes, bytes_at
from raceproof.analysis.facts import ProgramFacts
from raceproof.ir import (
    AggregateConstant,
    Assembly,
    AtomicUpdate,
    Call,
    Cast,
    CompareExchange,
    ConstantExpression,
    CopyMemory,
    ExtractElement,
    Freeze,
    GlobalAddress,
    InsertElement,
    InsertField,
    Instruction,
    Intrinsic,
    IntType,
    Load,
    PointerType,
    Shuffle,
    Store,
    Type,
    Value,
)

ASSUMPTION = "an index stays inside of its array (undefined in C else)"


class Aliases:
    """What the loads and stores of a program may touch."""

    def __init__(self, facts: ProgramFacts, deadline: float) -> None:
        self._program = facts.program
        self._points_to = facts.points_to(deadline)
        self._events = facts.events
        self._known: dict[int, tuple[Bytes, ...] | None] = {}
        self._addresses = self._held_addresses()
        self._is_trusted = self._keeps_addresses()

    def are_apart(self, instruction: int, other: int) -> bool:
        """Do the two never touch the same byte?"""
        if not self._is_trusted:
            return False
        mine, theirs = self._touched(instruction), self._touched(other)
        if mine is None or theirs is None:
            return False
        return not any(a.may_meet(b) for a in mine for b in theirs)

    def _touched(self, number: int) -> tuple[Bytes, ...] | None:
        """None: unknown."""
        if number not in self._known:
            self._known[number] = self._find(number)
        return self._known[number]

    def _find(self, number: int) -> tuple[Bytes, ...] | None:
        instruction = self._program.instruction(number)
        if not isinstance(instruction, Load | Store | AtomicUpdate | CompareExchange):
            return None
        type_ = _accessed(instruction)
        name = self._program.function_of(number).name
        targets = self._points_to.targets(name, instruction.pointer)
        size = self._program.layout.store_size(type_)
        found = []
        for thing, cell in targets:
            if cell is None or thing.descriptor[0] == "external":
                return None
            found.append(bytes_at(thing, cell, size))
        return tuple(found) or None

    # --- can it be trusted? ------------------------------------------------------------

    def _held_addresses(self) -> list[Bytes]:
        """The bytes that may hold an address."""
        cells, word = self._points_to.cells, self._program.layout.pointer_size
        return [
            bytes_at(thing, cell, word)
            for thing in cells.things
            for cell, held in cells.contents_of(thing)
            if held
        ]

    def _keeps_addresses(self) -> bool:
        initial = [variable.initializer for variable in self._program.globals.values()]
        if not all(value is None or self._is_plain(value) for value in initial):
            return False
        return all(
            self._keeps(instruction) and all(map(self._is_plain, instruction.operands))
            for _, instruction in self._program.all_instructions()
        )

    def _is_plain(self, value: Value) -> bool:
        """Is every constant address in it one inside of its object?"""
        match value:
            case GlobalAddress(name=name, offset=offset):
                variable = self._program.globals.get(name)
                return variable is None or 0 <= offset <= variable.size
            case AggregateConstant(elements=parts):
                return all(map(self._is_plain, parts))
            case ConstantExpression():
                return False
        return True

    def _carries(self, type_: Type) -> bool:
        """Is a value of this type an address, or as wide as one?"""
        if isinstance(type_, IntType):
            return type_.bits == self._program.layout.pointer_size * 8
        return isinstance(type_, PointerType)

    def _keeps(self, instruction: Instruction) -> bool:
        """Does it leave addresses whole?"""
        match instruction:
            case CopyMemory() | Assembly():
                return False
            case Load() | Store() | AtomicUpdate() | CompareExchange():
                if self._carries(_accessed(instruction)):
                    return True
                touched = self._find(instruction.number)
                if touched is None:
                    return False
                return not any(a.may_meet(b) for a in touched for b in self._addresses)
            case Cast(value=value) | Freeze(value=value):
                result = instruction.result
                if result is None or self._carries(result.type):
                    return True
                return not self._may_be_address(instruction, value)
            case Call():
                effects = list(self._events.effects(instruction))
                return not (any(e.is_read for e in effects) and any(e.is_write for e in effects))
            case Intrinsic() | InsertElement() | InsertField() | ExtractElement() | Shuffle():
                operands = instruction.operands
                return not any(self._may_be_address(instruction, value) for value in operands)
        return True

    def _may_be_address(self, instruction: Instruction, value: Value) -> bool:
        name = self._program.function_of(instruction.number).name
        return bool(self._points_to.targets(name, value))


def _accessed(instruction: Load | Store | AtomicUpdate | CompareExchange) -> Type:
    match instruction:
        case Load(type=type_):
            return type_
        case CompareExchange(expected=value):
            return value.type
    return instruction.value.type
