"""Does a program compare addresses, or ids of threads, that may be used again?

    uintptr_t where(void) { int local; return (uintptr_t)&local; }
    if (where() == where()) ...                    may be true, or not

    pthread_join(a, NULL); pthread_create(&b, ...); if (a == b) ...

Objects whose lives don't overlap may have the same address, so two names for "different" objects
say nothing about the outcome of such a comparison. No engine proves anything about a program with
one: each has decided for itself whether an address is used again.

Things that may be gone while somebody still knows their address (or id):

- a stack slot whose address is returned by its function, is the result of a thread, or is kept in
  memory that outlives the call: any object but slots of the same, not recursive function;
- a heap block that may be freed;
- a thread, if the program may create two.

`main` keeps its slots until the end. What a body of the library asks about (`raceproof_is_gone`,
`raceproof_has_ended`) is compared with that in mind already (`frontend/library/addresses.c`).

Why that covers every execution. A comparison tells whether an address is used again only if one of
its operands is the address of an object that is gone, or if an object that was made later has its
place: either way one operand was made from the address of an object that is gone now, and so it is
in the points-to set of that operand (which follow integers, too).
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.analysis.alias.cells import Thing
from raceproof.analysis.alias.points_to import PointsTo
from raceproof.analysis.alias.solver import bits
from raceproof.analysis.once import ExecutedOnce
from raceproof.concurrency import events as ev
from raceproof.ir import (
    Call,
    Function,
    Instruction,
    Register,
    Value,
)
from raceproof.ir.comparisons import COMPARING, called, compared

_ASKING = ("raceproof_is_gone", "raceproof_has_ended")
_THREADS = ("thread", "self")


def tells_reuse(points_to: PointsTo) -> int | None:
    """The number of an instruction that tells whether an address, or an id, is used again."""
    return _Search(points_to).first()


def dangling_slots(points_to: PointsTo) -> set[int]:
    """The stack slots (by instruction) whose address may be known when they are gone."""
    numbers = _Search(points_to).dangling()
    sites = (points_to.cells.things[number].site for number in numbers)
    return {site for site in sites if site is not None}


class _Search:
    def __init__(self, points_to: PointsTo) -> None:
        program = points_to.program
        self._program = program
        self._events = points_to.events
        self._points_to = points_to
        self._word = program.layout.pointer_size * 8
        self._once = ExecutedOnce(
            program,
            points_to.events,
            lambda call: tuple(points_to.callees(call.number)),
            lambda call: tuple(points_to.entries(call.number)),
        )

    def first(self) -> int | None:
        gone = self._may_be_gone()
        if not gone:
            return None
        for function in self._program.defined:
            asked = _asked(function)
            for instruction in function.instructions:
                for pair in compared(instruction, self._word):
                    if not _is_asked(pair, asked) and self._tells(function, pair, gone):
                        return instruction.number
                if called(instruction) in COMPARING and self._compares(function, instruction):
                    return instruction.number
        return None

    def _tells(self, function: Function, pair: tuple[Value, Value], gone: set[int]) -> bool:
        left, right = (self._things(function, value) for value in pair)
        if not left or not right:
            return False  # one of them is no address: that tells nothing about another's
        both = left | right
        found = [thing for thing in both if thing.number in gone]
        return bool(found) and (len(both) > 1 or not self._is_single(found[0]))

    def _things(self, function: Function, value: Value) -> set[Thing]:
        return {thing for thing, _ in self._points_to.targets(function.name, value)}

    def _is_single(self, thing: Thing) -> bool:
        return thing.site is not None and self._once.is_once(thing.site)

    def _compares(self, function: Function, call: Instruction) -> bool:
        """Are bytes compared that may hold such an address?"""
        assert isinstance(call, Call)
        gone = self._may_be_gone()
        for pointer in call.arguments[:2]:
            for thing, _ in self._points_to.targets(function.name, pointer):
                if self._held_by(thing) & gone:
                    return True
        return False

    # --- what may be gone ------------------------------------------------------------

    def _may_be_gone(self) -> set[int]:
        found = {thing.number for thing in self._freed()}
        creations = [
            thing for thing in self._points_to.cells.things if thing.descriptor[0] == "thread"
        ]
        if len(creations) > 1 or any(not self._is_created_once(one) for one in creations):
            found |= {
                thing.number
                for thing in self._points_to.cells.things
                if thing.descriptor[0] in _THREADS
            }
        return found | self.dangling()

    def _is_created_once(self, thing: Thing) -> bool:
        return self._once.is_once(int(str(thing.descriptor[1])))

    def _freed(self) -> Iterator[Thing]:
        for function, instruction in self._program.all_instructions():
            if not isinstance(instruction, Call):
                continue
            for name in self._points_to.callees(instruction.number):
                event = self._events.of(instruction, name)
                if isinstance(event, ev.Free | ev.Reallocate):
                    yield from self._things(function, event.pointer)

    def dangling(self) -> set[int]:
        things = self._points_to.cells.things
        slots = {thing.number: thing for thing in things if self._owner(thing) is not None}
        if not slots:
            return set()
        found: set[int] = set()
        for thing in things:
            owner = self._owner(thing)
            is_own = owner is not None and not self._is_recursive(owner)
            for number in self._held_by(thing) & slots.keys():
                if not (is_own and self._owner(slots[number]) == owner):
                    found.add(number)
        for name, held in self._points_to.returned():
            found |= {n for n in held & slots.keys() if self._owner(slots[n]) == name or not name}
        return {n for n in found if self._owner(slots[n]) != self._program.entry}

    def _owner(self, thing: Thing) -> str | None:
        """The function whose call an object belongs to."""
        kind = thing.descriptor[0]
        if kind == "slot" and thing.site is not None:
            return self._program.function_of(thing.site).name
        return str(thing.descriptor[1]) if kind in ("copy", "arguments") else None

    def _held_by(self, thing: Thing) -> set[int]:
        """The numbers of the objects whose addresses may lie in an object."""
        cells = self._points_to.cells
        held = 0
        for _, contents in cells.contents_of(thing):
            held |= contents
        return {cells.addresses[address][0].number for address in bits(held)}

    def _is_recursive(self, name: str) -> bool:
        seen: set[str] = set()
        work = [name]
        while work:
            function = self._program.functions.get(work.pop())
            if function is None:
                continue
            for instruction in function.instructions:
                if isinstance(instruction, Call):
                    for callee in self._points_to.callees(instruction.number):
                        if callee == name:
                            return True
                        if callee not in seen:
                            seen.add(callee)
                            work.append(callee)
        return False


def _asked(function: Function) -> set[int]:
    """The registers of which a body of the library asks whether they lead to what is gone."""
    return {
        argument.index
        for instruction in function.instructions
        if called(instruction) in _ASKING and isinstance(instruction, Call)
        for argument in instruction.arguments
        if isinstance(argument, Register)
    }


def _is_asked(pair: tuple[Value, Value], asked: set[int]) -> bool:
    """Were both asked about? A constant is the address of something that never goes."""
    return all(not isinstance(value, Register) or value.index in asked for value in pair)
