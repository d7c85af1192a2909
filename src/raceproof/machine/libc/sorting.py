"""`qsort` and `bsearch`: they call back into the program, one comparison at a time.

The order in which a real library compares and moves is its own business; ours is an insertion by
bisection. State between two comparisons are a few numbers and the array itself. What follows is not
exact where another order could be noticed: by a comparison that leaves traces, by elements that are
equal but not the same, by equal elements of which any may be found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import FunctionModel
from raceproof.machine.operation import Enter, Operation
from raceproof.machine.segments import WRITE, AccessRange
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread


class Sort(Operation):
    """`qsort(base, count, size, compare)`, and `qsort_r` with one argument more."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        base, count, size, compare, *context = (machine.known(value) for value in arguments)
        if count > 1:
            _note_traces(machine, compare, self.name)
        state = (base, count, size, compare, tuple(context), 1, 0, 1)
        return _Insertion(self.name, self.model, state).next(machine)


class _Insertion(Operation):
    """Element `item` is being put among those before it: its place is from `low` to `high`."""

    is_sync = False

    def __init__(self, name: str, model: FunctionModel, state: tuple[Any, ...]) -> None:
        super().__init__(name, model)
        self.state = state

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        base, _, size, _, _, item, _, _ = self.state
        return ((base, base + (item + 1) * size, WRITE),)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        """The comparison of the element with the one in the middle has come back."""
        base, count, size, compare, context, item, low, high = self.state
        middle = (low + high) // 2
        order = to_signed(machine.known(arguments[0]) & 0xFFFF_FFFF, 32)
        if order == 0 and _bytes(machine, base, item, size) != _bytes(machine, base, middle, size):
            machine.note_inexact(f"the order that {self.name} gives to equal elements")
        if order < 0:
            high = middle
        else:
            low = middle + 1
        if low == high:
            _rotate(machine, base + low * size, (item - low) * size, size)
            item, low, high = item + 1, 0, item + 1
        state = (base, count, size, compare, context, item, low, high)
        return _Insertion(self.name, self.model, state).next(machine)

    def next(self, machine: Machine) -> Any:
        base, count, size, compare, context, item, low, high = self.state
        if item >= count:
            return 0
        first = base + item * size
        second = base + (low + high) // 2 * size
        return Enter(compare, (first, second, *context), self)


def _note_traces(machine: Machine, compare: int, name: str) -> None:
    if not machine.leaves_no_trace(compare):
        machine.note_inexact(f"the comparisons that {name} makes, and their order")


def _bytes(machine: Machine, base: int, index: int, size: int) -> bytes:
    return bytes(machine.memory.read(base + index * size, size))


def _rotate(machine: Machine, start: int, distance: int, size: int) -> None:
    """Move the element that is `distance` bytes on to `start`, and what lies between up."""
    if distance:
        between = machine.memory.read(start, distance)
        element = machine.memory.read(start + distance, size)
        machine.memory.write(start, element + between)


class Search(Operation):
    """`bsearch(key, base, count, size, compare)`."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key, base, count, size, compare = (machine.known(value) for value in arguments[:5])
        if count > 1:
            _note_traces(machine, compare, self.name)
        state = (key, base, size, compare, 0, count, count)
        return _Bisection(self.name, self.model, state).next()


class _Bisection(Operation):
    is_sync = False

    def __init__(self, name: str, model: FunctionModel, state: tuple[Any, ...]) -> None:
        super().__init__(name, model)
        self.state = state

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        return ()

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key, base, size, compare, low, high, count = self.state
        middle = (low + high) // 2
        order = to_signed(machine.known(arguments[0]) & 0xFFFF_FFFF, 32)
        if order == 0:
            if count > 1:
                machine.note_inexact(f"which of several equal elements {self.name} finds")
            return base + middle * size
        low, high = (low, middle) if order < 0 else (middle + 1, high)
        state = (key, base, size, compare, low, high, count)
        return _Bisection(self.name, self.model, state).next()

    def next(self) -> Any:
        key, base, size, compare, low, high, _ = self.state
        if low >= high:
            return 0
        return Enter(compare, (key, base + (low + high) // 2 * size), self)
