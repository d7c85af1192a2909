"""Locks, conditions, barriers, semaphores and once controls, as the table of synchronisation says.

The state of an object is in `machine.sync` by its kind and address: its fields, then the own fields
of threads that are not zero; nothing while all are zero. See `semantics.synchronisation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import FunctionModel, Role
from raceproof.concurrency.synchronisation import (
    error_value,
    flags_of,
    success_value,
    sync_call,
    waits,
)
from raceproof.machine.faults import Unsupported
from raceproof.machine.operation import Enter, Operation, Wait
from raceproof.options import MutexRules
from raceproof.semantics.sync_expressions import (
    Outcome,
    definition,
    guard,
    kind_of,
    mentions,
    number,
    operands_of,
)
from raceproof.semantics.synchronisation import CONSTANTS, OBJECTS, Part

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.memory import MemoryObject
    from raceproof.machine.thread import ConcreteThread

_NORMAL = CONSTANTS["NORMAL"]
_FRESH: dict[str, tuple[Any, ...]] = {
    kind: (*(0 for _ in fields), ()) for kind, fields in OBJECTS.items()
}
_OWNER, _DEPTH = OBJECTS["lock"].index("owner"), OBJECTS["lock"].index("depth")
_SEMAPHORE_SIZE = 32


class _Part:
    """A command on one object, ready to be done."""

    def __init__(self, part: Part) -> None:
        meaning = part.meaning
        self.operand = part.operand
        self.object = meaning.object
        self.run = definition(part.command)
        self.guard = guard(part.command)
        self.fresh = _FRESH[self.object]
        self.otherwise = meaning.otherwise
        self.reads_kind = self.object == "lock" and mentions(part.command, "kind")
        self.needs = operands_of(part.command)
        self.always_applies = any(case.when == "True" for case in meaning.cases)
        self.is_shared = part.command == "lock shared"


class Synchronise(Operation):
    """A call that the table describes: the first of its steps."""

    _step = 0

    def __init__(self, name: str, model: FunctionModel | None = None) -> None:
        super().__init__(name, model)
        self._call = sync_call(self.model)
        step = self._call.steps[self._step]
        self._parts = [_Part(part) for part in step.parts]
        self._flags: dict[str, Any] = flags_of(self.model)
        self._waits = waits(self.model)
        self._waiting = [part for part in self._parts if not part.always_applies]
        self.is_sync = self._call.is_visible
        self.is_cancel_point = step.is_cancel_point
        self.completes_when_cancelled = step.completes_when_cancelled

    # --- objects ------------------------------------------------------------

    def _key(self, machine: Machine, part: _Part, arguments: tuple[Any, ...]) -> Any:
        """What an object is known by: its address, or a name."""
        address = self.operand(machine, arguments, part.operand)
        if address is None:
            return (part.object, self.model.object or self.name)
        return (part.object, machine.known(address))

    def _given(
        self, machine: Machine, thread: ConcreteThread, part: _Part, arguments: tuple[Any, ...]
    ) -> dict[str, Any]:
        """Flags and operands."""
        given = self._flags
        if part.object == "condition":
            given["spurious"] = machine.wakes_spuriously or thread.must_end
        elif part.object == "lock" and "anyone" not in given:
            given["anyone"] = machine.mutex_rules is not MutexRules.POSIX
        rule = self.model.recursive_when
        if rule is None and not part.needs:
            return given
        given = dict(given)
        has_rule = rule is not None and rule.argument < len(arguments)
        if has_rule and part.object in ("lock", "attribute"):
            assert rule is not None
            given["number"] = machine.known(arguments[rule.argument])
            given["recursive"] = given["number"] & rule.mask == rule.equals
        for name in part.needs:
            if name == "type":
                given[name] = 0 if has_rule else self._attribute(machine, arguments)
            elif name == "value":
                value = self.operand(machine, arguments, name)
                given[name] = self.model.initial if value is None else machine.known(value)
            elif name not in given:
                value = self.operand(machine, arguments, name)
                given[name] = 0 if value is None else machine.known(value)
        return given

    def _attribute(self, machine: Machine, arguments: tuple[Any, ...]) -> int:
        """The number that stands in the first byte of the attribute, so that a copy of it says the
        same."""
        attribute = self.operand(machine, arguments, "attribute")
        target = machine.memory.object_at(machine.known(attribute)) if attribute else None
        if target is None:
            return 0
        offset = attribute - target.base
        if offset >= len(target.data) or target.is_unknown(offset, 1):
            raise Unsupported("a mutex of unknown kind")
        return int(target.data[offset])

    def _state(
        self, machine: Machine, thread: ConcreteThread, part: _Part, arguments: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...], int, Mapping[str, Any]]:
        """The object's key and state, the thread's own field, flags and operands."""
        key = self._key(machine, part, arguments)
        state = machine.sync.get(key, part.fresh)
        own = 0
        for holder, value in state[-1]:
            if holder == thread.number:
                own = value
        given = self._given(machine, thread, part, arguments)
        if part.reads_kind:
            given["unset"] = lambda: _static_kind(machine, key)
        return key, state, own, given

    # --- steps ------------------------------------------------------------

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        if not self._waits or not self._waiting:
            return True
        if thread.must_end and self.is_cancel_point and not self.completes_when_cancelled:
            return True
        for part in self._waiting:
            _, state, own, given = self._state(machine, thread, part, arguments)
            if not part.guard(state, own, thread.number + 1, given):
                return False
        return True

    def is_idle(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> bool:
        """Whether it only goes on for no reason."""
        first = self._parts[0]
        if first.object != "condition" or not machine.wakes_spuriously or thread.must_end:
            return False
        _, state, own, given = self._state(machine, thread, first, arguments)
        return not first.guard(state, own, thread.number + 1, {**given, "spurious": False})

    def awaits(self, machine: Machine, arguments: tuple[Any, ...]) -> tuple[Any, bool] | None:
        if self._waits:
            for part in self._parts:
                if part.object == "lock" and part.otherwise:
                    return self._key(machine, part, arguments), part.is_shared
        return None

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if self.model.is_result:
            return self._make(machine, thread, arguments)
        first, *_ = [self._do(machine, thread, part, arguments) for part in self._parts]
        if isinstance(first, int):
            return self._failed(first)
        if first.goes_on:
            return Wait(Following(self.name, self.model))
        if self._call.runs:
            return self._run(machine, arguments) if first.value else success_value(self.model)
        if first.value is not None:
            return self._value(machine, arguments, first.value)
        if not first.error:
            return success_value(self.model)
        if self._parts[0].object == "condition":
            # POSIX also lets the wait end before that, with success, for no reason.
            machine.left_out.add("a wait with a time limit that ends for no reason")
        return self._failed(first.error)

    def _do(
        self, machine: Machine, thread: ConcreteThread, part: _Part, arguments: tuple[Any, ...]
    ) -> Outcome | int:
        """What was done, or why nothing was."""
        key, before, own, given = self._state(machine, thread, part, arguments)
        outcome = part.run(before, own, thread.number + 1, given)
        if outcome is None:
            return number(part.otherwise, self._flags)
        if part.object == "attribute":
            if not outcome.error:
                machine.memory.write(key[1], bytes(outcome.fields))
            return outcome
        owns = before[-1]
        if owns or outcome.own:
            owns = _changed(owns, thread.number, outcome.own, outcome.everyone)
        after = (*outcome.fields, owns)
        if after == before:
            return outcome
        if any(after):
            machine.sync[key] = after
        else:
            del machine.sync[key]
        if part.object == "lock":
            _note_held(machine, thread, key, before, after)
        return outcome

    def _failed(self, error: int) -> int:
        value = error_value(self.model, self.name, error)
        return (error if value is None else value) & 0xFFFF_FFFF

    def _value(self, machine: Machine, arguments: tuple[Any, ...], value: int) -> int:
        if self.model.role is Role.SEMAPHORE_VALUE:
            target = self.operand(machine, arguments, "result_pointer")
            if target:
                machine.memory.write(target, value.to_bytes(4, "little"))
                return 0
        return value & 0xFFFF_FFFF

    def _run(self, machine: Machine, arguments: tuple[Any, ...]) -> Enter:
        argument = self.operand(machine, arguments, "argument")
        routine = machine.known(self.operand(machine, arguments, self._call.runs))
        after = _AfterRoutine(self.name, self.model)
        after.arguments = arguments
        return Enter(routine, () if argument is None else (argument,), after)

    def _make(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> int:
        """The call returns a new object."""
        (part,) = self._parts
        block = machine.memory.allocate(
            thread.arena, _SEMAPHORE_SIZE, part.object, f"call:{self.name}"
        )
        given = self._given(machine, thread, part, arguments)
        outcome = part.run(part.fresh, 0, thread.number + 1, given)
        assert outcome is not None
        machine.sync[part.object, block.base] = (*outcome.fields, ())
        return block.base


class Following(Synchronise):
    """The second step of a call."""

    _step = 1
    is_second_half = True


class _AfterRoutine(Following):
    """The second step of a call that has run a routine: with the arguments of the call."""

    arguments: tuple[Any, ...] = ()

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        for part in self._parts:
            self._do(machine, thread, part, self.arguments)
        return success_value(self.model)


def holders(state: tuple[Any, ...] | None) -> tuple[int | None, tuple[int, ...]]:
    """Which thread owns a lock, and which hold it for reading."""
    if state is None:
        return None, ()
    owner = state[_OWNER]
    return (owner - 1 if owner else None), tuple(reader for reader, _ in state[-1])


def _static_kind(machine: Machine, key: Any) -> int:
    """The kind of mutex as its initial bytes say."""
    if not isinstance(key[1], int):
        return _NORMAL
    target: MemoryObject | None = machine.memory.object_at(key[1])
    offset = key[1] - target.base if target is not None else 0
    field = offset + (12 if machine.program.layout.pointer_size == 4 else 16)
    if target is None or field + 4 > len(target.data) or target.is_unknown(field, 4):
        return _NORMAL
    return kind_of(int.from_bytes(target.data[field : field + 4], "little"))


def _changed(
    owns: tuple[tuple[int, int], ...],
    mine: int,
    own: int,
    everyone: Callable[[int], int] | None,
) -> tuple[tuple[int, int], ...]:
    """The own fields of all threads after a command."""
    rest = {holder: everyone(value) if everyone else value for holder, value in owns}
    rest[mine] = own
    return tuple(sorted((holder, value) for holder, value in rest.items() if value))


def _note_held(
    machine: Machine,
    thread: ConcreteThread,
    key: Any,
    before: tuple[Any, ...],
    after: tuple[Any, ...],
) -> None:
    """Which locks a thread holds, for people and for the search."""
    was_owner, owner = before[_OWNER], after[_OWNER]
    if was_owner == owner:
        if owner and before[_DEPTH] != after[_DEPTH]:
            _hold(machine.threads[owner - 1], key, "write", after[_DEPTH] - before[_DEPTH])
    else:
        if was_owner:
            _hold(machine.threads[was_owner - 1], key, "write", -before[_DEPTH])
        if owner:
            _hold(machine.threads[owner - 1], key, "write", after[_DEPTH])
    if before[-1] != after[-1]:
        was, own = dict(before[-1]), dict(after[-1])
        for holder in was.keys() | own.keys():
            _hold(machine.threads[holder], key, "read", own.get(holder, 0) - was.get(holder, 0))


def _hold(thread: ConcreteThread, key: Any, mode: str, times: int) -> None:
    if times > 0:
        thread.held = (*thread.held, *((key, mode),) * times)
    for _ in range(-times):
        for index in range(len(thread.held) - 1, -1, -1):
            if thread.held[index][0] == key:
                thread.held = thread.held[:index] + thread.held[index + 1 :]
                break
