"""Happens-before along one execution, by vector clocks: who has done what, as far as others know.

An execution of the machine is sequentially consistent. Two of its accesses race if they conflict
and happens-before does not order them, also where they never stand at once:

    data = 1; store(&flag, 1, relaxed);      while (!load(&flag, relaxed)) ; use(data);

Each thread has a clock for each thread (Mattern 1989; the rules for memory orders are those of
C11, as in FastTrack and ThreadSanitizer). A release write leaves the clock of its thread at the
location, an acquire read takes it over; a read-modify-write adds to what is there, since it goes on
with the release sequence; so does a store of the thread that stored there last, as before C++20. A
relaxed read keeps what it finds for the next acquire fence, a relaxed write leaves what the last
release fence knew.

What a race is confirmed by must not be ordered by anything, so everything else orders too much
rather than too little. A library operation in which threads meet takes over and leaves clocks at
all that it names or changes: its operands, the locks held before or after it, the state of its
objects; one that names nothing does so at one place for all. A `trylock` that fails is ordered
after who holds the lock, and an exchange counts as one that succeeds unless the value is another
one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import AtomicOperationKind
from raceproof.ir import (
    AtomicUpdate,
    Call,
    CompareExchange,
    IntConstant,
    Load,
    Register,
    Store,
)
from raceproof.ir.memory_order import call_orders, is_acquire, is_release
from raceproof.machine.control import Create, Join
from raceproof.machine.heap import AtomicCall
from raceproof.machine.runner import PAUSE
from raceproof.machine.segments import ATOMIC, UNSURE, AccessRange
from raceproof.machine.thread import ConcreteThread, Pending, races

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.memory import MemoryObject
    from raceproof.verdict import Schedule

Clock = dict[int, int]
"""Thread -> how many of its releases are known; not there: none."""

_LOWEST_ADDRESS = 4096
_ANYTHING = "anything"
_SECTION = "atomic section"


@dataclass(frozen=True, slots=True, eq=False)
class PastAccess:
    """An access that was done."""

    thread: int
    time: int
    """What the clock of its thread said of the thread itself."""
    instruction: int
    access: AccessRange
    target: MemoryObject | None


class HappensBefore:
    """What is known of one execution; told of each of its steps."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._clocks: list[Clock] = []
        self._joined: set[int] = set()
        self._places: dict[Hashable, Clock] = {}
        """What was left at objects in which threads meet, and at the bytes of atomic variables."""
        self._stored: dict[int, int] = {}
        """Byte -> the thread that last stored there atomically."""
        self._found: dict[int, Clock] = {}
        """Thread -> what its relaxed reads found, for an acquire fence."""
        self._fenced: dict[int, Clock] = {}
        """Thread -> its clock at the last release fence."""
        self._accesses: dict[int, dict[tuple[int, int], PastAccess]] = {}
        """Eight bytes -> (thread, flags) -> the last such access."""
        machine.fences = []
        self._notice_threads(0)

    # --- steps ------------------------------------------------------------

    def watch(self, machine: Machine, thread: ConcreteThread) -> Callable[[], None]:
        """Before a step of the thread; what it returns is to be called after it."""
        pending = thread.pending
        assert pending is not None
        number = thread.number
        objects = [machine.memory.object_at(access[0]) for access in pending.accesses]
        keys = set(self._keys(thread, pending))
        before, held = dict(machine.sync), set(thread.held)
        in_section = thread.atomic_depth > 0
        has_failed = self._fails(thread, pending)

        def done() -> None:
            for access, target in zip(pending.accesses, objects, strict=True):
                self._note(number, pending.instruction, access, target)
            if pending.accesses and pending.accesses[0][2] & ATOMIC:
                self._atomic(number, pending, has_failed)
            if pending.is_sync and pending.operation is not PAUSE:
                after = machine.sync
                for key in before.keys() | after.keys():
                    if before.get(key) != after.get(key):
                        keys.update(_addresses(key))
                for lock, _ in held ^ set(thread.held):
                    keys.update(_addresses(lock))
            if in_section or thread.atomic_depth:
                keys.add(_SECTION)
            self._meet(number, keys)
            self._notice_fences()
            self._notice_joins(number)
            self._notice_threads(number)

        return done

    def _keys(self, thread: ConcreteThread, pending: Pending) -> Iterable[Hashable]:
        """What the operation names."""
        operation = pending.operation
        if operation is None or operation is PAUSE or not operation.is_sync:
            return
        if isinstance(operation, Create | Join | AtomicCall):
            return
        named: list[Any] = [*pending.arguments]
        for operand in operation.model.operands:
            named.append(operation.operand(self._machine, pending.arguments, operand))
        yield from {v for v in named if _is_address(v)} or (_ANYTHING,)

    def _meet(self, number: int, keys: Iterable[Hashable]) -> None:
        """Take over what stands at all of these, then leave it there."""
        keys = list(keys)
        if not keys:
            return
        clock = self._clocks[number]
        for key in keys:
            _join(clock, self._places.get(key))
        for key in keys:
            self._places[key] = dict(clock)
        self._tick(number)

    def _tick(self, number: int) -> None:
        clock = self._clocks[number]
        clock[number] = clock.get(number, 0) + 1

    def _notice_threads(self, creator: int) -> None:
        """New threads know what their creators know."""
        machine = self._machine
        for thread in machine.threads[len(self._clocks) :]:
            parent = thread.parent if 0 <= thread.parent < len(self._clocks) else creator
            known = dict(self._clocks[parent]) if self._clocks else {}
            known[thread.number] = 1
            self._clocks.append(known)
            if thread.number:
                self._tick(parent)

    def _notice_joins(self, number: int) -> None:
        for thread in self._machine.threads:
            if thread.is_joined and thread.number not in self._joined:
                self._joined.add(thread.number)
                _join(self._clocks[number], self._clocks[thread.number])

    def _notice_fences(self) -> None:
        fences = self._machine.fences
        assert fences is not None
        for number, order in fences:
            if number >= len(self._clocks):
                continue  # in a thread that was just created: it has found nothing yet
            clock = self._clocks[number]
            if is_acquire(order):
                _join(clock, self._found.get(number))
            if is_release(order):
                self._fenced[number] = dict(clock)
                self._tick(number)
        fences.clear()

    # --- atomic accesses ------------------------------------------------------------

    def _fails(self, thread: ConcreteThread, pending: Pending) -> bool:
        """Whether the step is a compare-exchange that is about to fail, for sure."""
        instruction = self._machine.program.instruction(pending.instruction)
        if not isinstance(instruction, CompareExchange) or not pending.accesses:
            return False
        expected: Any = None
        if isinstance(instruction.expected, IntConstant):
            expected = instruction.expected.value
        elif isinstance(instruction.expected, Register):
            expected = thread.frames[-1].registers[instruction.expected.index]
        first, end, _ = pending.accesses[0]
        target = self._machine.memory.object_at(first)
        if (
            not isinstance(expected, int)
            or target is None
            or not self._machine.is_valid(pending.accesses[0])
        ):
            return False
        if target.is_unknown(first - target.base, end - first):
            return False
        found = bytes(target.data[first - target.base : end - target.base])
        return int.from_bytes(found, "little") != expected

    def _atomic(self, number: int, pending: Pending, has_failed: bool) -> None:
        reads, writes, order = self._order(pending, has_failed)
        clock = self._clocks[number]
        for first, end, flags in pending.accesses:
            if not flags & ATOMIC:
                continue
            for byte in range(first, end):
                there = self._places.get(("byte", byte))
                if reads:
                    if is_acquire(order):
                        _join(clock, there)
                    else:
                        _join(self._found.setdefault(number, {}), there)
            if not writes:
                continue
            left = clock if is_release(order) else self._fenced.get(number, {})
            for byte in range(first, end):
                goes_on = reads or self._stored.get(byte) == number
                place = dict(self._places.get(("byte", byte), {})) if goes_on else {}
                _join(place, left)
                self._places["byte", byte] = place
                if not reads:
                    self._stored[byte] = number
        if writes and is_release(order):
            self._tick(number)

    def _order(self, pending: Pending, has_failed: bool) -> tuple[bool, bool, str]:
        """Whether an atomic access reads, whether it writes, and its order."""
        instruction = self._machine.program.instruction(pending.instruction)
        match instruction:
            case Load(atomic=order) if order:
                return True, False, order
            case Store(atomic=order) if order:
                return False, True, order
            case AtomicUpdate(atomic=order):
                return True, True, order
            case CompareExchange(failure=failure) if has_failed:
                return True, False, failure
            case CompareExchange(atomic=order, failure=failure):
                if is_acquire(failure) and not is_acquire(order):
                    order = "acq_rel" if is_release(order) else "acquire"
                return True, True, order
            case Call() if isinstance(pending.operation, AtomicCall):
                orders = call_orders(instruction)
                kind = pending.operation.model.operation
                reads = kind not in (AtomicOperationKind.STORE, AtomicOperationKind.CLEAR)
                writes = kind is not AtomicOperationKind.LOAD
                return reads, writes, orders[0] if len(orders) == 1 else "seq_cst"
        return True, True, "seq_cst"

    # --- races ------------------------------------------------------------

    def _note(
        self, number: int, instruction: int, access: AccessRange, target: MemoryObject | None
    ) -> None:
        first, end, flags = access
        if flags & UNSURE:
            return
        time = self._clocks[number].get(number, 0)
        past = PastAccess(number, time, instruction, access, target)
        for part in range(first >> 3, (end + 7) >> 3):
            self._accesses.setdefault(part, {})[number, flags] = past

    def races_of(self, thread: ConcreteThread) -> Iterator[tuple[PastAccess, AccessRange]]:
        """What races with the pending access of a thread: nothing orders it before."""
        machine, pending = self._machine, thread.pending
        if pending is None or not pending.accesses or machine.ended is not None:
            return
        clock = self._clocks[thread.number]
        for access in pending.accesses:
            first, end, flags = access
            if flags & UNSURE:
                continue
            target = machine.memory.object_at(first)
            for part in range(first >> 3, (end + 7) >> 3):
                for past in self._accesses.get(part, {}).values():
                    low, high, theirs = past.access
                    if past.thread == thread.number or not (low < end and first < high):
                        continue
                    if not races(flags, theirs) or clock.get(past.thread, 0) >= past.time:
                        continue
                    if past.target is not target or not machine.is_valid(access):
                        continue
                    if machine.is_enabled(thread):
                        yield past, access

    def race(self, moved: int, known: int) -> tuple[ConcreteThread, PastAccess, AccessRange] | None:
        """A race of thread `moved`, or of one created after the first `known` ones."""
        threads = self._machine.threads
        for number in (moved, *range(known, len(threads))):
            for past, access in self.races_of(threads[number]):
                return threads[number], past, access
        return None

    def found(self, schedule: Schedule) -> tuple[PastAccess, AccessRange] | None:
        """The race of a schedule, if its second access is about to happen and the first, which was
        done before, is not ordered before it."""
        if schedule.second >= len(self._machine.threads):
            return None
        thread = self._machine.threads[schedule.second]
        if thread.pending is None or thread.pending.instruction != schedule.instructions[1]:
            return None
        for past, access in self.races_of(thread):
            if (past.thread, past.instruction) == (schedule.first, schedule.instructions[0]):
                return past, access
        return None


def _is_address(value: Any) -> bool:
    return isinstance(value, int) and value >= _LOWEST_ADDRESS


def _addresses(key: Any) -> Iterable[Hashable]:
    """The addresses that the state of an object is known by; the key itself if there is none."""
    parts = key if isinstance(key, tuple) else (key,)
    return [part for part in parts if _is_address(part)] or (key,)


def _join(clock: Clock, other: Clock | None) -> None:
    if other:
        for number, time in other.items():
            if time > clock.get(number, 0):
                clock[number] = time
