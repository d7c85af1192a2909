"""The loop that runs a thread from one visible step to the next."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from raceproof.ir import Call
from raceproof.machine.ending import ENDING_THREAD, EndingProcess, cancelled
from raceproof.machine.faults import (
    ChoiceNeeded,
    Ended,
    UndefinedBehaviour,
    Unsupported,
)
from raceproof.machine.indeterminate import INDETERMINATE
from raceproof.machine.libc.call import LibraryCall
from raceproof.machine.operation import END_THREAD, Enter, Operation, Resume, Wait
from raceproof.machine.segments import ATOMIC, AccessRange, SegmentInfo, SegmentKind
from raceproof.machine.thread import ConcreteThread, Frame, Pending, Status
from raceproof.machine.unknown import Range, Unknown
from raceproof.semantics.edges import Undefined, Unrepresentable

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

BUDGET = 5_000
"""Segments that a thread runs at most before others get a chance."""

_ACCESS, _CALL, _OPERATION, _RETURN, _CHOICE = (
    int(kind)
    for kind in (
        SegmentKind.ACCESS,
        SegmentKind.CALL,
        SegmentKind.OPERATION,
        SegmentKind.RETURN,
        SegmentKind.CHOICE,
    )
)


class ReturnFromMain(Operation):
    """The end of `main` ends every thread."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = arguments[0]
        code = 0 if value is None or isinstance(value, Unknown) else value & 0xFF
        return EndingProcess(code).execute(machine, thread, ())


_RETURN_FROM_MAIN = ReturnFromMain("return from main")


class Pause(Operation):
    """A thread that ran for long without a visible step lets others go first, if they like."""


PAUSE: Final = Pause("pause")


class Doom(Operation):
    """The end of the execution, as a step of its own.

    A thread that runs into a fault between two visible steps (a failed assumption, a division by
    zero), or in one that orders nothing (an object freed twice), ends everything, but only once it
    gets there: until then the others may go on.
    """

    def __init__(self, ended: Ended) -> None:
        super().__init__(f"doom: {ended}")
        self._ended = ended

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        raise self._ended


def _options(needed: ChoiceNeeded) -> int:
    """Among how many values there is to choose."""
    if not needed.args:
        raise Unsupported("an unknown value decides what an operation does")
    return int(needed.args[0])


