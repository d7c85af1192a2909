"""What the static layers hand on: a variable that may race, with the pairs of its accesses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from raceproof.engines.interleave.abstract import AccessPoint
from raceproof.engines.interleave.lock_sets import LockSets
from raceproof.engines.interleave.variables import Variable
from raceproof.ir import Program, StackSlot
from raceproof.ir.names import block_name
from raceproof.verdict import (
    Access,
    BaseKind,
    Candidate,
    HeldLock,
    Location,
    LockMode,
    Site,
    Thread,
)

MOST_PAIRS = 60
"""Of one variable that are handed on."""

_KINDS = {"global": BaseKind.GLOBAL, "slot": BaseKind.STACK, "heap": BaseKind.HEAP}


@dataclass(frozen=True, slots=True)
class Suspect:
    location: Location
    accesses: dict[int, AccessPoint]
    candidates: tuple[Candidate, ...]
    has_more: bool = False
    """Whether some pairs were left out."""

    @property
    def pairs(self) -> set[frozenset[int]]:
        return {pair_of(candidate) for candidate in self.candidates}


def pair_of(candidate: Candidate) -> frozenset[int]:
    return frozenset((candidate.first.instruction, candidate.second.instruction))


def from_candidates(candidates: Iterable[Candidate]) -> list[Suspect]:
    """One suspect for each location that other engines left open."""
    grouped: dict[Location, list[Candidate]] = {}
    for candidate in candidates:
        grouped.setdefault(candidate.location, []).append(candidate)
    found = []
    for location, of_location in grouped.items():
        accesses: dict[int, AccessPoint] = {}
        for candidate in of_location:
            for access in (candidate.first, candidate.second):
                known = accesses.get(access.instruction, AccessPoint(is_atomic=True))
                accesses[access.instruction] = AccessPoint(
                    known.is_read or not access.is_write,
                    known.is_write or access.is_write,
                    known.is_atomic and access.is_atomic,
                )
        found.append(Suspect(location, accesses, tuple(of_location)))
    return found


def from_variable(lock_sets: LockSets, program: Program, variable: Variable) -> Suspect:
    """A variable without a lock in its lock set."""
    location = _location(program, variable)
    candidates: list[Candidate] = []
    numbers = sorted(variable.accesses)
    for index, first in enumerate(numbers):
        for second in numbers[index:]:
            if not _may_conflict(variable.accesses[first], variable.accesses[second]):
                continue
            threads = _two_threads(lock_sets.threads_at(first), lock_sets.threads_at(second))
            if threads is None:
                continue
            if len(candidates) == MOST_PAIRS:
                return Suspect(location, variable.accesses, tuple(candidates), True)
            accesses = (
                _access(lock_sets, program, variable, location, number, thread)
                for number, thread in zip((first, second), threads, strict=True)
            )
            candidates.append(Candidate(location, *accesses))
    return Suspect(location, variable.accesses, tuple(candidates))


def _may_conflict(first: AccessPoint, second: AccessPoint) -> bool:
    return (first.is_write or second.is_write) and not (first.is_atomic and second.is_atomic)


def _two_threads(first: set[str], second: set[str]) -> tuple[str, str] | None:
    for one in sorted(first):
        for other in sorted(second):
            if one != other:
                return one, other
    return None


def _location(program: Program, variable: Variable) -> Location:
    kind, name = variable.thing
    start, end = variable.bytes or (None, None)
    if kind == "global" and name in program.globals:
        found = program.globals[str(name)]
        shown = found.display
        if found.debug_type and variable.bytes is not None:
            shown += program.debug.path(
                found.debug_type, variable.bytes[0], variable.bytes[1] - variable.bytes[0]
            )
        return Location(BaseKind.GLOBAL, found.name, shown, start, end)
    shown = "memory from outside"
    if isinstance(name, int):
        instruction = program.instruction(name)
        if isinstance(instruction, StackSlot):
            shown = instruction.name or f"local of {program.function_of(name).display}"
        else:
            shown = block_name(program, name, f"+{start}" if start else "")
    return Location(_KINDS.get(kind, BaseKind.EXTERNAL), f"{kind}:{name}", shown, start, end)


def _access(
    lock_sets: LockSets,
    program: Program,
    variable: Variable,
    location: Location,
    number: int,
    thread: str,
) -> Access:
    point = variable.accesses[number]
    return Access(
        thread=_thread(program, thread),
        instruction=number,
        function=program.function_of(number).display,
        position=program.instruction(number).position,
        location=location,
        is_write=point.is_write,
        is_atomic=point.is_atomic,
        locks=tuple(
            HeldLock(str(place.name), LockMode.READ if reads else LockMode.WRITE)
            for place, reads in sorted(lock_sets.held(number), key=lambda lock: str(lock))
            if place.kind == "global"
        ),
        expression=location.name,
    )


def _thread(program: Program, name: str) -> Thread:
    entry, _, site = name.partition("@")
    if not site:
        return Thread(entry)
    number = int(site.rstrip("'"))
    where = program.function_of(number).display
    return Thread(
        program.functions[entry].display,
        (Site(number, where, program.instruction(number).position),),
        is_unique=False,
    )
