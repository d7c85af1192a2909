"""Locks, conditions, once and atomic sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.analysis.facets.facet import Acquire, Release
from raceproof.analysis.locks import (
    ATOMIC,
    LockKey,
    Symbol,
    is_countable,
    may_share_lock,
    once_lock,
    possible_locks,
)
from raceproof.analysis.state import ThreadState
from raceproof.analysis.symbols import symbol_of
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import LockKind, LockMode, Success
from raceproof.domains import integers as ints
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, Value

if TYPE_CHECKING:
    from raceproof.analysis.calls import Calls
    from raceproof.analysis.interpreter import Activation


_NOT_OWNER = 1
_RECURSIVE, _ERROR_CHECKING = 1, 2
"""Kinds of a mutex, as `PTHREAD_..._MUTEX_INITIALIZER_NP` set them."""


def _is_held_for_reading(state: ThreadState, key: LockKey) -> bool:
    """Is a lock surely held, and for reading? Its holder may take it for reading once more: only
    who holds a read-write lock for writing is refused (EDEADLK). Where ways join that hold it in
    different modes, it counts as not held."""
    return any(one.lock == key and not one.is_write for one in state.facets.must_lockset)


class LockEvents:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.run = calls.run
        self.objects = calls.analysis.objects
        self._kind_offset = 16 if calls.memory.bits == 64 else 12
        """Where the kind of a mutex stands, as static initialisers set it."""

    def handlers(self) -> dict[type[ev.Event], Any]:
        return {
            ev.LockAcquire: self._acquire,
            ev.LockRelease: self._release,
            ev.ConditionWait: self._wait,
            ev.AtomicBegin: self._atomic_begin,
            ev.AtomicEnd: self._atomic_end,
            ev.AtomicFunction: self._atomic_function,
            ev.Once: self._once,
            ev.BarrierWait: self._synchronise,
            ev.SemaphoreWait: self._synchronise,
        }

    # --- locks ------------------------------------------------------------

    def _address(
        self, act: Activation, state: ThreadState, lock: Value, is_indirect: bool
    ) -> AbstractValue:
        address = self.calls.memory.address(act, state, lock)
        if is_indirect:
            bits = self.calls.memory.bits
            address = self.calls.memory.read(state, address, 0, bits // 8, bits)
        return address

    def exact(self, address: AbstractValue) -> LockKey | None:
        """The one lock that an address stands for, if it does."""
        place = address.pointers_only().only_address
        if place is None or self.objects.is_weak(place[0]):
            return None
        return LockKey(*place)

    def _acquire(
        self, act: Activation, call: Call, event: ev.LockAcquire, state: ThreadState
    ) -> list[ThreadState]:
        self.calls.library.effects(act, call, event, state)
        failed: list[ThreadState] = []
        if event.success is not Success.ALWAYS:
            failure = state.copy()
            self.calls.result(act, call, failure, self._outcome(call, event.success, False))
            failed.append(failure)
        address = self._address(act, state, event.lock, event.is_indirect)
        is_write = event.mode is not LockMode.READ
        key = self.exact(address)
        kind = self._kind(address)
        counts = self.calls.analysis.counts_relocks and kind != _ERROR_CHECKING
        reads_again = not is_write and key is not None and _is_held_for_reading(state, key)
        may_refuse = not counts or (event.kind is LockKind.READ_WRITE and not reads_again)
        if may_refuse and may_share_lock(
            state.facets.may_lockset, possible_locks(address, self.objects.external)
        ):
            refused = state.copy()
            self.calls.result(act, call, refused, self._outcome(call, Success.ZERO, False))
            failed.append(refused)
        symbol = None
        if key is None and not event.is_indirect:
            symbol = symbol_of(self.run, act, event.lock, state)
        state.facets = state.facets.acquire(
            Acquire(
                key,
                is_write,
                counts,
                symbol,
                possible_locks(address, self.objects.external),
                key is not None and self._is_lost(state, key, kind, counts),
                self.calls.analysis.threads[self.run.thread].created_under,
            )
        )
        if event.success is Success.ALWAYS:
            self.calls.result(act, call, state, self._zero(call))
        else:
            self.calls.result(act, call, state, self._outcome(call, event.success, True))
        return [state, *failed]

    def _is_lost(self, state: ThreadState, key: LockKey, kind: int | None, counts: bool) -> bool:
        """Is it unclear how often the owner of a lock holds it after one more `lock`?"""
        if key not in state.facets.may_lockset:
            return False
        if counts:
            return not is_countable(state.facets.must_lockset, key)
        is_held = any(held.lock == key for held in state.facets.must_lockset)
        return not is_held or kind == _RECURSIVE or self.calls.analysis.nests_locks

    def _kind(self, address: AbstractValue) -> int | None:
        """The kind that a static initialiser gave to a mutex, if it is clear."""
        start = self.calls.analysis.threads.main.start
        place = address.pointers_only().only_address
        if start is None or place is None or start.memory.get(place[0]) is None:
            return None
        at = ints.constant(place[1] + self._kind_offset, self.calls.memory.bits)
        return start.memory.read(place[0], at, 4).constant

    def _outcome(self, call: Call, success: Success, is_success: bool) -> AbstractValue | None:
        """The result that tells success from failure."""
        if call.result is None:
            return None
        width = self.run.evaluator.width(call.result.type)
        if width is None:
            return None
        from raceproof.domains import value_refinement

        zero = (success is Success.ZERO) == is_success
        anything = domain.any_integer(width)
        return value_refinement.refine_truth(anything, width, not zero)

    def _zero(self, call: Call) -> AbstractValue | None:
        if call.result is None:
            return None
        width = self.run.evaluator.width(call.result.type)
        return None if width is None else domain.constant(0, width)

    def _zero_or(self, call: Call, error: int) -> AbstractValue | None:
        zero = self._zero(call)
        if call.result is None or zero is None:
            return None
        width = self.run.evaluator.width(call.result.type)
        assert width is not None
        return domain.join(zero, domain.constant(error, width))

    def _release(
        self, act: Activation, call: Call, event: ev.LockRelease, state: ThreadState
    ) -> list[ThreadState]:
        self.calls.library.effects(act, call, event, state)
        address = self._address(act, state, event.lock, event.is_indirect)
        symbol = None if event.is_indirect else symbol_of(self.run, act, event.lock, state)
        result = self._zero(call)
        if not self._must_own(address, event, state):
            result = self._zero_or(call, _NOT_OWNER)
        self.release(state, address, symbol)
        self.calls.result(act, call, state, result)
        return [state]

    def _must_own(self, address: AbstractValue, event: ev.LockRelease, state: ThreadState) -> bool:
        """Is an unlock sure to succeed? A mutex of a special kind refuses it to all but its owner;
        a normal one does not tell."""
        if event.kind is not LockKind.MUTEX:
            return True
        key = self.exact(address)
        if key is not None and any(held.lock == key for held in state.facets.must_lockset):
            return True
        analysis = self.calls.analysis
        return self._kind(address) == 0 and analysis.counts_relocks and not analysis.nests_locks

    def release(self, state: ThreadState, address: AbstractValue, symbol: Symbol | None) -> None:
        """Gives back every lock that may be meant, but for one more hold of a recursive one."""
        key = self.exact(address)

        def may_be(lock: LockKey) -> bool:
            if address.is_unknown or not address.pointers:
                return True
            offsets = address.pointers.get(lock.base)
            return offsets is not None and offsets.contains(lock.offset & (1 << offsets.width) - 1)

        def may_be_symbol(other: Symbol) -> bool:
            if symbol is None or other == symbol:
                return True
            if other.root == symbol.root and other.terms == symbol.terms:
                return other.constant == symbol.constant
            return key is None or not isinstance(other.root, int) or other.root == key.base

        state.facets = state.facets.release(Release(key, may_be, may_be_symbol, is_possible=True))

    def _wait(
        self, act: Activation, call: Call, event: ev.ConditionWait, state: ThreadState
    ) -> list[ThreadState]:
        """The lock is given back and taken again: in between others run, values may change."""
        self.calls.library.effects(act, call, event, state)
        state.facets = state.facets.wait_for_others(gives_up_lock=True)
        result = self._zero(call) if event.success is Success.ALWAYS else None
        self.calls.result(act, call, state, result)
        return [state]

    def _synchronise(
        self, act: Activation, call: Call, event: ev.Event, state: ThreadState
    ) -> list[ThreadState]:
        """Waits for others; what that orders is not followed."""
        state.facets = state.facets.wait_for_others()
        return self.calls.library.plain(act, call, event, state)

    # --- sections ------------------------------------------------------------

    def _atomic_begin(
        self, act: Activation, call: Call, event: ev.Event, state: ThreadState
    ) -> list[ThreadState]:
        state.facets = state.facets.acquire(Acquire(ATOMIC, True, is_counted=False))
        return [state]

    def _atomic_end(
        self, act: Activation, call: Call, event: ev.Event, state: ThreadState
    ) -> list[ThreadState]:
        state.facets = state.facets.release(Release(ATOMIC))
        return [state]

    def _atomic_function(
        self, act: Activation, call: Call, event: ev.AtomicFunction, state: ThreadState
    ) -> list[ThreadState]:
        was_atomic = state.facets.holds_atomic
        state.facets = state.facets.acquire(Acquire(ATOMIC, True, is_counted=False))
        after = self.calls.enter(act, call, event.function, state)
        if not was_atomic:
            for left in after:
                left.facets = left.facets.release(Release(ATOMIC))
        return after

    def _once(
        self, act: Activation, call: Call, event: ev.Once, state: ThreadState
    ) -> list[ThreadState]:
        """The routine runs under a lock that whoever is past this call holds for reading: inside
        excludes inside and everything after it."""
        self.calls.library.effects(act, call, event, state)
        key = self.exact(self.calls.memory.address(act, state, event.control))
        skipped = state.copy()
        inside = state.copy()
        lock = None if key is None else once_lock(key)
        if lock is not None:
            inside.facets = inside.facets.acquire(Acquire(lock, True))
        arguments = () if event.argument is None else (event.argument,)
        after = self.calls.library.call_back(act, call, event.routine, arguments, inside)
        states = [*after, skipped]
        for left in states:
            if lock is not None:
                left.facets = left.facets.release(Release(lock))
                left.facets = left.facets.acquire(Acquire(lock, False, is_counted=False))
            self.calls.result(act, call, left, self._zero(call))
        return states
