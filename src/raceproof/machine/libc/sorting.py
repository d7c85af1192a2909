"""`qsort` and `bsearch`: they call back into the program, one comparison at a time.

The order in which a real library compares and moves is its own business; ours is an insertion by
bisection. State between two comparisons are a few numbers and the array itself.
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
        if to_signed(machine.known(arguments[0]) & 0xFFFF_FFFF, 32) < 0:
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
        return _Bisection(self.name, self.model, (key, base, size, compare, 0, count)).next()


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
        key, base, size, compare, low, high = self.state
        middle = (low + high) // 2
        order = to_signed(machine.known(arguments[0]) & 0xFFFF_FFFF, 32)
        if order == 0:
            return base + middle * size
        low, high = (low, middle) if order < 0 else (middle + 1, high)
        return _Bisection(self.name, self.model, (key, base, size, compare, low, high)).next()

    def next(self) -> Any:
        key, base, size, compare, low, high = self.state
        if low >= high:
            return 0
        return Enter(compare, (key, base + (low + high) // 2 * size), self)
