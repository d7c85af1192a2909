"""Threads that a loop creates and another loop waits for, however many they are.

    for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, NULL);
    for (i = 0; i < n; i++) pthread_join(ids[i], NULL);
    // no thread of the first loop runs here

`n` is unknown, so all but the first few of these threads are one abstract thread with many
instances, and joining one of them proves nothing. What is noted here, as part of a state, are facts
about *pools*:

- `CreateLoop`: in a counting loop that has not ended, each round so far has created one thread and
  stored its id in the element of an array that belongs to the round;
- `ThreadPool`: every running instance of some threads has its id in the array, at an index of a
  range (from a low to a high sum over registers and variables, whatever their values);
- `JoinLoop`: in a counting loop that has not ended, each round so far has waited for the thread
  whose id is in the round's element, for a pool.

Each speaks about a set of threads, and about running instances only. So it holds for a thread that
does not run, whatever the array; that makes joins of states simple (`joined`).

Why it is sound
---------------

*Names.* A `Linear` is a number: a root plus a constant. A root is a register in one activation, or
the content of an exact cell of a single object. An assignment of the register, and a write that may
touch the cell, drop every fact that mentions it (`without_root`). What other threads write ends up
there too: a cell is given as a root only while no running thread writes it, and the writes of a
thread that is waited for are writes. So two equal `Linear`s of one state are equal numbers.

*CreateLoop.* It begins in a loop's first round (none of its threads was running before), and stays
if the next round begins with the round's thread created (`is_done`), and no second one. Counters of
different rounds differ: the loop goes on as long as a test of the counter against a bound that does
not change succeeds, so a counter that came again would come again for ever, and the loop would have
no end. Elements of different counters do not overlap (they are at least an id apart; an address
that wraps around is outside of the array). So the ids of all threads of the loop are in different
elements, and still there if nothing else may have written to any of them (`ByteRegion`).

*ThreadPool.* When the head's test fails for the first time, the counter has taken all values of the
range that test and step describe, and no others (`CountRange`). Leaving in another way gives no
pool.

*JoinLoop.* Begins in the first round too. Each round has waited for the thread of its element. When
the head's test fails, the counter has taken all values of its range, and if this is the pool's
range, all of the pool has been waited for. If the test fails at once, the range is empty, and the
pool too.

*Creation* of further instances of a thread drops it from every fact, but for the create loop that
they belong to. Threads with creators other than the one whose state this is, threads that may be
detached, and those whose id may be overwritten by another thread don't count
(`thread_pool_events`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from raceproof.analysis.facets.facet import Facet
from raceproof.analysis.names import ByteRegion, Cell, CountRange, Linear, Root, Token

if TYPE_CHECKING:
    from raceproof.analysis.facets import Facets
    from raceproof.domains.integers import Integers


class RunningLoop(NamedTuple):
    """A loop of a running function."""

    context: int
    head: int


@dataclass(frozen=True, slots=True)
class Count:
    """A counting loop that has not ended."""

    loop: RunningLoop
    counter: Root
    """The counter's value in this round."""
    start: Linear
    bound: Linear | None = None
    """As the head's test saw it; not tested yet if None."""
    is_first: bool = True
    """Is this the first round?"""
    may_wrap: bool = False
    """May it go on for ever, through all numbers again and again? `k <= m` does, unsigned, with the
    greatest number for `m`."""


@dataclass(frozen=True, slots=True)
class Slots:
    """Elements of an array: bytes from root + constant + index * stride.

    With `through` they hold addresses, and what is meant is so many bytes behind each.
    """

    root: int | Root
    constant: int
    stride: int
    extension: str
    """How the index becomes as wide as an address: s, z, or empty."""
    through: int | None = None


@dataclass(frozen=True, slots=True)
class LoopArgument:
    """What a loop gives to the threads it creates, a different one in each round; see
    `own_arguments`."""

    kind: str
    """element (its address), number (the counter), or object (new ones)"""
    slots: Slots | None = None
    """The elements; of objects, where their addresses are kept, if anywhere."""
    shift: int = 0
    """The index of the element, or the number, is the counter plus this."""
    size: int = 0
    """Bytes from element to element; bits of the number."""


@dataclass(frozen=True, slots=True)
class CreateLoop:
    loop: RunningLoop
    slots: Slots
    shift: int
    """The index is the counter plus this."""
    is_done: bool
    argument: LoopArgument | None = None
    """What the threads are given if it is their own; its shift is from the index."""


