"""What a function does, for its callers: the unit of composition and of caching.

What still depends on the caller (it speaks of a parameter) is *open* and is carried up, with the
actual values put in, until it is *closed*. What is closed stays with the function where it became
so; it is not copied into every caller, the callers' locks and threads come down to it instead
(`contexts`). So the size of a summary does not grow with the depth of the call graph.

An access is `(address, size, is_write, is_atomic, thread, core)` with the sites where it happens;
its `thread` is empty if the caller's own thread makes it. A site is
`(function, number, calls)`, the calls innermost first.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from raceproof.engines.summary.state import EMPTY, Core, ThreadId
from raceproof.engines.summary.terms import Origin, Term, Terms

Site: TypeAlias = tuple[str, int, tuple[tuple[str, int], ...]]
AccessKey: TypeAlias = tuple[Term, int | None, bool, bool, ThreadId, Core]
Accesses: TypeAlias = dict[AccessKey, tuple[Site, ...]]
Exit: TypeAlias = tuple[Core, int | None]
ThreadInfo: TypeAlias = tuple[Terms, tuple[Any, ...], tuple[ThreadId, ...], int]
"""Its ids, the counting loop that creates it (or empty), whom it leaves running, how surely many of
it run at once: 2 they do, 1 perhaps (see `nested`), 0 they do not."""
Binding: TypeAlias = tuple[tuple[int, Terms], ...]
"""Arguments that states below speak of."""
Creation: TypeAlias = tuple[ThreadId, str, Core, Core, Binding]
"""What a new thread runs: the state of its creator, its own state there, arguments."""
CallEdge: TypeAlias = tuple[int, str, Core, Binding]
"""A call of a function that matters: where, whom, in what state."""
Pending: TypeAlias = tuple[
    str, tuple[tuple[str, int], ...], Terms, tuple[Terms, ...], Core, ThreadId
]
"""A call or creation whose callee the caller knows: kind, sites, callees, arguments, core, thread
(empty: the caller's own)."""

Depths: TypeAlias = Mapping[str, int]
"""Function that creates threads -> how many calls around a creation name the thread."""

NOTHING: tuple[Exit, ...] = ((EMPTY, None),)
"""The exits of a function that changes no lock and no thread."""

MAX_SITES = 3


@dataclass(slots=True)
class Summary:
    name: str
    open: Accesses = field(default_factory=dict)
    closed: Accesses = field(default_factory=dict)
    open_stores: tuple[tuple[Term, Term], ...] = ()
    closed_stores: tuple[tuple[Term, Term], ...] = ()
    returns: Terms = ()
    exits: tuple[Exit, ...] = ()
    """How it may return: none if it never does (or is not known yet, in a recursion)."""
    leaks: tuple[ThreadId, ...] = ()
    """Threads left running when it ends, if it is the entry of a thread."""
    threads: dict[ThreadId, ThreadInfo] = field(default_factory=dict)
    calls: tuple[CallEdge, ...] = ()
    callees: tuple[str, ...] = ()
    """All functions with a body that it calls in its own thread."""
    needs: frozenset[int] = frozenset()
    """Parameters that the states in `calls` and `creations` speak of."""
    creations: tuple[Creation, ...] = ()
    pending: tuple[Pending, ...] = ()
    escapes: frozenset[int] = frozenset()
    """Parameters that it hands to other threads or to memory that others see."""
    published: frozenset[Origin] = frozenset()
    """Heap objects that it makes and hands to others itself."""
    matters: bool = False
    """It or a callee has closed accesses or creates threads."""
    unknown_callees: tuple[str, ...] = ()
    is_cut: bool = False
    """Something was left out to keep it small."""
    digest: bytes = b""
    tests: Terms = ()
    """What memory its result depends on."""
    visible: bytes = b""
    """Of all that callers can see, see `traces`."""

    @property
    def is_flat(self) -> bool:
        """Calling it changes no locks and no threads."""
        return self.exits == NOTHING

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in _FIELDS])

    @staticmethod
    def from_tuple(data: tuple[Any, ...]) -> Summary:
        return Summary(*data)

    def seal(self) -> None:
        """Computes the digest by which callers notice a change."""
        visible = (
            sorted(self.open, key=repr),
            sorted(self.open_stores),
            self.returns,
            self.exits,
            self.leaks,
            sorted(self.threads.items()),
            self.pending,
            sorted(self.escapes),
            sorted(self.published),
            self.matters,
            sorted(self.needs),
            self.tests,
        )
        self.digest = hashlib.blake2b(marshal.dumps(visible, 2), digest_size=16).digest()


_FIELDS = tuple(f.name for f in fields(Summary))


def add_access(accesses: Accesses, key: AccessKey, sites: tuple[Site, ...]) -> None:
    """Puts an access to those known, with at most a few sites for the same one."""
    known = accesses.get(key)
    if known is None:
        accesses[key] = sites[:MAX_SITES]
    elif len(known) < MAX_SITES:
        accesses[key] = tuple(dict.fromkeys((*known, *sites)))[:MAX_SITES]


def prefixed(thread: ThreadId, site: tuple[str, int], depths: Depths) -> ThreadId:
    """A thread of a callee, as the caller at `site` names it."""
    segment = thread[0]
    limit = depths.get(segment[-1][0], MAX_SEGMENT)
    if site in segment or len(segment) >= limit:
        return thread
    return ((site, *segment), *thread[1:])


def extended(path: tuple[tuple[str, int], ...], site: tuple[str, int]) -> tuple[Any, ...]:
    """The same name, grown from the other end: the path of calls with one more."""
    return (*(other for other in path if other != site), site)[-MAX_SEGMENT:]


def shortened(path: tuple[tuple[str, int], ...], depths: Depths) -> tuple[Any, ...]:
    """The path of calls to a creation, cut to what names its thread."""
    return path[-depths.get(path[-1][0], MAX_SEGMENT) :]


def nested(outer: ThreadId, thread: ThreadId) -> ThreadId:
    """A thread of the thread `outer`, as the creator of `outer` names it.

    A thread created by the function that created one of its ancestors is taken for that ancestor,
    and one that is nested too deep for its parent; perhaps there are many such (see `is_folded`).
    """
    name = list(outer)
    for segment in thread:
        for depth, known in enumerate(name):
            if known[-1][0] == segment[-1][0]:
                del name[depth + 1 :]
                break
        else:
            if len(name) < MAX_NESTING:
                name.append(segment)
    return tuple(name)


def is_folded(outer: ThreadId, thread: ThreadId, name: ThreadId) -> bool:
    """Whether `name`, made of the other two by `nested`, may stand for several threads."""
    return len(name) < len(outer) + len(thread)


MAX_SEGMENT = 4
MAX_NESTING = 4
