"""The shared variables of a program, each with its lock set (the layered paper's section 3.1).

The paper assumes that variables do not alias; here a variable is an object, or a part of it where
all accesses name their bytes, and an access counts for every object that its pointer may point to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from raceproof.engines.interleave.abstract import AccessPoint
from raceproof.engines.interleave.lock_changes import ATOMIC
from raceproof.engines.interleave.lock_sets import LockSets
from raceproof.engines.interleave.objects import EXTERNAL, Thing
from raceproof.engines.interleave.skeleton import ModelPlace, Skeleton
from raceproof.ir import Instruction

_Range = tuple[int, int]


@dataclass(slots=True)
class Variable:
    """A shared object or part of it."""

    thing: Thing
    bytes: _Range | None
    """None: all of it, or unknown."""
    accesses: dict[int, AccessPoint] = field(default_factory=dict)
    lockset: frozenset[ModelPlace] | None = None
    threads: set[str] = field(default_factory=set)

    @property
    def is_written(self) -> bool:
        return any(access.is_write for access in self.accesses.values())

    @property
    def is_safe(self) -> bool:
        return not self.is_written or bool(self.lockset)


class SharedVariables:
    """What more than one thread may access."""

    def __init__(self, skeleton: Skeleton, lock_sets: LockSets) -> None:
        self._skeleton = skeleton
        self._program = skeleton.program
        self._lock_sets = lock_sets
        self._taken = skeleton.objects.taken()

    def all(self) -> list[Variable]:
        shareable = self._skeleton.objects.shareable()
        found: dict[Thing, list[tuple[int, AccessPoint, _Range | None]]] = {}
        for name in self._lock_sets.functions():
            for instruction in self._program.functions[name].instructions:
                if self._lock_sets.reaches(instruction.number):
                    for thing, point, where in self._touched(instruction):
                        if thing in shareable and thing[0] != "function":
                            found.setdefault(thing, []).append((instruction.number, point, where))
        variables: list[Variable] = []
        for thing in sorted(found, key=lambda t: (t[0], str(t[1]))):
            variables += self._parts(thing, found[thing])
        return [variable for variable in variables if self._is_shared(variable)]

    def _touched(
        self, instruction: Instruction
    ) -> Iterable[tuple[Thing, AccessPoint, _Range | None]]:
        for effect in self._skeleton.events.effects(instruction):
            point = AccessPoint(effect.is_read, effect.is_write, effect.is_atomic)
            place = self._skeleton.place(effect.pointer)
            where: _Range | None = None
            if place is not None and place.kind == "global" and isinstance(effect.size, int):
                where = (place.offset, place.offset + effect.size)
            things = list(self._skeleton.objects.of(effect.pointer))
            for thing in things or [EXTERNAL]:
                if thing[0] == "global":
                    variable = self._program.globals.get(str(thing[1]))
                    if variable is not None and variable.is_constant:
                        continue
                    if variable is not None and variable.is_thread_local:
                        if thing not in self._taken:
                            continue
                yield thing, point, where

    def _parts(
        self, thing: Thing, accesses: list[tuple[int, AccessPoint, _Range | None]]
    ) -> list[Variable]:
        """One variable for the whole, or one for each stretch of bytes that is accessed apart."""
        ranges = [where for _, _, where in accesses if where is not None]
        if len(ranges) < len(accesses):
            return [self._variable(thing, None, [(n, p) for n, p, _ in accesses])]
        stretches: list[_Range] = []
        for start, end in sorted(set(ranges)):
            if stretches and start < stretches[-1][1]:
                stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
            else:
                stretches.append((start, end))
        return [
            self._variable(
                thing,
                stretch,
                [
                    (n, p)
                    for n, p, where in accesses
                    if where and stretch[0] <= where[0] < stretch[1]
                ],
            )
            for stretch in stretches
        ]

    def _variable(
        self, thing: Thing, where: _Range | None, accesses: list[tuple[int, AccessPoint]]
    ) -> Variable:
        variable = Variable(thing, where)
        for number, point in accesses:
            known = variable.accesses.get(number, AccessPoint(is_atomic=True))
            variable.accesses[number] = AccessPoint(
                known.is_read or point.is_read,
                known.is_write or point.is_write,
                known.is_atomic and point.is_atomic,
            )
        for number, point in variable.accesses.items():
            variable.threads |= self._lock_sets.threads_at(number)
            locks = {
                place
                for place, reads in self._lock_sets.held(number)
                if not (reads and point.is_write)
            }
            if point.is_atomic:
                locks.add(ATOMIC[0])
            known_set = variable.lockset
            variable.lockset = frozenset(locks) if known_set is None else known_set & locks
        variable.lockset = frozenset(
            place
            for place in variable.lockset or ()
            if place.kind == "atomic"
            or (
                place.kind == "global"
                and self._lock_sets.void is not None
                and place not in self._lock_sets.void
            )
        )
        return variable

    def _is_shared(self, variable: Variable) -> bool:
        return len(variable.threads) > 1
