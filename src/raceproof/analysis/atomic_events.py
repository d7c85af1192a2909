"""Atomic operations that stayed calls of library functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.analysis.state import Content, ThreadState
from raceproof.analysis.transfer import scalar
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import AtomicOperationKind
from raceproof.domains import value_operations
from raceproof.domains import values as domain
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, IntType, Value

if TYPE_CHECKING:
    from raceproof.analysis.calls import Calls
    from raceproof.analysis.interpreter import Activation

_ARITHMETIC = {
    AtomicOperationKind.ADD: "add",
    AtomicOperationKind.SUB: "sub",
    AtomicOperationKind.AND: "and",
    AtomicOperationKind.OR: "or",
    AtomicOperationKind.XOR: "xor",
}


class AtomicEvents:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.run = calls.run

    def handlers(self) -> dict[type[ev.Event], Any]:
        return {ev.AtomicOperation: self._atomic}

    def _atomic(
        self, act: Activation, call: Call, event: ev.AtomicOperation, state: ThreadState
    ) -> list[ThreadState]:
        memory = self.calls.memory
        size = event.size if isinstance(event.size, int) else None
        if size is None or event.value_pointer is not None or event.result_pointer is not None:
            return self._generic_atomic(act, call, event, size, state)
        type_ = IntType(size * 8)
        operation = event.operation
        old: Content | None = domain.any_integer(size * 8)
        if operation not in (AtomicOperationKind.STORE, AtomicOperationKind.CLEAR):
            old = memory.load(act, call, state, event.pointer, type_, True)
            if old is None:
                return []
        before = scalar(old if old is not None else domain.UNKNOWN)
        operand = (
            domain.constant(0, size * 8)
            if event.value is None
            else scalar(self.run.value(act, state, event.value))
        )
        after: AbstractValue | None = None
        if operation in _ARITHMETIC:
            after = value_operations.binary(_ARITHMETIC[operation], before, operand, size * 8)
        elif operation in (
            AtomicOperationKind.STORE,
            AtomicOperationKind.EXCHANGE,
            AtomicOperationKind.CLEAR,
        ):
            after = operand
        elif operation is AtomicOperationKind.TEST_AND_SET:
            after = domain.constant(1, size * 8)
        elif operation is not AtomicOperationKind.LOAD:
            after = domain.join(before, operand)
        if after is not None and not memory.store(
            act, call, state, event.pointer, type_, after, True
        ):
            return []
        if event.expected_pointer is not None:
            expected = memory.address(act, state, event.expected_pointer)
            memory.record(act, call, state, event.expected_pointer, expected, size, True, False)
            for base in expected.pointers:
                memory.ensure(state, base)
            seen = domain.join(before, memory.read(state, expected, 0, size, size * 8))
            memory.write(state, expected, 0, size, seen)
        result = None if event.returns_success else (after if event.returns_new else before)
        self.calls.result(act, call, state, result)
        return [state]

    def _generic_atomic(
        self,
        act: Activation,
        call: Call,
        event: ev.AtomicOperation,
        size: int | None,
        state: ThreadState,
    ) -> list[ThreadState]:
        """Operands by address: bytes are copied, each copy may have been made or not."""
        self.calls.library.effects(act, call, event, state, is_written=False)
        copies: list[tuple[Value | None, Value | None]] = [(event.pointer, event.value_pointer)]
        if event.operation is not AtomicOperationKind.STORE:
            copies = [
                (event.result_pointer, event.pointer),
                (event.expected_pointer, event.pointer),
                *copies,
            ]
        memory = self.calls.memory
        for target, source in copies:
            if target is not None and source is not None:
                before = state.memory
                to, origin = memory.address(act, state, target), memory.address(act, state, source)
                memory.copy_bytes(state, to, origin, size)
                state.memory = before.join(state.memory)
        self.calls.result(act, call, state, None)
        return [state]
