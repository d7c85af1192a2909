"""Copying and filling ranges of memory, and what unknown writers leave there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.memory_access import CellAccess, ints_add
from raceproof.analysis.state import ThreadState
from raceproof.domains import integers as ints
from raceproof.domains import objects as contents_of
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue
from raceproof.ir import Instruction, IntConstant, Value

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation


class MemoryAccess(CellAccess):
    def sizes(self, act: Activation, state: ThreadState, size: Value | int | None) -> Integers:
        if size is None:
            return self._any_size()
        if isinstance(size, int):
            return ints.constant(size, self.bits)
        value = self.run.value(act, state, size)
        width = self.run.evaluator.width(size.type) or self.bits
        if not isinstance(value, AbstractValue):
            return ints.top(self.bits)
        numbers = value.as_integers(width)
        low, high = numbers.unsigned_range()
        return ints.from_range(low, min(high, 1 << (self.bits - 2)), 1, self.bits)

    def copy(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        target: Value,
        source: Value,
        size: Value | int | None,
    ) -> None:
        to, origin = self.address(act, state, target), self.address(act, state, source)
        sizes = self.sizes(act, state, size)
        count = _constant(size) if sizes.constant is None else sizes.constant
        self.record(act, instruction, state, source, origin, count, False, False)
        self.record(act, instruction, state, target, to, count, True, False)
        self._copy(state, to, origin, sizes, count)

    def copy_bytes(
        self, state: ThreadState, to: AbstractValue, origin: AbstractValue, size: int | None
    ) -> None:
        """Copies without a record of accesses."""
        sizes = ints.constant(size, self.bits) if size is not None else self._any_size()
        self._copy(state, to, origin, sizes, size)

    def _copy(
        self,
        state: ThreadState,
        to: AbstractValue,
        origin: AbstractValue,
        sizes: Integers,
        count: int | None,
    ) -> None:
        for base in to.pointers:
            self.ensure(state, base)
        if origin.is_unknown:
            self._fill_any(state, to, sizes, domain.UNKNOWN)
            return
        if any(self._is_foreign(base) for base in origin.pointers) or not origin.pointers:
            holding = self.run.analysis.external_pointer
            for base in origin.pointers:
                contents = state.memory.get(base)
                if contents is not None:
                    holding = domain.join(holding, domain.garbled(contents.any_byte(), self.bits))
            self._fill_any(state, to, sizes, holding)
        else:
            state.memory = state.memory.copy(to, origin, sizes, self.objects.bases.weak)
        self._copy_interference(state, to, origin, count)
        self._tell(state, to, sizes)

    def _copy_interference(
        self, state: ThreadState, to: AbstractValue, origin: AbstractValue, count: int | None
    ) -> None:
        """What others may have written to the source reaches the target too."""
        if not state.facets.may_parallel:
            return
        unclear = domain.BOTTOM
        clear: list[tuple[int, int, AbstractValue]] = []
        for base, offsets in origin.pointers.items():
            if base in self.objects.private:
                continue
            start = offsets.signed_constant
            for offset, size, value in self.interference.cells(base, state.facets.may_parallel):
                if offset is None or start is None:
                    unclear = domain.join(unclear, domain.garbled(value, 8))
                elif offset + size > start and (count is None or offset < start + count):
                    clear.append((offset - start, size, value))
        if unclear is not domain.BOTTOM:
            for target in to.pointers:
                contents = state.memory.get(target)
                if contents is not None:
                    state.memory = state.memory.set(target, contents.mixed_with(unclear))
        for distance, size, value in clear:
            for target, places in to.pointers.items():
                places = ints_add(places, distance)
                state.memory = state.memory.write(target, places, size, value, False)

    def fill(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        target: Value,
        byte: AbstractValue,
        size: Value | int | None,
    ) -> None:
        to = self.address(act, state, target)
        sizes = self.sizes(act, state, size)
        self.record(act, instruction, state, target, to, sizes.constant, True, False)
        for base in to.pointers:
            self.ensure(state, base)
        state.memory = state.memory.fill(to, byte, sizes, self.objects.bases.weak)
        self._tell(state, to, sizes)

    def havoc(
        self,
        act: Activation,
        instruction: Instruction,
        state: ThreadState,
        target: Value,
        size: int | None = None,
        holding: AbstractValue = domain.BOTTOM,
        is_moved: bool = False,
    ) -> None:
        """Something unknown is written: numbers, or made of what is in `holding`, or
        (`is_moved`) of what was there before."""
        to = self.address(act, state, target)
        if is_moved:
            for base in to.pointers:
                contents = state.memory.get(base)
                if contents is not None:
                    holding = domain.join(holding, domain.garbled(contents.any_byte(), self.bits))
        self._fill_any(state, to, self.sizes(act, state, size), holding)

    def havoc_at(self, state: ThreadState, to: AbstractValue, holding: AbstractValue) -> None:
        """These objects may be written: numbers, or made of what is in `holding`."""
        self._fill_any(
            state, to, ints.from_range(0, (1 << self.bits - 1) - 1, 1, self.bits), holding
        )

    def _fill_any(
        self,
        state: ThreadState,
        to: AbstractValue,
        sizes: Integers,
        holding: AbstractValue = domain.BOTTOM,
    ) -> None:
        for base in to.pointers:
            self.ensure(state, base)
        low, high = sizes.unsigned_range()
        uncertain = sizes if low == high else ints.from_range(0, high, 1, self.bits)
        byte = domain.any_integer(8)
        if holding.pointers or holding.is_unknown:
            byte = domain.join(byte, domain.garbled(holding, 8))
        state.memory = state.memory.fill(to, byte, uncertain, self.objects.bases.weak)
        self._tell(state, to, sizes)

    def put_addresses(self, state: ThreadState, to: AbstractValue, value: AbstractValue) -> None:
        """The objects may hold these addresses anywhere."""
        for base in to.pointers:
            self.ensure(state, base)
            state.wrote(base, None, None)
            contents = contents_of.unknown(self.objects[base].size, domain.garbled(value, 8))
            state.memory = state.memory.set(base, contents)
            if base not in self.objects.private:
                self.run.analysis.stored_addresses(base, value.pointers)

    def _any_size(self) -> Integers:
        return ints.from_range(0, 1 << (self.bits - 2), 1, self.bits)

    def _tell(self, state: ThreadState, to: AbstractValue, sizes: Integers) -> None:
        """Interference of a write to a range: what the target holds there now."""
        for base, offsets in to.pointers.items():
            state.wrote(base, offsets, None if sizes.is_bottom else sizes.unsigned_range()[1])
            contents = state.memory.get(base)
            if contents is None or base in self.objects.private:
                continue
            self.spin_locks.written(state, base, offsets, sizes.constant, None, False)
            start = offsets.signed_constant
            count = sizes.constant
            exact = [] if start is None or count is None else contents.touched(start, start + count)
            any_byte = contents.any_byte()
            if any_byte.pointers:
                self.run.analysis.stored_addresses(base, any_byte.pointers)
            if not (state.facets.may_parallel or self.run.analysis.tells_always):
                continue
            for offset in exact:
                size, value = contents.cells[offset]
                self.interference.add(
                    self.run.thread, base, ints.constant(offset, self.bits), size, value
                )
            self.interference.add(self.run.thread, base, offsets, None, any_byte)


def _constant(size: Value | int | None) -> int | None:
    if isinstance(size, IntConstant):
        return size.value
    return size if isinstance(size, int) else None
