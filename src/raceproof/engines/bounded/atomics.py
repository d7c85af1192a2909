"""Atomic operations by function call, and data of which each thread has its own."""

from __future__ import annotations

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import AtomicOperationKind
from raceproof.engines.bounded.allocation import AllocatingWalker
from raceproof.engines.bounded.objects import MemoryObject
from raceproof.ir import Value as Operand
from raceproof.smt import compute
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind

_NO_READ = (AtomicOperationKind.STORE, AtomicOperationKind.CLEAR)


class AtomicsWalker(AllocatingWalker):
    """Single words: atomic ones, and those of one thread."""

    @property
    def null(self) -> Term:
        return self.terms.const(0, self.space.pointer_width)

    def _unsupported(self, event: meaning.Event) -> None:
        self.cut(f"{event.model.name} is not supported by this engine")
        self.set_result(self.result_of(event, True))

    # --- thread-specific data ------------------------------------------------------------

    def _specific_create(self, event: meaning.SpecificCreate) -> None:
        assert self.instruction is not None
        if event.destructor is not None and self.term(event.destructor) is not self.null:
            self.cut("a destructor of thread-specific data")
        key = self.terms.const(self.instruction.number + 1, 32)
        self.write(self.term(event.key_pointer), key, is_access=False)
        self.set_result(self.result_of(event, True))

    def _specific(self, key: Term) -> MemoryObject | None:
        if not key.is_constant:
            return None
        name = ("specific", self.thread, key.constant)
        return self.space.make(name, BaseKind.THREAD_LOCAL, "specific", 8, is_defined=True)

    def _specific_get(self, event: meaning.SpecificGet) -> None:
        slot = self._specific(self.term(event.key))
        if slot is None:
            self._unsupported(event)
        else:
            self.set_result(self.read_own((slot, 0), self.space.pointer_width // 8))

    def _specific_set(self, event: meaning.SpecificSet) -> None:
        slot = self._specific(self.term(event.key))
        if slot is None:
            self._unsupported(event)
            return
        self.write_own((slot, 0), self.term(event.value))
        self.set_result(self.result_of(event, True))

    # --- atomic operations ------------------------------------------------------------

    def _atomic(self, event: meaning.AtomicOperation) -> None:
        size = self._bytes(event.size) or 4
        address, terms = self.term(event.pointer), self.terms
        kind = event.operation
        if self.may_see(event.call):
            self._unsupported(event)
            return
        with self.step("update"):
            old = self.read(address, size, is_atomic=True) if kind not in _NO_READ else None
            value = self._atomic_operand(event.value, event.value_pointer, size)
            new, success = self._atomic_result(event, kind, old, value, size)
            if new is not None:
                condition = success
                if success is None and old is not None:
                    condition = self.changes(old, new)
                self.write(address, new, is_atomic=True, condition=condition)
        if event.expected_pointer is not None and success is not None and old is not None:
            expected = self.term(event.expected_pointer)
            before = self.read(expected, size)
            self.write(expected, terms.ite(success, before, old))
        if event.result_pointer is not None and old is not None:
            self.write(self.term(event.result_pointer), old)
        result = event.call.result
        if result is None:
            return
        width = self.space.width(result.type)
        if event.returns_success and success is not None:
            self.set_result(terms.resize(terms.zext(success, 8), width))
        elif kind is AtomicOperationKind.TEST_AND_SET and old is not None:
            is_set = terms.not_(terms.eq(old, terms.const(0, old.width)))
            self.set_result(terms.zext(is_set, width) if width > 1 else is_set)
        else:
            chosen = new if event.returns_new and new is not None else old
            self.set_result(terms.resize(chosen, width) if chosen is not None else None)

    def _atomic_operand(
        self, value: Operand | None, pointer: Operand | None, size: int
    ) -> Term | None:
        if value is not None:
            return self.terms.resize(self.term(value), size * 8)
        return self.read(self.term(pointer), size) if pointer is not None else None

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
