"""Allocation, and atomic accesses that stayed calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import AtomicOperationKind as Kind
from raceproof.machine.effects import size_of
from raceproof.machine.operation import Operation
from raceproof.machine.segments import ATOMIC, WRITE, AccessRange

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread
_PAGE = 4096


def new_block(
    name: str, machine: Machine, thread: ConcreteThread, size: int, zeroed: bool = False
) -> int:
    """A heap block that remembers the allocation that the thread is at."""
    number = machine.current_instruction(thread)
    block = machine.memory.allocate(thread.arena, size, name, f"heap:{number}")
    if zeroed:
        block.mask = None
    return block.base


class Allocate(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        size = size_of(machine, self.model.size, 0, arguments)
        base = new_block(self.name, machine, thread, size, self.model.zeroed)
        target = self.operand(machine, arguments, "pointer_to")
        if target is not None:
            machine.write_pointer(target, base)
            return 0
        return base


class Duplicate(Operation):
    """`strdup` and `strndup`."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        text = machine.memory.string(machine.known(arguments[0]), *arguments[1:2])
        base = new_block(self.name, machine, thread, len(text) + 1)
        machine.memory.write(base, text + b"\0")
        return base


class Reallocate(Operation):
    is_sync = False

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        return _whole_block(machine, self.operand(machine, arguments, "pointer"))

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        old = machine.known(self.operand(machine, arguments, "pointer"))
        size = size_of(machine, self.model.size, 0, arguments)
        base = new_block(self.name, machine, thread, size, self.model.zeroed)
        if old:
            block = machine.memory.find(old, 0)
            machine.memory.copy(base, old, min(size, block.size))
            machine.memory.free(old)
        return base


def _whole_block(machine: Machine, pointer: Any) -> tuple[AccessRange, ...]:
    address = machine.known(pointer)
    block = machine.memory.object_at(address) if address else None
    if block is None:
        return ()
    return ((block.base, block.base + max(block.size, 1), WRITE),)


class Free(Operation):
    """Writes the whole block, as far as other threads are concerned."""

    is_sync = False

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        return _whole_block(machine, self.operand(machine, arguments, "pointer"))

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.memory.free(machine.known(self.operand(machine, arguments, "pointer")))
        return 0


class Unmap(Operation):
    """`munmap(address, size)`: a whole mapping is freed; a part of one cannot be used any more,
    but the machine does not see to that."""

    is_sync = False

    def _part(self, machine: Machine, arguments: tuple[Any, ...]) -> tuple[int, int]:
        pages = -(-machine.known(arguments[1]) // _PAGE) * _PAGE
        return machine.known(arguments[0]), pages

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        address, size = self._part(machine, arguments)
        block = machine.memory.object_at(address)
        if block is None or block.is_freed:
            return ()
        end = min(address + size, block.base + block.size)
        return ((address, end, WRITE),) if address < end else ()

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        address, size = self._part(machine, arguments)
        block = machine.memory.object_at(address)
        if block is not None and block.base == address and not block.is_freed:
            if size >= block.size and size - block.size < _PAGE:
                machine.memory.free(address)
                return 0
        machine.left_out.add("an unmapping of a part of a mapping, or of more than one")
        return 0


class AtomicCall(Operation):
    """`__atomic_load(size, ...)` and its kin."""

    def _size(self, machine: Machine, arguments: tuple[Any, ...]) -> int:
        return size_of(machine, self.model.size, 0, arguments) or 1

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        pointer = machine.known(self.operand(machine, arguments, "pointer"))
        writes = 0 if self.model.operation is Kind.LOAD else WRITE
        return ((pointer, pointer + self._size(machine, arguments), ATOMIC | writes),)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        size = self._size(machine, arguments)
        pointer = machine.known(self.operand(machine, arguments, "pointer"))
        old = int.from_bytes(machine.memory.read(pointer, size), "little")
        given = self.operand(machine, arguments, "value")
        source = self.operand(machine, arguments, "value_pointer")
        if given is None and source:
            given = int.from_bytes(machine.memory.read(source, size), "little")
        value = machine.known(0 if given is None else given)
        if self.model.operation is Kind.COMPARE_EXCHANGE:
            return self._compare_exchange(machine, arguments, pointer, size, old, value)
        mask = (1 << 8 * size) - 1
        new = {
            Kind.LOAD: old,
            Kind.STORE: value,
            Kind.EXCHANGE: value,
            Kind.ADD: old + value,
            Kind.SUB: old - value,
            Kind.AND: old & value,
            Kind.OR: old | value,
            Kind.XOR: old ^ value,
            Kind.NAND: ~(old & value),
            Kind.TEST_AND_SET: 1,
            Kind.CLEAR: 0,
        }[self.model.operation or Kind.LOAD] & mask
        if self.model.operation is not Kind.LOAD:
            machine.memory.write(pointer, new.to_bytes(size, "little"))
        target = self.operand(machine, arguments, "result_pointer")
        if target:
            machine.memory.write(target, old.to_bytes(size, "little"))
        return new if self.model.returns_new else old

    def _compare_exchange(
        self,
        machine: Machine,
        arguments: tuple[Any, ...],
        pointer: int,
        size: int,
        old: int,
        value: int,
    ) -> int:
        place = self.operand(machine, arguments, "expected_pointer")
        expected = (
            int.from_bytes(machine.memory.read(place, size), "little")
            if place
            else self.operand(machine, arguments, "expected")
        )
        same = old == expected
        if same:
            machine.memory.write(pointer, value.to_bytes(size, "little"))
        elif place:
            machine.memory.write(place, old.to_bytes(size, "little"))
        return int(same) if self.model.returns_success else old
