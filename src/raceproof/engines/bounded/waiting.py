"""Loop iterations that only wait for other threads, and so need not be repeated.

An iteration is *idle* if it starts over in the state in which it began: registers and the thread's
own memory as before, nothing written that others read. Whatever an execution does after some idle
iterations it can do without them, each step at the same time as seen by the others:

    while (!atomic_load(&ready)) ;
    while (!atomic_compare_exchange_strong(&owner, &(int){0}, me)) pause();

So an unfolded thread that comes to the end of an idle iteration stays there for good. No race gets
lost: an execution whose race lies in the fifth idle iteration has, with the first four left out,
the same race in the first one, which is unfolded. Leaving steps of one thread out never adds a
context switch, so the number of rounds that a race needs does not grow either. And no unwinding
assertion speaks of these iterations, so that a spin loop can be part of a proof.

Whether an iteration is idle may depend on its path, so the answer is a condition (`Idle.when`), and
only where it does not hold the loop goes on. A loop like the following is idle whenever the turn is
ours, and unrolled for the other case:

    while (atomic_load(&other)) { if (atomic_load(&turn) != me) step_back(); }

Five things that an iteration may do all the same:

*Locks taken and released*, as long as no thread tries a lock without waiting for it: a lock that is
held for a shorter time stops fewer threads.

    for (;;) { lock(&m); if (ready) break; unlock(&m); }

*A lock let go and taken again* (`let_go`). Others may need the time in between, so one such
iteration stays, and the second in a row ends it: from the first we keep what comes before it takes
the lock again, from the second what comes from there on. That is an iteration too if the second
part does not look at what the first has read.

    while (!ready) pthread_cond_wait(&changed, &m);

*Something remembered* (`forgotten`) that no iteration looks at, only what comes after the loop. Of
two idle iterations in a row the first can be left out, if the second remembers something else in
its place: the second does the same without it.

    while ((seen = atomic_load(&turn)) != mine) last = seen;

*A weak exchange fails for no reason*, and the loop starts over with what it had: that it found what
it expected is said in the formula anyway, so requiring it costs little.

    do new = old + 1; while (!atomic_compare_exchange_weak(&next, &old, new));

*Writes to shared memory that no thread sees* (`hidden`): each iteration begins by writing there
anew, before it reads the place or leaves the loop, and no other thread reads the place in the
meantime. The first is seen from the events, the second has to be proved
(`OrderEncoding.hidden_seen`): while the thread stays at the end of the iteration, no other reads
what it wrote. What the others do until the next iteration writes the place anew is done in such an
execution, so it is enough.

    do { node->next = old = atomic_load(&top); } while (!compare_exchange(&top, old, node));

(A thread may wake up at any time, so that no signals get lost with the iterations.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from raceproof.engines.bounded.events import HiddenWrite, Read, UnfoldEvent, Write
from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.smt.terms import Term, Terms, subterms

Range = tuple[int, int, int]
"""Object, first byte, end."""
Spot = int | Range
"""Where a thread remembers something: a register, or memory that it alone uses."""
Site = tuple[int, tuple[int, ...]]
"""An instruction and the calls that lead to it."""


@dataclass(frozen=True, slots=True, eq=False)
class UnsharedAccess:
    """An access to memory that no other thread uses."""

    range: Range
    is_write: bool
    guard: Term


@dataclass(frozen=True, slots=True, eq=False)
class StateChange:
    """What a thread remembers differently after an iteration."""

    spot: Spot
    before: Term | None
    now: Term | None


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """One iteration on its way back to the head of its loop."""

    head: Term
    """The guard with which it began."""
    guard: Term
    """The guard at its end."""
    events: Sequence[UnfoldEvent]
    changes: Sequence[StateChange]
    looks_at: Callable[[Spot], bool]
    """Whether it may depend on what it found there when it began."""
    overwrites: Callable[[Spot], bool]
    """Whether what it leaves there is all its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Idle:
    """An iteration that does no more than wait."""

    when: Term
    forgotten: frozenset[Spot]
    let_go: Site | None
    hidden: tuple[HiddenWrite, ...]
    iteration: Iteration

    @property
    def needs_another(self) -> bool:
        """Whether one such iteration has to come before it."""
        return bool(self.forgotten) or self.let_go is not None

    def follows(self, first: Idle) -> bool:
        """Whether of both in a row only one is needed."""
        if self.let_go is not None or first.let_go is not None:
            return self.let_go == first.let_go and not (self.forgotten or first.forgotten)
        return not any(
            self.iteration.looks_at(spot) or not self.iteration.overwrites(spot)
            for spot in first.forgotten
        )


