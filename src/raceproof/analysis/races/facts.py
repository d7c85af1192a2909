"""What the reasons may ask about the program."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar, cast

from raceproof.analysis.backend import Analysed
from raceproof.analysis.escape import escaped_bases
from raceproof.analysis.locks import LockKey, control_of, is_once
from raceproof.analysis.records import RawAccess
from raceproof.concurrency.events import BarrierWait, ConditionWait, SemaphoreWait
from raceproof.ir import Call

N = TypeVar("N")
T = TypeVar("T")
_CONTROL = 8
"""No control of `once` is larger."""
_HANDSHAKES = (BarrierWait, ConditionWait, SemaphoreWait)


def _resets(access: RawAccess, lock: LockKey) -> bool:
    if access.base != lock.base:
        return False
    low, high = access.offsets.signed_range()
    at = control_of(lock)
    if at >= high + (at + 1 if access.size is None else access.size) or low >= at + _CONTROL:
        return False
    return bool(access.facets.may_parallel) or any(
        held.lock == lock for held in access.facets.must_lockset
    )


class Facts:
    def __init__(self, analysis: Analysed) -> None:
        self.analysis = analysis
        self.objects = analysis.objects
        self.threads = analysis.threads
        self.escaped = escaped_bases(analysis)
        self._derived: dict[type, object] = {}
        self.many = sum(info.bit for info in analysis.threads.all if not info.is_unique)
        """Bit set of the threads of which several instances may run."""

    def derived(self, kind: type[N], derive: Callable[[N], T]) -> T:
        """What follows from the notes of a facet, computed once."""
        if kind not in self._derived:
            self._derived[kind] = derive(self.analysis.notes.of(kind))
        return cast("T", self._derived[kind])

    @cached_property
    def reset(self) -> frozenset[LockKey]:
        """The locks of `once` whose control the program writes itself, while others run or after it
        has passed the call: the routine may run again, so being past it means nothing."""
        accesses = [a for info in self.threads.all for a in info.records.accesses.values()]
        used = {held.lock for a in accesses for held in a.facets.must_lockset if is_once(held.lock)}
        bases = {lock.base for lock in used}
        writes = [a for a in accesses if a.is_write and a.base in bases]
        return frozenset(lock for lock in used if any(_resets(a, lock) for a in writes))

    @cached_property
    def has_handshakes(self) -> bool:
        """Do threads wait for each other by more than locks and joins? Then an order that the
        analysis does not see may keep two accesses apart."""
        events = self.analysis.events
        called = (
            events.of(instruction)
            for _, instruction in self.analysis.program.all_instructions()
            if isinstance(instruction, Call)
        )
        return any(
            event is not None and (isinstance(event, _HANDSHAKES) or event.model.opens_channel)
            for event in called
        )
