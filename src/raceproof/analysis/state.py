"""The abstract state at one point of one thread.

Besides values of registers and memory it says which locks are held (surely; perhaps), which threads
may be running beside this one, and what is known only symbolically: that the lock at `p + 8` is
held, or that the object at `p` was allocated by this thread and nobody else has seen it, for a
register `p`.

A state belongs to whoever made it and is changed in place; `copy` before sharing.
"""

from __future__ import annotations

from typing import NamedTuple

from raceproof.analysis.cohorts import NOTHING, Cohorts
from raceproof.analysis.cohorts import joined as join_cohorts
from raceproof.analysis.names import Token
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.memory import Memory
from raceproof.domains.values import AbstractValue

Content = AbstractValue | tuple["Content", ...]
"""What a register holds: a value, or one for each member of a struct."""


class LockKey(NamedTuple):
    """A lock at an exact address."""

    base: int
    offset: int


def once_lock(control: LockKey) -> LockKey:
    """The lock that the routine of a `once` runs under, by the address of its control."""
    return LockKey(control.base, -1 - control.offset)


def is_once(lock: LockKey) -> bool:
    return lock.base >= 0 and ANYWHERE < lock.offset < 0


def control_of(lock: LockKey) -> int:
    """The offset of the control that a lock of `once` belongs to."""
    return -1 - lock.offset


class Held(NamedTuple):
    """A lock that is held for sure, this many `times` if recursive."""

    lock: LockKey
    is_write: bool
    times: int = 1


ATOMIC = LockKey(-1, 0)
"""The section in which no other thread runs; a lock that everybody shares."""

UNCLEAR = LockKey(-2, 0)
"""Stands for any lock, where one is taken or given back and nobody knows which."""

ANYWHERE = -(1 << 62)
"""An offset that stands for any: of a lock that may be held, somewhere in its object."""

MOST_COUNTED = 4
"""A recursive lock may be held more often, and is then given back too early here."""


class Symbol(NamedTuple):
    """An address as a sum: root + constant + sum of index * scale.

    The root is a token, or the number of a base.
    """

    root: Token | int
    constant: int
    terms: tuple[tuple[Token, int], ...] = ()

    def mentions(self, token: Token) -> bool:
        if self.root == token:
            return True
        names = (token, token.zero_extended())
        return any(index in names for index, _ in self.terms)


class SymbolicLock(NamedTuple):
    symbol: Symbol
    is_write: bool


NO_LOCKS: frozenset[Held] = frozenset()


class Phase(NamedTuple):
    """How often this thread has waited at a barrier: `least` times, and at most `most`."""

    barrier: LockKey
    least: int
    most: int


Phases = tuple[Phase, ...] | None
"""Sorted; a barrier that is not there was not waited at. None: nobody knows. See `barriers`."""

_MOST_WAITS = 8
_ENDLESS = 1 << 30
"""So many waits stand for any number above."""


class State:
    __slots__ = (
        "acquired",
        "cohorts",
        "fresh",
        "gates",
        "guided",
        "held",
        "maybe",
        "memory",
        "passed",
        "phases",
        "registers",
        "running",
        "sure",
        "symbolic",
        "unmatched",
        "zeros",
    )

    def __init__(self, memory: Memory) -> None:
        self.registers: dict[int, Content] = {}
        self.memory = memory
        self.held: frozenset[Held] = NO_LOCKS
        self.maybe: frozenset[LockKey] = frozenset()
        self.symbolic: frozenset[SymbolicLock] = frozenset()
        self.fresh: frozenset[tuple[Token, int]] = frozenset()
        """Registers that hold the address of an object (its base) only this thread knows."""
        self.running: int = 0
        """Bit set of the threads that may be running beside this one."""
        self.sure: int = 0
        """Bit set of those created and not joined on every way here."""
        self.acquired: tuple[LockKey, ...] = ()
        """The locks held, in the order of their acquisition, where it is clear."""
        self.guided: bool = False
        """Did the way here depend on what other threads wrote or signalled?"""
        self.unmatched: frozenset[LockKey] = frozenset()
        """Locks given back that were not held for sure; see `recursion`."""
        self.zeros: frozenset[tuple[int, int, int]] = frozenset()
        """Cells (base, offset, size) found to be 0 in this atomic section; see
        `homemade_locks`."""
        self.gates: frozenset[tuple[int, LockKey]] = frozenset()
        """(thread, lock): the lock is held since before the thread was created; see `gates`."""
        self.passed: frozenset[LockKey] = frozenset()
        """Locks that this thread has taken, of those that were held when it was created."""
        self.phases: Phases = ()
        """Waits at barriers on the way here."""
        self.cohorts: Cohorts = NOTHING
        """Threads created by a loop, known by the array of their ids."""

    def copy(self) -> State:
        new = State(self.memory)
        new.registers = dict(self.registers)
        new.held = self.held
        new.maybe = self.maybe
        new.symbolic = self.symbolic
        new.fresh = self.fresh
        new.running = self.running
        new.sure = self.sure
        new.guided = self.guided
        new.acquired = self.acquired
        new.unmatched = self.unmatched
        new.zeros = self.zeros
        new.gates = self.gates
        new.passed = self.passed
        new.phases = self.phases
        new.cohorts = self.cohorts
        return new

    def forget_token(self, token: Token) -> None:
        """A register is assigned anew: what was known of its old value is void."""
        if self.symbolic:
            self.symbolic = frozenset(s for s in self.symbolic if not s.symbol.mentions(token))
        if self.fresh:
            self.fresh = frozenset(f for f in self.fresh if f[0] != token)
        if self.cohorts is not NOTHING:
            self.cohorts = self.cohorts.without_root(token)

    def wrote(self, base: int, offsets: Integers | None, size: int | None) -> None:
        """So many bytes may have been written there; anywhere in the object if None."""
        if self.cohorts is not NOTHING:
            self.cohorts = self.cohorts.written(base, offsets, size)

    def holds_atomic(self) -> bool:
        return any(held.lock is ATOMIC or held.lock == ATOMIC for held in self.held)


