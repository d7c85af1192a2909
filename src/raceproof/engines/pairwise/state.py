"""What is known of a thread at one point, on all ways there at once."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.engines.pairwise.values import PairValue, chosen
from raceproof.smt.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class SharedCell:
    """`size` bytes at `offset` of the object with this key."""

    key: tuple[object, ...]
    offset: int
    size: int

    def overlaps(self, offset: int, size: int) -> bool:
        return offset < self.offset + self.size and self.offset < offset + size


@dataclass(frozen=True, slots=True)
class LockName:
    """A lock with a name of its own: a global mutex, the atomic section, a home-made lock."""

    kind: str
    name: str = ""
    offset: int = 0


ATOMIC = LockName("atomic")


@dataclass(frozen=True, slots=True)
class Section:
    """Between acquiring and releasing a named lock."""

    holds: Term
    """Is the thread in it?"""
    is_write: Term
    since: Term
    """The moment when it was entered."""
    entry: dict[SharedCell, Term]
    """What protected cells held then."""


@dataclass(frozen=True, slots=True)
class AddressedLock:
    """A lock known by its address."""

    address: PairValue
    holds: Term
    is_write: bool


@dataclass(frozen=True, slots=True)
class Passed:
    """If `condition`, the thread has been through a section of the lock."""

    lock: LockName
    condition: Term
    is_write: Term
    since: Term
    until: Term
    values: tuple[tuple[SharedCell, Term, Term], ...]
    """What protected cells held when it was entered and left."""


@dataclass(eq=False, slots=True)
class PairState:
    guard: Term
    memory: dict[SharedCell, PairValue]
    """The thread's own cells, and its view of shared ones: right as long as no other thread can
    write them."""
    sections: dict[LockName, Section]
    addressed: dict[tuple[object, ...], AddressedLock]
    """By where they were acquired."""
    passed: tuple[Passed, ...]
    alone: Term
    """No other thread has been created."""

    def copy(self, guard: Term) -> PairState:
        return PairState(
            guard,
            dict(self.memory),
            dict(self.sections),
            dict(self.addressed),
            self.passed,
            self.alone,
        )


def merged(terms: Terms, states: list[PairState]) -> PairState:
    """One state for all; their guards exclude each other."""
    result = states[0].copy(states[0].guard)
    for other in states[1:]:
        result = _both(terms, other, result)
    return result


def _both(terms: Terms, a: PairState, b: PairState) -> PairState:
    first = a.guard
    memory = {
        cell: chosen(terms, first, value, b.memory[cell])
        for cell, value in a.memory.items()
        if cell in b.memory
    }
    sections = {
        name: _section(terms, first, a.sections.get(name), b.sections.get(name))
        for name in dict.fromkeys([*a.sections, *b.sections])
    }
    addressed: dict[tuple[object, ...], AddressedLock] = {}
    for key in dict.fromkeys([*a.addressed, *b.addressed]):
        lock = _addressed(terms, first, a.addressed.get(key), b.addressed.get(key))
        if lock is not None:
            addressed[key] = lock
    return PairState(
        terms.or_(a.guard, b.guard),
        memory,
        sections,
        addressed,
        tuple(dict.fromkeys([*b.passed, *a.passed])),
        terms.ite(first, a.alone, b.alone),
    )


def _section(terms: Terms, first: Term, a: Section | None, b: Section | None) -> Section:
    if a is b and a is not None:
        return a
    if a is None or b is None:
        only = a or b
        assert only is not None
        condition = first if b is None else terms.not_(first)
        held = terms.and_(condition, only.holds)
        return Section(held, only.is_write, only.since, only.entry)
    return Section(
        terms.ite(first, a.holds, b.holds),
        terms.ite(first, a.is_write, b.is_write),
        terms.ite(first, a.since, b.since),
        {
            cell: terms.ite(first, value, b.entry[cell])
            for cell, value in a.entry.items()
            if cell in b.entry
        },
    )


def _addressed(
    terms: Terms, first: Term, a: AddressedLock | None, b: AddressedLock | None
) -> AddressedLock | None:
    if a is None or b is None:
        only = a or b
        assert only is not None
        condition = first if b is None else terms.not_(first)
        return AddressedLock(only.address, terms.and_(condition, only.holds), only.is_write)
    if a is b:
        return a
    return AddressedLock(
        chosen(terms, first, a.address, b.address),
        terms.ite(first, a.holds, b.holds),
        a.is_write and b.is_write,
    )
