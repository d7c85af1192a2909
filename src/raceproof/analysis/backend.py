"""What an analysis of sequential behaviour must answer (RacerF's figure 2), and what the race
detector asks of the whole.

The paper's backend analyses one thread at a time from a given state. Ours come in two kinds. The
`value` backend is more: it interprets a thread with its locks, creations and joins in one go
(`interpreter`), for they depend on values. The cheap ones, `alias` and `syntactic`, look at the
whole program at once, so there is nothing to be done for a single thread, every state and every
number is unknown, and an answer is the same in all contexts of an instruction. What is left of
figure 2 is `Backend`; `walk` does threads, locks and accesses over it.

Both kinds end in something `Analysed`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol

from raceproof.analysis.facets.notes import Notes
from raceproof.analysis.lost_code import LostCode
from raceproof.analysis.objects import Objects
from raceproof.analysis.threads import Threads
from raceproof.concurrency.accesses import Events
from raceproof.domains.values import AbstractValue
from raceproof.ir import Call, Program, Value


class Backend(Protocol):
    """Where pointers point to and what calls mean, for a whole program."""

    name: str
    can_prove: bool
    """Does every answer cover every execution? Else no race found means nothing."""
    program: Program
    events: Events
    objects: Objects

    def pointers(
        self, function: str, value: Value, thread: int, calls: tuple[int, ...] = ()
    ) -> AbstractValue:
        """The paper's `value_ptr`: the addresses that a value may be, when a thread asks; `calls`:
        the latest calls on the way to the function, as far as they are known."""

    def variant(self, function: str, calls: tuple[int, ...]) -> Hashable:
        """Equal for calls on the way to a function between which `pointers` sees no difference."""

    def beyond(self, function: str, value: Value, thread: int) -> AbstractValue:
        """Anywhere in the objects whose addresses lie in what a value points to, and so on."""

    def callees(self, function: str, call: Call) -> Sequence[str]:
        """The paper's `functions`: what a call may mean, library functions included."""

    def entries(self, function: str, call: Call) -> Sequence[str]:
        """What a call has run by others: a new thread, a callback."""

    def created_at(self, function: str, thread_id: Value, is_indirect: bool) -> int | None:
        """The one call that created the thread an id stands for; None if unclear."""

    def is_shared(self, base: int) -> bool:
        """May more than one thread get hold of the object?"""


class Analysed(Protocol):
    """A program whose threads, locks and accesses are known: what the race detector works on."""

    @property
    def program(self) -> Program: ...

    @property
    def events(self) -> Events: ...

    @property
    def objects(self) -> Objects: ...

    @property
    def threads(self) -> Threads: ...

    @property
    def notes(self) -> Notes: ...

    @property
    def sees_others(self) -> bool:
        """Does it cover every execution, so that no race found means that there is none?"""

    @property
    def stored(self) -> dict[int, set[int]]:
        """Base -> bases whose addresses were stored in it."""

    @property
    def unseen(self) -> list[tuple[int, str]]:
        """What may be executed but was not looked at: an instruction, and what it may do."""

    def lost(self) -> LostCode | None:
        """What is out of reach only since executions were ended before it."""

    @property
    def handed_over(self) -> set[int]:
        """Bases whose addresses were given to a new thread."""
