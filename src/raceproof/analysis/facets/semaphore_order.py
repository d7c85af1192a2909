"""Semaphores that one thread posts and others wait for: what comes before a post comes before what
comes after the wait that needs it.

    producer:  x = 1;  sem_post(&full);            // 0 posts before the write
    consumer:          sem_wait(&full);  x = 2;    // 1 wait before this one

For each point of a thread we count how often it has posted a semaphore at most, and how often it
has waited for it at least. Let the semaphore start at v, and let one thread A, of which there is
one instance, be the only one that ever posts it. Who has returned from w waits has seen at least
w - v posts, all of them by A. So an access of A with at most p posts before it, p < w - v, comes
before the post number p + 1 of A, and that one before the access after w waits. Other threads that
wait as well take posts away, and A has then made even more of them.

That counts only for a semaphore that is initialised once, in one call that is made once, to a
number that is known, and that is never used through a pointer that may point elsewhere
(`Semaphores`). A wait counts only if it waits until it succeeds; a post counts whether it does or
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raceproof.analysis.facets.facet import EventContext, Facet, InAccess, Reason
from raceproof.analysis.locks import LockKey
from raceproof.concurrency.events import (
    Event,
    SemaphoreDestroy,
    SemaphoreInit,
    SemaphorePost,
    SemaphoreWait,
)
from raceproof.concurrency.model import Success, Wait

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.analysis.races.facts import Facts
    from raceproof.analysis.records import RawAccess
    from raceproof.analysis.threads import Threads


class Uses(NamedTuple):
    """The thread has posted a semaphore at most so often, and waited for it at least so often."""

    semaphore: LockKey
    posts: int
    waits: int


AllUses = tuple[Uses, ...] | None
"""Sorted; a semaphore that is not there was not used. None: unknown."""

_MOST_COUNTED = 8
_ENDLESS = 1 << 30
"""So many posts stand for any number above."""


class _Start(NamedTuple):
    call: int
    context: int
    value: int | None
    """None if that is unclear, or if there may be more than one such call."""


class Semaphores:
    """What the threads of a program do with semaphores."""

    def __init__(self) -> None:
        self._starts: dict[LockKey, set[_Start]] = {}
        self._posters: dict[LockKey, int] = {}
        self._unclear: set[int] = set()
        """Bases of semaphores that were used through unclear pointers."""
        self._is_lost = False
        """Was one used through a pointer that may point anywhere?"""

    def started(self, key: LockKey, start: _Start) -> None:
        self._starts.setdefault(key, set()).add(start)

    def posted(self, key: LockKey, thread: int) -> None:
        self._posters[key] = self._posters.get(key, 0) | 1 << thread

    def unclear(self, bases: set[int]) -> None:
        """One of these is used; if there is none, any."""
        self._unclear |= bases
        self._is_lost = self._is_lost or not bases

    def ordering(self, threads: Threads) -> dict[LockKey, tuple[int, int]]:
        """The semaphores that order accesses: the thread that posts, and the value at the start."""
        found: dict[LockKey, tuple[int, int]] = {}
        for key, starts in self._starts.items():
            posters = self._posters.get(key, 0)
            poster = posters.bit_length() - 1
            if self._is_lost or key.base in self._unclear or posters != 1 << max(poster, 0):
                continue
            (start, *more) = starts
            info = threads[poster]
            if more or start.value is None or not info.is_unique or info.is_repeated:
                continue
            found[key] = (poster, start.value)
        return found


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    """One is before a post, the other after a wait that needs it."""
    return a.thread != b.thread and (_is_before(a, b, facts) or _is_before(b, a, facts))


def _is_before(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    if not b.facets.semaphore_order or a.facets.semaphore_order is None:
        return False
    ordering = facts.derived(Semaphores, lambda notes: notes.ordering(facts.threads))
    posts = {uses.semaphore: uses.posts for uses in a.facets.semaphore_order}
    for uses in b.facets.semaphore_order:
        poster, value = ordering.get(uses.semaphore, (-1, 0))
        if poster == a.thread and posts.get(uses.semaphore, 0) < uses.waits - value:
            return True
    return False


class SemaphoreOrder(Facet[AllUses]):
    initial = ()
    in_access = InAccess.APART
    events = (SemaphoreInit, SemaphorePost, SemaphoreWait, SemaphoreDestroy)
    reason = Reason(
        "semaphore",
        excludes,
        of_pair="a semaphore orders them",
        of_location="a semaphore orders the accesses",
    )

    def join(self, a: AllUses, b: AllUses, left: Facets, right: Facets) -> AllUses:
        if a is None or b is None:
            return None
        mine, theirs = ({uses.semaphore: uses for uses in found} for found in (a, b))
        joined = []
        for key in sorted({*mine, *theirs}):
            none = Uses(key, 0, 0)
            one, other = mine.get(key, none), theirs.get(key, none)
            joined.append(Uses(key, max(one.posts, other.posts), min(one.waits, other.waits)))
        return tuple(joined)

    def at_event(self, value: AllUses, event: Event, at: EventContext, before: Facets) -> AllUses:
        notes = at.notes(Semaphores)
        if isinstance(event, SemaphoreInit):
            _note_start(notes, event, at)
            return value
        assert isinstance(event, SemaphorePost | SemaphoreWait | SemaphoreDestroy)
        key = at.key(event.semaphore)
        if key is None:
            notes.unclear(at.bases(event.semaphore))
            return value
        if isinstance(event, SemaphorePost):
            notes.posted(key, at.thread)
            return _counted(value, key, posts=1, waits=0)
        if isinstance(event, SemaphoreWait) and _is_certain(event):
            return _counted(value, key, posts=0, waits=1)
        return value

    def return_again(self, value: AllUses, children: int, before: Facets) -> AllUses:
        return None


def _is_certain(event: SemaphoreWait) -> bool:
    return event.wait is Wait.BLOCK and event.success is Success.ALWAYS


def _note_start(notes: Semaphores, event: SemaphoreInit, at: EventContext) -> None:
    if event.semaphore is None:
        return  # It returns a new semaphore, whose address no other start has.
    key = at.key(event.semaphore)
    if key is None:
        notes.unclear(at.bases(event.semaphore))
        return
    value = event.initial if event.value is None else at.constant(event.value)
    notes.started(key, _Start(at.call, at.context, None if at.is_repeated else value))


def _counted(value: AllUses, key: LockKey, posts: int, waits: int) -> AllUses:
    if value is None:
        return None
    old = next((uses for uses in value if uses.semaphore == key), Uses(key, 0, 0))
    most = old.posts + posts
    new = Uses(
        key, most if most <= _MOST_COUNTED else _ENDLESS, min(old.waits + waits, _MOST_COUNTED)
    )
    return tuple(sorted({*value} - {old} | {new}))
