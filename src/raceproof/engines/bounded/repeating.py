"""Whether a loop goes on: the end of one iteration, the beginning of the next.

A loop whose exit is decided by constants runs as long as it runs; one that depends on data runs
`unwind` times and then leaves a `Cut` behind. An iteration that only waits (see `waiting`) is the
last one on its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.unrolling import CopyName, LoopOrder
from raceproof.engines.bounded.cursor import Part
from raceproof.engines.bounded.events import Constraint, Hiding
from raceproof.engines.bounded.state import Contents, UnfoldState, Value
from raceproof.engines.bounded.waiting import (
    Idle,
    Iteration,
    Range,
    Spot,
    StateChange,
    UnsharedAccess,
    changes_nothing,
    exposed,
    idle,
    implies,
    overlaps,
)
from raceproof.ir import Function, Register
from raceproof.smt.terms import Term

UNWOUND = "a loop unwound as often as allowed"
LONG_LOOP = "a loop of very many iterations"
"""Reasons for cuts."""
_FEW = 8
"""Iterations that a loop bounded by constants may always have."""
_MANY_SPOTS = 64
"""An iteration that changes more than this does not wait."""


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class LoopRun:
    """One loop instance while it is unrolled; most of it speaks of the current iteration."""

    __slots__ = (
        "born",
        "cleanups",
        "events",
        "guard",
        "idle",
        "idle_before",
        "is_decided",
        "is_symbolic",
        "is_threaded",
        "memory",
        "order",
        "own_accesses",
        "phis",
        "section",
        "symbolic",
        "version",
    )

    def __init__(self, order: LoopOrder) -> None:
        self.order = order
        self.symbolic = 0
        """Iterations whose end depended on data, or on nothing."""
        self.idle: list[tuple[Term, Idle]] = []
        """The ways back to the head on which the iteration may be idle, with their guards."""
        self.idle_before: list[tuple[Term, Idle]] = []
        """Those of the iteration before."""
        self.is_decided = False
        """Some way out was open or closed for sure."""
        self.is_symbolic = False
        """Some way out depended on data."""
        self.guard: Term | None = None
        self.cleanups: tuple[tuple[Term, Term | None], ...] = ()
        self.is_threaded = False
        self.phis: dict[int, Value] = {}
        self.memory: dict[int, Contents] = {}
        self.section = self.version = self.events = self.own_accesses = self.born = 0


class _OwnMemory:
    """What one iteration does with the memory that its thread alone uses."""

    def __init__(self, accesses: list[UnsharedAccess], guard: Term) -> None:
        self._guard = guard
        self._accesses: dict[int, list[UnsharedAccess]] = {}
        for access in accesses:
            self._accesses.setdefault(access.range[0], []).append(access)
        self._exposed: dict[int, list[Range]] = {}

    def is_exposed(self, spot: Range) -> bool:
        """Whether the iteration reads what was there when it began."""
        number = spot[0]
        found = self._exposed.get(number)
        if found is None:
            found = self._exposed[number] = exposed(self._accesses.get(number, []))
        return any(overlaps(spot, other) for other in found)

    def is_overwritten(self, spot: Range) -> bool:
        return any(
            access.is_write
            and access.range[1] <= spot[1]
            and spot[2] <= access.range[2]
            and implies(self._guard, access.guard)
            for access in self._accesses.get(spot[0], ())
        )


class LoopEnds(Part):
    """The part of a walk that decides about loops."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.operands = walker.operands

    def begin_iteration(self, run: LoopRun, phis: dict[int, Value]) -> None:
        run.idle_before, run.idle = run.idle, []
        run.is_decided = run.is_symbolic = False
        run.phis = phis
        run.guard = self.cursor.state.guard
        run.version = self.cursor.state.version
        run.is_threaded = self.cursor.state.is_threaded
        run.section = self.cursor.state.section
        run.cleanups = self.cursor.state.cleanups
        run.memory = self.cursor.state.snapshot()
        run.events = len(self.body.events)
        run.own_accesses = len(self.cursor.own_accesses)
        run.born = len(self.cursor.born)

    def repeated(
        self, name: CopyName, head: int, state: UnfoldState, loops: dict[CopyName, LoopRun]
    ) -> UnfoldState | None:
        """The state with which the next iteration begins, if there is one."""
        run = loops.get(LoopOrder.instance(name, head))
        if run is None:
            return state
        stays = self._stays(name, head, state, run)
        if stays is not self.terms.false:
            if run.section:
                # It never leaves the atomic section: no other thread goes on.
                self.body.constraints.append(
                    Constraint(
                        len(self.body.events),
                        self.terms.and_(state.guard, stays),
                        self.terms.false,
                    )
                )
            state = state.copy(self.terms.and_(state.guard, self.terms.not_(stays)))
            if state.guard is self.terms.false:
                return None
        before = self.cursor.state
        self.cursor.state = state
        may_go_on = self._may_go_on(name, head, run)
        self.cursor.state = before
        return state if may_go_on else None

    def _may_go_on(self, name: CopyName, head: int, run: LoopRun) -> bool:
        limits = self.unfolder.limits
        iteration = name[len(LoopOrder.instance(name, head))]
        has_events = len(self.body.events) > run.events
        limit = limits.concrete_iterations if has_events else limits.silent_iterations
        most_load = 4 * limits.events
        if run.is_symbolic or not run.is_decided:
            run.symbolic += 1
            assert self.cursor.instruction is not None
            function = self.unfolder.program.function_of(self.cursor.instruction.number)
            if not run.is_decided or not self._counts(function, name, head, run):
                allowed = self.unfolder.unwind_of(function, head, name[-1])
                events = self.body.events[run.events :]
                if has_events and changes_nothing(self.terms, self.cursor.state.guard, events):
                    allowed += 1  # Looking once more costs little.
                if run.symbolic >= allowed:
                    self.cursor.cut(UNWOUND)
                    return False
            most_load //= 2
        if iteration >= self.unfolder.patience:
            self.unfolder.was_impatient = True
            return False
        if has_events and iteration >= _FEW and self.cursor.load > most_load:
            limit = 0
        if iteration >= limit:
            self.cursor.cut(LONG_LOOP)
            return False
        return True

    def _counts(self, function: Function, name: CopyName, head: int, run: LoopRun) -> bool:
        """Whether the loop has a counter whose value is known."""
        for phi in function.blocks[head].phis:
            assert phi.result is not None
            before = run.phis.get(phi.result.index)
            operand = next((v for b, v in phi.incoming if b == name[-1]), None)
            now = None if operand is None else self.operands.value(operand)
            if isinstance(before, Term) and isinstance(now, Term) and now is not before:
                if before.is_constant and now.is_constant:
                    return True
        return False

    # --- waiting ------------------------------------------------------------

    def _stays(self, name: CopyName, head: int, state: UnfoldState, run: LoopRun) -> Term:
        """When the iteration did no more than wait, so that the thread may stay where it is."""
        never = self.terms.false
        if not run.order.is_reducible:
            return never
        if state.section != run.section or state.cleanups != run.cleanups:
            return never
        iteration = self._iteration(name, head, state, run)
        if iteration is None:
            return never
        is_patient = not self.unfolder.has_trials and not self.unfolder.limits.anyone_unlocks
        found = idle(self.terms, iteration, is_patient=is_patient, hides=self.unfolder.limits.hides)
        if found is None:
            return never
        run.idle.append((state.guard, found))
        if not found.needs_another:
            self._hide(found, state.guard, len(self.body.events))
            return found.when
        firsts = [(guard, first) for guard, first in run.idle_before if found.follows(first)]
        waited = self.terms.any(self.terms.and_(guard, first.when) for guard, first in firsts)
        stays = self.terms.and_(found.when, waited)
        if self.terms.and_(state.guard, stays) is never:
            return never
        for guard, first in firsts:
            self._hide(first, guard, run.events)
        self._hide(found, state.guard, len(self.body.events))
        return stays

    def _hide(self, found: Idle, guard: Term, end: int) -> None:
        if found.hidden:
            self.body.hidings.append(Hiding(found.hidden, end, self.terms.and_(guard, found.when)))

    def _iteration(
        self, name: CopyName, head: int, state: UnfoldState, run: LoopRun
    ) -> Iteration | None:
        changes: list[StateChange] = []
        kept: set[int] = set()
        assert self.cursor.instruction is not None
        function = self.unfolder.program.function_of(self.cursor.instruction.number)
        for phi in function.blocks[head].phis:
            assert phi.result is not None
            index = phi.result.index
            operand = next((v for b, v in phi.incoming if b == name[-1]), None)
            before = run.phis.get(index)
            now = None if operand is None else self.operands.value(operand)
            if isinstance(operand, Register) and operand.index == index:
                kept.add(index)
            if now is not before:
                if isinstance(before, Term) and isinstance(now, Term):
                    changes.append(StateChange(index, before, now))
                else:
                    changes.append(StateChange(index, None, None))
        if state.version != run.version:
            changes += self._changed_memory(state, run)
        if len(changes) > _MANY_SPOTS:
            return None
        assert run.guard is not None
        own = _OwnMemory(self.cursor.own_accesses[run.own_accesses :], state.guard)
        reads = run.order.reads(head)

        def looks_at(spot: Spot) -> bool:
            if isinstance(spot, int):
                return spot in reads
            return not run.is_threaded or own.is_exposed(spot)

        def overwrites(spot: Spot) -> bool:
            return spot not in kept if isinstance(spot, int) else own.is_overwritten(spot)

        return Iteration(
            run.guard, state.guard, self.body.events[run.events :], changes, looks_at, overwrites
        )

    def _changed_memory(self, state: UnfoldState, run: LoopRun) -> list[StateChange]:
        """What the thread's own memory holds differently; not in objects made in the iteration,
        which nothing points to any more if all else is as before."""
        changes: list[StateChange] = []
        born = set(self.cursor.born[run.born :])
        born |= {flag.number for n in born if (flag := self.space.all[n].freed) is not None}
        for number in sorted(run.memory.keys() | state.memory.keys()):
            old, new = run.memory.get(number), state.memory.get(number)
            if old is new or number in born:
                continue
            start = self.space.all[number].initial or {}
            old, new = start if old is None else old, start if new is None else new
            for offset in sorted(old.keys() | new.keys()):
                before, now = old.get(offset), new.get(offset)
                if before is not now:
                    width = max(value.width for value in (before, now) if value is not None)
                    changes.append(StateChange((number, offset, offset + width // 8), before, now))
        return changes
