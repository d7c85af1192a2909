"""Loops, cut at their heads.

At the head everything that the loop may change is arbitrary: the state there stands for any round.
Conjectures say what stays or how it goes on; they are owed on the way in and at every way back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from raceproof.engines.pairwise.execution_log import ExecutionLog
from raceproof.engines.pairwise.locking import Locking
from raceproof.engines.pairwise.state import AddressedLock, LockName, PairState, Section, SharedCell
from raceproof.engines.pairwise.values import PairPlace, PairValue, same_object
from raceproof.engines.pairwise.work_counters import CREATED
from raceproof.smt.terms import Term

_POWERS = (1, 2, 3)
_MOST_RELATED = 6


@dataclass(eq=False, slots=True)
class Head:
    """What was guessed at the head of one loop."""

    name: str
    guard: Term
    alone: tuple[Term, Term] | None = None
    """The candidate, and the value at the head."""
    cells: dict[SharedCell, tuple[Term, PairValue]] = field(default_factory=dict)
    sections: dict[LockName, tuple[Term, Term, Section]] = field(default_factory=dict)
    """Is it held at the head, and is it the same section that was entered before the loop?"""
    addressed: dict[tuple[object, ...], tuple[Term, Term]] = field(default_factory=dict)
    starts: dict[int, PairValue] = field(default_factory=dict)
    """Phi -> its value on the way in."""
    heads: dict[int, PairValue] = field(default_factory=dict)
    """Phi -> its value at the head."""
    bounds: tuple[tuple[int, Term], ...] = ()
    """Phis, and what they are compared with at the head."""
    counts: dict[SharedCell, Term] = field(default_factory=dict)
    """Cells that count creations, and what they hold on the way in."""


class Loops:
    def __init__(self, log: ExecutionLog, locking: Locking) -> None:
        self.log = log
        self.locking = locking
        self.terms = log.terms
        self.conjectures = log.world.conjectures

    def enter(
        self,
        name: str,
        state: PairState,
        starts: dict[int, PairValue],
        bounds: tuple[tuple[int, Term], ...],
    ) -> Head:
        """Forgets in `state` what the loop may change; the nest is the loop's already."""
        terms = self.terms
        head = Head(name, state.guard, starts=starts, bounds=bounds)
        head.counts = {c: v.bits for c, v in state.memory.items() if c.key[0] == CREATED}
        if state.alone is not terms.false:
            candidate = self.conjectures.new(f"{name} alone")
            self.locking.publish(state, terms.not_(candidate))
            state.alone = terms.and_(candidate, state.alone)
            head.alone = (candidate, state.alone)
        for lock, section in list(state.sections.items()):
            if section.holds is terms.false:
                continue
            candidate = self.conjectures.new(f"{name} holds {lock}")
            same = self.conjectures.new(f"{name} stays in {lock}")
            self.locking.close(state, lock, section, terms.not_(candidate))
            held = terms.and_(candidate, section.holds)
            entry = {
                cell: terms.ite(same, value, self.log.fresh("entry", value.width))
                for cell, value in section.entry.items()
            }
            since = terms.ite(same, section.since, self.log.moment())
            kept_section = Section(held, section.is_write, since, entry)
            state.sections[lock] = kept_section
            head.sections[lock] = (candidate, same, kept_section)
        for cell, value in state.memory.items():
            candidate = self.conjectures.new(f"{name} keeps {cell}")
            fresh = self.log.fresh("kept", cell.size * 8)
            kept = PairValue(
                terms.ite(candidate, value.bits, fresh),
                tuple(
                    PairPlace(terms.and_(candidate, p.condition), p.object, p.offset)
                    for p in value.places
                ),
            )
            state.memory[cell] = kept
            head.cells[cell] = (candidate, kept)
        for place, addressed in list(state.addressed.items()):
            candidate = self.conjectures.new(f"{name} holds {place}")
            self.locking.elements.forgotten(state, addressed, terms.not_(candidate))
            held = terms.and_(candidate, addressed.holds)
            state.addressed[place] = AddressedLock(addressed.address, held, addressed.is_write)
            head.addressed[place] = (candidate, held)
        for phi, start in starts.items():
            head.heads[phi] = self._any_round(name, phi, start, state)
        for candidate, claim in self._guesses(head, starts, head.counts):
            self.log.oblige(candidate, state, terms.not_(claim))
        for candidate, fact in self._guesses(head, head.heads, _counts(head, state)):
            self.log.learn(state.guard, terms.implies(candidate, fact))
        return head

    def _any_round(self, name: str, phi: int, start: PairValue, state: PairState) -> PairValue:
        terms = self.terms
        bits = self.log.fresh(f"round {phi}", start.bits.width)
        places: tuple[PairPlace, ...] = ()
        if len(start.places) == 1:
            candidate = self.conjectures.new(f"{name} inside {phi}")
            (place,) = start.places
            offset = self.log.fresh(f"offset {phi}", place.offset.width)
            condition = terms.and_(candidate, place.condition)
            places = (PairPlace(condition, place.object, offset),)
            self._grows(name, phi, offset)
        elif start.bits.width > 1:
            self._grows(name, phi, bits)
        return PairValue(bits, places)

    def _grows(self, name: str, phi: int, variable: Term) -> None:
        self.log.growing[variable] = [
            (self.conjectures.new(f"{name} {phi} {predicate}"), predicate)
            for predicate in ("slt", "sgt", "ult", "ugt")
        ]

    def _guesses(
        self, head: Head, values: dict[int, PairValue], counts: dict[SharedCell, Term]
    ) -> list[tuple[Term, Term]]:
        """Conjectures, and what they say of the loop's variables and of counts of creations when
        these have the values."""
        terms, found = self.terms, list[tuple[Term, Term]]()

        def guess(what: str, fact: Term) -> None:
            found.append((self.conjectures.new(f"{head.name} {what}"), fact))

        for phi, start in head.starts.items():
            now = values[phi]
            here, there, what = now.bits, start.bits, str(phi)
            if start.places:
                if len(start.places) != 1 or len(now.places) != 1:
                    continue
                here, there, what = now.places[0].offset, start.places[0].offset, f"{phi} offset"
            if here.width < 2:
                continue
            for name in ("sge", "sle", "uge"):
                guess(f"{what} {name}", terms.compare(name, here, there))
            distance = terms.binary("sub", here, there)
            for power in _POWERS:
                if power < distance.width:
                    low = terms.extract(distance, power - 1, 0)
                    guess(f"{what} by {power}", terms.eq(low, terms.const(0, power)))
        plain = [p for p, start in head.starts.items() if not start.places]
        for index, phi in enumerate(plain[:_MOST_RELATED]):
            for other in plain[index + 1 : _MOST_RELATED]:
                a, b = head.starts[phi].bits, head.starts[other].bits
                if a.width == b.width:
                    left = terms.binary("sub", values[phi].bits, a)
                    right = terms.binary("sub", values[other].bits, b)
                    guess(f"{phi} like {other}", terms.eq(left, right))
            for cell, first in head.counts.items():
                if cell in counts and first.width == head.starts[phi].bits.width:
                    more = terms.binary("sub", counts[cell], first)
                    here, there = values[phi].bits, head.starts[phi].bits
                    guess(f"{phi} up {cell}", terms.eq(more, terms.binary("sub", here, there)))
                    guess(f"{phi} down {cell}", terms.eq(more, terms.binary("sub", there, here)))
        for index, (phi, bound) in enumerate(head.bounds):
            for name in ("sle", "sge", "ule", "uge"):
                guess(f"{phi} {name} {index}", terms.compare(name, values[phi].bits, bound))
        return found

    # --- the way back ------------------------------------------------------------

    def again(self, head: Head, state: PairState, values: dict[int, PairValue]) -> None:
        """A way back to the head, where its phis get the values."""
        terms, oblige = self.terms, self.log.oblige
        if head.alone is not None:
            candidate, before = head.alone
            oblige(candidate, state, terms.and_(before, terms.not_(state.alone)))
        for cell, (candidate, before_) in head.cells.items():
            now = state.memory.get(cell)
            oblige(candidate, state, self._differs(now, before_))
        for lock, (candidate, same, section) in head.sections.items():
            now_in = state.sections.get(lock, section)
            held = terms.and_(now_in.holds, terms.implies(section.is_write, now_in.is_write))
            oblige(candidate, state, terms.and_(section.holds, terms.not_(held)))
            stays = terms.all(
                [
                    terms.eq(now_in.since, section.since),
                    *(terms.eq(now_in.entry[c], v) for c, v in section.entry.items()),
                ]
            )
            oblige(same, state, terms.and_(section.holds, terms.not_(stays)))
        for lock, section in state.sections.items():
            there = head.sections[lock][2].holds if lock in head.sections else terms.false
            self.locking.close(state, lock, section, terms.not_(there))
        for place, (candidate, before) in head.addressed.items():
            lock_now = state.addressed.get(place)
            held = terms.false if lock_now is None else lock_now.holds
            oblige(candidate, state, terms.and_(before, terms.not_(held)))
        for place, lock_now in state.addressed.items():
            there = head.addressed[place][1] if place in head.addressed else terms.false
            self.locking.elements.forgotten(state, lock_now, terms.not_(there))
        for phi, start in head.starts.items():
            self._goes_on(head, phi, start, state, values[phi])
        facts = dict(self._guesses(head, values, _counts(head, state)))
        for candidate, _ in self._guesses(head, head.heads, head.counts):
            oblige(candidate, state, terms.not_(facts.get(candidate, terms.false)))

    def _differs(self, now: PairValue | None, before: PairValue) -> Term:
        if now is None:
            return self.terms.true
        return self.terms.not_(self.terms.eq(now.bits, before.bits))

    def _goes_on(
        self, head: Head, phi: int, start: PairValue, state: PairState, now: PairValue
    ) -> None:
        terms, oblige = self.terms, self.log.oblige
        before = head.heads[phi]
        old, new = before.bits, now.bits
        if before.places:
            (place,) = before.places
            candidate = self.conjectures.new(f"{head.name} inside {phi}")
            inside = terms.any(
                terms.and_(p.condition, same_object(terms, p.object, place.object))
                for p in now.places
            )
            oblige(candidate, state, terms.and_(place.condition, terms.not_(inside)))
            if len(now.places) != 1:
                for candidate, _ in self.log.growing[place.offset]:
                    oblige(candidate, state, terms.true)
                return
            old, new = place.offset, now.places[0].offset
        for candidate, predicate in self.log.growing.get(old, ()):
            oblige(candidate, state, terms.not_(terms.compare(predicate, old, new)))


def _counts(head: Head, state: PairState) -> dict[SharedCell, Term]:
    return {cell: state.memory[cell].bits for cell in head.counts if cell in state.memory}
