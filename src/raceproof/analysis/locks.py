"""Locks as the analyses name them: keys of exact locks, sets that are or may be held."""

from __future__ import annotations

from typing import NamedTuple

from raceproof.analysis.names import Token
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue


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
"""The section in which no other thread runs; a lock that all threads share."""

UNCLEAR = LockKey(-2, 0)
"""Stands for any lock, where one is taken or given back and it is unknown which."""

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

    def is_of(self, context: int) -> bool:
        """Does it mention a register of this context?"""
        if not isinstance(self.root, int) and self.root.context == context:
            return True
        return any(token.context == context for token, _ in self.terms)


class SymbolicLock(NamedTuple):
    symbol: Symbol
    is_write: bool


NO_LOCKS: frozenset[Held] = frozenset()


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


def holding(lockset: frozenset[Held], key: LockKey) -> Held | None:
    """How a lock is held; None if it is not."""
    return next((held for held in lockset if held.lock == key), None)


def is_countable(lockset: frozenset[Held], key: LockKey) -> bool:
    """Is it clear how often a lock is held, also after one more time?"""
    return any(held.lock == key and held.times < MOST_COUNTED for held in lockset)


def possible_locks(address: AbstractValue, external: int) -> frozenset[LockKey]:
    """The locks that an address may mean; `external` is the base of what lies outside of the
    program."""
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
