"""Which row of the table of synchronisation a call means, and what it returns.

The table itself is `semantics.synchronisation`; here the models of functions are tied to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from raceproof.concurrency.model import FunctionModel, LockKind, LockMode, Role, Success, Wait
from raceproof.semantics.synchronisation import CALLS, CONSTANTS, SyncCall

SYNCHRONISING: Final = frozenset(
    {
        *(Role.LOCK, Role.UNLOCK, Role.LOCK_INIT, Role.LOCK_DESTROY, Role.LOCK_ATTRIBUTE),
        *(Role.CONDITION_WAIT, Role.CONDITION_SIGNAL, Role.CONDITION_INIT, Role.CONDITION_DESTROY),
        *(Role.BARRIER_INIT, Role.BARRIER_WAIT, Role.BARRIER_DESTROY),
        *(Role.SEMAPHORE_INIT, Role.SEMAPHORE_WAIT, Role.SEMAPHORE_POST, Role.SEMAPHORE_VALUE),
        *(Role.SEMAPHORE_DESTROY, Role.ONCE, Role.ONCE_BEGIN, Role.ONCE_END, Role.ONCE_ABORT),
    }
)
"""Roles that the table describes."""


def sync_call(model: FunctionModel) -> SyncCall:
    """What a function with one of these roles does."""
    role = model.role
    if role is Role.LOCK and model.kind is LockKind.READ_WRITE:
        return CALLS["lock shared" if model.mode is LockMode.READ else "lock exclusive"]
    if role is Role.LOCK_DESTROY and model.kind is LockKind.MUTEX:
        return CALLS["mutex-destroy"]
    assert role is not None
    return CALLS[role]


def flags_of(model: FunctionModel) -> dict[str, bool]:
    """What the model says of how the call is done. Whether a lock is recursive may depend on an
    argument, too (`recursive_when`)."""
    return {
        "recursive": bool(model.recursive),
        "tries": model.wait is Wait.TRY,
        "timed": model.wait is Wait.TIMED,
        "broadcast": bool(model.broadcast),
    }


def waits(model: FunctionModel) -> bool:
    """Whether a call blocks until it can have what it wants; a condition wait always blocks until
    it has the lock again."""
    return model.wait is Wait.BLOCK or model.role is Role.CONDITION_WAIT


_C11: Final[Mapping[int, int]] = {CONSTANTS["BUSY"]: 1, CONSTANTS["TIMED_OUT"]: 4}
"""`thrd_busy`, `thrd_timedout`; `thrd_error` for the rest."""
_C11_ERROR: Final = 2
_C11_NAMES: Final = ("mtx_", "cnd_", "thrd_", "tss_", "call_once")


def error_value(model: FunctionModel, name: str, error: int) -> int | None:
    """What a call returns that fails for this reason; None if we only know that it says so."""
    if model.success is Success.NONZERO:
        return 0
    if name.startswith(_C11_NAMES):
        return _C11.get(error, _C11_ERROR)
    if name.startswith("pthread_"):
        return error
    if name.startswith("sem_"):
        return -1
    if name.startswith("uv_"):
        return -error
    return None


def success_value(model: FunctionModel) -> int:
    """What a call returns that did what it is for."""
    return 1 if model.success is Success.NONZERO else 0
