"""Atomic operations by function call, and data of which each thread has its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import AtomicOperationKind
from raceproof.engines.bounded.cursor import Part
from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.ir import Value as Operand
from raceproof.smt import compute
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind

_NO_READ = (AtomicOperationKind.STORE, AtomicOperationKind.CLEAR)


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class Atomics(Part):
    """Single words: atomic ones, and those of one thread."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.instructions = walker.instructions
        self.hidden = walker.hidden
        self.allocation = walker.allocation

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {
            meaning.ThreadCancel: self._unsupported,
            meaning.OnceBegin: self._unsupported,
            meaning.OnceEnd: self._unsupported,
            meaning.OnceAbort: self._unsupported,
            meaning.AtomicOperation: self._atomic,
            meaning.SpecificCreate: self._specific_create,
            meaning.SpecificGet: self._specific_get,
            meaning.SpecificSet: self._specific_set,
        }

    @property
    def null(self) -> Term:
        return self.terms.const(0, self.space.pointer_width)

    def _unsupported(self, event: meaning.Event) -> None:
        self.cursor.cut(f"{event.model.name} is not supported by this engine")
        self.operands.set_result(self.hidden.result_of(event, True))

    # --- thread-specific data ------------------------------------------------------------

    def _specific_create(self, event: meaning.SpecificCreate) -> None:
        assert self.cursor.instruction is not None
        if event.destructor is not None and self.operands.term(event.destructor) is not self.null:
            self.cursor.cut("a destructor of thread-specific data")
        key = self.terms.const(self.cursor.instruction.number + 1, 32)
        self.memory.write(self.operands.term(event.key_pointer), key, is_access=False)
        self.operands.set_result(self.hidden.result_of(event, True))

    def _specific(self, key: Term) -> UnfoldObject | None:
        if not key.is_constant:
            return None
        name = ("specific", self.thread, key.constant)
        return self.space.make(name, BaseKind.THREAD_LOCAL, "specific", 8, is_defined=True)

    def _specific_get(self, event: meaning.SpecificGet) -> None:
        slot = self._specific(self.operands.term(event.key))
        if slot is None:
            self._unsupported(event)
        else:
            self.operands.set_result(self.memory.read_own((slot, 0), self.space.pointer_width // 8))

    def _specific_set(self, event: meaning.SpecificSet) -> None:
        slot = self._specific(self.operands.term(event.key))
        if slot is None:
            self._unsupported(event)
            return
        self.memory.write_own((slot, 0), self.operands.term(event.value))
        self.operands.set_result(self.hidden.result_of(event, True))

    # --- atomic operations ------------------------------------------------------------

    def _atomic(self, event: meaning.AtomicOperation) -> None:
        size = self.allocation.bytes(event.size) or 4
        address, terms = self.operands.term(event.pointer), self.terms
        kind = event.operation
        if self.instructions.may_see(event.call):
            self._unsupported(event)
            return
        with self.cursor.step("update"):
            old = self.memory.read(address, size, is_atomic=True) if kind not in _NO_READ else None
            value = self._atomic_operand(event.value, event.value_pointer, size)
            new, success = self._atomic_result(event, kind, old, value, size)
            if new is not None:
                condition = success
                if success is None and old is not None:
                    condition = self.instructions.changes(old, new)
                self.memory.write(address, new, is_atomic=True, condition=condition)
        if event.expected_pointer is not None and success is not None and old is not None:
            expected = self.operands.term(event.expected_pointer)
            before = self.memory.read(expected, size)
            self.memory.write(expected, terms.ite(success, before, old))
        if event.result_pointer is not None and old is not None:
            self.memory.write(self.operands.term(event.result_pointer), old)
        result = event.call.result
        if result is None:
            return
        width = self.space.width(result.type)
        if event.returns_success and success is not None:
            self.operands.set_result(terms.resize(terms.zext(success, 8), width))
        elif kind is AtomicOperationKind.TEST_AND_SET and old is not None:
            is_set = terms.not_(terms.eq(old, terms.const(0, old.width)))
            self.operands.set_result(terms.zext(is_set, width) if width > 1 else is_set)
        else:
            chosen = new if event.returns_new and new is not None else old
            self.operands.set_result(terms.resize(chosen, width) if chosen is not None else None)

    def _atomic_operand(
        self, value: Operand | None, pointer: Operand | None, size: int
    ) -> Term | None:
        if value is not None:
            return self.terms.resize(self.operands.term(value), size * 8)
        return self.memory.read(self.operands.term(pointer), size) if pointer is not None else None

    def _atomic_result(
        self,
        event: meaning.AtomicOperation,
        kind: AtomicOperationKind,
        old: Term | None,
        value: Term | None,
        size: int,
    ) -> tuple[Term | None, Term | None]:
        """The value to write (None: nothing) and the condition for it."""
        if kind is AtomicOperationKind.LOAD:
            return None, None
        if kind is AtomicOperationKind.CLEAR:
            return self.terms.const(0, size * 8), None
        if kind is AtomicOperationKind.TEST_AND_SET:
            return self.terms.const(1, size * 8), None
        if kind in (AtomicOperationKind.STORE, AtomicOperationKind.EXCHANGE):
            return value, None
        if kind is AtomicOperationKind.COMPARE_EXCHANGE:
            expected = self._atomic_operand(event.expected, event.expected_pointer, size)
            assert old is not None and expected is not None
            return value, self.terms.eq(old, expected)
        assert old is not None and value is not None
        return compute.update(self.terms, kind.value, old, value), None
