"""What threads have in common: the cells they share, and what may protect them.

A cell is a scalar of a global variable. Conjectures say that while there are several threads, none
writes it (`stable`), or every write of it holds a named lock (`guarded`). While the lock is held,
the thread's view of the cell is then right. What holds of the cell whenever the lock is free, and
how sections may change it, are conjectures too: `INVARIANTS` and `CHANGES`; a change must be
reflexive and transitive, so that it holds between any two moments when the lock is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from raceproof.analysis.escape import escaped_bases
from raceproof.analysis.locks import ATOMIC as ATOMIC_KEY
from raceproof.analysis.records import RawAccess
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.pairwise.arrays import Forms, GuardedArray, Sightings
from raceproof.engines.pairwise.conjectures import Conjectures
from raceproof.engines.pairwise.state import ATOMIC, LockName, SharedCell
from raceproof.engines.pairwise.thread_counters import Account
from raceproof.ir import GlobalAddress, IntConstant, Program, Store, ZeroConstant
from raceproof.smt.terms import Term, Terms
from raceproof.verdict import BaseKind

_MOST_CELLS = 24
_MOST_LOCKS = 12
_MOST_CONSTANTS = 4
_WIDEST = 8


class NotModelled(Exception):
    """The program does something that is not modelled here."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A cell that may count threads: its first value, and who creates threads that write it."""

    first: int
    calls: frozenset[int]


