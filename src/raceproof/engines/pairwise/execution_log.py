"""The log of one symbolic execution: variables, facts, obligations, accesses, creations."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.engines.pairwise.arrays import GuardedArray
from raceproof.engines.pairwise.conjectures import Obligations
from raceproof.engines.pairwise.elements import Found
from raceproof.engines.pairwise.shared import NotModelled, World
from raceproof.engines.pairwise.state import (
    AddressedLock,
    LockName,
    PairState,
    Passed,
    Section,
    SharedCell,
)
from raceproof.engines.pairwise.thread_counters import Account
from raceproof.engines.pairwise.values import Object, PairPlace, PairValue
from raceproof.engines.pairwise.work_counters import Attendance
from raceproof.smt.terms import Term

_CLOCK = 14
"""Bits of a point in time."""
_MOST_MOMENTS = 1 << (_CLOCK - 2)
"""Of one execution. Those of two threads and of their creator must fit into one line of time, or
nothing would be possible, and everything proved."""

Nest = tuple[tuple[object, ...], ...]
"""The loops around a point, outermost first, each by the calls that lead to it and its head."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An access: when it happens, where, under which locks, after which facts."""

    instruction: int
    order: int
    nest: Nest
    guard: Term
    facts: Term
    address: PairValue
    size: int | None
    is_write: bool
    sections: dict[LockName, Section]
    addressed: tuple[AddressedLock, ...]
    found_free: dict[LockName, Term]
    passed: tuple[Passed, ...]
    counts: dict[Account, tuple[Term, Term]]
    """Its balance for each counter, and whether it has found all others done."""
    attendances: dict[SharedCell, Attendance]
    found: tuple[Found, ...]
    """Elements whose locks it holds."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A thread is created: with what argument, and what the creator sees then."""

    call: int
    order: int
    nest: Nest
    guard: Term
    facts: Term
    argument: PairValue | None
    memory: dict[SharedCell, PairValue]


class ExecutionLog:
    """Everything is noted in the order of execution; `facts` is what is known up to now."""

    def __init__(self, world: World, name: str, start: Term, call: int = -1) -> None:
        self.world = world
        self.terms = world.terms
        self.name = name
        self.is_main = name == "main"
        self.call = call
        """Creates the thread; -1 for `main`."""
        self.facts = start
        self.obligations: Obligations = {}
        self.accesses: dict[int, list[Recorded]] = {}
        self.creations: dict[int, list[Creation]] = {}
        self.takings: dict[SharedCell, list[Recorded]] = {}
        """Where a thread may see that it is its turn; the address is its ticket."""
        self.settings: dict[GuardedArray, list[Recorded]] = {}
        """Where a thread may write something else than 0 to an element: the address is its place,
        with the bits that are written."""
        self.nests: dict[Term, Nest] = {}
        """Where each variable gets its value."""
        self.heap: dict[Term, None] = {}
        """Variables that tell heap objects apart."""
        self.growing: dict[Term, list[tuple[Term, str]]] = {}
        """Loop variables, with the conjectures that say how they go on."""
        self.nest: Nest = ()
        self.order = 0
        self.entered: set[str] = set()
        self.reached: set[int] = set()
        """Instructions that were executed."""
        self._count = 0
        self._now: Term | None = None
        self._moments = 0
        self.offset_width = world.program.layout.pointer_size * 8 + 32

    def fresh(self, name: str, width: int) -> Term:
        self._count += 1
        variable = self.terms.var(f"{self.name}:{name}#{self._count}", width)
        self.nests[variable] = self.nest
        return variable

    def moment(self) -> Term:
        """A point in time, later than all that were asked for before."""
        self._moments += 1
        if self._moments >= _MOST_MOMENTS:
            raise NotModelled("too many sections")
        before, self._now = self._now, self.fresh("moment", _CLOCK)
        if before is not None:
            self.learn(self.terms.true, self.terms.compare("ult", before, self._now))
        return self._now

    def learn(self, guard: Term, fact: Term) -> None:
        """From now on: if the guard holds, so does the fact."""
        self.facts = self.terms.and_(self.facts, self.terms.implies(guard, fact))

    def oblige(self, candidate: Term, state: PairState, violation: Term) -> None:
        """The candidate is wrong if the state is reached and the violation holds."""
        terms = self.terms
        wrong = terms.and_(state.guard, violation)
        if wrong is not terms.false:
            self.obligations.setdefault(candidate, []).append(terms.and_(self.facts, wrong))

    def record(
        self,
        instruction: int,
        state: PairState,
        condition: Term,
        address: PairValue,
        size: int | None = None,
        is_write: bool = False,
        found_free: dict[LockName, Term] | None = None,
        counts: dict[Account, tuple[Term, Term]] | None = None,
        attendances: dict[SharedCell, Attendance] | None = None,
        found: tuple[Found, ...] = (),
    ) -> Recorded:
        """What is known now of an access that happens if the condition holds."""
        return Recorded(
            instruction,
            self.order,
            self.nest,
            self.terms.and_(state.guard, condition),
            self.facts,
            address,
            size,
            is_write,
            dict(state.sections),
            tuple(state.addressed.values()),
            found_free or {},
            state.passed,
            counts or {},
            attendances or {},
            found,
        )

    # --- addresses ------------------------------------------------------------

    def global_address(self, name: str, offset: int) -> PairValue:
        bits = self.world.program.layout.pointer_size * 8
        address = self.terms.binary(
            "add", self.terms.var(f"&{name}", bits), self.terms.const(offset, bits)
        )
        wide = self.terms.const(offset, self.offset_width)
        return PairValue(address, (PairPlace(self.terms.true, Object(("global", name)), wide),))

    def new_object(self, key: tuple[object, ...], identity: Term) -> PairValue:
        bits = self.fresh("address", self.world.program.layout.pointer_size * 8)
        zero = self.terms.const(0, self.offset_width)
        return PairValue(bits, (PairPlace(self.terms.true, Object(key, identity), zero),))
