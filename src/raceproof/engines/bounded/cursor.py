"""Where the unfolding of a thread is, and what its parts share.

A thread is unfolded by collaborators (`Part`): memory, operands, functions, instructions, locks and
so on, each with a file of its own. All of them work at one place at a time, the `Cursor`: the state
of the path, the step that is being made, the names given so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from raceproof.engines.bounded.events import Constraint, Cut, ThreadBody, UnfoldEvent
from raceproof.engines.bounded.state import UnfoldState
from raceproof.engines.bounded.waiting import UnsharedAccess
from raceproof.ir import Instruction, Position
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker
    from raceproof.engines.bounded.unfold import Unfolder

_SYNCHRONISATION = 4


class PathEnds(Exception):
    """Nothing can follow on this path."""


class Cursor:
    """The place that a thread's unfolding has come to."""

    def __init__(self, unfolder: Unfolder, body: ThreadBody) -> None:
        self.unfolder = unfolder
        self.terms = unfolder.terms
        self.space = unfolder.space
        self.sharing = unfolder.sharing
        self.body = body
        self.thread = body.number
        self.state = UnfoldState(self.terms)
        self.event: UnfoldEvent | None = None
        self.label = ""
        self.names = 0
        self.calls: tuple[int, ...] = ()
        self.instruction: Instruction | None = None
        self.own_accesses: list[UnsharedAccess] = []
        """To memory that is not shared, in their order."""
        self.load = 0
        """How much the events so far weigh in a formula; a plain access weighs 1, others 4."""
        self.born: list[int] = []
        """The objects made on the way, in their order."""

    # --- steps ------------------------------------------------------------

    @property
    def position(self) -> Position | None:
        return self.instruction.position if self.instruction else None

    def name(self, what: str) -> str:
        """A name for a variable, the same in every pass."""
        self.names += 1
        number = self.instruction.number if self.instruction else ""
        return f"{what} {self.label}@{number}.{self.names}"

    def cut(self, reason: str, condition: Term | None = None) -> None:
        """Notes that the paths where the condition holds are not followed, or not all of them."""
        guard = self.state.guard
        if condition is not None:
            guard = self.terms.and_(guard, condition)
        if guard is not self.terms.false:
            body = self.body
            body.cuts.append(
                Cut(len(body.events), guard, reason, self.position, len(body.constraints))
            )

    def require(self, condition: Term) -> None:
        """The path goes on only if the condition holds."""
        if condition is not self.terms.true:
            self.body.constraints.append(
                Constraint(len(self.body.events), self.state.guard, condition)
            )

    def new_event(self, kind: str) -> UnfoldEvent:
        return UnfoldEvent(
            self.thread,
            len(self.body.events),
            self.state.guard,
            self.instruction.number if self.instruction else -1,
            kind,
            self.terms.true,
            is_inner=self.state.section > 0,
            position=self.position,
            calls=self.calls,
            tick=len(self.body.ticks) - 1,
        )

    @contextmanager
    def step(self, kind: str, *, always: bool = False) -> Iterator[UnfoldEvent]:
        """What happens inside happens at once; it is an event if it touches shared memory."""
        if self.event is not None:
            yield self.event
            return
        event = self.event = self.new_event(kind)
        try:
            yield event
        finally:
            self.event = None
            event.index = len(self.body.events)
            event.guard = self.state.guard
            if event.operations or event.accesses or always:
                self.body.events.append(event)
                is_plain = not event.is_inner and any(not a.is_atomic for a in event.accesses)
                self.load += 1 if is_plain else _SYNCHRONISATION
            elif event.assume is not self.terms.true:
                self.require(event.assume)


class Part:
    """A collaborator: does one kind of thing for a thread, and asks the walker's other parts."""

    def __init__(self, walker: ThreadWalker) -> None:
        self.walker = walker
        self.cursor = walker.cursor
        self.unfolder = walker.cursor.unfolder
        self.terms = walker.cursor.terms
        self.space = walker.cursor.space
        self.sharing = walker.cursor.sharing
        self.body = walker.cursor.body
        self.thread = walker.cursor.thread
