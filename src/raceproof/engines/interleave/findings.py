"""A race of the machine in the words of a report."""

from __future__ import annotations

from dataclasses import replace

from raceproof.engines.interleave.execution import Race
from raceproof.ir import Load, Program, Store
from raceproof.machine.machine import Machine
from raceproof.machine.memory import MemoryObject
from raceproof.machine.segments import ATOMIC, WRITE, AccessRange
from raceproof.machine.simplify import simplified
from raceproof.machine.thread import ConcreteThread
from raceproof.verdict import (
    Access,
    BaseKind,
    Candidate,
    Confidence,
    Finding,
    HeldLock,
    Location,
    LockMode,
    Site,
    Thread,
)


def confirmed_finding(machine: Machine, race: Race, candidate: Candidate | None) -> Finding:
    """The finding for a race that the machine reached, with a schedule for people.

    If an earlier engine named it as a candidate, in that engine's words.
    """
    schedule = simplified(machine, race.schedule)
    threads = (machine.threads[schedule.first], machine.threads[schedule.second])
    assert threads[0].pending is not None
    assert threads[1].pending is not None
    ranges = threads[0].pending.conflict(threads[1].pending)
    assert ranges is not None
    location = location_of(machine, ranges[0])
    if candidate is not None:
        first, second = candidate.first, candidate.second
        if first.instruction != schedule.instructions[0]:
            first, second = second, first
        accesses = (_renamed(first, location.name), _renamed(second, location.name))
        location = replace(candidate.location, name=location.name)
    else:
        accesses = (
            _access(machine, threads[0], ranges[0]),
            _access(machine, threads[1], ranges[1]),
        )
    return Finding(
        location,
        Confidence.CONFIRMED,
        accesses,
        message=f"reached after {len(schedule.steps)} steps of a replayed schedule",
        schedule=schedule,
        engine="interleave",
    )


def _renamed(access: Access, name: str) -> Access:
    return replace(access, location=replace(access.location, name=name))


def location_of(machine: Machine, access: AccessRange) -> Location:
    target = machine.memory.object_at(access[0])
    assert target is not None
    start, end = access[0] - target.base, access[1] - target.base
    return Location(
        target.kind, target.source, _name(machine.program, target, start, end), start, end
    )


def name_of(machine: Machine, address: int, size: int = 1) -> str:
    """What people call the bytes at an address."""
    target = machine.memory.object_at(address)
    if target is None:
        return f"{address:#x}"
    start = address - target.base
    return _name(machine.program, target, start, start + size)


def _name(program: Program, target: MemoryObject, start: int, end: int) -> str:
    variable = program.globals.get(target.source)
    if variable is not None and variable.debug_type:
        return variable.display + program.debug.path(variable.debug_type, start, end - start)
    if target.kind is BaseKind.STACK and ":" in target.source:
        number = target.source.rpartition(":")[2]
        if number.isdigit():
            slot = program.instruction(int(number))
            key = getattr(slot, "debug_type", "")
            if key:
                return target.name + program.debug.path(key, start, end - start)
    return f"{target.name}+{start}" if start else target.name


def thread_of(machine: Machine, thread: ConcreteThread) -> Thread:
    """The abstract thread that a concrete one is an instance of."""
    chain: list[Site] = []
    current = thread
    while current.creator >= 0:
        function = machine.program.function_of(current.creator)
        position = machine.program.instruction(current.creator).position
        chain.append(Site(current.creator, function.display, position))
        current = machine.threads[current.parent]
    return Thread(thread.entry, tuple(reversed(chain)))


def lock_name(machine: Machine, key: object) -> str:
    """What people call a lock."""
    if isinstance(key, tuple) and len(key) == 2:
        return name_of(machine, key[1]) if isinstance(key[1], int) else str(key[1])
    return str(key)


def _access(machine: Machine, thread: ConcreteThread, access: AccessRange) -> Access:
    assert thread.pending is not None
    program = machine.program
    number = thread.pending.instruction
    function = program.function_of(number)
    instruction = program.instruction(number)
    calls = []
    for frame in thread.frames[:-1]:
        info = frame.code.infos[~frame.segment if frame.segment < 0 else frame.segment]
        if info.instruction is not None:
            site = info.instruction
            calls.append(Site(site.number, frame.code.function.display, site.position))
    location = location_of(machine, access)
    return Access(
        thread=thread_of(machine, thread),
        instruction=number,
        function=function.display,
        position=instruction.position,
        location=location,
        is_write=bool(access[2] & WRITE),
        is_atomic=bool(access[2] & ATOMIC),
        locks=tuple(
            HeldLock(lock_name(machine, key), LockMode.READ if mode == "read" else LockMode.WRITE)
            for key, mode in thread.held
        ),
        calls=tuple(calls),
        expression=location.name if isinstance(instruction, Load | Store) else "",
    )
