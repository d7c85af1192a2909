"""The creation lockset: locks that are held since before a thread was created.

    lock(&m);  create(child);  x = 1;  unlock(&m);
    child:  lock(&m);  unlock(&m);  x = 2;

The creator holds the lock from before the creation until after its access, without a break; the
child has taken the lock before its access, so it has waited for the creator to give it back. We
note at each point of the creator which threads wait for which lock (`CreationLockset`), and at each
point of a thread which of the locks it was created under it has taken (`CreationLocksTaken`). A
lock counts if its holder has it for writing. Both threads must exist once, or else the child may
have met another creator's lock. (Goblint: creation locksets.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Acquire, Creation, Facet, InAccess, Reason, Release
from raceproof.analysis.facets.must_lockset import released
from raceproof.analysis.locks import ATOMIC, LockKey, is_once, may_share_lock

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess

ThreadLocks = frozenset[tuple[int, LockKey]]
"""(thread, lock): the lock is held since before the thread was created."""
Locks = frozenset[LockKey]


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    return _is_before(a, b, facts) or _is_before(b, a, facts)


def _is_before(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    held, taken = a.facets.creation_lockset, b.facets.creation_locks_taken
    if not held or not taken:
        return False
    creator, created = facts.threads[a.thread], facts.threads[b.thread]
    if created.parent != creator.index:
        return False
    if any(info.is_repeated or not info.is_unique for info in (creator, created)):
        return False
    return any((created.index, lock) in held for lock in taken)


def not_kept_back(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    first, second = facts.threads[a.thread], facts.threads[b.thread]
    mine, theirs = a.facets.may_lockset, b.facets.may_lockset
    if second.parent == first.index and may_share_lock(mine, second.created_under):
        return False
    return not (first.parent == second.index and may_share_lock(theirs, first.created_under))


class CreationLockset(Facet[ThreadLocks]):
    initial = frozenset()
    in_access = InAccess.APART
    reason = Reason(
        "creation-lockset",
        excludes,
        of_pair="a lock held since the creation keeps the new thread back",
        of_location="held back by a lock since its creation",
    )
    conditions = (("no lock held since the creation keeps them apart", not_kept_back),)

    def join(self, a: ThreadLocks, b: ThreadLocks, left: Facets, right: Facets) -> ThreadLocks:
        return a & b

    def create(self, value: ThreadLocks, event: Creation, before: Facets) -> ThreadLocks:
        """The locks held now keep the thread back, those of an earlier instance do not."""
        if not (value or before.must_lockset):
            return value
        others = {pair for pair in value if pair[0] != event.thread}
        mine = {
            (event.thread, held.lock)
            for held in before.must_lockset
            if held.is_write and held.lock != ATOMIC and not is_once(held.lock)
        }
        return frozenset(others | mine)

    def release(self, value: ThreadLocks, event: Release, before: Facets) -> ThreadLocks:
        if not value:
            return value
        held = {held.lock for held in released(before.must_lockset, event)}
        return frozenset(pair for pair in value if pair[1] in held)

    def wait_for_others(
        self, value: ThreadLocks, gives_up_lock: bool, before: Facets
    ) -> ThreadLocks:
        return frozenset() if gives_up_lock else value

    def return_again(self, value: ThreadLocks, children: int, before: Facets) -> ThreadLocks:
        return frozenset()


class CreationLocksTaken(Facet[Locks]):
    """Locks that this thread has taken, of those that were held when it was created."""

    initial = frozenset()
    in_access = InAccess.APART

    def join(self, a: Locks, b: Locks, left: Facets, right: Facets) -> Locks:
        return a & b

    def acquire(self, value: Locks, event: Acquire, before: Facets) -> Locks:
        return value | {event.key} if event.key in event.creation_locks else value
