"""What holds at a point of a function, relative to where the function was entered.

A *core* is `(locks, released, active, joined, waited)`, each a sorted tuple:

    locks      (lock, mode, sure, count): taken here and held; `sure`: on every way
    released   (lock, sure): given back here, though the caller had taken them
    active     (thread, sure): created here and perhaps still running; not `sure` after a join
               that may have missed it
    joined     ids of threads that ended before this point, created by a caller
    waited     what this point was waited or tested for: addresses of flags; unknown for a
               semaphore, condition or barrier

These are DarC's lockset, unlockset, threads_active and threads_joined (sections 3.2.1, 3.2.2),
with may and must told apart. `combine(outer, inner)` puts what a callee did on top of what its
caller had done; it is associative, so it does not matter whether a chain of calls is put together
from its end (`compose`) or from its start (`contexts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from raceproof.engines.summary.terms import UNKNOWN, Term, Terms

ThreadId: TypeAlias = tuple[tuple[tuple[str, int], ...], ...]
"""Nested creations, outermost first; each the calls down to the creation and the creation."""

Locks: TypeAlias = tuple[tuple[Term, str, bool, int], ...]
Core: TypeAlias = tuple[
    Locks,
    tuple[tuple[Term, bool], ...],
    tuple[tuple[ThreadId, bool], ...],
    Terms,
    Terms,
]

EMPTY: Core = ((), (), (), (), ())
MAX_COUNT = 3
MAX_WAITED = 6

Matcher: TypeAlias = Callable[[ThreadId, Term], int]
"""How surely an id means a thread: 2 it does, 1 perhaps (or one of many), 0 it does not."""


def no_match(thread: ThreadId, handle: Term) -> int:
    return 0


def acquire(core: Core, locks: Terms, mode: str) -> Core:
    """After taking one of the locks (surely, if there is only one)."""
    held = {(lock, own_mode): (sure, count) for lock, own_mode, sure, count in core[0]}
    sure = len(locks) == 1
    for lock in locks:
        old_sure, count = held.get((lock, mode), (False, 0))
        held[lock, mode] = (old_sure or sure, min(count + 1, MAX_COUNT))
    return (_pack(held), *core[1:])


def release(core: Core, locks: Terms) -> Core:
    """After giving back one of the locks."""
    held = {(lock, mode): (sure, count) for lock, mode, sure, count in core[0]}
    released = dict(core[1])
    for lock in locks:
        _release_one(held, released, lock, sure=len(locks) == 1)
    return (_pack(held), tuple(sorted(released.items())), *core[2:])


def _release_one(
    held: dict[tuple[Term, str], tuple[bool, int]],
    released: dict[Term, bool],
    lock: Term,
    *,
    sure: bool,
) -> None:
    found = False
    for mode in ("read", "write"):
        if (lock, mode) not in held:
            continue
        found = True
        old_sure, count = held[lock, mode]
        if not sure:
            held[lock, mode] = (False, count)
        elif count > 1:
            held[lock, mode] = (old_sure, count - 1)
        else:
            del held[lock, mode]
    if found:
        return
    for other, mode in held:
        if other[0] == lock[0] and (lock[2] or other[2]):
            held[other, mode] = (False, held[other, mode][1])
    released[lock] = released.get(lock, False) or sure


def _pack(held: dict[tuple[Term, str], tuple[bool, int]]) -> Locks:
    return tuple(sorted((lock, mode, sure, count) for (lock, mode), (sure, count) in held.items()))


def start(core: Core, thread: ThreadId) -> Core:
    """After creating the thread."""
    active = dict(core[2])
    active[thread] = True
    return (core[0], core[1], tuple(sorted(active.items())), core[3], core[4])


def is_active(core: Core, thread: ThreadId) -> bool:
    return any(other == thread for other, _ in core[2])


def end(
    core: Core,
    handles: Terms,
    match: Matcher,
    leaks: Callable[[ThreadId], Iterable[ThreadId]],
) -> Core:
    """After joining what the handles mean; what a joined thread left running stays."""
    active = dict(core[2])
    joined = set(core[3])
    for handle in handles:
        found = [(thread, match(thread, handle)) for thread in active]
        found = [(thread, how) for thread, how in found if how]
        if not found:
            joined.add(handle)
        sure = len(handles) == 1 and sum(how == 2 for _, how in found) == 1 == len(found)
        for thread, how in found:
            if how == 2 and sure:
                del active[thread]
                for left in leaks(thread):
                    active[left] = True
            else:
                active[thread] = False
    return (core[0], core[1], tuple(sorted(active.items())), tuple(sorted(joined)), core[4])


def wait(core: Core, flags: Terms = (UNKNOWN,)) -> Core:
    """After waiting for the flags; if they are many, for anything."""
    waited = tuple(sorted({*core[4], *flags}))
    if len(waited) > MAX_WAITED:
        waited = (UNKNOWN,)
    return (*core[:4], waited)


def join(left: Core, right: Core) -> Core:
    """What holds if either does."""
    if left == right:
        return left
    locks: dict[tuple[Term, str], tuple[bool, int]] = {}
    first = {(lock, mode): (sure, count) for lock, mode, sure, count in left[0]}
    second = {(lock, mode): (sure, count) for lock, mode, sure, count in right[0]}
    for key in first.keys() | second.keys():
        one, other = first.get(key), second.get(key)
        if one is None or other is None:
            locks[key] = (False, (one or other or (False, 1))[1])
        else:
            locks[key] = (one[0] and other[0], min(one[1], other[1]))
    released = _unite(dict(left[1]), dict(right[1]), both=True)
    active = _unite(dict(left[2]), dict(right[2]), both=False)
    joined = tuple(sorted(set(left[3]) & set(right[3])))
    return wait((_pack(locks), released, active, joined, left[4]), right[4])


def _unite(left: dict[Any, bool], right: dict[Any, bool], *, both: bool) -> Any:
    found = {}
    for key in left.keys() | right.keys():
        if both:
            found[key] = left.get(key, False) and right.get(key, False)
        else:
            found[key] = left.get(key, False) or right.get(key, False)
    return tuple(sorted(found.items()))


def combine(
    outer: Core,
    inner: Core,
    match: Matcher = no_match,
    leaks: Callable[[ThreadId], Iterable[ThreadId]] = lambda thread: (),
) -> Core:
    """What holds where the callee's `inner` holds, called where `outer` held."""
    if inner is EMPTY or inner == EMPTY:
        return outer
    if outer is EMPTY or outer == EMPTY:
        return inner
    held = {(lock, mode): (sure, count) for lock, mode, sure, count in outer[0]}
    released = dict(outer[1])
    for lock, sure in inner[1]:
        _release_one(held, released, lock, sure=sure)
    for lock, mode, sure, count in inner[0]:
        old_sure, old_count = held.get((lock, mode), (False, 0))
        held[lock, mode] = (old_sure or sure, min(old_count + count, MAX_COUNT))
    core: Core = (_pack(held), tuple(sorted(released.items())), outer[2], outer[3], outer[4])
    for handle in inner[3]:
        core = end(core, (handle,), match, leaks)
    if inner[2]:
        active = dict(core[2])
        for thread, sure in inner[2]:
            active[thread] = active.get(thread, False) or sure
        core = (core[0], core[1], tuple(sorted(active.items())), core[3], core[4])
    if inner[4]:
        core = wait(core, inner[4])
    return core


def is_protected_by(core: Core, lock: Term) -> bool:
    return any(held == lock and sure for held, _, sure, _ in core[0])
