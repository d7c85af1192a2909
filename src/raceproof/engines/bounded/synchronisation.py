"""Locks, conditions, barriers, semaphores and threads as reads and writes of hidden variables.

The state of a lock at address `a` is the byte at `a + SHADOW`: 0 free, the owner's number plus one,
or for a read-write lock the number of readers and `WRITER`. Taking it is one step that reads the
byte, can only take place if the byte says so (`assume`), and writes it. So blocking needs nothing
of its own in the encoders, and neither do starting and joining threads: a thread's first step waits
for its `started` variable, a join waits for `finished`.

A waiting thread has a variable of its own for each wait in its code; a signal picks one of those
that wait on its condition.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.concurrency import events as meaning
from raceproof.concurrency.model import LockKind, LockMode, Success, Wait
from raceproof.engines.bounded.accesses import PathEnds
from raceproof.engines.bounded.instructions import InstructionWalker
from raceproof.engines.bounded.objects import SHADOW, MemoryObject
from raceproof.engines.bounded.state import Value
from raceproof.engines.bounded.terms import Term
from raceproof.ir import Function, NullPointer
from raceproof.ir import Value as Operand

_WRITER = 0x80
_EBUSY = 16
_DEPTH = 1 << 8
_RECURSIVE = 1 << 15
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
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        with self.step("lock"):
            old = self.peek(lock, 2)
            is_free, new = self._lock_transition(event, old)
            if event.wait is Wait.BLOCK:
                self.wait_until(is_free)
                self.poke(lock, new)
                self.set_result(self.result_of(event, True))
                return
            self.poke(lock, new, is_free)
            self._set_choice(event, is_free)

    def _lock_transition(self, event: meaning.LockAcquire, old: Term) -> tuple[Term, Term]:
        """Whether the lock can be had, and its state with us."""
        terms = self.terms
        me = terms.const(self.thread + 1, 16)
        zero = terms.const(0, 16)
        if event.kind is LockKind.READ_WRITE:
            if event.mode is LockMode.READ:
                is_free = terms.compare("ult", old, terms.const(_WRITER, 16))
                return is_free, terms.binary("add", old, terms.const(1, 16))
            return terms.eq(old, zero), terms.const(_WRITER, 16)
        if not self.unfolder.has_recursive_locks and not event.recursive:
            return terms.eq(old, zero), me
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        is_recursive = terms.extract(old, 15, 15)
        if event.recursive:
            is_recursive = terms.true
        is_mine = terms.and_(is_recursive, terms.eq(owner, me))
        is_free = terms.eq(owner, zero)
        taken = terms.binary("bvor", old, me)
        deeper = terms.binary("add", old, terms.const(_DEPTH, 16))
        return terms.or_(is_free, is_mine), terms.ite(is_free, taken, deeper)

    def release(self, event: meaning.LockRelease) -> None:
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        with self.step("unlock"):
            self._release(lock, event.kind, event.recursive)
        self.set_result(self.result_of(event, True))

    def _release(self, lock: Term, kind: LockKind, recursive: bool = False) -> None:
        terms = self.terms
        zero = terms.const(0, 16)
        if kind is LockKind.READ_WRITE:
            old = self.peek(lock, 2)
            is_writer = terms.compare("uge", old, terms.const(_WRITER, 16))
            is_free = terms.eq(old, zero)
            fewer = terms.binary("sub", old, terms.const(1, 16))
            self.poke(lock, terms.ite(terms.or_(is_writer, is_free), zero, fewer))
            return
        old = self.peek(lock, 2)
        me = terms.const(self.thread + 1, 16)
        owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
        is_mine = terms.true if self.unfolder.limits.anyone_unlocks else terms.eq(owner, me)
        if not self.unfolder.has_recursive_locks and not recursive:
            if not self.unfolder.limits.anyone_unlocks:
                is_mine = terms.eq(old, me)
            self.poke(lock, zero, is_mine)
            return
        depth = terms.binary("bvand", old, terms.const((_RECURSIVE - 1) & ~(_DEPTH - 1), 16))
        is_last = terms.eq(depth, zero)
        freed = terms.binary("bvand", old, terms.const(_RECURSIVE, 16))
        fewer = terms.binary("sub", old, terms.const(_DEPTH, 16))
        self.poke(lock, terms.ite(is_last, freed, fewer), is_mine)

    def initialise_lock(self, event: meaning.LockInit) -> None:
        terms = self.terms
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        value = terms.const(_RECURSIVE if event.recursive else 0, 16)
        if event.recursive:
            self.unfolder.notice_recursive_locks()
        with self.step("init"):
            if event.recursive is None and event.attribute is not None:
                attribute = self.term(event.attribute)
                if self.sharing.targets(attribute):
                    value = self.peek(self.shadow(attribute), 2)
            self.poke(lock, value)
        self.set_result(self.result_of(event, True))

    def set_attribute(self, event: meaning.LockAttribute) -> None:
        if event.recursive:
            self.unfolder.notice_recursive_locks()
        with self.step("init"):
            value = self.terms.const(_RECURSIVE if event.recursive else 0, 16)
            self.poke(self.shadow(self.term(event.attribute)), value)
        self.set_result(self.result_of(event, True))

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
        return self.terms.const(0 if is_success else _EBUSY, width)

    def _set_choice(self, event: meaning.Event, is_success: Term) -> None:
        yes, no = self.result_of(event, True), self.result_of(event, False)
        if isinstance(yes, Term) and isinstance(no, Term):
            self.set_result(self.terms.ite(is_success, yes, no))

    # --- conditions ------------------------------------------------------------

    def wait(self, event: meaning.ConditionWait) -> None:
        terms = self.terms
        condition = self.term(event.condition)
        lock = self.shadow(self.operand_address(event.lock, event.is_indirect))
        flag = self.unfolder.waiting_variable(f"{self.thread}:{self.label}", self.thread, condition)
        pointer = self.space.pointer(flag)
        with self.step("wait"):
            self._release(lock, LockKind.MUTEX)
            self.poke(pointer, self.byte(_WAITING))
        gave_up = terms.false
        with self.step("wake"):
            woken = terms.eq(self.peek(pointer), self.byte(_WOKEN))
            if event.wait is Wait.TIMED:
                gave_up = terms.not_(woken)
            elif not self.unfolder.limits.spurious:
                self.wait_until(woken)
            old = self.peek(lock, 2)
            owner = terms.binary("bvand", old, terms.const(_DEPTH - 1, 16))
            self.wait_until(terms.eq(owner, terms.const(0, 16)))
            me = terms.const(self.thread + 1, 16)
            self.poke(lock, terms.binary("bvor", old, me))
            self.poke(pointer, self.byte(_IDLE))
        self._set_choice(event, terms.not_(gave_up))

    def signal(self, event: meaning.ConditionSignal) -> None:
        terms = self.terms
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
        value = self.term(event.value) if event.value is not None else self.terms.const(1, 32)
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
            self.poke(control, self.byte(1), is_first)

        def initialise() -> None:
            arguments = [self.value(event.argument)] if event.argument is not None else []
            self.call_pointer(self.term(event.routine), arguments)
            with self.step("once-end"):
                self.poke(control, self.byte(2))

        self.under(is_first, initialise)
        with self.step("once-wait"):
            self.wait_until(terms.eq(self.peek(control), self.byte(2)))
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
            name = self.space.all[number].function
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
            self.wait_until(joined)
            if wants_result:
                assert event.result_pointer is not None
                self.write(self.term(event.result_pointer), value)
        self.set_result(self.result_of(event, True))
