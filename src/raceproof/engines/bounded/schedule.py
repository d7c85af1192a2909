"""From a model to a schedule that the machine accepts.

The encoder's events and the machine's visible steps are not quite the same: the machine also stops
at accesses that turned out to concern one thread only, and runs a thread that is alone without
stopping. So the machine itself is led through the execution: each event of the model in turn, its
thread is stepped until it stands at the event's instruction and then over it. What was chosen on
the way is the schedule, and it is replayed from the start before anyone calls the race confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raceproof.engines.bounded.events import UnfoldEvent, Unfolding
from raceproof.machine import Machine
from raceproof.machine.faults import UndefinedBehaviour
from raceproof.machine.replay import replay
from raceproof.machine.thread import Pending
from raceproof.smt.solver import Model
from raceproof.verdict import Schedule, Step

_SILENT = ("start", "atomic")
_SECOND_HALVES = ("wake", "leave")
_STEP_LIMIT = 20_000


def _is_second_half(pending: Pending) -> bool:
    return pending.operation is not None and pending.operation.is_second_half


class NoReplay(Exception):
    """The machine does not do what the model says."""


class EndsUndefined(NoReplay):
    """The machine ends the execution early: a use of memory that another thread has freed, or of a
    local variable after its function. Our formulas let these pass, so that they cover more than the
    machine does, and the model says nothing about them."""


@dataclass(slots=True)
class _Asked:
    instruction: int
    variable: int
    value: int


class _ModelInputs:
    """Answers the machine's questions for input from the model, thread by thread."""

    needs_all = False

    def __init__(self, guide: _Guide) -> None:
        self._guide = guide
        self._used: set[int] = set()

    def next(self, bits: int, limits: tuple[int, int] | None) -> int:
        machine = self._guide.machine
        self._guide.notice()
        thread = machine.current
        instruction = machine.current_instruction(thread)
        for asked in self._guide.inputs.get(self._guide.ours(thread.number), ()):
            if asked.variable not in self._used and asked.instruction == instruction:
                self._used.add(asked.variable)
                return asked.value & ((1 << bits) - 1)
        return 0 if limits is None else max(limits[0], 0) & ((1 << bits) - 1)


