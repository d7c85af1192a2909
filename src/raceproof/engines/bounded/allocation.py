"""What the library does to memory: allocation, effects of calls on their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.effects import Product, Reachable, Size
from raceproof.concurrency.model import ReturnKind
from raceproof.engines.bounded.cursor import Part
from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.ir import Value as Operand
from raceproof.smt.terms import Term
from raceproof.verdict import BaseKind

_UNKNOWN_SIZE = 64
_HAVOC_LIMIT = 64
_COPIED_LIMIT = 1024
"""Bytes that `realloc` is followed to copy."""


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class Allocation(Part):
    """Objects that calls make, and bytes that they touch."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.instructions = walker.instructions
        self.hidden = walker.hidden

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {
            meaning.Allocate: self._allocate,
            meaning.Reallocate: self._reallocate,
            meaning.Free: self._free,
        }

    def _set_object(self, pointer: Term, or_null: bool) -> None:
        """A result that is one object, or none."""
        if or_null:
            is_null = self.operands.fresh_input("no object", 1)
            pointer = self.terms.ite(is_null, self.terms.const(0, pointer.width), pointer)
        self.operands.set_result(pointer)

    def new_object(
        self, what: str, size: int, *, zeroed: bool, kind: BaseKind = BaseKind.HEAP
    ) -> UnfoldObject:
        assert self.cursor.instruction is not None
        key = (what, self.thread, self.cursor.label, self.cursor.instruction.number)
        new = self.space.make(
            key, kind, what, size, self.cursor.instruction.position, is_defined=zeroed
        )
        self.cursor.born.append(new.number)
        if new.freed is not None:
            self.cursor.state.forget(new.freed)
        return new

    # --- sizes ------------------------------------------------------------

    def bytes(self, size: Size) -> int | None:
        """How many bytes, if that is known."""
        match size:
            case int():
                return size
            case Operand():
                term = self.operands.term(size)
                return term.constant if term.is_constant else None
            case Product(factors=factors, scale=scale):
                total = scale
                for factor in factors:
                    term = self.operands.term(factor)
                    if not term.is_constant:
                        return None
                    total *= term.constant
                return total
        return None

    def _length(self, size: Size) -> Term | None:
        """The size of an allocation as a term."""
        factors: tuple[Operand, ...] = ()
        scale = 1
        if isinstance(size, Product):
            factors, scale = size.factors, size.scale
        elif isinstance(size, Operand):
            factors = (size,)
        width = self.space.pointer_width
        result = self.terms.const(scale, width)
        limit = self.terms.const(_UNKNOWN_SIZE, width)
        for factor in factors:
            term = self.terms.resize(self.operands.term(factor), width)
            self.cursor.require(self.terms.compare("ule", term, limit))
            result = self.terms.binary("mul", term, result)
        return result if factors else None

    # --- effects ------------------------------------------------------------

    def effects(self, event: meaning.Event, is_written: bool = False) -> None:
        """`is_written`: somebody else says which values are written."""
        with self.cursor.step("call"):
            for effect in event.effects:
                size = self.bytes(effect.size)
                address = self.operands.term(effect.pointer)
                if isinstance(effect.size, Reachable):
                    self.cursor.cut(f"{event.model.name} follows pointers")
                if size is None:
                    self.unfolder.result.is_exact = False
                if effect.is_read:
                    self.memory.touch(address, size, is_write=False, is_atomic=effect.is_atomic)
                if effect.is_write:
                    self.memory.touch(address, size, is_write=True, is_atomic=effect.is_atomic)
                    if not is_written or isinstance(event, meaning.LibraryCall):
                        self._havoc(address, size)

    def _havoc(self, address: Term, size: int | None) -> None:
        """The library wrote something here: an input, when it is read."""
        self.unfolder.result.is_exact = False
        for (target, start), length, condition in self.memory.extents(address, size):
            if length > _HAVOC_LIMIT:
                self.cursor.cut("a library function that writes a large object")
            end = start + min(length, _HAVOC_LIMIT)
            while start < end:
                left = end - start
                step = left if left in (1, 2, 8) else min(left, 4) if left > 3 else 1
                value = self.terms.var(f"uninitialised by {self.cursor.name('library')}", step * 8)
                if value.width == self.space.pointer_width:
                    self.sharing.define(value, frozenset([UNKNOWN]))
                pointer = self.space.pointer(target, start)
                self.memory.write(pointer, value, is_access=False, condition=condition)
                start += step

    def plain(self, event: meaning.Event) -> None:
        """A call that returns something and does no more."""
        result = event.call.result
        if result is None:
            return
        returns = event.returns
        width = self.space.width(result.type)
        match returns.kind:
            case ReturnKind.CONSTANT:
                self.operands.set_result(self.terms.const(returns.constant, width))
            case ReturnKind.ARGUMENT:
                assert event.returned is not None
                argument = self.terms.resize(self.operands.term(event.returned), width)
                if returns.or_fresh:
                    fresh = self.new_object(event.model.name, _UNKNOWN_SIZE, zeroed=False)
                    fresh.is_partial = True
                    is_null = self.terms.eq(argument, self.terms.const(0, width))
                    argument = self.terms.ite(is_null, self.space.pointer(fresh), argument)
                self._set_object(argument, returns.or_null)
            case ReturnKind.FRESH:
                fresh = self.new_object(event.model.name, _UNKNOWN_SIZE, zeroed=False)
                fresh.is_partial = True
                self._set_object(self.space.pointer(fresh), returns.or_null)
            case ReturnKind.STATIC | ReturnKind.THREAD_LOCAL:
                key = ("library", returns.name)
                if returns.kind is ReturnKind.THREAD_LOCAL:
                    key = ("library", f"{returns.name} {self.thread}")
                known = self.space.make(key, BaseKind.EXTERNAL, returns.name, _UNKNOWN_SIZE)
                known.is_partial = True
                self._set_object(self.space.pointer(known), returns.or_null)
            case _:
                self.unfolder.result.is_exact = False
                self.operands.set_result(None)

    # --- allocation ------------------------------------------------------------

    def _allocate(self, event: meaning.Allocate) -> None:
        size = self.bytes(event.size)
        length = None
        if size is None or size > 1 << 20:
            self.cursor.cut("an allocation whose size depends on data")
            length = self._length(event.size)
            size = _UNKNOWN_SIZE
        target = self.new_object("malloc", size, zeroed=event.zeroed)
        target.length = length
        if length is not None:
            self.cursor.require(
                self.terms.compare("ule", length, self.terms.const(size, length.width))
            )
        new = self.space.pointer(target)
        if event.pointer_to is not None:
            self.memory.write(self.operands.term(event.pointer_to), new)
            self.operands.set_result(self.hidden.result_of(event, True))
        else:
            self.operands.set_result(new)

    def _reallocate(self, event: meaning.Reallocate) -> None:
        size = self.bytes(event.size)
        if size is None or size > _COPIED_LIMIT:
            self.cursor.cut("an allocation whose size depends on data")
            size = _UNKNOWN_SIZE
        old = self.operands.term(event.pointer)
        new = self.new_object("realloc", size, zeroed=event.zeroed)
        sources = self.memory.extents(old, None)
        if len(sources) > 1:
            self.cursor.cut("a block of memory among several")
        with self.cursor.step("copy"):
            for (source, offset), length, _ in sources:
                pointer = self.space.pointer(source, offset)
                self.instructions.copy_bytes(
                    self.space.pointer(new), pointer, min(length, size), is_access=False
                )
            self._free_block(old)
        self.operands.set_result(self.space.pointer(new))

    def _free(self, event: meaning.Free) -> None:
        with self.cursor.step("write"):
            self._free_block(self.operands.term(event.pointer))

    def _free_block(self, pointer: Term) -> None:
        self.memory.touch(pointer, None, is_write=True)
        targets = sorted(number for number, offset in self.sharing.targets(pointer) if offset == 0)
        blocks = [(self.space.all[number], 0) for number in targets]
        blocks = [block for block in blocks if block[0].kind is BaseKind.HEAP]
        self.memory.use(pointer, blocks)
        self.memory.note_freed(pointer, blocks)
