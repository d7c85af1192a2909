"""Code that is out of reach only because executions were ended before it, at something undefined.

    struct job *job = NULL;
    job->next = NULL;                            // here every execution ends, says the analysis
    pthread_create(&thread, NULL, work, job);    // and this is never reached

Executions do end at what is undefined. But a proof that rests on it says nothing about the program
that its author has in mind, and if our own abstraction has lost a path, nothing about any program.

Other code may be out of reach: behind a branch that values decide, an endless loop, `exit`, a lock
that is never given back. That holds in all executions, for values cover them all. So what is lost
is found in two steps. What was not reached, but lies behind a place where an execution was ended
(in its function, in what is called there, or where it returns to), may be lost. If there is any
such code, the program is analysed again with executions that go on after what is undefined, with
any value: what is reached then and was not before is lost. If there is no time for that, all that
may be lost is taken to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from raceproof.concurrency import events as ev
from raceproof.concurrency.accesses import Events
from raceproof.ir import (
    AggregateConstant,
    Call,
    Constant,
    ConstantExpression,
    Function,
    FunctionAddress,
    Instruction,
    Load,
    Program,
    Return,
    Store,
    Unreachable,
    Value,
)

_WAITING = (
    ev.LockAcquire,
    ev.ConditionWait,
    ev.BarrierWait,
    ev.SemaphoreWait,
    ev.Once,
    ev.OnceBegin,
    ev.AtomicBegin,
)
"""Who waits for ever has not met anything undefined."""
_LEAVING = (ev.ThreadJoin, ev.ThreadExit, ev.ProcessExit, ev.Assume)
_FEW = 4
"""Pieces of lost code that are named."""

Reached = Mapping[tuple[str, int], int]
"""Function and block -> the last of its instructions that was reached."""


@dataclass(frozen=True, slots=True)
class LostCode:
    """What nothing reaches, since executions end at certain instructions."""

    ends: tuple[tuple[int, str], ...]
    """Where, and why."""
    creations: tuple[int, ...]
    """Calls that create threads."""
    functions: tuple[str, ...]

    def within(self, reached: Reached, program: Program) -> LostCode:
        """What of it is reached after all."""
        return LostCode(
            self.ends,
            tuple(n for n in self.creations if _is_reached(n, reached, program)),
            tuple(name for name in self.functions if (name, 0) in reached),
        )

    def __bool__(self) -> bool:
        return bool(self.creations or self.functions)


@dataclass(frozen=True, slots=True)
class _Place:
    """Before an instruction of a block."""

    function: Function
    block: int
    index: int


def may_be_lost(
    program: Program, events: Events, reached: Reached, stopped: Mapping[int, str]
) -> LostCode:
    """What is not reached, and lies behind an end. `stopped` are the instructions after which some
    execution did not go on, with what is known of the reason."""
    return _Search(program, events, reached, stopped).run()


class _Search:
    def __init__(
        self, program: Program, events: Events, reached: Reached, stopped: Mapping[int, str]
    ) -> None:
        self._program = program
        self._events = events
        self._reached = reached
        self._stopped = stopped
        self._creations: dict[int, None] = {}
        self._functions: dict[str, None] = {}
        self._seen: set[tuple[str, int]] = set()
        self._work: list[_Place] = []

    def run(self) -> LostCode:
        instructions = [self._program.instruction(number) for number in sorted(self._stopped)]
        ends = [instruction for instruction in instructions if self._is_end(instruction)]
        for end in ends:
            self._work.append(_after(end.number, self._program))
            while self._work:
                self._follow(self._work.pop())
        final = [end for end in ends if not self._goes_on(end)] or ends
        return LostCode(
            tuple((end.number, self._why(end)) for end in final),
            tuple(self._creations),
            tuple(self._functions),
        )

    def _is_end(self, instruction: Instruction) -> bool:
        """Does an execution that stops here meet something undefined, by itself?"""
        if isinstance(instruction, Unreachable):
            return False
        if not isinstance(instruction, Call) or self._stopped[instruction.number]:
            return True
        return not self._called(instruction) and not self._may_stop(instruction)

    def _may_stop(self, call: Call) -> bool:
        """Is it no wonder that nothing comes after it?"""
        event = self._events.of(call)
        if call.no_return or event is None:
            return call.no_return
        return event.no_return or isinstance(event, (*_WAITING, *_LEAVING))

    def _goes_on(self, end: Instruction) -> bool:
        """Does some other execution get past it?"""
        place = _after(end.number, self._program)
        block = place.function.blocks[place.block]
        if place.index < len(block.instructions):
            return _is_reached(block.instructions[place.index].number, self._reached, self._program)
        return any((place.function.name, t) in self._reached for t in block.terminator.targets)

    # --- what lies behind ------------------------------------------------------------

    def _follow(self, place: _Place) -> None:
        block = place.function.blocks[place.block]
        for instruction in block.instructions[place.index :]:
            if isinstance(instruction, Call):
                self._call(instruction)
                if self._may_stop(instruction) and instruction.no_return:
                    return
        for target in block.terminator.targets:
            self._go(place.function, target)
        if isinstance(block.terminator, Return):
            for call in self._callers.get(place.function.name, ()):
                key = (place.function.name, ~call)
                if key not in self._seen:
                    self._seen.add(key)
                    self._work.append(_after(call, self._program))

    def _call(self, call: Call) -> None:
        event = self._events.of(call)
        run = self._called(call)
        if isinstance(event, ev.ThreadCreate):
            if not _is_reached(call.number, self._reached, self._program):
                self._creations[call.number] = None
            run = self._targets(event.entry)
        elif isinstance(event, ev.ThreadJoin):
            return
        for name in sorted(run):
            function = self._program.functions.get(name)
            if function is not None and function.is_defined:
                if (name, 0) not in self._reached:
                    self._functions[name] = None
                self._go(function, 0)

    def _go(self, function: Function, block: int) -> None:
        if (function.name, block) not in self._seen:
            self._seen.add((function.name, block))
            self._work.append(_Place(function, block, 0))

    # --- who calls whom ------------------------------------------------------------

    @cached_property
    def _callers(self) -> dict[str, list[int]]:
        """Function -> the calls that go on when it returns, or when a thread with it has ended."""
        found: dict[str, list[int]] = {}
        for _, instruction in self._program.all_instructions():
            if isinstance(instruction, Call):
                for name in self._called(instruction):
                    found.setdefault(name, []).append(instruction.number)
        return found

    def _called(self, call: Call) -> frozenset[str]:
        """The functions of the program that a call runs, or waits for."""
        event = self._events.of(call)
        if isinstance(event, ev.ThreadJoin):
            return self._entries
        if event is not None:
            return self._loose if event.callbacks or isinstance(event, ev.Once) else frozenset()
        return self._targets(call.callee)

    def _targets(self, function: Value) -> frozenset[str]:
        if not isinstance(function, FunctionAddress):
            return self._loose
        found = self._program.functions.get(function.name)
        return frozenset({function.name} if found is not None and found.is_defined else ())

    @cached_property
    def _loose(self) -> frozenset[str]:
        """Functions whose addresses are taken: any of them may be meant by a pointer."""
        return frozenset(_loose_functions(self._program))

    @cached_property
    def _entries(self) -> frozenset[str]:
        """The functions that threads may start with."""
        found: set[str] = set()
        for _, instruction in self._program.all_instructions():
            event = self._events.of(instruction) if isinstance(instruction, Call) else None
            if isinstance(event, ev.ThreadCreate):
                found |= self._targets(event.entry)
        return frozenset(found)

    def _why(self, end: Instruction) -> str:
        if self._stopped[end.number]:
            return self._stopped[end.number]
        match end:
            case Load():
                return "what it reads is at no valid address"
            case Store():
                return "what it writes is at no valid address"
        return "nothing defined comes after it"


def in_words(lost: LostCode, program: Program) -> str:
    """`the thread created at a.c:12, `work`: no execution goes on after a.c:9: ...`."""
    what = [
        f"the thread created at {program.instruction(number).position or 'an unknown place'}"
        for number in lost.creations[:_FEW]
    ]
    what += [f"`{program.functions[name].display}`" for name in lost.functions[: _FEW - len(what)]]
    rest = len(lost.creations) + len(lost.functions) - len(what)
    if rest:
        what.append(f"{rest} more")
    number, why = lost.ends[0]
    where = program.instruction(number).position or program.function_of(number).display
    others = f" (and at {len(lost.ends) - 1} more places)" if len(lost.ends) > 1 else ""
    return f"{', '.join(what)}: no execution goes on after {where}: {why}{others}"


def _after(number: int, program: Program) -> _Place:
    function = program.function_of(number)
    for index, block in enumerate(function.blocks):
        if number <= block.terminator.number:
            return _Place(function, index, number - block.instructions[0].number + 1)
    raise AssertionError(number)


def _is_reached(number: int, reached: Reached, program: Program) -> bool:
    place = _after(number, program)
    return reached.get((place.function.name, place.block), -1) >= number


def _loose_functions(program: Program) -> Iterator[str]:
    work: list[Value] = [
        variable.initializer
        for variable in program.globals.values()
        if variable.initializer is not None
    ]
    for _, instruction in program.all_instructions():
        work += instruction.arguments if isinstance(instruction, Call) else instruction.operands
    while work:
        match work.pop():
            case FunctionAddress(name=name):
                function = program.functions.get(name)
                if function is not None and function.is_defined:
                    yield name
            case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                work.extend(part for part in parts if isinstance(part, Constant))