@dataclass(frozen=True, slots=True)
class Handing:
    """Every running instance was created in this run of the loop, one in a round, with the
    round's argument; `is_done`: in this round too."""

    loop: RunningLoop
    argument: LoopArgument
    is_done: bool


@dataclass(frozen=True, slots=True)
class ThreadPool:
    slots: Slots
    range: CountRange
    argument: LoopArgument | None = None
    """As of the create_loop."""


@dataclass(frozen=True, slots=True)
class JoinLoop:
    loop: RunningLoop
    pool: ThreadPool
    shift: int
    is_done: bool


Fact = CreateLoop | ThreadPool | JoinLoop | Handing


class Pick(NamedTuple):
    """An id that was loaded from the element `counter + shift` of a pool's array, in this round
    of a loop; or the address through which the id is found, or the argument of that thread."""

    pool: ThreadPool
    loop: RunningLoop
    shift: int
    is_address: bool = False
    is_argument: bool = False


class Keeping(NamedTuple):
    """An element, in this round of a loop, holds the address of an object that was new when it was
    stored there."""

    loop: RunningLoop
    slots: Slots
    shift: int
    regions: frozenset[ByteRegion]


class Members(NamedTuple):
    threads: int
    """Bit set of the threads that a fact speaks about."""
    regions: frozenset[ByteRegion]
    """Where their ids are."""


@dataclass(frozen=True, slots=True)
class ThreadPools:
    """All that is known; never changed in place."""

    aliases: dict[Token, Linear]
    """Registers that hold what was loaded from a cell."""
    names: dict[Cell, Linear]
    """Cells that hold a number with another name."""
    counts: dict[RunningLoop, Count]
    facts: dict[Fact, Members]
    picks: dict[Token, Pick]
    """Registers that hold ids."""
    kept: dict[Token, Keeping]
    """Registers with the address of a new object, and where it is kept."""

    def __hash__(self) -> int:
        return hash((frozenset(self.facts), frozenset(self.counts)))

    def without(self, is_void: Callable[[Linear | int | Root], bool]) -> ThreadPools:
        """Without what mentions something void."""
        aliases = {k: v for k, v in self.aliases.items() if not (is_void(k) or is_void(v))}
        names = {k: v for k, v in self.names.items() if not (is_void(k) or is_void(v))}
        counts = {
            k: count
            for k, count in self.counts.items()
            if not (is_void(count.start) or (count.bound is not None and is_void(count.bound)))
        }
        facts = {
            fact: members
            for fact, members in self.facts.items()
            if not any(is_void(part) for part in _parts(fact))
        }
        picks = {k: v for k, v in self.picks.items() if not is_void(k) and v.pool in facts}
        kept = {k: v for k, v in self.kept.items() if not (is_void(k) or is_void(v.slots.root))}
        return ThreadPools(aliases, names, counts, facts, picks, kept)

    def without_root(self, root: Root) -> ThreadPools:
        def is_void(part: Linear | int | Root) -> bool:
            return part == root or (isinstance(part, Linear) and part.root == root)

        if not any(map(is_void, self._mentioned())):
            return self
        return self.without(is_void)

    def without_context(self, context: int) -> ThreadPools:
        """The function has returned: its registers mean nothing any more."""

        def is_void(part: Linear | int | Root) -> bool:
            root = part.root if isinstance(part, Linear) else part
            return isinstance(root, tuple) and len(root) == 2 and root[0] == context

        kept = self.without(is_void)
        counts = {k: v for k, v in kept.counts.items() if k.context != context}
        facts = {
            fact: members
            for fact, members in kept.facts.items()
            if isinstance(fact, ThreadPool) or fact.loop.context != context
        }
        picks = {k: v for k, v in kept.picks.items() if v.loop.context != context}
        keeping = {k: v for k, v in kept.kept.items() if v.loop.context != context}
        return replace(kept, counts=counts, facts=facts, picks=picks, kept=keeping)

    def with_facts(self, facts: dict[Fact, Members]) -> ThreadPools:
        """An id from the array of a pool that is no more, or is a new one, is any id."""
        picks = {
            k: v
            for k, v in self.picks.items()
            if facts.get(v.pool) == self.facts.get(v.pool) and v.pool in facts
        }
        return replace(self, facts=facts, picks=picks)

    def written(self, base: int, offsets: Integers | None, size: int | None) -> ThreadPools:
        """Without what the write of some bytes may change."""
        touched = {
            cell
            for cell in self._cells()
            if ByteRegion(cell.base, cell.offset, 0, cell.size).may_touch(base, offsets, size)
        }
        found = self
        for cell in touched:
            found = found.without_root(cell)
        if any(
            region.may_touch(base, offsets, size)
            for members in found.facts.values()
            for region in members.regions
        ):
            facts = {
                fact: members
                for fact, members in found.facts.items()
                if not any(region.may_touch(base, offsets, size) for region in members.regions)
            }
            found = found.with_facts(facts)
        keeping = {
            k: v
            for k, v in found.kept.items()
            if not any(region.may_touch(base, offsets, size) for region in v.regions)
        }
        return found if len(keeping) == len(found.kept) else replace(found, kept=keeping)

    def _mentioned(self) -> Iterable[Linear | int | Root]:
        yield from self.aliases
        yield from self.aliases.values()
        yield from self.names
        yield from self.names.values()
        for count in self.counts.values():
            yield count.start
            if count.bound is not None:
                yield count.bound
        for fact in self.facts:
            yield from _parts(fact)
        yield from self.picks
        for token, keeping in self.kept.items():
            yield token
            yield keeping.slots.root

    def _cells(self) -> set[Cell]:
        found = set()
        for part in self._mentioned():
            root = part.root if isinstance(part, Linear) else part
            if isinstance(root, Cell):
                found.add(root)
        return found


