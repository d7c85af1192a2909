"""Which memory several threads use, and where pointers may lead.

Unfolding a thread needs both answers before all threads are unfolded, so it is done in passes: each
pass adds what it saw to the tables here, and works with what the passes before it saw, until
nothing new turns up. At the end a range of bytes is

- *stable*: no thread writes it once there are threads. Reading it is no step of its own.
- *private*: one thread alone uses it from then on. No steps either.
- *shared*: each access is a visible step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from raceproof.engines.bounded.objects import SHADOW, AddressSpace, UnfoldObject
from raceproof.smt.terms import TREE_LIMIT, Term

Target = tuple[int, int | None]
"""An object's number and an offset; None: any."""
Targets = frozenset[Target]
_NOWHERE: Targets = frozenset()
UNKNOWN: Target = (-1, None)
"""Stands for the objects that we don't know, such as a pointer from an unknown function."""
_NO_VALUES: frozenset[int] = frozenset()
VALUE_LIMIT = 8
"""More values than this that threads store in one place are taken to be any."""
_GROWTH_LIMIT = 3
"""What has new values in more passes than this is a counter, and will have more."""
_OFFSET_LIMIT = 48
"""More offsets than this in one object are taken to be all of them."""


@dataclass(slots=True)
class _Use:
    """Who reads and who writes one range; threads as bits."""

    readers: int = 0
    writers: int = 0


_BUCKET = 6
_WIDE = 8 << _BUCKET


@dataclass(slots=True)
class _Uses:
    """Ranges by the 64 bytes they lie in; long ones apart."""

    ranges: dict[tuple[int, int], _Use] = field(default_factory=dict)
    buckets: dict[int, list[tuple[int, int, _Use]]] = field(default_factory=dict)
    wide: list[tuple[int, int, _Use]] = field(default_factory=list)

    def add(self, start: int, end: int) -> _Use:
        use = self.ranges[start, end] = _Use()
        if end - start > _WIDE:
            self.wide.append((start, end, use))
        else:
            for bucket in range(start >> _BUCKET, (end - 1 >> _BUCKET) + 1):
                self.buckets.setdefault(bucket, []).append((start, end, use))
        return use

    def near(self, start: int, end: int) -> Iterator[tuple[int, int, _Use]]:
        yield from self.wide
        if end - start > _WIDE:
            for (low, high), use in self.ranges.items():
                yield low, high, use
            return
        for bucket in range(start >> _BUCKET, (end - 1 >> _BUCKET) + 1):
            yield from self.buckets.get(bucket, ())