_LOCKING = {"lock": 1, "unlock": -1, "wait": -1, "wake": 1}
_LOCK_SIZE = 2
_HIDES = frozenset({"write", "update", "copy", "call"})
_MANY = 12
"""More conditions than this are not worth following."""


class _NotIdle(Exception):
    pass


def idle(terms: Terms, iteration: Iteration, *, is_patient: bool, hides: bool) -> Idle | None:
    """When and how an iteration is idle; `is_patient`: no thread notices how long a lock is held,
    `hides`: writes that no thread sees are let pass."""
    try:
        return _Judge(terms, iteration, is_patient, hides).judge()
    except _NotIdle:
        return None


def changes_nothing(terms: Terms, guard: Term, events: Sequence[UnfoldEvent]) -> bool:
    """Whether these events only read, on the way with this guard."""
    return not any(
        isinstance(operation, Write)
        and terms.all((guard, event.guard, operation.condition)) is not terms.false
        for event in events
        for operation in event.operations
    )


class _Judge:
    """Looks at one iteration."""

    def __init__(self, terms: Terms, iteration: Iteration, is_patient: bool, hides: bool) -> None:
        self.terms = terms
        self.iteration = iteration
        self.guard = iteration.guard
        self.is_patient = is_patient
        self.hides = hides
        self.when = terms.true
        self.conditions = 0
        self.forgotten: set[Spot] = set()
        self.hidden: list[HiddenWrite] = []
        self.depths: dict[int, int] = {}
        self.let_go: Site | None = None
        self.woken: int | None = None
        """The event that takes the lock again."""

    def judge(self) -> Idle | None:
        for change in self.iteration.changes:
            self._change(change)
        for position, event in enumerate(self.iteration.events):
            if self.terms.and_(self.guard, event.guard) is not self.terms.false:
                self._event(position, event)
        if any(self.depths.values()):
            return None
        if self.let_go is not None and (self.hidden or self.forgotten or not self._forgets_first()):
            return None
        return Idle(
            self.when,
            frozenset(self.forgotten),
            self.let_go,
            tuple(self.hidden),
            self.iteration,
        )

    def _require(self, condition: Term) -> None:
        self.conditions += 1
        self.when = self.terms.and_(self.when, condition)
        if self.conditions > _MANY or self.terms.and_(self.guard, self.when) is self.terms.false:
            raise _NotIdle

    # --- what the thread remembers ------------------------------------------------------------

    def _change(self, change: StateChange) -> None:
        if not self.iteration.looks_at(change.spot):
            self.forgotten.add(change.spot)
            return
        before, now = change.before, change.now
        if before is None or now is None or before.width != now.width:
            raise _NotIdle
        now = self._here(now)
        is_same = self.terms.eq(before, now)
        if not (before.leaves and now.leaves) and before.width > 1:
            if is_same.number not in {term.number for term in subterms([self.guard], set())}:
                raise _NotIdle
        self._require(is_same)

    def _here(self, value: Term) -> Term:
        """A choice that the way to the end of the iteration has made."""
        made = conjunct_terms(self.guard)
        while value.operation == "ite":
            condition, a, b = value.arguments
            if condition in made:
                value = a
            elif self.terms.not_(condition) in made:
                value = b
            else:
                break
        return value

    # --- what it does to others ------------------------------------------------------------

    def _event(self, position: int, event: UnfoldEvent) -> None:
        if event.creates or event.is_fatal:
            raise _NotIdle
        writes = [
            (number, operation)
            for number, operation in enumerate(event.operations)
            if isinstance(operation, Write) and self._happens(event, operation)
        ]
        if not writes:
            return
        if event.kind in _LOCKING:
            self._lock(position, event, [write for _, write in writes])
            return
        for number, write in writes:
            if self._is_hidden(event, write):
                self.hidden.append(HiddenWrite(event, number))
            else:
                self._require(self.terms.not_(self._changes(event, number, write)))

    def _happens(self, event: UnfoldEvent, write: Write) -> bool:
        terms = self.terms
        return terms.all((self.guard, event.guard, write.condition)) is not terms.false

    def _changes(self, event: UnfoldEvent, number: int, write: Write) -> Term:
        """When a write leaves another value than it found."""
        terms = self.terms
        changes = terms.and_(event.guard, write.condition)
        for operation in event.operations[:number]:
            if isinstance(operation, Write):
                return changes
            if operation.address is write.address and operation.size == write.size:
                return terms.and_(changes, terms.not_(terms.eq(operation.variable, write.value)))
        return changes

    def _is_hidden(self, event: UnfoldEvent, write: Write) -> bool:
        """Whether every iteration writes the place anew before it looks at it or ends."""
        if not self.hides or event.kind not in _HIDES or not write.address.is_constant:
            return False
        if len(write.places) != 1:
            return False
        target, start = write.places[0]
        end = start + write.size
        for earlier in self.iteration.events:
            for operation in earlier.operations:
                if isinstance(operation, Read):
                    if any(
                        _overlap(place, operation.size, target, start, end)
                        for place in operation.places
                    ):
                        return False
                elif (
                    operation.address is write.address
                    and operation.size == write.size
                    and operation.condition is self.terms.true
                    and earlier.guard is self.iteration.head
                ):
                    return True
        return False

    def _lock(self, position: int, event: UnfoldEvent, writes: Sequence[Write]) -> None:
        if not self.is_patient or not implies(self.guard, event.guard):
            raise _NotIdle
        if any(write.size != _LOCK_SIZE for write in writes):
            raise _NotIdle
        for write in writes:
            depth = self.depths.get(write.address.number, 0)
            self.depths[write.address.number] = depth + _LOCKING[event.kind]
            if depth == 0 and _LOCKING[event.kind] < 0:
                if self.let_go is not None:
                    raise _NotIdle  # Let go twice.
                self.let_go = (event.instruction, event.calls)
            elif depth < 0:
                if _LOCKING[event.kind] < 0:
                    raise _NotIdle
                self.woken = position

    def _forgets_first(self) -> bool:
        """Whether what follows the taking of the lock depends on nothing that was read before."""
        assert self.woken is not None
        events = self.iteration.events
        first = _variables(
            operation.variable
            for event in events[: self.woken]
            for operation in event.operations
            if isinstance(operation, Read)
        )
        known = _conjuncts(events[self.woken].guard)
        used = [term for term in conjunct_terms(self.guard) if term.number not in known]
        for event in events[self.woken :]:
            used += (term for term in conjunct_terms(event.guard) if term.number not in known)
            used.append(event.assume)
            for operation in event.operations:
                used.append(operation.address)
                if isinstance(operation, Write):
                    used += (operation.value, operation.condition)
        return not first & _variables(used)