NOTHING = ThreadPools({}, {}, {}, {}, {}, {})


def _parts(fact: Fact) -> tuple[Linear | int | Root, ...]:
    match fact:
        case CreateLoop(slots=slots, argument=argument):
            return (slots.root, *_roots(argument))
        case ThreadPool(slots=slots, range=numbers, argument=argument):
            return (slots.root, numbers.low, numbers.high, *_roots(argument))
        case JoinLoop(pool=pool):
            return _parts(pool)
        case Handing(argument=argument):
            return _roots(argument)


def _roots(argument: LoopArgument | None) -> tuple[int | Root, ...]:
    return () if argument is None or argument.slots is None else (argument.slots.root,)


def joined(a: ThreadPools, running: int, b: ThreadPools, others: int) -> ThreadPools:
    """What holds in both of two states with these running threads; `a` itself if that is all."""
    if a is b:
        return a
    facts: dict[Fact, Members] = {}
    for fact in {**a.facts, **b.facts}:
        mine, theirs = a.facts.get(fact), b.facts.get(fact)
        in_a, in_b = mine.threads if mine else 0, theirs.threads if theirs else 0
        threads = (in_a | in_b) & (in_a | ~running) & (in_b | ~others)
        if threads:
            regions = (mine.regions if mine else frozenset()) | (
                theirs.regions if theirs else frozenset()
            )
            facts[fact] = Members(threads, regions)
    found = ThreadPools(
        _common(a.aliases, b.aliases),
        _common(a.names, b.names),
        _common(a.counts, b.counts),
        facts,
        _common(a.picks, b.picks),
        _common(a.kept, b.kept),
    )
    return a if found == a else found


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _common(a: dict[_Key, _Value], b: dict[_Key, _Value]) -> dict[_Key, _Value]:
    return {key: value for key, value in a.items() if b.get(key) == value}


class ThreadPoolsFacet(Facet[ThreadPools]):
    initial = NOTHING

    def join(self, a: ThreadPools, b: ThreadPools, left: Facets, right: Facets) -> ThreadPools:
        return joined(a, left.may_parallel, b, right.may_parallel)

    def assign(self, value: ThreadPools, token: Token, before: Facets) -> ThreadPools:
        return value if value is NOTHING else value.without_root(token)

    def leave(self, value: ThreadPools, context: int, before: Facets) -> ThreadPools:
        return value if value is NOTHING else value.without_context(context)

    def recur(self, value: ThreadPools, is_entry: bool, before: Facets) -> ThreadPools:
        return NOTHING

    def return_again(self, value: ThreadPools, children: int, before: Facets) -> ThreadPools:
        return NOTHING

    def write(
        self,
        value: ThreadPools,
        base: int,
        offsets: Integers | None,
        size: int | None,
        before: Facets,
    ) -> ThreadPools:
        return value if value is NOTHING else value.written(base, offsets, size)
