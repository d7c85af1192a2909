"""`setjmp` and `longjmp`.

What is kept of a `setjmp` is which call of which frame of the thread it was; its own buffer in the
program's memory stays untouched and only serves as the name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.faults import UndefinedBehaviour
from raceproof.machine.operation import Operation, Resume

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread


class SetJump(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        frame = thread.frames[-1]
        segment = ~frame.segment if frame.segment < 0 else frame.segment
        place = (thread.number, len(thread.frames), frame.code.function.name, segment)
        machine.sync[("jump", machine.known(arguments[0]))] = place
        return 0


class LongJump(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = machine.known(arguments[1])
        return jump_back(machine, thread, machine.known(arguments[0]), value or 1)


def jump_back(machine: Machine, thread: ConcreteThread, buffer: int, value: int) -> Resume:
    """Leave the calls above the one of `setjmp`, which returns again, with the value."""
    owner, depth, function, segment = machine.sync.get(("jump", buffer), (-1, 0, "", 0))
    frames = thread.frames
    if (
        owner != thread.number
        or depth > len(frames)
        or frames[depth - 1].code.function.name != function
    ):
        raise UndefinedBehaviour("a jump to a call that is over")
    for frame in reversed(frames[depth:]):
        if frame.slots:
            machine.memory.pop(thread.arena, frame.slots)
    del frames[depth:]
    return Resume(segment, value)
