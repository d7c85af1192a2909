"""Mutexes, spin locks and read-write locks.

State of a lock in `machine.sync`: owner and depth for a mutex, writer and readers for a read-write
lock; nothing while it is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import LockKind, LockMode
from raceproof.concurrency.model import Wait as WaitMode
from raceproof.machine.faults import Unsupported
from raceproof.machine.memory import MemoryObject
from raceproof.machine.operation import Operation
from raceproof.options import MutexRules

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

PERMITTED_TO_OWNER = 1
BUSY = 16
INVALID = 22
DEADLOCK = 35

NORMAL, RECURSIVE, CHECKING = "normal", "recursive", "checking"
_KINDS = {1: RECURSIVE, 2: CHECKING}
"""As the C library numbers them."""
_LAST_KIND = 3


class LockOperation(Operation):
    def key(self, machine: Machine, arguments: tuple[Any, ...]) -> Any:
        """What the lock is known by: its address, or a name."""
        address = self.operand(machine, arguments, "lock")
        if address is None:
            return ("lock", self.model.object or self.name)
        return ("lock", machine.known(address))


def mutex_type(machine: Machine, model_is_recursive: bool, key: Any) -> str:
    """Normal, recursive or checking: as initialised, else as the initial bytes say."""
    if model_is_recursive:
        return RECURSIVE
    found = machine.sync.get(("type", key))
    if found is not None:
        return str(found)
    if not isinstance(key[1], int):
        return NORMAL
    target: MemoryObject | None = machine.memory.object_at(key[1])
    offset = key[1] - target.base if target is not None else 0
    field = offset + (12 if machine.program.layout.pointer_size == 4 else 16)
    if target is None or field + 4 > len(target.data) or target.is_unknown(field, 4):
        return NORMAL
    return _KINDS.get(int.from_bytes(target.data[field : field + 4], "little"), NORMAL)


def hold(thread: ConcreteThread, key: Any, mode: str) -> None:
    thread.held = (*thread.held, (key, mode))


def drop(thread: ConcreteThread, key: Any) -> None:
    for index in range(len(thread.held) - 1, -1, -1):
        if thread.held[index][0] == key:
            thread.held = thread.held[:index] + thread.held[index + 1 :]
            return


def take_mutex(machine: Machine, thread: ConcreteThread, key: Any, is_recursive: bool) -> int:
    """Try to take it: 0 on success, else the error; a normal mutex of one's own is busy."""
    state = machine.sync.get(key)
    if state is None:
        machine.sync[key] = (thread.number, 1)
        hold(thread, key, "write")
        return 0
    owner, depth = state
    if owner != thread.number:
        return BUSY
    kind = mutex_type(machine, is_recursive, key)
    if kind == RECURSIVE:
        machine.sync[key] = (owner, depth + 1)
        hold(thread, key, "write")
        return 0
    return DEADLOCK if kind == CHECKING else BUSY


def release_mutex(machine: Machine, thread: ConcreteThread, key: Any) -> int:
    state = machine.sync.get(key)
    if state is None:
        return _refusal(machine, key)
    owner, depth = state
    if owner != thread.number:
        if machine.mutex_rules is MutexRules.POSIX:
            return _refusal(machine, key)
        drop(machine.threads[owner], key)
        del machine.sync[key]
        return 0
    drop(thread, key)
    if depth > 1:
        machine.sync[key] = (owner, depth - 1)
    else:
        del machine.sync[key]
    return 0


def _refusal(machine: Machine, key: Any) -> int:
    """What unlocking another's mutex returns: a normal one does not tell."""
    return 0 if mutex_type(machine, False, key) == NORMAL else PERMITTED_TO_OWNER


def take_shared(machine: Machine, thread: ConcreteThread, key: Any, reads: bool) -> bool:
    """Try to take a read-write lock."""
    writer, readers = machine.sync.get(key, (-1, ()))
    if writer >= 0 or (readers and not reads):
        return False
    if reads:
        machine.sync[key] = (-1, tuple(sorted((*readers, thread.number))))
    else:
        machine.sync[key] = (thread.number, ())
    hold(thread, key, "read" if reads else "write")
    return True