def join_contents(a: Content, b: Content) -> Content:
    if a is b:
        return a
    if isinstance(a, tuple) or isinstance(b, tuple):
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            joined = tuple(join_contents(x, y) for x, y in zip(a, b, strict=True))
            return a if all(x is y for x, y in zip(a, joined, strict=True)) else joined
        return domain.UNKNOWN
    return domain.join(a, b)


def widen_contents(a: Content, b: Content, thresholds: tuple[int, ...]) -> Content:
    if a is b:
        return a
    if isinstance(a, tuple) or isinstance(b, tuple):
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            joined = tuple(widen_contents(x, y, thresholds) for x, y in zip(a, b, strict=True))
            return a if all(x is y for x, y in zip(a, joined, strict=True)) else joined
        return domain.UNKNOWN
    return domain.widen(a, b, thresholds)


def common_locks(a: frozenset[Held], b: frozenset[Held]) -> frozenset[Held]:
    """What is held in both, in the same mode, as often as in the one with fewer.

    A lock that is held for writing on one way and for reading on the other is left out: what
    happens when it is taken once more depends on the way.
    """
    if a is b or a == b:
        return a
    other = {held.lock: held for held in b}
    found = []
    for held in a:
        same = other.get(held.lock)
        if same is not None and same.is_write == held.is_write:
            found.append(Held(held.lock, held.is_write, min(held.times, same.times)))
    return frozenset(found)


def common_order(
    a: tuple[LockKey, ...], b: tuple[LockKey, ...], held: frozenset[Held]
) -> tuple[LockKey, ...]:
    """The order in which locks that are held on both ways were taken, if it is the same."""
    if a == b:
        return a
    kept = {one.lock for one in held}
    left, right = (tuple(lock for lock in order if lock in kept) for order in (a, b))
    return left if left == right else ()


def _with_lost_counts(
    maybe: frozenset[LockKey], a: frozenset[Held], b: frozenset[Held]
) -> frozenset[LockKey]:
    """A recursive lock that is held a different number of times may be held although it was given
    back as often as is known for sure."""
    for held in (*a, *b):
        if held.times > 1 and not (held in a and held in b):
            lost = LockKey(held.lock.base, ANYWHERE)
            maybe = maybe if lost in maybe else maybe | {lost}
    return maybe


