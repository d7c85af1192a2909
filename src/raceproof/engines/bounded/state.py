"""What one thread knows at one point of its unfolding, and how two ways to a point are merged.

A state holds the condition under which the point is reached (`guard`), the registers of the current
call and the contents of memory that is not shared. States are copied at branches and merged where
ways meet, so a loop-free program is walked once, however many paths it has.
"""

from __future__ import annotations

from collections.abc import Sequence

from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.smt.terms import Term, Terms

Value = Term | tuple["Value", ...]
"""A scalar, or the members of a struct or array held in a register."""
Contents = dict[int, Term]
"""Offset -> value; ranges never overlap."""


def choose(terms: Terms, condition: Term, a: Value, b: Value) -> Value:
    if a is b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(choose(terms, condition, x, y) for x, y in zip(a, b, strict=True))
    if not isinstance(a, Term) or not isinstance(b, Term) or a.width != b.width:
        return a
    return terms.ite(condition, a, b)


class UnfoldState:
    """Mutable; `registers` and `memory` are shared between copies until written."""

    __slots__ = (
        "_owned",
        "_owns_registers",
        "cleanups",
        "guard",
        "is_threaded",
        "memory",
        "registers",
        "section",
        "terms",
        "version",
    )

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.guard: Term = terms.true
        self.registers: dict[int, Value] = {}
        self.memory: dict[int, Contents] = {}
        self.is_threaded = False
        """Some thread may have been created on a way to here."""
        self.section = 0
        """How many atomic sections we are in."""
        self.cleanups: tuple[tuple[Term, Term | None], ...] = ()
        """Routines to run when the thread ends, with their arguments; the last comes first."""
        self.version = 0
        """Grows with every write: two states on one way with the same version hold the same."""
        self._owned: set[int] = set()
        self._owns_registers = True

    def copy(self, guard: Term) -> UnfoldState:
        new = UnfoldState.__new__(UnfoldState)
        new.terms = self.terms
        new.guard = guard
        new.registers = self.registers
        new.memory = dict(self.memory)
        new.is_threaded = self.is_threaded
        new.section = self.section
        new.version = self.version
        new.cleanups = self.cleanups
        new._owned = set()
        new._owns_registers = False
        self._owned = set()
        self._owns_registers = False
        return new

    def set_register(self, index: int, value: Value) -> None:
        if not self._owns_registers:
            self.registers = dict(self.registers)
            self._owns_registers = True
        self.registers[index] = value

    def enter(self) -> dict[int, Value]:
        """Starts a call with no registers; returns the caller's."""
        old = self.registers
        self.registers = {}
        self._owns_registers = True
        return old

    def leave(self, registers: dict[int, Value]) -> None:
        self.registers = registers
        self._owns_registers = False

    # --- memory ------------------------------------------------------------

    def _contents(self, target: UnfoldObject) -> Contents:
        found = self.memory.get(target.number)
        if found is None:
            return target.initial if target.initial is not None else {}
        return found

    def read(self, target: UnfoldObject, offset: int, size: int) -> Term:
        """The value of `size` bytes."""
        contents = self._contents(target)
        found = contents.get(offset)
        if found is not None and found.width == size * 8:
            return found
        if found is None and not self._overlapping(contents, offset, size):
            return self._initial(target, offset, size)
        result: Term | None = None
        for index in range(size):
            byte = self._byte(target, contents, offset + index)
            result = byte if result is None else self.terms.concat(byte, result)
        assert result is not None
        return result

    def _initial(self, target: UnfoldObject, offset: int, size: int) -> Term:
        if target.initial is not None:
            return self.terms.const(0, size * 8)
        return self.terms.var(f"uninitialised {target.number}+{offset}:{size}", size * 8)

    def _byte(self, target: UnfoldObject, contents: Contents, offset: int) -> Term:
        for back in range(17):
            found = contents.get(offset - back)
            if found is not None:
                if found.width >= (back + 1) * 8:
                    return self.terms.extract(found, back * 8 + 7, back * 8)
                break
        return self._initial(target, offset, 1)

    @staticmethod
    def _overlapping(contents: Contents, offset: int, size: int) -> list[int]:
        """The offsets of the values that share bytes with the range."""
        if len(contents) > 2 * (size + 16):
            near = (o for o in range(offset - 16, offset + size) if o in contents)
        else:
            near = (o for o in contents)
        return [o for o in near if o < offset + size and offset < o + contents[o].width // 8]

    def write(self, target: UnfoldObject, offset: int, value: Term) -> None:
        number = target.number
        self.version += 1
        contents = self.memory.get(number)
        if contents is None:
            contents = dict(target.initial) if target.initial else {}
            self.memory[number] = contents
            self._owned.add(number)
        elif number not in self._owned:
            contents = self.memory[number] = dict(contents)
            self._owned.add(number)
        size = value.width // 8
        old = contents.get(offset)
        if old is None or old.width != value.width:
            for start in self._overlapping(contents, offset, size):
                term = contents.pop(start)
                for index in range(term.width // 8):
                    if not offset <= start + index < offset + size:
                        byte = self.terms.extract(term, index * 8 + 7, index * 8)
                        contents[start + index] = byte
        contents[offset] = value

    def snapshot(self) -> dict[int, Contents]:
        """What memory holds now; stays as it is when the state changes."""
        self._owned = set()
        return dict(self.memory)

    def forget(self, target: UnfoldObject) -> None:
        """Makes the contents undefined: a new life of a stack slot."""
        if target.number in self.memory:
            del self.memory[target.number]
            self.version += 1


def relative(a: Term, b: Term) -> Term:
    """What tells guard `a` from guard `b` once one of them is known to hold."""
    while a.operation == "and" and b.operation == "and":
        common = [x for x in a.arguments if x in b.arguments]
        if not common:
            break
        a = a.arguments[0] if a.arguments[1] is common[0] else a.arguments[1]
        b = b.arguments[0] if b.arguments[1] is common[0] else b.arguments[1]
    return a


def merge(states: Sequence[UnfoldState], objects: Sequence[UnfoldObject]) -> UnfoldState:
    """The state after ways that exclude each other have met."""
    result = states[0]
    for other in states[1:]:
        result = _merge_two(result, other, objects)
    return result


def _merge_two(a: UnfoldState, b: UnfoldState, objects: Sequence[UnfoldObject]) -> UnfoldState:
    terms = a.terms
    condition = relative(a.guard, b.guard)
    new = a.copy(terms.or_(a.guard, b.guard))
    new.is_threaded = a.is_threaded or b.is_threaded
    new.section = max(a.section, b.section)
    if a.registers is not b.registers:
        registers = dict(b.registers)
        for index, value in a.registers.items():
            other = b.registers.get(index)
            if other is None:
                registers[index] = value
            elif other is not value:
                registers[index] = choose(terms, condition, value, other)
        new.registers = registers
        new._owns_registers = True
    for number in a.memory.keys() | b.memory.keys():
        left, right = a.memory.get(number), b.memory.get(number)
        if left is not right:
            new.version = max(a.version, b.version) + 1
            new.memory[number] = _merge_contents(a, b, condition, objects[number])
            new._owned.add(number)
    return new


def _merge_contents(
    a: UnfoldState, b: UnfoldState, condition: Term, target: UnfoldObject
) -> Contents:
    left, right = a._contents(target), b._contents(target)
    result: Contents = {}
    split: set[int] = set()
    for offset in left.keys() | right.keys():
        x, y = left.get(offset), right.get(offset)
        if x is y and x is not None:
            result[offset] = x
            continue
        width = max(x.width if x is not None else 0, y.width if y is not None else 0)
        size = width // 8
        uniform = all(
            offset_ == offset and contents[offset_].width == width
            for contents in (left, right)
            for offset_ in UnfoldState._overlapping(contents, offset, size)
        )
        if uniform:
            result[offset] = a.terms.ite(
                condition, a.read(target, offset, size), b.read(target, offset, size)
            )
        else:
            split.update(range(offset, offset + size))
    for offset in sorted(split):
        if UnfoldState._overlapping(result, offset, 1):
            continue
        result[offset] = a.terms.ite(
            condition, a.read(target, offset, 1), b.read(target, offset, 1)
        )
    return result
