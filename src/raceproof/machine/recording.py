"""A replay written down: every visible step with the values it read and wrote and the locks held.

Steps that the schedule does not name, because there was nothing to choose, are recorded like the
others. Where `main` runs alone it takes no visible steps; threads that it starts meanwhile are
recorded as steps of their creation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from raceproof.ir import Position
from raceproof.machine.machine import Machine
from raceproof.machine.names import lock_name, name_of, value_text
from raceproof.machine.replay import Replayed, replay
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import ATOMIC, WRITE, AccessRange
from raceproof.machine.thread import ConcreteThread, Pending
from raceproof.verdict import HeldLock, LockMode, Schedule


@dataclass(frozen=True, slots=True)
class RecordedAccess:
    """`value` is what was read or written; empty if the access is still to come."""

    is_write: bool
    is_atomic: bool
    location: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    thread: int
    instruction: int
    function: str
    position: Position | None
    call: str
    """The library function called; empty for a plain access."""
    accesses: tuple[RecordedAccess, ...]
    locks: tuple[HeldLock, ...]
    """Held after the step."""
    started: tuple[int, ...] = ()
    """Threads created by it."""


@dataclass(frozen=True, slots=True)
class RecordedThread:
    number: int
    entry: str
    creator: int | None
    """The thread that started it."""
    instruction: int | None
    position: Position | None
    """Where that was."""


@dataclass(frozen=True, slots=True)
class Recording:
    replayed: Replayed
    threads: tuple[RecordedThread, ...]
    steps: tuple[RecordedStep, ...]
    race: tuple[RecordedStep, ...]
    """The two accesses, if it got there."""


def record(machine: Machine, schedule: Schedule) -> Recording:
    """Replay the schedule and write down what happens."""
    recorder = _Recorder(machine)
    replayed = replay(machine, schedule, recorder.watch)
    recorder.note_started(None)
    race: tuple[RecordedStep, ...] = ()
    if replayed.race is not None:
        _, access = replayed.race
        second = machine.threads[schedule.second]
        assert second.pending is not None
        done = next(
            step
            for step in reversed(recorder.steps)
            if (step.thread, step.instruction) == (schedule.first, schedule.instructions[0])
        )
        race = (done, recorder.about_to(second, second.pending, access))
    elif replayed.reached:
        first, second = machine.threads[schedule.first], machine.threads[schedule.second]
        assert first.pending is not None
        assert second.pending is not None
        conflict = first.pending.conflict(second.pending)
        assert conflict is not None
        race = (
            recorder.about_to(first, first.pending, conflict[0]),
            recorder.about_to(second, second.pending, conflict[1]),
        )
    return Recording(replayed, recorder.threads(), tuple(recorder.steps), race)


class _Recorder:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known = 1
        self.steps: list[RecordedStep] = []

    def watch(self, machine: Machine, thread: ConcreteThread) -> Callable[[], None]:
        """Called by `replay` before each step; the result is called after it."""
        self.note_started(None)
        pending = thread.pending
        assert pending is not None
        before = [self._bytes(access) for access in pending.accesses]
        names = [name_of(machine, first, end - first) for first, end, _ in pending.accesses]

        def done() -> None:
            accesses = []
            for access, old, name in zip(pending.accesses, before, names, strict=True):
                data = self._bytes(access) if access[2] & WRITE or old is None else old
                accesses.append(self._access(pending, access, name, data))
            step = self._step(thread, pending, tuple(accesses))
            self.steps.append(step)
            self.note_started(step)

        return done

    def note_started(self, step: RecordedStep | None) -> None:
        """New threads: started by the last step, or by a creation that was no step."""
        for thread in self._machine.threads[self._known :]:
            if step is not None and step.instruction == thread.creator:
                last = self.steps[-1]
                self.steps[-1] = replace(last, started=(*last.started, thread.number))
                continue
            site = self._machine.program.instruction(thread.creator)
            function = self._machine.program.function_of(thread.creator)
            self.steps.append(
                RecordedStep(
                    thread.parent,
                    thread.creator,
                    function.display,
                    site.position,
                    "",
                    (),
                    self._locks(self._machine.threads[thread.parent]),
                    (thread.number,),
                )
            )
        self._known = len(self._machine.threads)

    def about_to(
        self, thread: ConcreteThread, pending: Pending, access: AccessRange
    ) -> RecordedStep:
        name = name_of(self._machine, access[0], access[1] - access[0])
        return self._step(thread, pending, (self._access(pending, access, name, None),))

    def threads(self) -> tuple[RecordedThread, ...]:
        found = []
        for thread in self._machine.threads:
            if thread.creator < 0:
                found.append(RecordedThread(thread.number, thread.entry, None, None, None))
                continue
            position = self._machine.program.instruction(thread.creator).position
            found.append(
                RecordedThread(thread.number, thread.entry, thread.parent, thread.creator, position)
            )
        return tuple(found)

    def _step(
        self, thread: ConcreteThread, pending: Pending, accesses: tuple[RecordedAccess, ...]
    ) -> RecordedStep:
        program = self._machine.program
        is_pause = pending.operation is PAUSE
        return RecordedStep(
            thread.number,
            pending.instruction,
            program.function_of(pending.instruction).display,
            None if is_pause else program.instruction(pending.instruction).position,
            "" if pending.operation is None else pending.operation.name,
            accesses,
            self._locks(thread),
        )

    def _locks(self, thread: ConcreteThread) -> tuple[HeldLock, ...]:
        return tuple(
            HeldLock(
                lock_name(self._machine, key),
                LockMode.READ if mode == "read" else LockMode.WRITE,
            )
            for key, mode in thread.held
        )

    def _access(
        self, pending: Pending, access: AccessRange, name: str, data: bytes | None
    ) -> RecordedAccess:
        instruction = self._machine.program.instruction(pending.instruction)
        value = "" if data is None else value_text(self._machine, instruction, data)
        return RecordedAccess(bool(access[2] & WRITE), bool(access[2] & ATOMIC), name, value)

    def _bytes(self, access: AccessRange) -> bytes | None:
        """What is there now; None if there is nothing, or nothing was ever written."""
        first, end, _ = access
        target = self._machine.memory.object_at(first)
        if target is None or target.is_freed or end > target.base + target.size:
            return None
        if target.is_unknown(first - target.base, end - first):
            return None
        return bytes(target.data[first - target.base : end - target.base])
