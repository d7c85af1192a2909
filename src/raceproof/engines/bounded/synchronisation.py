"""Locks, conditions, barriers, semaphores and threads as reads and writes of hidden variables.

The state of a lock at address `a` is in the two bytes at `a + SHADOW`: 0 free, the owner's number
plus one with its depth and kind, or for a read-write lock the number of readers and `WRITER`.
Taking it is one step that reads them, can only take place if they say so (`assume`), and writes
them. So blocking needs nothing of its own in the encoders, and neither do starting and joining
threads: a thread's first step waits for its `started` variable, a join waits for `finished`.

A thread that waits on a condition may wake up at any time, as POSIX allows. Only a wait with a time
limit tells why it ended: it has a variable of its own, and a signal picks one of those that wait.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import LockKind, LockMode, Success, Wait
from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.instructions import InstructionWalker
from raceproof.engines.bounded.objects import SHADOW, MemoryObject
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import Value
from raceproof.engines.bounded.terms import Term
from raceproof.ir import Function, NullPointer
from raceproof.ir import Value as Operand

_WRITER = 0x80
_EBUSY = 16
_DEPTH = 1 << 8
_CHECKING = 1 << 14
_RECURSIVE = 1 << 15
_DEPTHS = (_CHECKING - 1) & ~(_DEPTH - 1)
_STATIC_KINDS = {1: _RECURSIVE, 2: _CHECKING}
"""How the C library numbers the kinds of mutexes, in attributes and initialisers."""
_DEADLOCK = 35
_IDLE, _WAITING, _WOKEN = 0, 1, 2


class SynchronisingWalker(InstructionWalker):
    """Threads and what they wait for."""

    # --- hidden variables ------------------------------------------------------------

    def shadow(self, address: Term) -> Term:
        return self.moved(address, SHADOW)

    def peek(self, address: Term, size: int = 1) -> Term:
        return self.read(address, size, is_access=False)

    def poke(self, address: Term, value: Term, condition: Term | None = None) -> None:
        self.write(address, value, is_access=False, condition=condition)

    def control(self, what: str, thread: int) -> Term:
        return self.space.pointer(self.unfolder.control(what, thread))

    def byte(self, value: int) -> Term:
        return self.terms.const(value, 8)

    def wait_until(self, condition: Term) -> None:
        """The current step can only take place if the condition holds."""
        assert self.event is not None
        self.event.assume = self.terms.and_(self.event.assume, condition)
        if condition is self.terms.false:
            raise PathEnds

    def operand_address(self, operand: Operand, is_indirect: bool) -> Term:
        address = self.term(operand)
        if is_indirect:
            address = self.read(address, address.width // 8)
        return address

    # --- locks ------------------------------------------------------------

    def acquire(self, event: meaning.LockAcquire) -> None:
        address = self.operand_address(event.lock, event.is_indirect)
        lock = self.shadow(address)
        if event.kind is LockKind.READ_WRITE:
            kind = self.terms.const(0, 16)
        else:
            kind = self._kind_at(address, event.recursive)
        with self.step("lock"):
            old = self.terms.binary("bvor", self.peek(lock, 2), kind)
            is_free, is_refused, new = self._lock_transition(event, old)
            if event.wait is Wait.BLOCK:
                self.wait_until(self.terms.or_(is_free, is_refused))
                self.poke(lock, new, self._unless(is_refused))
                result = self.result_of(event, True)
                if is_refused is not self.terms.false and isinstance(result, Term):
                    refusal = self.terms.const(_DEADLOCK, result.width)
                    result = self.terms.ite(is_refused, refusal, result)
                self.set_result(result)
                return
            self.unfolder.notice_trials()
            self.poke(lock, new, is_free)
            self._set_choice(event, is_free)

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
                here = self.at(address, (target, offset))
                result = self.terms.ite(here, self.terms.const(kind, 16), result)
        return result

    def _lock_transition(self, event: meaning.LockAcquire, old: Term) -> tuple[Term, Term, Term]:
        """Whether the lock can be had, whether that is refused at once, its state with us."""
        terms = self.terms
        me = terms.const(self.thread + 1, 16)
        zero = terms.const(0, 16)
        if event.kind is LockKind.READ_WRITE:
            if event.mode is LockMode.READ:
                is_free = terms.compare("ult", old, terms.const(_WRITER, 16))
                return is_free, terms.false, terms.binary("add", old, terms.const(1, 16))
            return terms.eq(old, zero), terms.false, terms.const(_WRITER, 16)
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
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        with self.step("unlock"):
            self._release(lock, event.kind)
        self.set_result(self.result_of(event, True))

    def _release(self, lock: Term, kind: LockKind) -> None:
        terms = self.terms
        zero = terms.const(0, 16)
        old = self.peek(lock, 2)
        if kind is LockKind.READ_WRITE:
            is_writer = terms.compare("uge", old, terms.const(_WRITER, 16))
            is_free = terms.eq(old, zero)
            fewer = terms.binary("sub", old, terms.const(1, 16))
            self.poke(lock, terms.ite(terms.or_(is_writer, is_free), zero, fewer))
            return
        me = terms.const(self.thread + 1, 16)
        anyone = self.unfolder.limits.anyone_unlocks
        if not self.unfolder.has_kinds_of_locks:
            self.poke(lock, zero, None if anyone else terms.eq(old, me))
            return
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        is_mine = terms.true if anyone else terms.eq(owner, me)
        depth = terms.binary("bvand", old, terms.const(_DEPTHS, 16))
        freed = terms.binary("bvand", old, terms.const(_RECURSIVE | _CHECKING, 16))
        fewer = terms.binary("sub", old, terms.const(_DEPTH, 16))
        self.poke(lock, terms.ite(terms.eq(depth, zero), freed, fewer), is_mine)

    def initialise_lock(self, event: meaning.LockInit) -> None:
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        kind = self._kind_asked(event, event.recursive)
        with self.step("init"):
            if event.recursive is None and event.attribute is not None:
                attribute = self.term(event.attribute)
                if self.sharing.targets(attribute) - {UNKNOWN}:
                    kind = self.peek(self.shadow(attribute), 2)
            self.poke(lock, kind)
        self.set_result(self.result_of(event, True))

    def set_attribute(self, event: meaning.LockAttribute) -> None:
        kind = self._kind_asked(event, event.recursive)
        with self.step("init"):
            self.poke(self.shadow(self.term(event.attribute)), kind)
        self.set_result(self.result_of(event, True))

    def _kind_asked(
        self, event: meaning.LockInit | meaning.LockAttribute, recursive: bool | None
    ) -> Term:
        """The kind of mutex that a call asks for."""
        terms = self.terms
        rule = event.model.recursive_when
        if rule is None or rule.argument >= len(event.call.arguments):
            kind = terms.const(_RECURSIVE if recursive else 0, 16)
        else:
            number = self.term(event.call.arguments[rule.argument])
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

    # --- results ------------------------------------------------------------

    def result_of(self, event: meaning.Event, is_success: bool) -> Value | None:
        """What a call returns when it did, or did not do, what it is for."""
        result = event.call.result
        if result is None:
            return None
        width = self.space.width(result.type)
        success = getattr(event, "success", Success.ALWAYS)
        if success is Success.NONZERO:
            return self.terms.const(1 if is_success else 0, width)
        if is_success:
            return self.terms.const(0, width)
        return self._error(event.model.name, width)

    def _error(self, function: str, width: int) -> Term:
        """POSIX names the error; for others a proof takes any."""
        if function.startswith("pthread_"):
            return self.terms.const(_EBUSY, width)
        if not self.unfolder.limits.cautious:
            self.unfolder.has_choices = True
            return self.terms.const(_EBUSY, width)
        error = self.fresh_input("error", width)
        self.require(self.terms.not_(self.terms.eq(error, self.terms.const(0, width))))
        return error

    def _set_choice(self, event: meaning.Event, is_success: Term) -> None:
        yes, no = self.result_of(event, True), self.result_of(event, False)
        if isinstance(yes, Term) and isinstance(no, Term):
            self.set_result(self.terms.ite(is_success, yes, no))

    # --- conditions ------------------------------------------------------------

    def wait(self, event: meaning.ConditionWait) -> None:
        terms = self.terms
        condition = self.term(event.condition)
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        if event.wait is not Wait.TIMED or self.unfolder.limits.cautious:
            gave_up = terms.false
            if event.wait is Wait.TIMED:
                gave_up = self.fresh_input("gives up", 1)
            with self.step("wait"):
                self._release(lock, LockKind.MUTEX)
            with self.step("wake"):
                self._take_again(lock)
            self._set_choice(event, terms.not_(gave_up))
            return
        self.unfolder.has_choices = True
        flag = self.unfolder.waiting_variable(f"{self.thread}:{self.label}", self.thread, condition)
        pointer = self.space.pointer(flag)
        with self.step("wait"):
            self._release(lock, LockKind.MUTEX)
            self.poke(pointer, self.byte(_WAITING))
        with self.step("wake"):
            woken = terms.eq(self.peek(pointer), self.byte(_WOKEN))
            self._take_again(lock)
            self.poke(pointer, self.byte(_IDLE))
        self._set_choice(event, woken)

    def _take_again(self, lock: Term) -> None:
        """What a thread does that has waited on a condition."""
        terms = self.terms
        old = self.peek(lock, 2)
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        self.wait_until(terms.eq(owner, terms.const(0, 16)))
        self.poke(lock, terms.binary("bvor", old, terms.const(self.thread + 1, 16)))

    def signal(self, event: meaning.ConditionSignal) -> None:
        terms = self.terms
        if self.unfolder.limits.cautious:
            self.set_result(self.result_of(event, True))
            return
        condition = self.term(event.condition)
        mine = self.sharing.targets(condition)
        with self.step("signal"):
            waiting: list[tuple[MemoryObject, Term]] = []
            for flag, thread, other in self.unfolder.waiting_variables():
                if thread == self.thread or not mine & self.sharing.targets(other):
                    continue
                pointer = self.space.pointer(flag)
                is_waiting = terms.eq(self.peek(pointer), self.byte(_WAITING))
                waiting.append((flag, terms.and_(is_waiting, terms.eq(condition, other))))
            if event.broadcast or len(waiting) == 1:
                for flag, is_waiting in waiting:
                    self.poke(self.space.pointer(flag), self.byte(_WOKEN), is_waiting)
            elif waiting:
                choice = terms.var(self.name("wakes"), 8)
                chosen = terms.false
                for number, (flag, is_waiting) in enumerate(waiting):
                    this = terms.and_(is_waiting, terms.eq(choice, self.byte(number)))
                    chosen = terms.or_(chosen, this)
                    self.poke(self.space.pointer(flag), self.byte(_WOKEN), this)
                nobody = terms.not_(terms.any(is_waiting for _, is_waiting in waiting))
                self.wait_until(terms.or_(chosen, nobody))
        self.set_result(self.result_of(event, True))

    # --- barriers and semaphores ------------------------------------------------------------

    def initialise_barrier(self, event: meaning.BarrierInit) -> None:
        barrier = self.shadow(self.term(event.barrier))
        with self.step("init"):
            self.poke(barrier, self.terms.resize(self.term(event.count), 32))
            self.poke(self.moved(barrier, 4), self.terms.const(0, 32))
        self.set_result(self.result_of(event, True))

    def wait_at_barrier(self, event: meaning.BarrierWait) -> None:
        terms = self.terms
        barrier = self.shadow(self.term(event.barrier))
        arrivals = self.moved(barrier, 4)
        one = terms.const(1, 32)
        with self.step("arrive"):
            count = self.peek(barrier, 4)
            mine = self.peek(arrivals, 4)
            self.poke(arrivals, terms.binary("add", mine, one))
        generation = terms.binary("add", terms.binary("udiv", mine, count), one)
        with self.step("leave"):
            now = self.peek(arrivals, 4)
            self.wait_until(terms.compare("uge", now, terms.binary("mul", generation, count)))
        result = event.call.result
        if result is not None:
            is_last = terms.eq(
                terms.binary("add", mine, one), terms.binary("mul", generation, count)
            )
            width = self.space.width(result.type)
            self.set_result(terms.ite(is_last, terms.const(-1, width), terms.const(0, width)))

    def initialise_semaphore(self, event: meaning.SemaphoreInit) -> None:
        initial = self.terms.const(event.initial, 32)
        value = self.term(event.value) if event.value is not None else initial
        if event.semaphore is None:
            semaphore = self.space.pointer(self.new_object("semaphore", 32, zeroed=True))
        else:
            semaphore = self.term(event.semaphore)
        with self.step("init"):
            self.poke(self.shadow(semaphore), self.terms.resize(value, 32))
        if event.semaphore is None:
            self.set_result(semaphore)
        else:
            self.set_result(self.result_of(event, True))

    def new_object(self, what: str, size: int, *, zeroed: bool) -> MemoryObject:
        raise NotImplementedError

    def wait_semaphore(self, event: meaning.SemaphoreWait) -> None:
        terms = self.terms
        semaphore = self.shadow(self.term(event.semaphore))
        with self.step("semaphore-wait"):
            old = self.peek(semaphore, 4)
            is_positive = terms.not_(terms.eq(old, terms.const(0, 32)))
            new = terms.binary("sub", old, terms.const(1, 32))
            if event.wait is Wait.BLOCK:
                self.wait_until(is_positive)
                self.poke(semaphore, new)
                self.set_result(self.result_of(event, True))
                return
            self.poke(semaphore, new, is_positive)
            self._set_choice(event, is_positive)

    def post_semaphore(self, event: meaning.SemaphorePost) -> None:
        semaphore = self.shadow(self.term(event.semaphore))
        with self.step("semaphore-post"):
            old = self.peek(semaphore, 4)
            self.poke(semaphore, self.terms.binary("add", old, self.terms.const(1, 32)))
        self.set_result(self.result_of(event, True))

    def semaphore_value(self, event: meaning.SemaphoreValue) -> None:
        semaphore = self.shadow(self.term(event.semaphore))
        with self.step("semaphore-value"):
            value = self.peek(semaphore, 4)
            if event.result_pointer is not None:
                self.write(self.term(event.result_pointer), value)
        if event.result_pointer is not None:
            self.set_result(self.result_of(event, True))
        else:
            self.set_result(value)

    # --- once ------------------------------------------------------------

    def once(self, event: meaning.Once) -> None:
        terms = self.terms
        control = self.shadow(self.term(event.control))
        with self.step("once"):
            old = self.peek(control)
            is_first = terms.eq(old, self.byte(0))
            self.wait_until(terms.not_(terms.eq(old, self.byte(1))))
            self.poke(control, self.byte(1), is_first)

        def initialise() -> None:
            arguments = [self.value(event.argument)] if event.argument is not None else []
            self.call_pointer(self.term(event.routine), arguments)
            with self.step("once-end"):
                self.poke(control, self.byte(2))

        self.under(is_first, initialise)
        self.set_result(self.result_of(event, True))

    def call_pointer(self, callee: Term, arguments: list[Value]) -> Value | None:
        raise NotImplementedError

    def under(self, condition: Term, action: Callable[[], None]) -> None:
        """Does something on the paths where the condition holds."""
        terms = self.terms
        base = self.state
        taken = base.copy(terms.and_(base.guard, condition))
        other = base.copy(terms.and_(base.guard, terms.not_(condition)))
        if taken.guard is terms.false:
            return
        self.state = taken
        try:
            action()
        except PathEnds:
            if other.guard is terms.false:
                raise
            self.state = other
            return
        if other.guard is not terms.false:
            self.state = self.merge([self.state, other])

    # --- threads ------------------------------------------------------------

    def create_thread(self, event: meaning.ThreadCreate) -> None:
        terms = self.terms
        entry = self.term(event.entry)
        argument = self.value(event.argument) if event.argument is not None else None
        functions = self.functions_at(entry)
        if not functions:
            self.cut("the creation of an unknown thread")
            raise PathEnds
        if not self.state.is_threaded:
            self.unfolder.publish(self.state)
        assert self.instruction is not None
        identity = terms.const(0, 32)
        started: list[tuple[int, Term]] = []
        for function, pointer in functions:
            is_it = terms.eq(entry, pointer)
            key = f"{self.thread}:{self.label}:{self.instruction.number}:{function.name}"
            number = self.unfolder.create(key, function, argument, self.thread, self.instruction)
            if number is None:
                # A thread that exists and is never scheduled.
                self.cut("more threads than allowed")
                number = self.unfolder.limits.total_threads + 1
            else:
                started.append((number, is_it))
            identity = terms.ite(is_it, terms.const(number, 32), identity)
        width = self._identity_width(event)
        with self.step("create", always=bool(started)) as step:
            step.creates = tuple(started)
            for number, is_it in started:
                self.poke(self.control("started", number), self.byte(1), is_it)
            if event.id_pointer is not None and not isinstance(event.id_pointer, NullPointer):
                self.write(self.term(event.id_pointer), terms.resize(identity, width))
        if event.id_is_result:
            self.set_result(terms.resize(identity, self.space.pointer_width))
        else:
            self.set_result(self.result_of(event, True))

    def _identity_width(self, event: meaning.ThreadCreate) -> int:
        for effect in event.effects:
            if effect.is_write and isinstance(effect.size, int) and effect.size in (4, 8):
                return effect.size * 8
        return self.space.pointer_width

    def functions_at(self, pointer: Term) -> list[tuple[Function, Term]]:
        """The functions a pointer may lead to, with their addresses."""
        found = []
        for number, _ in sorted(self.sharing.targets(pointer), key=lambda t: t[0]):
            name = self.space.all[number].function if number >= 0 else ""
            function = self.unfolder.program.functions.get(name) if name else None
            if function is not None:
                found.append((function, self.space.pointer(self.space.all[number])))
        return found

    def join_thread(self, event: meaning.ThreadJoin) -> None:
        terms = self.terms
        identity = self.term(event.thread)
        if event.is_indirect:
            identity = self.read(identity, self.space.pointer_width // 8)
        result_width = self.space.pointer_width
        value = terms.const(0, result_width)
        wants_result = event.result_pointer is not None and not isinstance(
            event.result_pointer, NullPointer
        )
        with self.step("join", always=True):
            joined = terms.false
            for number in self.unfolder.thread_numbers():
                is_it = terms.eq(identity, terms.const(number, identity.width))
                if is_it is terms.false:
                    continue
                has_finished = terms.eq(self.peek(self.control("finished", number)), self.byte(1))
                joined = terms.or_(joined, terms.and_(is_it, has_finished))
                if wants_result:
                    size = result_width // 8
                    result = self.peek(self.control("result", number), size)
                    value = terms.ite(is_it, result, value)
            if event.wait is Wait.BLOCK:
                self.wait_until(joined)
            if wants_result:
                assert event.result_pointer is not None
                self.write(self.term(event.result_pointer), value, condition=joined)
        if event.wait is Wait.BLOCK:
            self.set_result(self.result_of(event, True))
        else:
            self._set_choice(event, joined)
