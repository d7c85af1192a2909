"""Sections: what acquiring and releasing a lock teaches a thread, and its proof obligations."""

from __future__ import annotations

from raceproof.engines.pairwise.elements import Elements
from raceproof.engines.pairwise.execution_log import ExecutionLog
from raceproof.engines.pairwise.state import (
    ATOMIC,
    AddressedLock,
    LockName,
    PairState,
    Passed,
    Section,
    SharedCell,
)
from raceproof.engines.pairwise.thread_counters import ThreadCounters
from raceproof.engines.pairwise.ticket_locks import TicketLocks
from raceproof.engines.pairwise.values import PairValue, same_object
from raceproof.engines.pairwise.work_counters import WorkCounters
from raceproof.smt.terms import Term


class Locking:
    """The locks of one thread."""

    def __init__(self, log: ExecutionLog) -> None:
        self.log = log
        self.world = log.world
        self.terms = log.terms
        self.ticket_locks = TicketLocks(self)
        self.thread_counters = ThreadCounters(self)
        self.work_counters = WorkCounters(self)
        self.ghosts = (self.thread_counters, self.work_counters)
        self.elements = Elements(self)

    # --- knowing ------------------------------------------------------------

    def holds(self, state: PairState, lock: LockName) -> Term:
        section = state.sections.get(lock)
        return self.terms.false if section is None else section.holds

    def is_known(self, state: PairState, cell: SharedCell) -> Term:
        """Is the view of a shared cell right, as no other thread can write it now?"""
        terms = self.terms
        reasons = [state.alone, self.world.stable(cell)]
        turn = self.world.ticket_locks.get(cell)
        if turn is not None:
            reasons.append(terms.and_(self.world.is_ticket_lock(cell), self.holds(state, turn)))
        for lock in self.world.locks_of(cell):
            held = self.holds(state, lock)
            if held is not terms.false:
                reasons.append(terms.and_(self.world.is_guarded(cell, lock), held))
        return terms.any(reasons)

    def is_exclusive(self, state: PairState, cell: SharedCell) -> Term:
        """Can no other thread look at a shared cell now, holding a lock that guards it?"""
        terms = self.terms
        reasons = []
        for lock in self.world.locks_of(cell):
            section = state.sections.get(lock)
            if section is not None and section.holds is not terms.false:
                guarded = self.world.is_guarded(cell, lock)
                reasons.append(terms.all([guarded, section.holds, section.is_write]))
        return terms.any(reasons)

    def view(self, state: PairState, cell: SharedCell) -> PairValue:
        found = state.memory.get(cell)
        if found is None:
            found = state.memory[cell] = PairValue(self.log.fresh("view", cell.size * 8))
        return found

    # --- sections ------------------------------------------------------------

    def acquire(self, state: PairState, lock: LockName, condition: Term, is_write: Term) -> None:
        """If the condition holds, the thread has the lock from now on; if it had it before, it goes
        on with its section."""
        terms, world = self.terms, self.world
        old = state.sections.get(lock)
        enters = condition if old is None else terms.and_(condition, terms.not_(old.holds))
        entry: dict[SharedCell, Term] = {}
        for cell in world.guarded.get(lock, ()):
            guarded = world.is_guarded(cell, lock)
            before = self.view(state, cell)
            is_new = terms.and_(condition, terms.not_(self.is_known(state, cell)))
            if is_new is not terms.false:
                value = self.log.fresh("guarded", cell.size * 8)
                known = [
                    terms.implies(candidate, holds(value))
                    for candidate, holds in world.invariants(lock, cell)
                ]
                known += [
                    terms.implies(p.condition, world.changed(lock, cell, left, value))
                    for p in state.passed
                    if p.lock == lock
                    for other, _, left in p.values
                    if other == cell
                ]
                self.log.learn(
                    terms.and_(state.guard, is_new), terms.implies(guarded, terms.all(known))
                )
                bits = terms.ite(is_new, value, before.bits)
                state.memory[cell] = PairValue(bits)
            now = self.view(state, cell).bits
            if old is not None and cell in old.entry:
                now = terms.ite(enters, now, old.entry[cell])
            entry[cell] = now
        held = condition if old is None else terms.or_(old.holds, condition)
        writes = is_write if old is None else terms.ite(enters, is_write, old.is_write)
        since = self.log.moment()
        if old is not None:
            since = terms.ite(enters, since, old.since)
        state.sections[lock] = Section(held, writes, since, entry)

    def release(self, state: PairState, lock: LockName, condition: Term) -> None:
        """If the condition holds, the lock is given back."""
        terms, world = self.terms, self.world
        shared = terms.not_(state.alone)
        section = state.sections.get(lock)
        held = terms.false if section is None else section.holds
        wrong = terms.all([condition, shared, terms.not_(held)])
        for cell in world.guarded.get(lock, ()):
            self.log.oblige(world.is_guarded(cell, lock), state, wrong)
        if section is not None:
            self.ticket_locks.look(state, lock, terms.and_(condition, held))
            for ghost in self.ghosts:
                ghost.look(state, lock, terms.and_(condition, held))
            section = state.sections[lock]
            self.close(state, lock, section, condition)
            seen = terms.all([state.guard, condition, held, shared])
            if seen is not terms.false:
                values = tuple(
                    (cell, section.entry[cell], self.view(state, cell).bits)
                    for cell in world.guarded.get(lock, ())
                )
                until = self.log.moment()
                state.passed += (
                    Passed(lock, seen, section.is_write, section.since, until, values),
                )
            left = terms.and_(held, terms.not_(condition))
            state.sections[lock] = Section(left, section.is_write, section.since, section.entry)

    def close(self, state: PairState, lock: LockName, section: Section, condition: Term) -> None:
        """If the condition holds, a section ends, or nothing more will be known of it: what is said
        of free locks must be true."""
        terms, world = self.terms, self.world
        for cell in world.guarded.get(lock, ()):
            now = self.view(state, cell).bits
            closes = terms.all(
                [condition, section.holds, terms.not_(state.alone), world.is_guarded(cell, lock)]
            )
            for candidate, holds in world.invariants(lock, cell):
                self.log.oblige(candidate, state, terms.and_(closes, terms.not_(holds(now))))
            for candidate, relation in world.changes(lock, cell):
                is_kept = relation(section.entry[cell], now)
                self.log.oblige(candidate, state, terms.and_(closes, terms.not_(is_kept)))

    def publish(self, state: PairState, condition: Term) -> None:
        """Another thread may start from now on if the condition holds: what is said of free locks
        must be true."""
        terms, world = self.terms, self.world
        first = terms.and_(state.alone, condition)
        for lock, cells in world.guarded.items():
            for cell in cells:
                now = self.view(state, cell).bits
                wrong = terms.and_(first, world.is_guarded(cell, lock))
                for candidate, holds in world.invariants(lock, cell):
                    self.log.oblige(candidate, state, terms.and_(wrong, terms.not_(holds(now))))

    # --- locks known by their address ------------------------------------------------------------

    def acquire_addressed(
        self,
        state: PairState,
        place: tuple[object, ...],
        address: PairValue,
        condition: Term,
        is_write: bool,
    ) -> None:
        self.elements.acquired(state, place, address, condition, is_write)
        state.addressed[place] = AddressedLock(address, condition, is_write)

    def release_addressed(
        self, state: PairState, address: PairValue, name: LockName | None
    ) -> None:
        """Gives back all that the address may mean."""
        terms = self.terms
        self.elements.released(state, address)
        for place, lock in list(state.addressed.items()):
            other = terms.not_(may_be_same(self.log, lock.address, address))
            held = terms.and_(lock.holds, other)
            if held is terms.false:
                del state.addressed[place]
            else:
                state.addressed[place] = AddressedLock(lock.address, held, lock.is_write)
        if name is None:
            for lock_name in dict.fromkeys([*self.world.guarded, *state.sections]):
                if lock_name.kind == "lock":
                    mine = self.log.global_address(lock_name.name, lock_name.offset)
                    same = may_be_same(self.log, mine, address)
                    if same is not terms.false:
                        self.release(state, lock_name, same)

    # --- writing ------------------------------------------------------------

    def wrote(self, state: PairState, cell: SharedCell, value: PairValue) -> None:
        """The thread writes a shared cell."""
        terms, world = self.terms, self.world
        shared = terms.not_(state.alone)
        self.log.oblige(world.stable(cell), state, shared)
        for lock in world.locks_of(cell):
            section = state.sections.get(lock)
            may_write = (
                terms.false if section is None else terms.and_(section.holds, section.is_write)
            )
            wrong = terms.and_(shared, terms.not_(may_write))
            self.log.oblige(world.is_guarded(cell, lock), state, wrong)
        self.ticket_locks.end(state, cell)
        for ghost in self.ghosts:
            ghost.writes(state, cell, value.bits)
        own = world.spin_locks.get(cell)
        if own is None:
            state.memory[cell] = value
            return
        taken = self._switch(state, cell, own, value.bits)
        state.memory[cell] = value
        if taken is not terms.false:
            self.acquire(state, own, taken, terms.true)

    def _switch(self, state: PairState, cell: SharedCell, lock: LockName, new: Term) -> Term:
        """A home-made lock is about to be set; the condition under which it is then taken."""
        terms = self.terms
        zero = terms.const(0, new.width)
        known = terms.or_(state.alone, self.is_exclusive(state, cell))
        old = self.view(state, cell).bits
        was_free = terms.and_(known, terms.eq(old, zero))
        is_freed = terms.eq(new, zero)
        held = self.holds(state, lock)
        wrong = terms.all([terms.not_(state.alone), is_freed, terms.not_(held)])
        self.log.oblige(self.world.is_lock(cell), state, terms.and_(wrong, terms.not_(was_free)))
        self.release(state, lock, terms.and_(is_freed, held))
        return terms.all([was_free, terms.not_(is_freed), self.world.is_lock(cell)])

    def found_free(self, state: PairState, cell: SharedCell) -> Term:
        """Does the thread know that a spin lock is free, and no thread can take it now?"""
        terms = self.terms
        view = self.view(state, cell).bits
        is_free = terms.eq(view, terms.const(0, view.width))
        known = terms.and_(self.is_exclusive(state, cell), self.world.is_lock(cell))
        return terms.and_(known, is_free)

    def clobbered(self, state: PairState, cell: SharedCell, condition: Term) -> None:
        """The thread may write some bytes of a shared cell, it is unknown which."""
        terms, world = self.terms, self.world
        wrong = terms.and_(condition, terms.not_(state.alone))
        self.log.oblige(world.stable(cell), state, wrong)
        for lock in world.locks_of(cell):
            self.log.oblige(world.is_guarded(cell, lock), state, wrong)
        for ghost in self.ghosts:
            ghost.clobbered(state, cell, condition)
        if cell in world.spin_locks:
            self.log.oblige(world.is_lock(cell), state, wrong)
            self.log.oblige(world.is_ticket_lock(cell), state, wrong)
        old = self.view(state, cell)
        anything = self.log.fresh("clobbered", cell.size * 8)
        state.memory[cell] = PairValue(terms.ite(condition, anything, old.bits))

    def atomically(self, state: PairState) -> Term:
        """Enters an atomic section unless in one; the condition under which it must be left."""
        outside = self.terms.not_(self.holds(state, ATOMIC))
        self.acquire(state, ATOMIC, outside, self.terms.true)
        return outside


def may_be_same(log: ExecutionLog, a: PairValue, b: PairValue) -> Term:
    """When two addresses may be equal: by their objects if these are known, else by their bits."""
    terms = log.terms
    ways = [
        terms.all(
            [
                p.condition,
                q.condition,
                same_object(terms, p.object, q.object),
                terms.eq(p.offset, q.offset),
            ]
        )
        for p in a.places
        for q in b.places
    ]
    is_known = terms.all(terms.any(p.condition for p in v.places) for v in (a, b))
    ways.append(terms.and_(terms.not_(is_known), terms.eq(a.bits, b.bits)))
    return terms.any(ways)
