"""Barriers that order accesses for sure.

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

from typing import NamedTuple

from raceproof.analysis.locks import LockKey
from raceproof.analysis.threads import Threads


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
