"""A race of the machine in the words of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from raceproof.ir import Load, Store
from raceproof.machine.confirming import Judgement, judge
from raceproof.machine.machine import Machine
from raceproof.machine.names import location_of, lock_name, thread_of
from raceproof.machine.replay import replay
from raceproof.machine.segments import ATOMIC, WRITE, AccessRange
from raceproof.machine.simplify import simplified
from raceproof.machine.thread import ConcreteThread
from raceproof.verdict import (
    Access,
    Candidate,
    Confidence,
    Finding,
    HeldLock,
    Location,
    LockMode,
    Outcome,
    Schedule,
    Site,
)


@dataclass(frozen=True, slots=True)
class Race:
    """Two threads before racing accesses, and how to get there."""

    schedule: Schedule
    accesses: tuple[AccessRange, AccessRange]

    @property
    def pair(self) -> frozenset[int]:
        return frozenset(self.schedule.instructions)


def replayed_finding(machine: Machine, race: Race, candidate: Candidate | None) -> Finding:
    """The finding for a race that the machine reached, with a schedule for people.

    Threads, locks and call stacks are those of the replay. If an earlier engine named the race as a
    candidate, the location is the candidate's.
    """
    schedule, judgement = _judged(machine, race.schedule)
    find = _past if schedule.is_past else _present
    location, *accesses = find(machine, schedule)
    if candidate is not None:
        location = replace(candidate.location, name=location.name)
    return Finding(
        location,
        judgement.confidence,
        (accesses[0], accesses[1]),
        message=_MESSAGES[schedule.is_past].format(len(schedule.steps))
        + (f", {judgement.caveat}" if judgement.caveat else ""),
        schedule=schedule,
        engine="interleave",
    )


def outcome_of(findings: Iterable[Finding]) -> Outcome:
    """What an engine says with these: a race, if one of them is likely at least."""
    is_race = any(finding.confidence >= Confidence.LIKELY for finding in findings)
    return Outcome.RACE if is_race else Outcome.UNKNOWN


def _judged(machine: Machine, schedule: Schedule) -> tuple[Schedule, Judgement]:
    """The schedule for people with what it shows; the one that was found if that shows more."""
    shorter = simplified(machine, schedule)
    judgement = judge(machine, shorter)
    assert judgement is not None
    if judgement.is_confirmed:
        return shorter, judgement
    original = judge(machine, schedule)
    if original is not None and original.is_confirmed:
        return schedule, original
    judge(machine, shorter)
    return shorter, judgement


_MESSAGES = {
    False: "reached after {} steps of a replayed schedule",
    True: "not ordered by happens-before, after {} steps of a replayed schedule",
}
"""By `Schedule.is_past`."""


def _present(machine: Machine, schedule: Schedule) -> tuple[Location, Access, Access]:
    """Both are about to happen, on a machine that stands there."""
    first, second = machine.threads[schedule.first], machine.threads[schedule.second]
    assert first.pending is not None
    assert second.pending is not None
    ranges = first.pending.conflict(second.pending)
    assert ranges is not None
    accesses = _access(machine, first, ranges[0]), _access(machine, second, ranges[1])
    return _common(machine, *ranges), *accesses


def _past(machine: Machine, schedule: Schedule) -> tuple[Location, Access, Access]:
    """The first is done; it is looked at again when it is about to be."""
    earlier: dict[AccessRange, Access] = {}

    def watch(machine: Machine, thread: ConcreteThread) -> Callable[[], None]:
        pending = thread.pending
        assert pending is not None
        if (thread.number, pending.instruction) == (schedule.first, schedule.instructions[0]):
            for access in pending.accesses:
                earlier[access] = _access(machine, thread, access)
        return lambda: None

    replayed = replay(machine, schedule, watch)
    assert replayed.race is not None
    past, access = replayed.race
    second = _access(machine, machine.threads[schedule.second], access)
    return _common(machine, past.access, access), earlier[past.access], second


def _common(machine: Machine, first: AccessRange, second: AccessRange) -> Location:
    """What two accesses have in common."""
    return location_of(machine, (max(first[0], second[0]), min(first[1], second[1]), first[2]))


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
