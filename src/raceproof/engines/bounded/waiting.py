"""Loop iterations that only wait for other threads, and so need not be repeated.

An iteration is fruitless if it starts over in the state in which it began: registers and the
thread's own memory as before, nothing written that others read. Whatever an execution does after
some fruitless iterations it can do without them, at the same time as seen by the others:

    while (!atomic_load(&ready)) ;                  one iteration is enough

The same holds if the iteration takes and releases locks, as long as nobody tries a lock without
waiting for it: a lock that is held for a shorter time stops fewer threads.

    for (;;) { lock(&m); if (ready) break; unlock(&m); }

If it releases a lock that it began with, and takes it again, others may need the time in between.
Of several such iterations in a row all but the first can be left out, their times taken together:

    while (!ready) pthread_cond_wait(&changed, &m);     one that waits, one that goes on

If the thread remembers something of the iteration, but the next one does not look at it, all but
the last can be left out. We keep two more, so that what the iteration in question knows of the one
before it is what any knows:

    while ((seen = atomic_load(&turn)) != mine) last = seen;

(A thread may wake up at any time, so that no signals get lost with the iterations.)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from raceproof.engines.bounded.events import Event, Write
from raceproof.engines.bounded.terms import Term, Terms, subterms


class Waiting(Enum):
    """What an iteration did."""

    NO = "changed something"
    NOTHING_CHANGED = "can be left out"
    LET_GO = "can be left out after another one"
    FORGOT = "can be left out after two others"


_SILENT = frozenset({"read", "update", "lock", "atomic"})
_LOCKING = {"lock": 1, "unlock": -1, "wait": -1, "wake": 1}
_LOCK_SIZE = 2


def waited(terms: Terms, guard: Term, events: Sequence[Event], is_patient: bool) -> Waiting:
    """What the events of one iteration on the way with this guard amount to; `is_patient`: nobody
    notices how long a lock is held."""
    depths: dict[int, int] = {}
    has_let_go = False
    for event in events:
        if terms.and_(guard, event.guard) is terms.false:
            continue
        writes = [
            operation
            for operation in event.operations
            if isinstance(operation, Write)
            and terms.all((guard, event.guard, operation.condition)) is not terms.false
        ]
        if not writes:
            if event.kind not in _SILENT:
                return Waiting.NO
            continue
        change = _LOCKING.get(event.kind)
        if change is None or not is_patient or not implies(guard, event.guard):
            return Waiting.NO
        if any(write.size != _LOCK_SIZE for write in writes):
            return Waiting.NO
        for write in writes:
            depth = depths.get(write.address.number, 0) + change
            has_let_go = has_let_go or depth < 0
            if depth < -1:
                return Waiting.NO
            depths[write.address.number] = depth
    if any(depths.values()):
        return Waiting.NO
    return Waiting.LET_GO if has_let_go else Waiting.NOTHING_CHANGED


def forgets(
    changed: Sequence[tuple[Term, Term]],
    before: Term,
    guard: Term,
    events: Sequence[Event],
) -> bool:
    """Whether an iteration looks at nothing that the one before it changed; `changed` are the
    values at its beginning and at its end, `before` and `guard` the guards."""
    remembered: set[int] = set()
    for start, _ in changed:
        found = _variables([start])
        if not found:
            return False  # A constant that changes, like a counter.
        remembered |= found
    known = _conjuncts(before)
    used = [end for _, end in changed]
    used += (term for term in _conjunct_terms(guard) if term.number not in known)
    for event in events:
        used += (term for term in _conjunct_terms(event.guard) if term.number not in known)
        used.append(event.assume)
        for operation in event.operations:
            used.append(operation.address)
            if isinstance(operation, Write):
                used += (operation.value, operation.condition)
    return not remembered & _variables(used)


def _variables(roots: Sequence[Term]) -> set[int]:
    return {term.number for term in subterms(roots, set()) if term.operation == "var"}


def implies(guard: Term, condition: Term) -> bool:
    """Whether every conjunct of the condition is one of the guard's."""
    return _conjuncts(condition) <= _conjuncts(guard)


def _conjuncts(term: Term) -> set[int]:
    return {found.number for found in _conjunct_terms(term)}


def _conjunct_terms(term: Term) -> list[Term]:
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
