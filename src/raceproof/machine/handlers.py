"""Signals that the program sends to itself: `signal`, `sigaction`, `raise`, `pthread_kill`.

`raise` runs the handler in the thread that calls it, before it returns. What others send, at any
time and to any thread, is left out, so no proof covers a program with handlers. Nor does a signal
reach another thread: `pthread_kill` to one gives up.

State in `machine.sync`: the handler's address by the number of its signal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.control import thread_of
from raceproof.machine.faults import Aborted, Unsupported
from raceproof.machine.libc.call import LibraryCall
from raceproof.machine.operation import Enter, Operation
from raceproof.machine.unknown import Unknown

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

_DEFAULT, _IGNORE = 0, 1
_HARMLESS = frozenset((17, 18, 23, 28))
"""SIGCHLD, SIGCONT, SIGURG, SIGWINCH: by default nothing happens."""
_LEFT_OUT = "signals that others send"


def _install(machine: Machine, number: int, handler: int) -> int:
    """Make it the handler; the one before."""
    machine.left_out.add(_LEFT_OUT)
    before: int = machine.sync.get(("handler", number), _DEFAULT)
    machine.sync[("handler", number)] = handler
    return before


class Signal(Operation):
    """`signal(number, handler)`."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        number, handler = machine.known(arguments[0]), machine.known(arguments[1])
        return _install(machine, number, handler)


class SignalAction(Operation):
    """`sigaction(number, action, before)`; the handler is the first member of an action."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        number, action, before = (machine.known(argument) for argument in arguments[:3])
        if before:
            held = machine.sync.get(("handler", number), _DEFAULT)
            machine.write_pointer(before, held)
        if action:
            _install(machine, number, machine.known(machine.read_pointer(action)))
        return 0


class Raise(Operation):
    """`raise(number)`."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        return _deliver(machine, self.name, machine.known(arguments[0]))


class Kill(Operation):
    """`pthread_kill(thread, number)`."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        number = machine.known(arguments[1])
        if number == 0:
            return 0
        if thread_of(machine, arguments[0]) is not thread:
            raise Unsupported("a signal to another thread")
        return _deliver(machine, self.name, number)


class KillProcess(LibraryCall):
    """`kill(process, number)`: to the own process as `raise`, else to another process."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        process, number = arguments[:2]
        own = machine.sync.get(("same", "getpid", -1))
        if isinstance(process, Unknown) or isinstance(number, Unknown):
            raise Unsupported("a signal to an unknown process")
        if process in (own, 0) and number:
            if machine.alive > 1 and machine.sync.get(("handler", number), _DEFAULT) > _IGNORE:
                raise Unsupported("a signal to some thread")
            return _deliver(machine, self.name, number)
        return self.guess(machine, thread, arguments)


class _Handled(Operation):
    """After the handler, the call that sent the signal returns."""

    is_sync = False


def _deliver(machine: Machine, name: str, number: int) -> Any:
    handler = machine.sync.get(("handler", number), _DEFAULT)
    if handler == _IGNORE or (handler == _DEFAULT and number in _HARMLESS):
        return 0
    if handler == _DEFAULT:
        raise Aborted(f"killed by signal {number}")
    return Enter(handler, (number,), _Handled(name))
