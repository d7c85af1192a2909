"""How often the thread has waited at each barrier.

    a:  x = 1;  pthread_barrier_wait(&b);          // 0 waits before the write
    c:          pthread_barrier_wait(&b);  x = 2;  // 1 wait before this one

For each point of a thread we count how often the thread has waited at a barrier before, at least
and at most (`Phases`). A barrier made for n threads opens when n of them wait. If there are at most
n threads that ever wait there, each of which exists once, then the r-th opening needs the r-th wait
of every one of them: who is past r waits knows that all the others have begun theirs. So an access
with at most r - 1 waits before it comes before an access of another thread with at least r.

That counts only for a barrier that is initialised once, for a number that is known, and that is
never waited at through a pointer that may point elsewhere (`Barriers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raceproof.analysis.facets.facet import EventContext, Facet, InAccess, Reason
from raceproof.analysis.locks import LockKey
from raceproof.concurrency.events import BarrierInit, BarrierWait, Event

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess
    from raceproof.analysis.threads import Threads


class Phase(NamedTuple):
    """The thread has waited at a barrier `least` times, and at most `most`."""

    barrier: LockKey
    least: int
    most: int


Phases = tuple[Phase, ...] | None
"""Sorted; a barrier that is not there was not waited at. None: unknown."""

_MOST_WAITS = 8
_ENDLESS = 1 << 30
"""So many waits stand for any number above."""


class _Init(NamedTuple):
    call: int
    context: int
    parties: int | None
    """None if that is unclear, or if there may be more than one such call."""


class Barriers:
    """What the threads of a program do with barriers."""

    def __init__(self) -> None:
        self._inits: dict[LockKey, set[_Init]] = {}
        self._waiters: dict[LockKey, int] = {}
        self._unclear: set[int] = set()
        """Bases of barriers that were used through unclear pointers."""
        self._is_lost = False
        """Was one used through a pointer that may point anywhere?"""

    def initialised(self, key: LockKey, call: int, context: int, parties: int | None) -> None:
        self._inits.setdefault(key, set()).add(_Init(call, context, parties))

    def waits(self, key: LockKey, thread: int) -> None:
        self._waiters[key] = self._waiters.get(key, 0) | 1 << thread

    def unclear(self, bases: set[int]) -> None:
        """One of these is initialised, or waited at; if there is none, any."""
        self._unclear |= bases
        self._is_lost = self._is_lost or not bases

    def sound(self, threads: Threads) -> dict[LockKey, int]:
        """The barriers that order accesses, with the bit set of the threads that wait there."""
        if self._is_lost:
            return {}
        return {
            key: waiters
            for key, waiters in self._waiters.items()
            if key.base not in self._unclear and self._is_sound(key, waiters, threads)
        }

    def _is_sound(self, key: LockKey, waiters: int, threads: Threads) -> bool:
        inits = self._inits.get(key, set())
        if len(inits) != 1:
            return False
        (init,) = inits
        infos = [info for info in threads.all if waiters >> info.index & 1]
        if init.parties is None or len(infos) > init.parties:
            return False
        return all(info.is_unique and not info.is_repeated for info in infos)


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """One is before a wait at a barrier, the other after."""
    return a.thread != b.thread and (_is_before(a, b, facts) or _is_before(b, a, facts))


def _is_before(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """Does the thread of `a` wait at a barrier after it that the one of `b` is past?"""
    sound = facts.derived(Barriers, lambda notes: notes.sound(facts.threads))
    for phase in b.facets.barrier_waits or ():
        waiters = sound.get(phase.barrier, 0)
        if waiters >> a.thread & 1 and waiters >> b.thread & 1:
            most = _waits(a.facets.barrier_waits, phase)
            if most is not None and most < phase.least:
                return True
    return False


def _waits(phases: Phases, at: Phase) -> int | None:
    """At most so many waits at the same barrier; None if that is unknown."""
    if phases is None:
        return None
    return next((phase.most for phase in phases if phase.barrier == at.barrier), 0)


class BarrierWaits(Facet[Phases]):
    initial = ()
    in_access = InAccess.APART
    events = (BarrierInit, BarrierWait)
    reason = Reason(
        "barrier",
        excludes,
        of_pair="a barrier lies between them",
        of_location="a barrier lies between the accesses",
    )

    def join(self, a: Phases, b: Phases, left: Facets, right: Facets) -> Phases:
        if a is None or b is None:
            return None
        found = []
        mine, theirs = ({phase.barrier: phase for phase in phases} for phases in (a, b))
        for key in sorted({*mine, *theirs}):
            one, other = mine.get(key), theirs.get(key)
            least = 0 if one is None or other is None else min(one.least, other.least)
            most = max(one.most if one else 0, other.most if other else 0)
            found.append(Phase(key, least, most))
        return tuple(found)

    def at_event(self, value: Phases, event: Event, at: EventContext, before: Facets) -> Phases:
        barriers = at.notes(Barriers)
        assert isinstance(event, BarrierInit | BarrierWait)
        key = at.key(event.barrier)
        if key is None:
            barriers.unclear(at.bases(event.barrier))
            return value
        if isinstance(event, BarrierInit):
            parties = None if at.is_repeated else at.constant(event.count)
            barriers.initialised(key, at.call, at.context, parties)
            return value
        barriers.waits(key, at.thread)
        return None if value is None else _after_wait(value, key)

    def return_again(self, value: Phases, children: int, before: Facets) -> Phases:
        return None


def _after_wait(phases: tuple[Phase, ...], barrier: LockKey) -> Phases:
    old = next((phase for phase in phases if phase.barrier == barrier), Phase(barrier, 0, 0))
    most = old.most + 1 if old.most < _MOST_WAITS else _ENDLESS
    new = Phase(barrier, min(old.least + 1, _MOST_WAITS), most)
    return tuple(sorted({*phases} - {old} | {new}))
