"""Mutexes, read-write locks and conditions.

Two bytes say what a lock is doing: 0 free, the owner's number plus one with its depth and kind, or
for a read-write lock the number of readers and `WRITER`. Taking it is one step that reads them, can
only take place if they say so, and writes them.

A thread that waits on a condition may wake up at any time, as POSIX allows. Only a wait with a time
limit tells why it ended: it has a variable of its own, and a signal picks one of those that wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import LockKind, LockMode, Wait
from raceproof.engines.bounded.cursor import Part
from raceproof.engines.bounded.objects import MemoryObject
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.smt.terms import Term

_WRITER = 0x80
_DEPTH = 1 << 8
_CHECKING = 1 << 14
_RECURSIVE = 1 << 15
_DEPTHS = (_CHECKING - 1) & ~(_DEPTH - 1)
_STATIC_KINDS = {1: _RECURSIVE, 2: _CHECKING}
"""How the C library numbers the kinds of mutexes, in attributes and initialisers."""
_DEADLOCK = 35
_NOT_OWNER = 1
_IDLE, _WAITING, _WOKEN = 0, 1, 2


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class Locks(Part):
    """Locks, and waiting with one."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.memory = walker.memory
        self.operands = walker.operands
        self.hidden = walker.hidden

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {
            meaning.LockAcquire: self.acquire,
            meaning.LockRelease: self.release,
            meaning.LockInit: self.initialise_lock,
            meaning.LockAttribute: self.set_attribute,
            meaning.ConditionWait: self.wait,
            meaning.ConditionSignal: self.signal,
        }

    def acquire(self, event: meaning.LockAcquire) -> None:
        address = self.hidden.operand_address(event.lock, event.is_indirect)
        lock = self.hidden.shadow(address)
        if event.kind is LockKind.READ_WRITE:
            kind = self.terms.const(0, 16)
        else:
            kind = self._kind_at(address, event.recursive)
        with self.cursor.step("lock"):
            old = self.terms.binary("bvor", self.hidden.peek(lock, 2), kind)
            is_free, is_refused, new = self._lock_transition(event, old)
            if event.wait is Wait.BLOCK:
                self.hidden.wait_until(self.terms.or_(is_free, is_refused))
                self.hidden.poke(lock, new, self._unless(is_refused))
                result = self.hidden.result_of(event, True)
                if is_refused is not self.terms.false and isinstance(result, Term):
                    refusal = self.terms.const(_DEADLOCK, result.width)
                    result = self.terms.ite(is_refused, refusal, result)
                self.operands.set_result(result)
                return
            self.unfolder.notice_trials()
            self.hidden.poke(lock, new, is_free)
            self.hidden.set_choice(event, is_free)

    def _unless(self, condition: Term) -> Term | None:
        return None if condition is self.terms.false else self.terms.not_(condition)

    def _kind_at(self, address: Term, is_recursive: bool) -> Term:
        """The kind of a mutex as far as its initialiser or the called function says."""
        if is_recursive:
            self.unfolder.notice_kinds_of_locks()
            return self.terms.const(_RECURSIVE, 16)
        result = self.terms.const(0, 16)
        field = 12 if self.space.pointer_width == 32 else 16
        for number, offset in self.sharing.targets(address):
            target = self.space.all[number] if number >= 0 else None
            if target is None or not target.initial or offset is None:
                continue
            initial = target.initial.get(offset + field)
            kind = _STATIC_KINDS.get(initial.constant, 0) if initial and initial.is_constant else 0
            if kind:
                self.unfolder.notice_kinds_of_locks()
                here = self.memory.at(address, (target, offset))
                result = self.terms.ite(here, self.terms.const(kind, 16), result)
        return result

    def _lock_transition(self, event: meaning.LockAcquire, old: Term) -> tuple[Term, Term, Term]:
        """Whether the lock can be had, whether that is refused at once, its state with us."""
        terms = self.terms
        me = terms.const(self.thread + 1, 16)
        zero = terms.const(0, 16)
        if event.kind is LockKind.READ_WRITE:
            written = terms.const(_WRITER + self.thread + 1, 16)
            is_own = terms.eq(old, written)
            if event.mode is LockMode.READ:
                is_free = terms.compare("ult", old, terms.const(_WRITER, 16))
                return is_free, is_own, terms.binary("add", old, terms.const(1, 16))
            return terms.eq(old, zero), is_own, written
        if not self.unfolder.has_kinds_of_locks:
            return terms.eq(old, zero), terms.false, me
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        is_owner = terms.eq(owner, me)
        is_mine = terms.and_(terms.extract(old, 15, 15), is_owner)
        is_refused = terms.and_(terms.extract(old, 14, 14), is_owner)
        is_free = terms.eq(owner, zero)
        taken = terms.binary("bvor", old, me)
        deeper = terms.binary("add", old, terms.const(_DEPTH, 16))
        return terms.or_(is_free, is_mine), is_refused, terms.ite(is_free, taken, deeper)

    def release(self, event: meaning.LockRelease) -> None:
        address = self.hidden.operand_address(event.lock, event.is_indirect)
        lock = self.hidden.shadow(address)
        kind = self.terms.const(0, 16)
        if event.kind is not LockKind.READ_WRITE:
            kind = self._kind_at(address, event.recursive)
        with self.cursor.step("unlock"):
            is_refused = self._release(lock, event.kind, kind)
        result = self.hidden.result_of(event, True)
        if is_refused is not self.terms.false and isinstance(result, Term):
            result = self.terms.ite(is_refused, self.terms.const(_NOT_OWNER, result.width), result)
        self.operands.set_result(result)

    def _release(self, lock: Term, kind: LockKind, initial: Term | None = None) -> Term:
        """Gives it back; whether that is refused: only a mutex of a special kind tells."""
        terms = self.terms
        zero = terms.const(0, 16)
        old = self.hidden.peek(lock, 2)
        if kind is LockKind.READ_WRITE:
            is_writer = terms.compare("uge", old, terms.const(_WRITER, 16))
            is_free = terms.eq(old, zero)
            fewer = terms.binary("sub", old, terms.const(1, 16))
            self.hidden.poke(lock, terms.ite(terms.or_(is_writer, is_free), zero, fewer))
            return terms.false
        me = terms.const(self.thread + 1, 16)
        anyone = self.unfolder.limits.anyone_unlocks
        if not self.unfolder.has_kinds_of_locks:
            self.hidden.poke(lock, zero, None if anyone else terms.eq(old, me))
            return terms.false
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        is_mine = terms.true if anyone else terms.eq(owner, me)
        depth = terms.binary("bvand", old, terms.const(_DEPTHS, 16))
        freed = terms.binary("bvand", old, terms.const(_RECURSIVE | _CHECKING, 16))
        fewer = terms.binary("sub", old, terms.const(_DEPTH, 16))
        if initial is not None:
            freed = terms.binary("bvor", freed, initial)
        self.hidden.poke(lock, terms.ite(terms.eq(depth, zero), freed, fewer), is_mine)
        is_special = terms.not_(terms.eq(freed, zero))
        return terms.and_(is_special, terms.not_(terms.eq(owner, me)))

    def initialise_lock(self, event: meaning.LockInit) -> None:
        lock = self.hidden.shadow(self.hidden.operand_address(event.lock, event.is_indirect))
        kind = self._kind_asked(event, event.recursive)
        with self.cursor.step("init"):
            if event.recursive is None and event.attribute is not None:
                attribute = self.operands.term(event.attribute)
                if self.sharing.targets(attribute) - {UNKNOWN}:
                    kind = self._kind_of_attribute(attribute)
            self.hidden.poke(lock, kind)
        self.operands.set_result(self.hidden.result_of(event, True))

    def _kind_of_attribute(self, attribute: Term) -> Term:
        """The kind stands in the first byte, so that a copy of the attribute says the same."""
        terms = self.terms
        number = self.hidden.peek(attribute)
        kind = terms.const(0, 16)
        for one, meant in _STATIC_KINDS.items():
            kind = terms.ite(terms.eq(number, self.hidden.byte(one)), terms.const(meant, 16), kind)
        if kind is not terms.const(0, 16):
            self.unfolder.notice_kinds_of_locks()
        return kind

    def set_attribute(self, event: meaning.LockAttribute) -> None:
        terms = self.terms
        kind = self._kind_asked(event, event.recursive)
        number = self.hidden.byte(0)
        for one, meant in _STATIC_KINDS.items():
            number = terms.ite(
                terms.eq(kind, terms.const(meant, 16)), self.hidden.byte(one), number
            )
        with self.cursor.step("init"):
            self.hidden.poke(self.operands.term(event.attribute), number)
        self.operands.set_result(self.hidden.result_of(event, True))

    def _kind_asked(
        self, event: meaning.LockInit | meaning.LockAttribute, recursive: bool | None
    ) -> Term:
        """The kind of mutex that a call asks for."""
        terms = self.terms
        rule = event.model.recursive_when
        if rule is None or rule.argument >= len(event.call.arguments):
            kind = terms.const(_RECURSIVE if recursive else 0, 16)
        else:
            number = self.operands.term(event.call.arguments[rule.argument])
            masked = terms.binary("bvand", number, terms.const(rule.mask, number.width))
            is_recursive = terms.eq(masked, terms.const(rule.equals, number.width))
            checking = terms.const(0, 16)
            if isinstance(event, meaning.LockAttribute):
                is_checking = terms.eq(number, terms.const(2, number.width))
                checking = terms.ite(is_checking, terms.const(_CHECKING, 16), checking)
            kind = terms.ite(is_recursive, terms.const(_RECURSIVE, 16), checking)
        if kind is not terms.const(0, 16):
            self.unfolder.notice_kinds_of_locks()
        return kind

    # --- conditions ------------------------------------------------------------

    def wait(self, event: meaning.ConditionWait) -> None:
        terms = self.terms
        condition = self.operands.term(event.condition)
        lock = self.hidden.shadow(self.hidden.operand_address(event.lock, event.is_indirect))
        if event.wait is not Wait.TIMED or self.unfolder.limits.cautious:
            gave_up = terms.false
            if event.wait is Wait.TIMED:
                gave_up = self.operands.fresh_input("gives up", 1)
            with self.cursor.step("wait"):
                self._release(lock, LockKind.MUTEX)
            with self.cursor.step("wake"):
                self._take_again(lock)
            self.hidden.set_choice(event, terms.not_(gave_up))
            return
        self.unfolder.has_choices = True
        flag = self.unfolder.waiting_variable(
            f"{self.thread}:{self.cursor.label}", self.thread, condition
        )
        pointer = self.space.pointer(flag)
        with self.cursor.step("wait"):
            self._release(lock, LockKind.MUTEX)
            self.hidden.poke(pointer, self.hidden.byte(_WAITING))
        with self.cursor.step("wake"):
            woken = terms.eq(self.hidden.peek(pointer), self.hidden.byte(_WOKEN))
            self._take_again(lock)
            self.hidden.poke(pointer, self.hidden.byte(_IDLE))
        self.hidden.set_choice(event, woken)

    def _take_again(self, lock: Term) -> None:
        """What a thread does that has waited on a condition."""
        terms = self.terms
        old = self.hidden.peek(lock, 2)
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        self.hidden.wait_until(terms.eq(owner, terms.const(0, 16)))
        self.hidden.poke(lock, terms.binary("bvor", old, terms.const(self.thread + 1, 16)))

    def signal(self, event: meaning.ConditionSignal) -> None:
        terms = self.terms
        if self.unfolder.limits.cautious:
            self.operands.set_result(self.hidden.result_of(event, True))
            return
        condition = self.operands.term(event.condition)
        mine = self.sharing.targets(condition)
        with self.cursor.step("signal"):
            waiting: list[tuple[MemoryObject, Term]] = []
            for flag, thread, other in self.unfolder.waiting_variables():
                if thread == self.thread or not mine & self.sharing.targets(other):
                    continue
                pointer = self.space.pointer(flag)
                is_waiting = terms.eq(self.hidden.peek(pointer), self.hidden.byte(_WAITING))
                waiting.append((flag, terms.and_(is_waiting, terms.eq(condition, other))))
            if event.broadcast or len(waiting) == 1:
                for flag, is_waiting in waiting:
                    self.hidden.poke(self.space.pointer(flag), self.hidden.byte(_WOKEN), is_waiting)
            elif waiting:
                choice = terms.var(self.cursor.name("wakes"), 8)
                chosen = terms.false
                for number, (flag, is_waiting) in enumerate(waiting):
                    this = terms.and_(is_waiting, terms.eq(choice, self.hidden.byte(number)))
                    chosen = terms.or_(chosen, this)
                    self.hidden.poke(self.space.pointer(flag), self.hidden.byte(_WOKEN), this)
                nobody = terms.not_(terms.any(is_waiting for _, is_waiting in waiting))
                self.hidden.wait_until(terms.or_(chosen, nobody))
        self.operands.set_result(self.hidden.result_of(event, True))
