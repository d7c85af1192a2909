"""Addresses that a program takes apart and puts together again.

    for (i = 0; i < sizeof p; i++) ((char *)&q)[i] = ((char *)&p)[i];
    high = (unsigned long)p >> 32; ...   r = (int *)((unsigned long)high << 32 | low);

The constraints follow addresses in words as wide as a pointer. A load of another width from a cell
that holds an address, or a cast to another width, *scatters* the address; its parts are lost.
If they go anywhere but into comparisons and indices, every store of another width may write a part
of it, and every cast from another width to that of a pointer may make it: these hold all scattered
addresses, at any offset. Most programs scatter none, and pay for one look at the solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from raceproof.analysis.alias.cells import Thing
from raceproof.analysis.alias.generate import Generator
from raceproof.analysis.alias.places import bytes_at
from raceproof.analysis.alias.solver import bits
from raceproof.ir import (
    AtomicUpdate,
    Binary,
    Branch,
    Cast,
    Compare,
    CompareExchange,
    Constant,
    Freeze,
    Function,
    Instruction,
    Load,
    Offset,
    Phi,
    Program,
    Register,
    Select,
    Store,
    Switch,
    Value,
)
from raceproof.ir.types import Type

_COMPUTES = (Binary, Cast, Freeze, Phi, Select)
_FORGETS = (Branch, Compare, Offset, Switch)


class Scattered:
    def __init__(self, program: Program, generator: Generator, solve: Callable[[], None]) -> None:
        self._program = program
        self._solve = solve
        self._generator = generator
        self._solver = generator.solver
        self._cells = generator.cells
        self._node = self._solver.node()
        """Holds all addresses of which parts may be anywhere."""
        self._lost: set[int] = set()
        self._known: dict[tuple[int, int], tuple[int, ...]] = {}
        """Nodes that accesses of some size through some set of addresses meet, as long as nothing
        is solved."""
        self._loads: list[tuple[Function, Instruction, Value, Type]] = []
        self._stores: list[tuple[Function, Value, Type]] = []
        self._narrowing: list[tuple[Function, Cast]] = []
        self._widening: list[tuple[Function, Cast]] = []
        self._users: dict[str, dict[int, list[Instruction]]] = {}
        for function in program.defined:
            for instruction in function.instructions:
                self._look(function, instruction)

    def _look(self, function: Function, instruction: Instruction) -> None:
        carries = self._generator.carries
        match instruction:
            case Load(type=type_, pointer=pointer) if not carries(type_):
                self._loads.append((function, instruction, pointer, type_))
            case Store(value=value, pointer=pointer) if not carries(value.type):
                if not isinstance(value, Constant):
                    self._stores.append((function, pointer, value.type))
            case (
                AtomicUpdate(value=value, pointer=pointer)
                | CompareExchange(replacement=value, pointer=pointer)
            ) if not carries(value.type):
                self._loads.append((function, instruction, pointer, value.type))
                self._stores.append((function, pointer, value.type))
            case Cast(value=value, result=result) if result is not None:
                if carries(value.type) and not carries(result.type):
                    self._narrowing.append((function, instruction))
                if carries(result.type) and not carries(value.type):
                    self._widening.append((function, instruction))

    def settle(self) -> None:
        """Goes on solving until whatever may hold a scattered address does."""
        while self._scatter() | self._gather():
            self._known.clear()
            self._solve()

    # --- taking apart ------------------------------------------------------------

    def _scatter(self) -> bool:
        """Is there an address that was not known to be scattered?"""
        before = len(self._lost)
        held = 0
        for function, load, pointer, type_ in self._loads:
            found = self._contents(function, pointer, type_)
            if found & ~held and self._is_kept(function, load):
                held |= found
        for function, cast in self._narrowing:
            found = 0
            for node in self._nodes_of(function, cast.value):
                found |= self._solver.held(node)
            if found & ~held and self._is_kept(function, cast):
                held |= found
        for address in bits(held):
            thing = self._cells.addresses[address][0]
            if thing.number not in self._lost:
                self._lost.add(thing.number)
                self._generator.add_address(self._node, thing, None)
        return len(self._lost) > before

    def _contents(self, function: Function, pointer: Value, type_: Type) -> int:
        """What the cells hold that an access of this type meets."""
        held = 0
        for node in self._met(function, pointer, type_):
            held |= self._solver.held(node)
        return held

    def _met(self, function: Function, pointer: Value, type_: Type) -> tuple[int, ...]:
        """The nodes of the cells; the same for all pointers with the same set."""
        held = 0
        for node in self._nodes_of(function, pointer):
            held |= self._solver.held(node)
        if not held:
            return ()
        key = (held, self._generator.layout.store_size(type_))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(dict.fromkeys(self._nodes(*key)))
        return found

    def _nodes_of(self, function: Function, value: Value) -> Iterator[int]:
        """In each frame of the function."""
        for frame in self._generator.frames.of(function.name):
            self._generator.frame = frame
            node = self._generator.value(value)
            if node is not None:
                yield node

    def _nodes(self, held: int, size: int) -> Iterator[int]:
        cells, word = self._cells, self._generator.word
        for address in bits(held):
            thing, offset = cells.addresses[address]
            place = None if offset is None else thing.shape.canonical(offset)
            accessed = bytes_at(thing, place, size)
            for cell in self._cells_of(thing):
                if accessed.may_meet(bytes_at(thing, cell, word)):
                    yield cells.content(thing, cell)

    def _cells_of(self, thing: Thing) -> Iterable[int]:
        return [offset for offset, _ in self._cells.contents_of(thing)]

    def _is_kept(self, function: Function, maker: Instruction) -> bool:
        """Does what the instruction makes go anywhere but into comparisons and indices?"""
        users = self._users.get(function.name)
        if users is None:
            users = self._users[function.name] = {}
            for instruction in function.instructions:
                for operand in instruction.operands:
                    if isinstance(operand, Register):
                        users.setdefault(operand.index, []).append(instruction)
        work, seen = [maker], {maker.number}
        while work:
            made = work.pop().result
            for user in users.get(made.index, ()) if made is not None else ():
                if isinstance(user, _FORGETS) or user.number in seen:
                    continue
                if not isinstance(user, _COMPUTES):
                    return True
                if isinstance(user, Cast) and user.operation == "inttoptr":
                    return True
                seen.add(user.number)
                work.append(user)
        return False

    # --- putting together ------------------------------------------------------------

    def _gather(self) -> bool:
        """Is there something that was not known to hold scattered addresses?"""
        if not self._lost:
            return False
        wanted = set[int]()
        for function, pointer, type_ in self._stores:
            wanted.update(self._met(function, pointer, type_))
        for function, cast in self._widening:
            assert cast.result is not None
            wanted.update(self._nodes_of(function, cast.result))
        lost = self._solver.held(self._node)
        found = [node for node in sorted(wanted) if lost & ~self._solver.held(node)]
        for node in found:
            self._solver.copy(self._node, node)
        return bool(found)