def join_states(a: State, b: State, thresholds: tuple[int, ...] | None = None) -> State:
    """`a` itself if `b` adds nothing; with thresholds, widens."""
    registers = a.registers
    changed = False
    new_registers: dict[int, Content] | None = None
    for index, value in b.registers.items():
        old = registers.get(index)
        if old is value:
            continue
        if old is None:
            new = value
        elif thresholds is None:
            new = join_contents(old, value)
        else:
            new = widen_contents(old, value, thresholds)
        if new is not old:
            if new_registers is None:
                new_registers = dict(registers)
            new_registers[index] = new
            changed = True
    if thresholds is None:
        memory = a.memory.join(b.memory)
    else:
        memory = a.memory.widen(b.memory, thresholds)
    held = common_locks(a.held, b.held)
    maybe = a.maybe if b.maybe <= a.maybe else a.maybe | b.maybe
    if a.held != b.held:
        maybe = _with_lost_counts(maybe, a.held, b.held)
    symbolic = a.symbolic if a.symbolic <= b.symbolic else a.symbolic & b.symbolic
    fresh = a.fresh if a.fresh <= b.fresh else a.fresh & b.fresh
    zeros = a.zeros if a.zeros <= b.zeros else a.zeros & b.zeros
    unmatched = a.unmatched if b.unmatched <= a.unmatched else a.unmatched | b.unmatched
    acquired = common_order(a.acquired, b.acquired, held)
    running = a.running | b.running
    sure = a.sure & b.sure
    gates = a.gates if a.gates <= b.gates else a.gates & b.gates
    passed = a.passed if a.passed <= b.passed else a.passed & b.passed
    phases = a.phases if a.phases == b.phases else join_phases(a.phases, b.phases)
    cohorts = join_cohorts(a.cohorts, a.running, b.cohorts, b.running)
    if not (
        changed
        or memory is not a.memory
        or held != a.held
        or maybe is not a.maybe
        or symbolic is not a.symbolic
        or fresh is not a.fresh
        or unmatched is not a.unmatched
        or zeros is not a.zeros
        or cohorts is not a.cohorts
        or acquired != a.acquired
        or running != a.running
        or sure != a.sure
        or gates is not a.gates
        or passed is not a.passed
        or phases != a.phases
        or (b.guided and not a.guided)
    ):
        return a
    joined = State(memory)
    joined.registers = registers if new_registers is None else new_registers
    joined.held, joined.maybe, joined.symbolic, joined.fresh = held, maybe, symbolic, fresh
    joined.running, joined.sure = running, sure
    joined.guided = a.guided or b.guided
    joined.acquired = acquired
    joined.unmatched, joined.zeros = unmatched, zeros
    joined.gates, joined.passed, joined.phases = gates, passed, phases
    joined.cohorts = cohorts
    return joined


def join_phases(a: Phases, b: Phases) -> Phases:
    if a is None or b is None:
        return None
    found = []
    left, right = ({phase.barrier: phase for phase in phases} for phases in (a, b))
    for key in sorted({*left, *right}):
        one, other = left.get(key), right.get(key)
        least = 0 if one is None or other is None else min(one.least, other.least)
        most = max(one.most if one else 0, other.most if other else 0)
        found.append(Phase(key, least, most))
    return tuple(found)


def after_wait(phases: Phases, barrier: LockKey) -> Phases:
    """One more wait at a barrier."""
    if phases is None:
        return None
    old = next((phase for phase in phases if phase.barrier == barrier), Phase(barrier, 0, 0))
    most = old.most + 1 if old.most < _MOST_WAITS else _ENDLESS
    new = Phase(barrier, min(old.least + 1, _MOST_WAITS), most)
    return tuple(sorted({*phases} - {old} | {new}))


def possible_locks(address: AbstractValue, external: int) -> frozenset[LockKey]:
    """The locks that an address may mean; `external` is the base of what nobody knows."""
    if address.is_unknown or not address.pointers or external in address.pointers:
        return frozenset({UNCLEAR})
    return frozenset(_place(base, offsets) for base, offsets in address.pointers.items())


def _place(base: int, offsets: Integers) -> LockKey:
    exact = offsets.signed_constant
    return LockKey(base, ANYWHERE if exact is None else exact)


def may_share_lock(a: frozenset[LockKey], b: frozenset[LockKey]) -> bool:
    """May a lock of one be a lock of the other?"""
    if not a or not b:
        return False
    if a & b or UNCLEAR in a or UNCLEAR in b:
        return True
    return _somewhere(a, b) or _somewhere(b, a)


def _somewhere(a: frozenset[LockKey], b: frozenset[LockKey]) -> bool:
    vague = {key.base for key in a if key.offset == ANYWHERE}
    return bool(vague) and any(key.base in vague for key in b)


def is_countable(state: State, key: LockKey) -> bool:
    """Is it clear how often the lock is held, also after one more time?"""
    return any(held.lock == key and held.times < MOST_COUNTED for held in state.held)


def take(state: State, key: LockKey, is_write: bool, is_counted: bool = True) -> None:
    """Holds a lock, once more if it is counted."""
    for held in state.held:
        if held.lock == key:
            count = min(held.times + 1, MOST_COUNTED) if is_counted else held.times
            state.held = (state.held - {held}) | {Held(key, held.is_write or is_write, count)}
            return
    state.held |= {Held(key, is_write)}
    state.acquired += (key,)


def drop(state: State, key: LockKey) -> None:
    """Gives a lock back, once."""
    if key == ATOMIC:
        state.zeros = frozenset()
    for held in state.held:
        if held.lock == key:
            rest = state.held - {held}
            if held.times > 1:
                rest |= {Held(key, held.is_write, held.times - 1)}
            else:
                _forget_order(state, key)
            state.held = rest
            return
    state.unmatched |= {key}


def _forget_order(state: State, key: LockKey) -> None:
    """Locks given back in another order than taken, or in one that is not clear, may hand threads
    on, one after the other."""
    if state.acquired[-1:] != (key,):
        state.guided = True
    state.acquired = tuple(lock for lock in state.acquired if lock != key)
