"""Whether two accesses can happen at the same time, as far as creations and joins tell.

Threads are named by nested creations. The branch point of two names is their nearest common
ancestor; below it each access hangs on a child of that ancestor, or is the ancestor's own:

- own access and child: the child must be active at the access;
- two children: one must be active where the other is created;
- the same child: only if many of it run at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from raceproof.engines.summary.contexts import ThreadFacts
from raceproof.engines.summary.state import Core, ThreadId


class Parallel:
    def __init__(self, threads: Mapping[ThreadId, ThreadFacts]) -> None:
        self._threads = threads
        self._memo: dict[tuple[ThreadId, ThreadId], int] = {}
        self._multiple: dict[ThreadId, int] = {}

    def is_multiple(self, thread: ThreadId) -> bool:
        """Whether several instances of the thread may run at once."""
        return self.how_multiple(thread) > 0

    def how_multiple(self, thread: ThreadId) -> int:
        """How surely they do: 2 nothing speaks against it, 1 perhaps, 0 they do not."""
        known = self._multiple.get(thread)
        if known is None:
            known = max(
                facts.multiple if (facts := self._threads.get(thread[:depth])) is not None else 0
                for depth in range(len(thread) + 1)
            )
            self._multiple[thread] = known
        return known

    def how_sure(
        self, first: ThreadId, first_core: Core, second: ThreadId, second_core: Core
    ) -> int:
        """0 never at the same time, 1 perhaps, 2 nothing speaks against it."""
        if first == second:
            return self.how_multiple(first)
        common = 0
        while common < min(len(first), len(second)) and first[common] == second[common]:
            common += 1
        several = self.how_multiple(first[:common])
        if several == 2:
            return 2
        return max(several, self._branches(first, first_core, second, second_core, common))

    def _branches(
        self, first: ThreadId, first_core: Core, second: ThreadId, second_core: Core, common: int
    ) -> int:
        if common == len(first):
            return _activity(first_core, second, common)
        if common == len(second):
            return _activity(second_core, first, common)
        return self._siblings(first, second, common)

    def _siblings(self, first: ThreadId, second: ThreadId, common: int) -> int:
        key = (first, second)
        known = self._memo.get(key)
        if known is None:
            left, right = first[: common + 1], second[: common + 1]
            known = max(
                self._meets(left, second, common),
                self._meets(right, first, common),
            )
            self._memo[key] = known
        return known

    def _meets(self, created: ThreadId, other: ThreadId, common: int) -> int:
        facts = self._threads.get(created)
        if facts is None:
            return 0
        if not facts.created:
            return 2
        return max(_activity(core, other, common) for core in facts.created)


def _activity(core: Core, thread: ThreadId, common: int) -> int:
    """Whether the thread, or one it descends from, is active in the state."""
    found = 0
    for active, sure in core[2]:
        depth = len(active)
        if common < depth <= len(thread) and thread[:depth] == active:
            found = max(found, 2 if sure else 1)
    return found