class _Guide:
    """Leads one machine through one execution."""

    def __init__(self, machine: Machine, unfolding: Unfolding, model: Model) -> None:
        self.machine = machine
        self.model = model
        self.unfolding = unfolding
        self.steps: list[Step] = []
        self.numbers = {0: 0}
        """Our threads -> the machine's."""
        self._ours = {0: 0}
        self._is_silent = {0: True}
        self._cursors: dict[int, int] = {}
        self._ticks = {
            thread.number: [
                (index, number)
                for index, (number, guard) in enumerate(thread.ticks)
                if model.holds(guard)
            ]
            for thread in unfolding.threads
        }
        self.inputs: dict[int, list[_Asked]] = {}
        for thread in unfolding.threads:
            self.inputs[thread.number] = [
                _Asked(i.instruction, i.variable.number, model.value(i.variable))
                for i in thread.inputs
                if model.holds(i.guard)
            ]

    def ours(self, number: int) -> int:
        return self._ours.get(number, -1)

    def lead(
        self,
        execution: Sequence[UnfoldEvent],
        first: UnfoldEvent,
        second: UnfoldEvent,
        is_past: bool,
    ) -> Schedule:
        created = self._creations(execution)
        self._pending_creations = created
        self.machine.keeps_ghosts = is_past
        self.machine.reset(_ModelInputs(self))
        self.notice()
        for event in execution:
            self._follow(event)
        order: tuple[UnfoldEvent, ...] = (second, first)
        if is_past:
            order = (second,)
        elif second.is_inner:
            order = (first, second)
        for event in order:
            self._go_to(event)
        numbers = (self.numbers[first.thread], self.numbers[second.thread])
        return Schedule(
            tuple(self.steps),
            tuple(self.machine.recorded),
            *numbers,
            (first.instruction, second.instruction),
            is_past=is_past,
        )

    def _creations(self, execution: Sequence[UnfoldEvent]) -> dict[tuple[int, int], list[int]]:
        """(creating thread, instruction) -> our new threads, in their order."""
        found: dict[tuple[int, int], list[int]] = {}
        for event in execution:
            for number, condition in event.creates:
                if self.model.holds(condition):
                    found.setdefault((event.thread, event.instruction), []).append(number)
        return found

    def notice(self) -> None:
        """Learns the numbers of threads that the machine has just created."""
        for thread in self.machine.threads[len(self._ours) :]:
            waiting = self._pending_creations.get((self.ours(thread.parent), thread.creator))
            number = waiting.pop(0) if waiting else -thread.number - 1
            self.numbers[number] = thread.number
            self._ours[thread.number] = number

    def _notice_loneliness(self) -> None:
        """A thread that is alone runs without stopping until it creates another one."""
        if self.machine.alive == 1 and not self.machine.ghosts:
            for thread in self.machine.threads:
                if thread.is_alive:
                    self._is_silent[self.ours(thread.number)] = True

    def _tick(self, thread: int, instruction: int) -> int | None:
        """Which execution of an instruction comes next."""
        start = self._cursors.get(thread, 0)
        for index, number in self._ticks.get(thread, ()):
            if index >= start and number == instruction:
                return index
        return None

    def _step(self, number: int) -> None:
        machine = self.machine
        waiting = machine.threads[number].pending
        if waiting is not None and not _is_second_half(waiting):
            tick = self._tick(self.ours(number), waiting.instruction)
            if tick is not None:
                self._cursors[self.ours(number)] = tick + 1
        if isinstance(machine.ended, UndefinedBehaviour):
            raise EndsUndefined(str(machine.ended))
        if machine.ended is not None:
            raise NoReplay(f"the execution ended: {machine.ended}")
        if number not in machine.enabled():
            raise NoReplay(f"thread {number} cannot go on")
        if not machine.is_forced():
            pending = machine.threads[number].pending
            self.steps.append(Step(number, pending.instruction if pending else None))
        if len(self.steps) > _STEP_LIMIT:
            raise NoReplay("the execution does not come to its next event")
        machine.step(number)
        self.notice()
        self._notice_loneliness()

    def _follow(self, event: UnfoldEvent) -> None:
        if self._is_silent.get(event.thread):
            self._rouse(event.thread)
            if event.creates:
                self._is_silent[event.thread] = False
                self._cursors[event.thread] = event.tick + 1
            return
        if event.kind in _SILENT:
            return
        if event.kind not in _SECOND_HALVES and event.tick < self._cursors.get(event.thread, 0):
            if event.kind != "end":
                return
        if event.kind == "end":
            number = self.numbers[event.thread]
            while self.machine.threads[number].is_alive:
                self._step(number)
            return
        if event.kind == "leave" and not self._is_inside(event):
            return  # The last to come goes on at once.
        self._go_to(event)
        self._step(self.numbers[event.thread])

    def _rouse(self, thread: int) -> None:
        """A thread that is alone may still stand where it stopped before, or where it begins the
        second half of a call."""
        number, machine = self.numbers.get(thread), self.machine
        while (
            number is not None
            and machine.alive == 1
            and not machine.ghosts
            and machine.threads[number].pending is not None
            and number in machine.enabled()
        ):
            self._step(number)

    def _is_inside(self, event: UnfoldEvent) -> bool:
        """Whether the thread has begun the event's call and not come back from it."""
        pending = self.machine.threads[self.numbers[event.thread]].pending
        return (
            pending is not None
            and pending.instruction == event.instruction
            and _is_second_half(pending)
        )

    def _go_to(self, event: UnfoldEvent) -> None:
        """Brings the event's thread before its instruction."""
        number = self.numbers.get(event.thread)
        if number is None:
            raise NoReplay(f"thread {event.thread} was not created")
        for _ in range(_STEP_LIMIT):
            thread = self.machine.threads[number]
            if not thread.is_alive:
                raise NoReplay(f"thread {number} has ended before instruction {event.instruction}")
            pending = thread.pending
            if pending is not None and pending.instruction == event.instruction:
                if event.kind in _SECOND_HALVES:
                    return
                tick = self._tick(event.thread, pending.instruction)
                if tick is None or tick > event.tick:
                    raise NoReplay(f"thread {number} has passed instruction {event.instruction}")
                if tick == event.tick:
                    return
            self._step(number)
        raise NoReplay(f"thread {number} does not come to instruction {event.instruction}")


def confirmed_schedule(
    machine: Machine,
    unfolding: Unfolding,
    model: Model,
    execution: Sequence[UnfoldEvent],
    pair: tuple[UnfoldEvent, UnfoldEvent],
    *,
    is_past: bool = False,
) -> Schedule:
    """The schedule, replayed; raises `NoReplay` if the machine disagrees.

    Both accesses are about to happen; with `is_past` the first is done, and nothing orders it
    before the second.
    """
    schedule = _Guide(machine, unfolding, model).lead(execution, *pair, is_past)
    outcome = replay(machine, schedule)
    if not outcome.reached:
        raise NoReplay(outcome.message)
    return schedule
