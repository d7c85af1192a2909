"""Loads and stores of one thread: values, interference of others, and the record of accesses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raceproof.analysis.bounds import is_null, left_object, may_be_address
from raceproof.analysis.locks import Held, LockKey
from raceproof.analysis.records import RawAccess, RelativeLock
from raceproof.analysis.state import Content, ThreadState
from raceproof.analysis.symbols import relative_locks, symbol_of
from raceproof.domains import integers as ints
from raceproof.domains import objects as contents_of
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    POINTER,
    ArrayType,
    Instruction,
    Load,
    NullPointer,
    StructType,
    Type,
    Value,
    VectorType,
)
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter

_WHOLE = "addresses are read in words as wide as a pointer, not byte by byte"
"""Of a coarse analysis, where a string may lie anywhere in a struct with pointers in it: else all
that is copied with it would be addresses."""


class CellAccess:
    def __init__(self, run: Interpreter) -> None:
        self.run = run
        analysis = run.analysis
        self.objects = analysis.objects
        self.layout = analysis.program.layout
        self.interference = analysis.interference
        self.spin_locks = analysis.spin_locks
        self.went_on = analysis.went_on
        self.bits = analysis.program.layout.pointer_size * 8
        self.is_coarse = analysis.is_coarse

    # --- the record ------------------------------------------------------------

    def record(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        pointer: Value,
        address: AbstractValue,
        size: int | None,
        is_write: bool,
        is_atomic: bool,
        is_free: bool = False,
    ) -> None:
        """Notes an access to every base that the address may point into."""
        run = self.run
        if not run.analysis.is_recording:
            return
        if address.is_unknown and (state.facets.may_parallel or is_write):
            kind = "write" if is_write else "read"
            run.analysis.records.not_followed(
                f"a {kind} through a pointer that may point anywhere", instruction.number
            )
        if not address.pointers:
            if may_be_address(address):
                outside = domain.address(self.objects.external, 0, self.bits)
                self.record(
                    act, instruction, state, pointer, outside, size, is_write, is_atomic, is_free
                )
            elif address.is_uninitialised:
                run.analysis.records.assume(
                    f"pointers that `{act.function.display}` uses and that were never set lead to "
                    "no shared memory"
                )
            return
        symbol = (
            symbol_of(run, act, pointer, state)
            if state.facets.symbolic_locks or state.facets.fresh_objects
            else None
        )
        if symbol is not None and any(
            token == symbol.root for token, _ in state.facets.fresh_objects
        ):
            return
        is_atomic = is_atomic or state.facets.holds_atomic
        relative = relative_locks(state, symbol)
        facets = state.facets.of_access()
        own = None
        if run.own is not None and (state.facets.may_parallel or run.thread):
            own = run.own.of(act, state, pointer, address)
        for base, offsets in address.pointers.items():
            if base in self.objects.private or base in self.objects.thread_ids:
                continue
            described = self.objects[base]
            if described.function is not None or described.kind is BaseKind.STRING:
                continue
            if base == self.objects.external:
                run.analysis.note_external()
                offsets = ints.top(self.bits)
            held, beside = self._both_ways(base, offsets, facets.must_lockset, relative)
            run.analysis.records.add(
                RawAccess(
                    run.thread,
                    act.context,
                    instruction.number,
                    base,
                    offsets,
                    size,
                    is_write,
                    is_atomic,
                    facets if held is facets.must_lockset else facets._replace(must_lockset=held),
                    beside,
                    len(address.pointers) == 1 and not address.is_unknown,
                    is_free,
                    own,
                )
            )

    def record_hidden(
        self, act: Activation, call: Instruction, state: ThreadState, name: str
    ) -> None:
        """Notes that a call changes an object of the library that its arguments do not lead to."""
        base = self.objects.library_object(name, None)
        address = domain.address(base, 0, self.bits)
        self.record(act, call, state, NullPointer(POINTER), address, None, True, False)

    def _both_ways(
        self,
        base: int,
        offsets: Integers,
        held: frozenset[Held],
        relative: frozenset[RelativeLock],
    ) -> tuple[frozenset[Held], frozenset[RelativeLock]]:
        """A lock beside exact bytes is an exact lock, and an exact lock in the same object lies
        beside the bytes."""
        start = offsets.signed_constant
        if start is None or self.objects.is_weak(base):
            return held, relative
        exact = [
            Held(LockKey(base, start + distance), is_write)
            for kind, distance, is_write in (r for r in relative if r[0] == "beside")
        ]
        beside = [
            ("beside", h.lock.offset - start, h.is_write)
            for h in held
            if h.lock.base == base and h.lock.offset >= 0
        ]
        if not exact and not beside:
            return held, relative
        return held | frozenset(exact), relative | frozenset(beside)

    def touch(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        pointer: Value,
        type_: Type,
        is_write: bool,
        is_atomic: bool,
    ) -> None:
        address = self.address(act, state, pointer)
        size = self.layout.store_size(type_)
        self.record(act, instruction, state, pointer, address, size, is_write, is_atomic)

    def address(self, act: Activation, state: ThreadState, pointer: Value) -> AbstractValue:
        value = self.run.value(act, state, pointer)
        return value if isinstance(value, AbstractValue) else domain.UNKNOWN

    def _ends_here(
        self,
        act: Activation,
        instruction: Instruction,
        address: AbstractValue,
        size: int,
        is_write: bool,
    ) -> bool:
        """Is the access undefined, so that no execution goes on after it?"""
        stopped = self.run.analysis.records.stopped
        if is_null(address):
            stopped[instruction.number] = (
                "its address is no more than a null pointer"
                if address.integers is not None
                else "nothing is known to be at its address"
            )
            return not self.run.analysis.goes_on
        left = left_object(self.objects, address, size)
        if left is None:
            self.went_on.add(instruction.number)
            return False
        place = instruction.position or act.function.display
        outside = f"it is outside of `{left.name}` ({left.size} bytes)"
        stopped[instruction.number] = outside
        kind = "write" if is_write else "read"
        self.run.analysis.records.ended[instruction.number] = (
            f"no execution goes on after the {kind} at {place}: {outside}"
        )
        return not self.run.analysis.goes_on

    # --- loads ------------------------------------------------------------

    def load(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        pointer: Value,
        type_: Type,
        is_atomic: bool,
    ) -> Content | None:
        """The value read; None if the address is never valid."""
        address = self.address(act, state, pointer)
        size = self.layout.store_size(type_)
        if self._ends_here(act, instruction, address, size, False):
            return None
        self.record(act, instruction, state, pointer, address, size, False, is_atomic)
        return self._read_type(state, address, type_, 0)

    def _read_type(
        self, state: ThreadState, address: AbstractValue, type_: Type, at: int
    ) -> Content:
        if isinstance(type_, StructType):
            offsets = self.layout.offsets(type_)
            return tuple(
                self._read_type(state, address, field, at + offset)
                for field, offset in zip(type_.fields, offsets, strict=True)
            )
        if isinstance(type_, ArrayType) and type_.count <= 16:
            step = self.layout.size(type_.element)
            return tuple(
                self._read_type(state, address, type_.element, at + i * step)
                for i in range(type_.count)
            )
        if isinstance(type_, VectorType):
            return domain.UNKNOWN
        size = self.layout.store_size(type_)
        bits = self.run.evaluator.width(type_) or size * 8
        value = self.read(state, address, at, size, bits)
        if bits < self.bits and self.is_coarse and (value.pointers or value.is_unknown):
            self.run.analysis.records.assume(_WHOLE)
            return domain.any_integer(bits)
        return value

    def read(
        self, state: ThreadState, address: AbstractValue, at: int, size: int, bits: int
    ) -> AbstractValue:
        """Own memory, and what others may have written."""
        if address.is_unknown:
            return domain.UNKNOWN
        result = domain.BOTTOM
        for base, offsets in address.pointers.items():
            if at:
                offsets = ints_add(offsets, at)
            value = state.memory.read(base, offsets, size)
            if state.facets.may_parallel and base not in self.objects.private:
                others = self.interference.read(
                    base, offsets, size, state.facets.may_parallel, bits
                )
                if others is not domain.BOTTOM:
                    value = domain.join(value, others)
            if self._is_foreign(base):
                outside = self.run.analysis.external_value(bits)
                width = value.integers.width if value.integers is not None else bits
                value = domain.join(
                    outside, value if width == bits else domain.garbled(value, bits)
                )
            result = value if result is domain.BOTTOM else domain.join(result, value)
        if not address.pointers and may_be_address(address):
            return self.run.analysis.external_value(bits)
        if result.is_bottom:
            return domain.UNINITIALISED
        width = result.integers.width if result.integers is not None else bits
        return result if width == bits else domain.garbled(result, bits)

    def _is_foreign(self, base: int) -> bool:
        described = self.objects[base]
        return (
            described.kind is BaseKind.EXTERNAL
            and described.function is None
            and base not in self.objects.thread_ids
        )

    def depends_on_others(self, act: Activation, state: ThreadState, load: Load) -> bool:
        """May another running thread have written what a load reads?"""
        address = self.address(act, state, load.pointer)
        size = self.layout.store_size(load.type)
        return address.is_unknown or any(
            self.interference.has_writes(base, offsets, size, state.facets.may_parallel)
            for base, offsets in address.pointers.items()
        )

    def learn(
        self,
        act: Activation,
        state: ThreadState,
        load: Load,
        old: AbstractValue,
        new: AbstractValue,
    ) -> None:
        """A loaded value is known better; so is the cell, if it still holds that value."""
        place = self.address(act, state, load.pointer).only_address
        if place is None or self.objects.is_weak(place[0]):
            return
        base, offset = place
        size = self.layout.store_size(load.type)
        if new.constant == 0:
            self.spin_locks.found_zero(state, base, offset, size)
        if state.facets.may_parallel and base not in self.objects.private:
            return
        offsets = ints.constant(offset, self.bits)
        held = state.memory.read(base, offsets, size)
        if held is old or held == old:
            state.memory = state.memory.write(base, offsets, size, new, True)

    # --- stores ------------------------------------------------------------

    def store(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        pointer: Value,
        type_: Type,
        value: Content,
        is_atomic: bool,
    ) -> bool:
        """False if the address is never valid."""
        address = self.address(act, state, pointer)
        size = self.layout.store_size(type_)
        if self._ends_here(act, instruction, address, size, True):
            return False
        self.record(act, instruction, state, pointer, address, size, True, is_atomic)
        for offset, length, part in self._parts(type_, value, 0):
            self.write(state, address, offset, length, part)
        if state.facets.zero_cells and isinstance(value, AbstractValue):
            self.spin_locks.stored(state, address, size, value)
        return True

    def _parts(
        self, type_: Type, value: Content, at: int
    ) -> Iterator[tuple[int, int, AbstractValue]]:
        if isinstance(value, AbstractValue):
            yield at, self.layout.store_size(type_), value
        elif isinstance(type_, StructType):
            offsets = self.layout.offsets(type_)
            for field, offset, part in zip(type_.fields, offsets, value, strict=False):
                yield from self._parts(field, part, at + offset)
        elif isinstance(type_, ArrayType):
            step = self.layout.size(type_.element)
            for index, part in enumerate(value):
                yield from self._parts(type_.element, part, at + index * step)

    def write(
        self, state: ThreadState, address: AbstractValue, at: int, size: int, value: AbstractValue
    ) -> None:
        """Changes own memory, and tells the others."""
        pointers = address.pointers
        is_strong = len(pointers) == 1 and not address.is_unknown
        weak = self.objects.bases.weak
        for base, offsets in pointers.items():
            if at:
                offsets = ints_add(offsets, at)
            self.ensure(state, base)
            state.wrote(base, offsets, size)
            state.memory = state.memory.write(
                base, offsets, size, value, is_strong and base not in weak
            )
            if base not in self.objects.private:
                is_exact = is_strong and base not in weak
                self.spin_locks.written(state, base, offsets, size, value, is_exact)
                if state.facets.may_parallel or self.run.analysis.tells_always:
                    self.interference.add(self.run.thread, base, offsets, size, value)
                if value.pointers:
                    self.run.analysis.stored_addresses(base, value.pointers)
        if value.pointers and state.facets.fresh_objects:
            self.publish(state, value, pointers.keys() <= self.objects.private)

    def ensure(self, state: ThreadState, base: int) -> None:
        """An object of another thread that this one never saw before."""
        if state.memory.get(base) is None:
            contents = contents_of.uninitialised(self.objects[base].size)
            state.memory = state.memory.set(base, contents)

    def absorb(self, state: ThreadState, threads: int) -> None:
        """Those threads have ended: what they wrote may stand in memory now."""
        index = 0
        while threads >> index:
            if threads >> index & 1:
                for base, offsets, size, value in self.interference.of_thread(index):
                    self.ensure(state, base)
                    state.wrote(base, offsets, size)
                    if offsets is None:
                        contents = state.memory.get(base)
                        assert contents is not None
                        state.memory = state.memory.set(base, contents.mixed_with(value))
                    else:
                        state.memory = state.memory.write(base, offsets, size, value, False)
            index += 1

    def publish(self, state: ThreadState, value: AbstractValue, is_private: bool = False) -> None:
        """Addresses leave the hands of this thread."""
        if not is_private and state.facets.fresh_objects:
            state.facets = state.facets._replace(
                fresh_objects=frozenset(
                    f for f in state.facets.fresh_objects if f[1] not in value.pointers
                )
            )


def ints_add(offsets: Integers, distance: int) -> Integers:
    from raceproof.domains.integer_operations import add

    return add(offsets, ints.constant(distance, offsets.width))