class SharedPlaces:
    """The tables; they only grow."""

    def __init__(self, space: AddressSpace) -> None:
        self._space = space
        self._uses: dict[int, _Uses] = {}
        self._cells: dict[Target, Targets] = {}
        self._values: dict[tuple[int, int, int], frozenset[int] | None] = {}
        self._growth: dict[tuple[int, int, int], set[int]] = {}
        """The passes that found new values for a range."""
        self._pass = 0
        self._offsets: dict[int, set[int]] = {}
        self._variables: dict[int, Targets] = {}
        self._memory: dict[int, Targets] = {}
        self.has_grown = False

    def begin_unfolding(self) -> None:
        """Another unfolding goes on with these tables."""
        self._growth.clear()

    def begin_pass(self) -> None:
        self.has_grown = False
        self._pass += 1
        self._memory.clear()

    # --- who uses what ------------------------------------------------------------

    def record(
        self, thread: int, target: UnfoldObject, offset: int | None, size: int, *, is_write: bool
    ) -> None:
        """A thread accesses a range (any part of the object if the offset is None)."""
        start, end = (0, target.size) if offset is None else (offset, offset + size)
        uses = self._uses.get(target.number)
        if uses is None:
            uses = self._uses[target.number] = _Uses()
        use = uses.ranges.get((start, end))
        if use is None:
            use = uses.add(start, end)
            self.has_grown = True
        bit = 1 << thread
        if is_write and not use.writers & bit:
            use.writers |= bit
            self.has_grown = True
        if not is_write and not use.readers & bit:
            use.readers |= bit
            self.has_grown = True

    def users(self, target: UnfoldObject, offset: int | None, size: int) -> tuple[int, int]:
        """The threads that read and that write some byte of the range, as bit sets."""
        start, end = (0, target.size) if offset is None else (offset, offset + size)
        readers = writers = 0
        uses = self._uses.get(target.number)
        if uses is not None:
            for low, high, use in uses.near(start, end):
                if low < end and start < high:
                    readers |= use.readers
                    writers |= use.writers
        return readers, writers

    def is_shared(self, thread: int, target: UnfoldObject, offset: int | None, size: int) -> bool:
        """Whether an access of this thread has to be a visible step."""
        if target.is_read_only:
            return False
        readers, writers = self.users(target, offset, size)
        if not writers:
            return False
        return bool((readers | writers) & ~(1 << thread))

    # --- few values ------------------------------------------------------------

    def note_value(self, target: UnfoldObject, offset: int, value: Term) -> None:
        """Some thread stores this value."""
        key = (target.number, offset, offset + value.width // 8)
        old = self._values.get(key, _NO_VALUES)
        if old is None:
            return
        leaves = constants(value)
        new = None if leaves is None or len(old | leaves) > VALUE_LIMIT else old | leaves
        if new != old:
            passes = self._growth.setdefault(key, set())
            passes.add(self._pass)
            self._values[key] = new if len(passes) <= _GROWTH_LIMIT else None
            self.has_grown = True

    def values(self, target: UnfoldObject, offset: int, size: int) -> frozenset[int] | None:
        """All that threads store in a range; None if that is too much, or not known."""
        end = offset + size
        for low, high, use in self._uses[target.number].near(offset, end):
            if low < end and offset < high and (low, high) != (offset, end) and use.writers:
                return None
        return self._values.get((target.number, offset, end), _NO_VALUES)

    # --- where pointers lead ------------------------------------------------------------

    def stored(self, target: UnfoldObject, offset: int | None, value: Targets) -> None:
        """Some thread stores a value with these targets."""
        if not value:
            return
        key = (target.number, offset)
        old = self._cells.get(key, _NOWHERE)
        new = old | value
        if len(new) != len(old):
            self._cells[key] = _widen(new)
            if offset is not None:
                self._offsets.setdefault(target.number, set()).add(offset)
            self.has_grown = True

    def loaded(self, target: UnfoldObject, offset: int | None, size: int) -> Targets:
        """Where a value read from there may point; one read askew, anywhere near."""
        result = self._cells.get((target.number, None), _NOWHERE)
        offsets = self._offsets.get(target.number)
        if not offsets:
            return result
        if offset is None:
            return result.union(*(self._cells[target.number, known] for known in offsets))
        result |= self._cells.get((target.number, offset), _NOWHERE)
        for near in range(offset - self._space.pointer_width // 8 + 1, offset + size):
            if near != offset and near in offsets:
                result |= _anywhere(self._cells[target.number, near])
        return result

    def define(self, variable: Term, targets: Targets) -> None:
        """A variable that stands for a value read from shared memory, or from outside."""
        old = self._variables.get(variable.number, _NOWHERE)
        if not targets <= old:
            self._variables[variable.number] = _widen(old | targets)
            if variable.number in self._memory:
                self._memory.clear()

    def targets(self, term: Term) -> Targets:
        """The objects that a value may point into."""
        found = self._memory.get(term.number)
        if found is not None:
            return found
        stack = [term]
        while stack:
            current = stack[-1]
            if current.number in self._memory:
                stack.pop()
                continue
            parts = current.arguments[1:] if current.operation == "ite" else current.arguments
            missing = (
                []
                if current.width < 8
                else [part for part in parts if part.number not in self._memory]
            )
            if missing:
                stack.extend(missing)
                continue
            self._memory[current.number] = self._targets(current)
            stack.pop()
        return self._memory[term.number]

    def _targets(self, term: Term) -> Targets:
        memory = self._memory
        if term.width < 8:
            return _NOWHERE
        match term.operation:
            case "const":
                if term.width == self._space.pointer_width:
                    found = self._space.at(term.constant)
                    if found is not None:
                        return frozenset([(found[0].number, found[1])])
                return _NOWHERE
            case "var":
                return self._variables.get(term.number, _NOWHERE)
            case "ite":
                return memory[term.arguments[1].number] | memory[term.arguments[2].number]
            case "add":
                a, b = term.arguments
                if b.is_constant and memory[a.number] - {UNKNOWN}:
                    moved = self._moved(memory[a.number], b.constant)
                    return moved | _anywhere(memory[b.number])
                return _sum(memory[a.number] | memory[b.number])
            case "sub" | "bvand" | "bvor" | "bvxor" | "mul" | "urem" | "shl" | "lshr" | "ashr":
                return _sum(frozenset().union(*(memory[a.number] for a in term.arguments)))
            case "udiv" | "sdiv" | "srem" | "concat":
                return _sum(frozenset().union(*(memory[a.number] for a in term.arguments)))
            case "zext" | "sext" | "extract":
                return memory[term.arguments[0].number]
        return _NOWHERE

    def _moved(self, targets: Targets, distance: int) -> Targets:
        half = 1 << (self._space.pointer_width - 1)
        if distance >= half:
            distance -= 2 * half
        result = set()
        for number, offset in targets:
            if number < 0:
                result.add((number, offset))
                continue
            target = self._space.all[number]
            if distance >= SHADOW:
                result.add((self._space.shadow(target).number, offset))
            elif offset is None:
                result.add((number, None))
            elif 0 <= offset + distance <= target.size:
                result.add((number, offset + distance))
            else:
                result.add((number, None))
        return frozenset(result)


def constants(term: Term) -> frozenset[int] | None:
    """The constants that a term chooses between; None if it is no such choice."""
    if not term.leaves or term.leaves > TREE_LIMIT:
        return None
    if term.is_constant:
        return frozenset([term.constant])
    found: frozenset[int] = frozenset()
    for argument in term.arguments[1:]:
        found |= constants(argument) or _NO_VALUES
    return found


def _anywhere(targets: Targets) -> Targets:
    return frozenset((number, None) for number, _ in targets)


def _sum(targets: Targets) -> Targets:
    """Of a pointer and other values: what is unknown is then taken to be the distance."""
    known = _anywhere(targets - {UNKNOWN})
    return known or targets


def _widen(targets: Targets) -> Targets:
    """Too many offsets in one object become any offset."""
    if len(targets) <= _OFFSET_LIMIT:
        return targets
    counts: dict[int, int] = {}
    for number, _ in targets:
        counts[number] = counts.get(number, 0) + 1
    return frozenset(
        (number, None if counts[number] > _OFFSET_LIMIT else offset) for number, offset in targets
    )