def _overlap(
    place: tuple[UnfoldObject, int], size: int, target: UnfoldObject, start: int, end: int
) -> bool:
    return place[0] is target and place[1] < end and start < place[1] + size


def exposed(accesses: Sequence[UnsharedAccess]) -> list[Range]:
    """What is read of the memory as it was before these accesses."""
    written: list[UnsharedAccess] = []
    found: dict[Range, None] = {}
    for access in accesses:
        if access.is_write:
            written.append(access)
            continue
        number, start, end = access.range
        if not any(
            earlier.range[0] == number
            and earlier.range[1] <= start
            and end <= earlier.range[2]
            and implies(access.guard, earlier.guard)
            for earlier in written
        ):
            found[access.range] = None
    return list(found)


def overlaps(a: Range, b: Range) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def _variables(roots: Iterable[Term]) -> set[int]:
    return {term.number for term in subterms(roots, set()) if term.operation == "var"}


def implies(guard: Term, condition: Term) -> bool:
    """Whether every conjunct of the condition is one of the guard's."""
    return guard is condition or _conjuncts(condition) <= _conjuncts(guard)


def _conjuncts(term: Term) -> set[int]:
    return {found.number for found in conjunct_terms(term)}


def conjunct_terms(term: Term) -> list[Term]:
    found: list[Term] = []
    seen: set[int] = set()
    stack = [term]
    while stack:
        current = stack.pop()
        if current.number in seen:
            continue
        seen.add(current.number)
        if current.operation == "and":
            stack.extend(current.arguments)
        elif not (current.is_constant and current.value):
            found.append(current)
    return found
