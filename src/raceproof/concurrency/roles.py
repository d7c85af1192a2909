"""Which event a role makes, and which keys a model with that role has.

Operand and setting names are the field names of the event; in a model file they are written with
hyphens (`result-pointer`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raceproof.concurrency import events
from raceproof.concurrency.model import Role


@dataclass(frozen=True, slots=True)
class RoleShape:
    event: type[events.Event]
    required: tuple[str, ...] = ()
    """Operands that must be given."""
    optional: tuple[str, ...] = ()
    """Operands that may be given."""
    settings: tuple[str, ...] = ()
    """Other keys that go with the role; all but `size` and `operation` may be left out."""

    @property
    def operands(self) -> tuple[str, ...]:
        return self.required + self.optional

    @property
    def keys(self) -> tuple[str, ...]:
        return self.operands + self.settings

    @property
    def needed(self) -> tuple[str, ...]:
        """Operands and settings without which a model says nothing."""
        extra = {
            events.AtomicOperation: ("operation",),
            events.Allocate: ("size",),
            events.Reallocate: ("size",),
        }
        return self.required + extra.get(self.event, ())


INDIRECT = frozenset({"thread", "lock"})
"""Operands that may be written `"*n"`; the event says so with `is_indirect`."""

_LOCK = ("kind", "object")

ROLES: Mapping[Role, RoleShape] = {
    Role.CREATE: RoleShape(
        events.ThreadCreate,
        ("entry",),
        ("argument", "id_pointer", "attribute"),
        ("id_is_result", "virtual_slot", "success"),
    ),
    Role.JOIN: RoleShape(events.ThreadJoin, ("thread",), ("result_pointer",), ("wait", "success")),
    Role.DETACH: RoleShape(events.ThreadDetach, ("thread",)),
    Role.EXIT_THREAD: RoleShape(events.ThreadExit, (), ("value",)),
    Role.EXIT_PROCESS: RoleShape(events.ProcessExit, (), ("status",)),
    Role.CANCEL: RoleShape(events.ThreadCancel, ("thread",)),
    Role.CANCEL_STATE: RoleShape(events.CancelState, (), ("state", "type")),
    Role.CANCEL_POINT: RoleShape(events.CancelPoint),
    Role.CLEANUP_PUSH: RoleShape(events.CleanupPush, ("routine",), ("argument",)),
    Role.CLEANUP_POP: RoleShape(events.CleanupPop, ("execute",)),
    Role.SELF: RoleShape(events.ThreadSelf),
    Role.LOCK: RoleShape(
        events.LockAcquire, ("lock",), (), (*_LOCK, "mode", "wait", "success", "recursive")
    ),
    Role.UNLOCK: RoleShape(events.LockRelease, ("lock",), (), (*_LOCK, "mode", "recursive")),
    Role.LOCK_INIT: RoleShape(
        events.LockInit, ("lock",), ("attribute",), (*_LOCK, "recursive", "recursive_when")
    ),
    Role.LOCK_DESTROY: RoleShape(events.LockDestroy, ("lock",), (), _LOCK),
    Role.LOCK_ATTRIBUTE: RoleShape(
        events.LockAttribute, ("attribute",), (), ("recursive", "recursive_when")
    ),
    Role.CONDITION_WAIT: RoleShape(
        events.ConditionWait, ("condition", "lock"), (), ("wait", "success")
    ),
    Role.CONDITION_SIGNAL: RoleShape(events.ConditionSignal, ("condition",), (), ("broadcast",)),
    Role.CONDITION_INIT: RoleShape(events.ConditionInit, ("condition",)),
    Role.CONDITION_DESTROY: RoleShape(events.ConditionDestroy, ("condition",)),
    Role.BARRIER_INIT: RoleShape(events.BarrierInit, ("barrier", "count")),
    Role.BARRIER_WAIT: RoleShape(events.BarrierWait, ("barrier",)),
    Role.BARRIER_DESTROY: RoleShape(events.BarrierDestroy, ("barrier",)),
    Role.SEMAPHORE_INIT: RoleShape(
        events.SemaphoreInit, ("semaphore",), ("value",), ("is_result", "initial")
    ),
    Role.SEMAPHORE_WAIT: RoleShape(events.SemaphoreWait, ("semaphore",), (), ("wait", "success")),
    Role.SEMAPHORE_POST: RoleShape(events.SemaphorePost, ("semaphore",)),
    Role.SEMAPHORE_VALUE: RoleShape(events.SemaphoreValue, ("semaphore",), ("result_pointer",)),
    Role.SEMAPHORE_DESTROY: RoleShape(events.SemaphoreDestroy, ("semaphore",)),
    Role.ONCE: RoleShape(events.Once, ("control", "routine"), ("argument",)),
    Role.ONCE_BEGIN: RoleShape(events.OnceBegin, ("control",)),
    Role.ONCE_END: RoleShape(events.OnceEnd, ("control",)),
    Role.ONCE_ABORT: RoleShape(events.OnceAbort, ("control",)),
    Role.ATOMIC_BEGIN: RoleShape(events.AtomicBegin),
    Role.ATOMIC_END: RoleShape(events.AtomicEnd),
    Role.ATOMIC_FUNCTION: RoleShape(events.AtomicFunction),
    Role.ATOMIC_OPERATION: RoleShape(
        events.AtomicOperation,
        ("pointer",),
        ("value", "value_pointer", "expected", "expected_pointer", "result_pointer"),
        ("operation", "size", "returns_new", "returns_success"),
    ),
    Role.ALLOCATE: RoleShape(events.Allocate, (), ("pointer_to",), ("size", "zeroed")),
    Role.REALLOCATE: RoleShape(events.Reallocate, ("pointer",), (), ("size", "zeroed")),
    Role.FREE: RoleShape(events.Free, ("pointer",)),
    Role.SPECIFIC_CREATE: RoleShape(events.SpecificCreate, ("key_pointer",), ("destructor",)),
    Role.SPECIFIC_DELETE: RoleShape(events.SpecificDelete, ("key",)),
    Role.SPECIFIC_GET: RoleShape(events.SpecificGet, ("key",)),
    Role.SPECIFIC_SET: RoleShape(events.SpecificSet, ("key", "value")),
    Role.NONDETERMINISTIC: RoleShape(events.Nondeterministic, (), (), ("signed", "range")),
    Role.ASSUME: RoleShape(events.Assume, ("condition",)),
}

NEVER_RETURNS = frozenset({Role.EXIT_THREAD, Role.EXIT_PROCESS})
