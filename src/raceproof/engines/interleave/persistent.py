"""Persistent sets: threads that may go first, with all others waiting, and no race is lost.

In a configuration, take a set of threads such that nothing the others can do, as long as the set
waits, touches what the next transitions of the set touch. Then every execution that leads to a race
also does so with a transition of the set moved to its beginning, or put before it.

    thread 1: unlock(m)      of the others, thread 2 wants m and so cannot do anything before this,
    thread 2: lock(m)        and thread 3 will never ask for m: it is enough to let thread 1 go
    thread 3: lock(n)

*Touch* here means more than what commutes. A synchronising transition also forgets the block of its
thread (see `transitions`), so it touches the accesses in it: who would race with one of these must
be seen to do so before. What the transition itself accesses plainly, on the other hand, need not be
looked at: it stays in the block, and who comes after it meets it there.

The set is closed as a stubborn set is: with a thread whose next transition may be disturbed by
another one comes that other one; with one that waits for a lock or the end of a thread comes
whoever it waits for, and whoever may cancel it, for then it waits no longer. What threads can do is
learned, so a set chosen early may turn out to be too small (`holds` is asked again at the end).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from raceproof.engines.interleave.access_sets import NOTHING, AccessSet, AccessSets
from raceproof.engines.interleave.future_accesses import FutureAccesses, Held, Need, Node
from raceproof.machine.synchronisation import holders
from raceproof.options import MutexRules


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice is made from."""

    enabled: tuple[int, ...]
    nodes: Mapping[int, Node]
    """Of the threads that are alive."""
    forgotten: Mapping[int, AccessSet]
    """The blocks of the enabled ones, if their next transition forgets them."""
    needs: Mapping[int, Need]
    """What threads that are not enabled wait for, if it is a lock or the end of a thread."""
    sync: Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """Threads that go first."""

    members: frozenset[int]
    """Also those that wait for each other."""
    touched: AccessSet
    held: Held
    others: tuple[Node, ...]


class PersistentSets:
    """Chooses them, and checks them again."""

    def __init__(self, access_sets: AccessSets, futures: FutureAccesses, rules: MutexRules) -> None:
        self._access_sets = access_sets
        self._future_accesses = futures
        self._rules = rules
        self.anything = AccessSet(writes=access_sets.key(("anything",)))
        """Touches what every transition touches."""

    def choose(self, situation: Situation, waiting: frozenset[int]) -> Choice | None:
        """A set with as few as possible, but some, of those that wait to be explored.

        None if there is none that is better than all threads. Of a transition that was never seen
        the best is hoped.
        """
        best: Choice | None = None
        following: dict[int, AccessSet] = {}
        for number in situation.enabled:
            found = self._future_accesses.next(situation.nodes[number]) or NOTHING
            following[number] = found.union(situation.forgotten.get(number, NOTHING))
        size = len(waiting)
        for seed in sorted(waiting):
            if following[seed].is_final:
                continue
            choice = self._closure(seed, situation, following)
            if choice is None:
                continue
            moving = len(choice.members & waiting)
            if moving < size:
                best, size = choice, moving
            if size == 1:
                break
        return best

    def holds(self, choice: Choice) -> bool:
        """Whether what is known by now lets the choice stand."""
        held = self._without_cancelled(choice.held)
        return not any(True for _ in self._disturbing(choice.touched, choice.others, held))

    # --- closing ------------------------------------------------------------

    def _closure(
        self, seed: int, situation: Situation, following: Mapping[int, AccessSet]
    ) -> Choice | None:
        members: set[int] = set()
        if not self._add(seed, members, situation):
            return None
        while True:
            touched = AccessSet(reads=self.anything.writes)
            for number in members:
                if number in following:
                    touched = touched.union(following[number])
                else:
                    keys = (situation.needs[number][0], ("thread", number))
                    touched = touched.union(self._access_sets.of(keys, ()))
            if touched.is_final:
                return None
            others = {n: node for n, node in situation.nodes.items() if n not in members}
            held = self._held(members, situation)
            nodes = tuple(others.values())
            disturbing = set(self._disturbing(touched, nodes, held))
            if not disturbing:
                return Choice(frozenset(members), touched, held, nodes)
            for number, node in others.items():
                if node in disturbing and not self._add(number, members, situation):
                    return None

    def _add(self, number: int, members: set[int], situation: Situation) -> bool:
        """Put a thread in, with those that it waits for; False if it is unclear who these are."""
        while number not in members:
            members.add(number)
            if number in situation.enabled:
                return True
            holder = self._holder(number, situation)
            if holder is None:
                return False
            number = holder
        return True

    def _holder(self, number: int, situation: Situation) -> int | None:
        need = situation.needs.get(number)
        if need is None:
            return None
        key, _ = need
        if key[0] == "thread":
            return key[1] if key[1] in situation.nodes else None
        if self._rules is not MutexRules.POSIX:
            return None
        owner, readers = holders(situation.sync.get(key))
        found = owner if owner is not None else min(readers, default=None)
        return found if found in situation.nodes else None

    def _held(self, members: set[int], situation: Situation) -> Held:
        """What the members keep others from as long as they wait."""
        found: set[tuple[Any, bool]] = {(("thread", number), False) for number in members}
        if self._rules is MutexRules.POSIX:
            for key, value in situation.sync.items():
                if isinstance(key, tuple) and key[0] == "lock":
                    owner, readers = holders(value)
                    if owner in members:
                        found.add((key, False))
                    elif any(reader in members for reader in readers):
                        found.add((key, True))
        return self._without_cancelled(frozenset(found))

    def _without_cancelled(self, held: Held) -> Held:
        """A cancelled thread waits for no other thread's end."""
        if not self._future_accesses.has_cancellation:
            return held
        return frozenset(item for item in held if item[0][0] != "thread")

    def _disturbing(self, touched: AccessSet, others: Iterable[Node], held: Held) -> Iterable[Node]:
        """Those among the other threads that may touch what is touched."""
        futures = {node: self._future_accesses.after(node, held) for node in others}
        keys = 0
        for key, _ in held:
            if key[0] == "lock":
                keys |= self._access_sets.key(key)
        if any(future.writes & keys for future in futures.values()):
            # some thread may take a lock away from its holder: then nothing is held for sure
            free = frozenset(item for item in held if item[0][0] != "lock")
            futures = {node: self._future_accesses.after(node, free) for node in others}
        for node, future in futures.items():
            if not self._access_sets.commute(touched, future):
                yield node