class Runner:
    """Runs the threads of one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def start(self, thread: ConcreteThread) -> None:
        """From the beginning to the first visible step."""
        self._run(thread, thread.frames[-1].segment)

    def resume(self, thread: ConcreteThread) -> None:
        """Take the pending step and go on to the next one."""
        machine = self._machine
        pending = thread.pending
        assert pending is not None, "the thread has nothing to do"
        thread.pending = None
        machine.current = thread
        segment = thread.frames[-1].segment
        if pending.operation is PAUSE:
            self._run(thread, segment)
            return
        if pending.operation is None:
            is_branch = pending.options and thread.frames[-1].code.kinds[~segment] == _CHOICE
            self._run(thread, segment if is_branch else ~segment)
            return
        try:
            self._take(thread, pending, pending.operation)
        except Unsupported:
            raise
        except Ended as ended:
            if pending.is_sync:
                raise
            self._doom(thread, ended)  # what came before it in its block waits with it

    def _take(self, thread: ConcreteThread, pending: Pending, operation: Operation) -> None:
        try:
            result = self._execute(thread, operation, pending.arguments)
        except ChoiceNeeded as needed:
            thread.pending = replace(pending, options=_options(needed))
            return
        following = self._solve(thread, pending, result)
        if following is not None:
            self._run(thread, following)
        self._run_started()

    def _execute(
        self, thread: ConcreteThread, operation: Operation, arguments: tuple[Any, ...]
    ) -> Any:
        if operation.model.caveat:
            self._machine.left_out.add(operation.model.caveat)
        if operation.model.not_followed:
            self._machine.note_inexact(operation.model.not_followed)
        if not (operation.is_cancel_point and thread.must_end):
            try:
                return operation.execute(self._machine, thread, arguments)
            except Undefined as error:
                raise UndefinedBehaviour(str(error)) from error
            except Unrepresentable as error:
                raise Unsupported(str(error)) from error
        if operation.completes_when_cancelled:
            operation.execute(self._machine, thread, arguments)
        return cancelled(self._machine, thread)

    def _run_started(self) -> None:
        """Bring threads that were just created to their first visible step."""
        machine = self._machine
        for thread in machine.threads:
            if thread.is_alive and thread.pending is None and thread.frames:
                self._run(thread, thread.frames[-1].segment)

    def _solve(self, thread: ConcreteThread, pending: Pending, result: Any) -> int | None:
        """Deal with what an operation returned; the segment to go on with, if any."""
        frame = thread.frames[-1]
        index = ~frame.segment if frame.segment < 0 else frame.segment
        if isinstance(result, Wait):
            thread.pending = Pending(
                pending.instruction, (), result.operation, pending.arguments, True
            )
            return None
        if isinstance(result, Enter):
            function = self._machine.function_at(result.function)
            if function is None:
                raise UndefinedBehaviour("a call of no function")
            frame.segment = index
            entered = self._machine.new_frame(
                function, result.arguments[: len(function.parameters)]
            )
            entered.after = result.after
            thread.frames.append(entered)
            return entered.segment
        if result is END_THREAD:
            self._finish(thread)
            return None
        if isinstance(result, Resume):
            frame, index, result = thread.frames[-1], result.segment, result.value
        info = frame.code.infos[index]
        if info.result >= 0:
            frame.registers[info.result] = result
        return info.next

    def _finish(self, thread: ConcreteThread) -> None:
        machine = self._machine
        for frame in reversed(thread.frames):
            if frame.slots:
                machine.memory.pop(thread.arena, frame.slots)
        thread.frames = []
        thread.pending = None
        thread.atomic_depth = 0
        thread.status = Status.FINISHED
        machine.alive -= 1
        if machine.keeps_ghosts:
            machine.ghosts += 1

    def _run(self, thread: ConcreteThread, segment: int) -> None:
        """Run on from a segment; a fault on the way waits for its turn if others are there."""
        try:
            self._run_to_step(thread, segment)
        except Unsupported:
            raise
        except Ended as ended:
            self._doom(thread, ended)

    def _doom(self, thread: ConcreteThread, ended: Ended) -> None:
        machine = self._machine
        if machine.alive + machine.ghosts <= 1:
            raise ended
        instruction = machine.current_instruction(thread) if thread.frames else 0
        thread.pending = Pending(instruction, (), Doom(ended), (), True)

    def _run_to_step(self, thread: ConcreteThread, segment: int) -> None:
        try:
            self._loop(thread, segment)
        except KeyError as error:
            key = error.args[0]
            if isinstance(key, Unknown):
                key.blame()
                raise Unsupported("an access through an unknown pointer") from error
            if not isinstance(key, int):
                raise
            if key == 0:
                raise UndefinedBehaviour("null pointer") from error
            self._check_partial()
            raise UndefinedBehaviour(f"no object at {key << 10:#x}") from error
        except struct.error as error:
            self._check_partial()
            raise UndefinedBehaviour(f"an access out of bounds ({error})") from error
        except ZeroDivisionError as error:
            raise UndefinedBehaviour("division by zero") from error
        except Undefined as error:
            raise UndefinedBehaviour(str(error)) from error
        except Unrepresentable as error:
            raise Unsupported(str(error)) from error
        except ChoiceNeeded as needed:
            if len(needed.args) < 2:
                raise Unsupported("an unknown value decides what a step does") from needed
            self._choose_in_access(thread, *needed.args)
        except TypeError as error:
            if "read-write" in str(error):
                raise UndefinedBehaviour("a write to a constant") from error
            if self._machine.is_open:
                raise Unsupported("an unknown value where a known one is needed") from error
            raise

    def _check_partial(self) -> None:
        """An access that hit nothing may have run over what we know of a longer object."""
        for target in self._machine.memory.changing.values():
            if target.is_partial:
                raise Unsupported(f"{target.name} may be longer than we know")

    def _loop(self, thread: ConcreteThread, segment: int) -> None:
        machine = self._machine
        machine.current = thread
        frame = thread.frames[-1]
        compiled = frame.code
        code, kinds, infos, registers = (
            compiled.code,
            compiled.kinds,
            compiled.infos,
            frame.registers,
        )
        for _ in repeat(None, BUDGET):
            while segment < 0:
                index = ~segment
                kind = kinds[index]
                if kind == _ACCESS:
                    if (machine.alive > 1 or machine.ghosts) and self._stop_at_access(
                        thread, frame, segment, infos[index]
                    ):
                        return
                    segment = index
                    break
                if kind == _CALL:
                    frame.segment = index
                    following = self._call(thread, infos[index], *code[index](registers))
                elif kind == _RETURN:
                    frame.segment = segment
                    following = self._return(thread, frame, code[index](registers))
                elif kind == _OPERATION:
                    frame.segment = segment
                    following = self._operate(thread, infos[index], code[index](registers))
                else:
                    frame.segment = segment
                    following = self._choose(thread, infos[index], code[index](registers))
                if following is None:
                    return
                segment = following
                current = thread.frames[-1]
                if current is not frame:
                    frame = current
                    compiled = frame.code
                    code, kinds, infos, registers = (
                        compiled.code,
                        compiled.kinds,
                        compiled.infos,
                        frame.registers,
                    )
            else:
                segment = code[segment](registers)
                continue
            segment = code[segment](registers)
        frame.segment = segment
        thread.pending = Pending(compiled.function.first_number, (), PAUSE)

    def _stop_at_access(
        self, thread: ConcreteThread, frame: Frame, segment: int, info: SegmentInfo
    ) -> bool:
        assert info.peek is not None
        assert info.instruction is not None
        accesses = info.peek(frame.registers)
        if self._is_private(accesses):
            return False
        frame.segment = segment
        thread.pending = Pending(info.instruction.number, self._flagged(thread, accesses))
        return True

    def _choose_in_access(self, thread: ConcreteThread, options: int, segment: int) -> None:
        """Stop before an access once more, since there is something to choose in it."""
        frame = thread.frames[-1]
        frame.segment = segment
        info = frame.code.infos[~segment]
        assert info.peek is not None
        assert info.instruction is not None
        accesses = info.peek(frame.registers)
        seen = () if self._is_private(accesses) else self._flagged(thread, accesses)
        thread.pending = Pending(info.instruction.number, seen, options=options)

    def _flagged(
        self, thread: ConcreteThread, accesses: tuple[AccessRange, ...]
    ) -> tuple[AccessRange, ...]:
        if not thread.atomic_depth:
            return accesses
        return tuple((first, end, flags | ATOMIC) for first, end, flags in accesses)

    def _is_private(self, accesses: tuple[AccessRange, ...]) -> bool:
        pages = self._machine.memory.pages
        for first, _, _ in accesses:
            target = pages.get(first >> 10)
            if target is None or not target.is_private:
                return False
        return True

    def _call(
        self, thread: ConcreteThread, info: SegmentInfo, address: Any, arguments: tuple[Any, ...]
    ) -> int | None:
        machine = self._machine
        function = info.callee
        if function is None:
            function = machine.function_at(address)
            if function is None:
                assert isinstance(info.instruction, Call)
                operation = machine.operation_at(address, info.instruction)
                if operation is None:
                    raise UndefinedBehaviour("a call of no function")
                return self._operate(thread, info, arguments, operation)
        frame = machine.new_frame(function, arguments)
        thread.frames.append(frame)
        if len(thread.frames) > 2000:
            machine.left_out.add("calls nested deeper than it can")
            raise UndefinedBehaviour("stack overflow")
        for position, size in info.by_value:
            copied = machine.memory.push(
                thread.arena, size, "argument", "by-value", is_private=True
            )
            frame.slots.append(copied.base)
            machine.memory.copy(copied.base, machine.known(arguments[position]), size)
            frame.registers[frame.code.parameters[position]] = copied.base
        return frame.segment

    def _return(self, thread: ConcreteThread, frame: Frame, value: Any) -> int | None:
        machine = self._machine
        frames = thread.frames
        if len(frames) == 1:
            info = frame.code.infos[~frame.segment]
            if thread.number == 0:
                return self._operate(thread, info, (value,), _RETURN_FROM_MAIN)
            thread.result = 0 if value is None else value
            result = ENDING_THREAD.destroy(machine, thread)
            return self._solve(thread, Pending(self._last_instruction(frame), ()), result)
        if frame.slots:
            machine.memory.pop(thread.arena, frame.slots)
        frames.pop()
        caller = frames[-1]
        if frame.after is not None:
            caller.segment = ~caller.segment if caller.segment >= 0 else caller.segment
            info = caller.code.infos[~caller.segment]
            return self._operate(thread, info, (value,), frame.after)
        if caller.segment < 0:  # a constructor before main
            return caller.segment
        info = caller.code.infos[caller.segment]
        if info.kind is SegmentKind.PLAIN:
            return caller.segment
        if info.result >= 0:
            caller.registers[info.result] = value
        return info.next

    def _last_instruction(self, frame: Frame) -> int:
        function = frame.code.function
        return function.first_number + len(function.instructions) - 1

    def _operate(
        self,
        thread: ConcreteThread,
        info: SegmentInfo,
        arguments: tuple[Any, ...],
        operation: Operation | None = None,
    ) -> int | None:
        machine = self._machine
        operation = operation or info.operation
        assert info.instruction is not None
        is_unset = any(argument is INDETERMINATE for argument in arguments)
        if is_unset and not self._may_hand_on(operation):
            raise Unsupported("the program depends on its inputs: it passes on what was never set")
        pending = Pending(info.instruction.number, (), operation, arguments, operation.is_sync)
        if machine.alive > 1 or machine.ghosts:
            pending.accesses = self._flagged(thread, operation.accesses(machine, thread, arguments))
            if operation.is_sync or not self._is_private(pending.accesses):
                thread.pending = pending
                return None
        elif operation.is_sync and not operation.is_enabled(machine, thread, arguments):
            thread.pending = pending
            return None
        try:
            result = self._execute(thread, operation, arguments)
        except ChoiceNeeded as needed:
            pending.options = _options(needed)
            thread.pending = pending
            return None
        following = self._solve(thread, pending, result)
        if machine.alive > 1 and following is not None:
            newest = machine.threads[-1]
            if newest is not thread and newest.pending is None and newest.is_alive:
                self._run(newest, newest.frames[-1].segment)
                machine.current = thread
        return following

    def _may_hand_on(self, operation: Operation) -> bool:
        """Whether an operation may be given an unknown value: one that looks at it says
        so itself."""
        if operation is _RETURN_FROM_MAIN:
            return True
        return self._machine.withholds_inventions and isinstance(operation, LibraryCall)

    def _choose(self, thread: ConcreteThread, info: SegmentInfo, value: Any) -> int | None:
        machine = self._machine
        table: dict[int, int] = info.operation
        if not isinstance(value, Unknown):
            return table.get(value, table[-1])
        if machine.choice is None:
            assert info.instruction is not None
            if isinstance(value, Range):
                if not value.may_be(table):
                    return table[-1]
                value.compared_with(number for number in table if number >= 0)
            thread.pending = Pending(info.instruction.number, (), options=len(info.targets))
            return None
        choice, machine.choice = machine.choice, None
        return info.targets[choice]
