"""Which objects pointers may point to: the points-to analysis, seen without its offsets."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress

from raceproof.analysis.alias.cells import Thing as AliasThing
from raceproof.analysis.alias.points_to import PointsTo
from raceproof.analysis.alias.solver import OutOfTime
from raceproof.analysis.facts import ProgramFacts
from raceproof.ir import Call, FunctionAddress, Register, Value

Thing = tuple[str, str | int]
"""An object: a global, a function, a stack slot or a heap object by its instruction."""

EXTERNAL: Thing = ("external", "")


class ModelObjects:
    """Of one program; without `is_complete` the time was over, and nothing is known."""

    def __init__(self, facts: ProgramFacts, seconds: float) -> None:
        self._points_to: PointsTo | None = None
        with suppress(OutOfTime):
            self._points_to = facts.points_to(time.monotonic() + seconds)
        self._functions: dict[Register, str] = {}
        for function in facts.program.defined:
            for parameter in function.parameters:
                self._functions[parameter] = function.name
            for instruction in function.instructions:
                if instruction.result is not None:
                    self._functions[instruction.result] = function.name

    @property
    def is_complete(self) -> bool:
        return self._points_to is not None

    def of(self, value: Value) -> list[Thing]:
        """The objects that a value may point to; none if it was made up from numbers."""
        if self._points_to is None:
            return []
        function = self._functions.get(value, "") if isinstance(value, Register) else ""
        return [_thing(thing) for thing, _ in self._points_to.targets(function, value)]

    def functions(self, value: Value) -> list[str]:
        """The functions that a value may be, by name."""
        return sorted({str(name) for kind, name in self.of(value) if kind == "function"})

    def callees(self, call: Call) -> list[str]:
        if isinstance(call.callee, FunctionAddress):
            return [call.callee.name]
        return [] if self._points_to is None else list(self._points_to.callees(call.number))

    def shareable(self) -> set[Thing]:
        """The objects that more than one thread may get hold of."""
        if self._points_to is None:
            return set()
        return _named(self._points_to, self._points_to.shared())

    def taken(self) -> set[Thing]:
        """The objects whose address is kept in memory, or was given to a thread."""
        if self._points_to is None:
            return set()
        return _named(self._points_to, self._points_to.kept())


def _named(points_to: PointsTo, numbers: Iterable[int]) -> set[Thing]:
    return {_thing(points_to.cells.things[number]) for number in numbers}


def _thing(thing: AliasThing) -> Thing:
    kind, *rest = thing.descriptor
    if kind == EXTERNAL[0]:
        return EXTERNAL
    if kind == "heap":  # By call, however it was come to.
        rest = rest[:1]
    if len(rest) == 1 and isinstance(rest[0], str | int):
        return str(kind), rest[0]
    return str(kind), ", ".join(map(str, rest))