def release_shared(machine: Machine, thread: ConcreteThread, key: Any) -> None:
    writer, readers = machine.sync.get(key, (-1, ()))
    if writer == thread.number:
        del machine.sync[key]
    elif thread.number in readers:
        rest = list(readers)
        rest.remove(thread.number)
        if rest:
            machine.sync[key] = (-1, tuple(rest))
        else:
            del machine.sync[key]
    drop(thread, key)


class Lock(LockOperation):
    def _is_free(self, machine: Machine, thread: ConcreteThread, key: Any) -> bool:
        state = machine.sync.get(key)
        if state is None:
            return True
        if self.model.kind is LockKind.READ_WRITE:
            writer, readers = state
            if writer == thread.number:
                return True  # and says so: EDEADLK
            return writer < 0 and (self.model.mode is LockMode.READ or not readers)
        owner, _ = state
        return owner == thread.number and (mutex_type(machine, self.model.recursive, key) != NORMAL)

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        if self.model.wait is not WaitMode.BLOCK:
            return True
        return self._is_free(machine, thread, self.key(machine, arguments))

    def awaits(self, machine: Machine, arguments: tuple[Any, ...]) -> tuple[Any, bool] | None:
        if self.model.wait is not WaitMode.BLOCK:
            return None
        return self.key(machine, arguments), self.model.mode is LockMode.READ

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        if self.model.kind is LockKind.READ_WRITE:
            writer, _ = machine.sync.get(key, (-1, ()))
            if writer == thread.number and self.model.wait is not WaitMode.TRY:
                return self.result(False, DEADLOCK)
            taken = take_shared(machine, thread, key, self.model.mode is LockMode.READ)
            return self.result(taken, BUSY)
        error = take_mutex(machine, thread, key, self.model.recursive)
        return self.result(error == 0, error)


class Unlock(LockOperation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        state = machine.sync.get(key)
        if self.model.kind is LockKind.READ_WRITE or (
            state is not None and isinstance(state[1], tuple)
        ):
            release_shared(machine, thread, key)
            return 0
        return release_mutex(machine, thread, key)


class LockInit(LockOperation):
    """Initialising gives a fresh, free lock. No other thread can be using it."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        kind = RECURSIVE if self.model.recursive else NORMAL
        attribute = self.operand(machine, arguments, "attribute")
        rule = self.model.recursive_when
        if rule is not None and rule.argument < len(arguments):
            if arguments[rule.argument] & rule.mask == rule.equals:
                kind = RECURSIVE
        elif attribute:
            kind = _attribute_kind(machine, machine.known(attribute))
        machine.sync[("type", key)] = kind
        machine.sync.pop(key, None)
        return 0


def _attribute_kind(machine: Machine, attribute: int) -> str:
    """As the first byte of the attribute says, so that a copy of it says the same."""
    target = machine.memory.object_at(attribute)
    if target is None:
        return NORMAL
    offset = attribute - target.base
    if offset >= len(target.data) or target.is_unknown(offset, 1):
        raise Unsupported("a mutex of unknown kind")
    return _KINDS.get(target.data[offset], NORMAL)


class LockAttribute(Operation):
    """The kind stands in the first byte of the attribute, as in the C library."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        attribute = self.operand(machine, arguments, "attribute")
        rule = self.model.recursive_when
        kind = int(self.model.recursive)
        if rule is not None and rule.argument < len(arguments):
            number = machine.known(arguments[rule.argument])
            if number & rule.mask == rule.equals:
                kind = 1
            elif self.name == "pthread_mutexattr_settype":
                if number > _LAST_KIND:
                    return INVALID
                kind = number
        machine.memory.write(machine.known(attribute), bytes([kind]))
        return 0


class LockDestroy(LockOperation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        if machine.sync.get(key) is not None and self.name == "pthread_mutex_destroy":
            return BUSY
        machine.sync.pop(key, None)
        machine.sync.pop(("type", key), None)
        return 0