@dataclass(eq=False)
class World:
    """The program, as far as all threads agree on it."""

    program: Program
    analysis: Analysis
    terms: Terms
    conjectures: Conjectures
    assumes_no_overflow: bool
    seen: Sightings = field(default_factory=Sightings)
    """Arrays that were found by an earlier look at the program."""
    sightings: Sightings = field(default_factory=Sightings)
    """Those that are found now."""
    arrays: tuple[GuardedArray, ...] = ()
    forms: Forms = field(default_factory=Forms)
    cells: dict[SharedCell, None] = field(default_factory=dict)
    guarded: dict[LockName, list[SharedCell]] = field(default_factory=dict)
    spin_locks: dict[SharedCell, LockName] = field(default_factory=dict)
    ticket_locks: dict[SharedCell, LockName] = field(default_factory=dict)
    """Cells that may say whose turn it is, each with the lock that it then is."""
    counters: dict[SharedCell, Counter] = field(default_factory=dict)
    accounts: dict[Account, None] = field(default_factory=dict)
    constants: dict[SharedCell, tuple[int, ...]] = field(default_factory=dict)
    targets: dict[int, set[tuple[object, ...]]] = field(default_factory=dict)
    """Instruction -> what it may write: ("global", name), ("slot", number), ..."""
    untouched: set[str] = field(default_factory=set)
    """Globals that are never written."""
    open_slots: set[int] = field(default_factory=set)
    """Slots that other threads may know."""
    hidden_slots: set[int] = field(default_factory=set)
    """Slots of which the analysis records no accesses."""

    def __post_init__(self) -> None:
        accesses = [a for t in self.analysis.threads.all for a in t.records.accesses.values()]
        self._find_targets(accesses)
        self._find_cells(accesses)
        self._find_locks(accesses)
        self._open_accounts()
        for name, variable in self.program.globals.items():
            if not variable.is_thread_local:
                is_zero = isinstance(variable.initializer, ZeroConstant)
                self.sightings.single[("global", name)] = is_zero

    # --- conjectures ------------------------------------------------------------

    def stable(self, cell: SharedCell) -> Term:
        return self.conjectures.new(f"stable {cell}")

    def is_guarded(self, cell: SharedCell, lock: LockName) -> Term:
        return self.conjectures.new(f"guarded {cell} {lock}")

    def is_lock(self, cell: SharedCell) -> Term:
        return self.conjectures.new(f"home-made {cell}")

    def is_ticket_lock(self, cell: SharedCell) -> Term:
        return self.conjectures.new(f"ticket lock {cell}")

    def is_array(self, array: GuardedArray) -> Term:
        return self.conjectures.new(f"array {array}")

    def is_counter(self, account: Account) -> Term:
        return self.conjectures.new(f"counter {account}")

    def is_work_counter(self, cell: SharedCell) -> Term:
        return self.conjectures.new(f"work counter {cell}")

    def locks_of(self, cell: SharedCell) -> list[LockName]:
        return [lock for lock, cells in self.guarded.items() if cell in cells]

    def invariants(
        self, lock: LockName, cell: SharedCell
    ) -> list[tuple[Term, Callable[[Term], Term]]]:
        """Conjectures for what holds of the cell when the lock is free."""
        terms, found = self.terms, list[tuple[Term, Callable[[Term], Term]]]()
        for number in self.constants.get(cell, ()):
            constant = terms.const(number, cell.size * 8)
            for name in ("eq", "sge", "sle"):

                def holds(value: Term, name: str = name, constant: Term = constant) -> Term:
                    return terms.compare(name, value, constant)

                found.append((self.conjectures.new(f"{name} {number} {lock} {cell}"), holds))
        return found

    def changes(
        self, lock: LockName, cell: SharedCell
    ) -> list[tuple[Term, Callable[[Term, Term], Term]]]:
        """Conjectures for how the cell may change: grow, shrink, or stay once it is a number."""
        terms, found = self.terms, list[tuple[Term, Callable[[Term, Term], Term]]]()
        for name in ("sge", "sle", "uge"):

            def holds(old: Term, new: Term, name: str = name) -> Term:
                return terms.compare(name, new, old)

            found.append((self.conjectures.new(f"{name} {lock} {cell}"), holds))
        for number in self.constants.get(cell, ()):
            constant = terms.const(number, cell.size * 8)

            def stays(old: Term, new: Term, constant: Term = constant) -> Term:
                return terms.implies(terms.eq(old, constant), terms.eq(new, constant))

            found.append((self.conjectures.new(f"stays {number} {lock} {cell}"), stays))
        return found

    def changed(self, lock: LockName, cell: SharedCell, old: Term, new: Term) -> Term:
        """What is known of a later value of the cell, if it is guarded by the lock."""
        terms = self.terms
        return terms.all(
            terms.implies(candidate, relation(old, new))
            for candidate, relation in self.changes(lock, cell)
        )

    # --- looking at the program -----------------------------------------------------------------

    def _find_targets(self, accesses: list[RawAccess]) -> None:
        objects = self.analysis.objects
        written = set[str]()
        escaped = escaped_bases(self.analysis)
        for access in accesses:
            if access.is_write:
                key = _key(objects[access.base].descriptor)
                self.targets.setdefault(access.instruction, set()).add(key)
                if key[0] == "global":
                    written.add(str(key[1]))
        for number in range(len(objects.bases)):
            descriptor = objects[number].descriptor
            key = _key(descriptor)
            if key[0] == "slot":
                slot = key[1]
                assert isinstance(slot, int)
                if number in escaped:
                    self.open_slots.add(slot)
                if number in objects.private:
                    self.hidden_slots.add(slot)
        for name in self.program.globals:
            if name not in written:
                self.untouched.add(name)

    def _find_cells(self, accesses: list[RawAccess]) -> None:
        objects = self.analysis.objects
        found: dict[SharedCell, None] = {}
        for access in accesses:
            base = objects[access.base]
            offset = access.offsets.signed_constant
            is_parallel = access.thread != 0 or access.facets.may_parallel != 0
            if base.kind is BaseKind.GLOBAL and is_parallel and offset is not None:
                if access.size is not None and access.size <= _WIDEST:
                    found[SharedCell(_key(base.descriptor), offset, access.size)] = None
        for cell in found:
            same = [c for c in found if c.key == cell.key and c.overlaps(cell.offset, cell.size)]
            if same == [cell] and len(self.cells) < _MOST_CELLS:
                self.cells[cell] = None
                self.constants[cell] = self._constants_of(cell)

    def _constants_of(self, cell: SharedCell) -> tuple[int, ...]:
        """Numbers that the program stores there, or that it starts with."""
        found: dict[int, None] = {}
        variable = self.program.globals[str(cell.key[1])]
        if isinstance(variable.initializer, IntConstant):
            found[variable.initializer.value] = None
        elif variable.initializer is None or isinstance(variable.initializer, ZeroConstant):
            found[0] = None
        for _, instruction in self.program.all_instructions():
            if isinstance(instruction, Store) and isinstance(instruction.value, IntConstant):
                pointer = instruction.pointer
                if isinstance(pointer, GlobalAddress) and pointer.name == cell.key[1]:
                    if pointer.offset == cell.offset:
                        found[instruction.value.value] = None
        return tuple(found)[:_MOST_CONSTANTS]

    def _find_locks(self, accesses: list[RawAccess]) -> None:
        objects = self.analysis.objects
        by_cell: dict[SharedCell, list[RawAccess]] = {cell: [] for cell in self.cells}
        named = {(cell.key, cell.offset, cell.size): cell for cell in self.cells}
        for access in accesses:
            key = _key(objects[access.base].descriptor)
            cell = named.get((key, access.offsets.signed_constant or 0, access.size or 0))
            if cell is not None and (access.thread != 0 or access.facets.may_parallel != 0):
                by_cell[cell].append(access)
        for cell, found in by_cell.items():
            writes = [access for access in found if access.is_write]
            if not writes:
                continue
            self._find_counter(cell, writes)
            if all(access.is_atomic for access in writes):
                self.guarded.setdefault(ATOMIC, []).append(cell)
                self.spin_locks[cell] = LockName("home-made", str(cell.key[1]), cell.offset)
                self.ticket_locks[cell] = LockName("turn", str(cell.key[1]), cell.offset)
            for held in sorted({held for access in found for held in access.facets.must_lockset}):
                base = held.lock.base
                if held.lock == ATOMIC_KEY or objects[base].kind is not BaseKind.GLOBAL:
                    continue
                if not 0 <= held.lock.offset < (objects[base].size or 0):
                    continue
                name = LockName("lock", str(_key(objects[base].descriptor)[1]), held.lock.offset)
                cells = self.guarded.setdefault(name, [])
                if cell not in cells and len(self.guarded) <= _MOST_LOCKS:
                    cells.append(cell)
        for variable, lock in list(self.spin_locks.items()):
            others = [
                cell
                for cell, found in by_cell.items()
                if cell != variable and any(a.is_write and not a.is_atomic for a in found)
            ]
            if len(self.guarded) <= _MOST_LOCKS:
                self.guarded[lock] = others

    def _find_counter(self, cell: SharedCell, writes: list[RawAccess]) -> None:
        variable = self.program.globals[str(cell.key[1])]
        threads = self.analysis.threads
        calls = {threads[access.thread].call for access in writes if access.thread}
        if cell.size < 4 or cell.size != variable.size or not calls:
            return
        if isinstance(variable.initializer, IntConstant):
            self.counters[cell] = Counter(variable.initializer.value, frozenset(calls))

    def _open_accounts(self) -> None:
        if self.counters:
            self.arrays = tuple(self.seen.arrays())
        for cell, counter in self.counters.items():
            self.accounts[Account(cell, counter.first, counter.calls)] = None
            for array in self.arrays:
                calls = frozenset(self.seen.writers[array] - counter.calls)
                if calls:
                    self.accounts[Account(cell, counter.first, calls, array)] = None

    def stop_counting(self) -> None:
        """Nothing is known of how many threads there are."""
        for account in self.accounts:
            self.conjectures.give_up(self.is_counter(account))
        for cell in self.counters:
            self.conjectures.give_up(self.is_work_counter(cell))

    @property
    def is_counting(self) -> bool:
        conjectures = [self.is_counter(account) for account in self.accounts]
        conjectures += [self.is_work_counter(cell) for cell in self.counters]
        return any(self.conjectures.is_alive(one) for one in conjectures)


def _key(descriptor: object) -> tuple[object, ...]:
    """Without contexts and rounds."""
    assert isinstance(descriptor, tuple)
    if descriptor[0] in ("slot", "heap"):
        number = descriptor[2]
        return (descriptor[0], number)
    return descriptor
