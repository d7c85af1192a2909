"""One thread through its functions: the point at the start of each block, in each context.

A forward analysis over (function, latest calls, point at the entry), each called a *visit*. A visit
asks for the exits of the visits it calls, and is made again when they grow, so recursion needs no
care. Must-sets only shrink and may-sets only grow, so the end is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raceproof.analysis.contexts import Context
from raceproof.analysis.fixpoint import FixpointSolver, Node
from raceproof.analysis.walk.layout import WalkLayout
from raceproof.analysis.walk.point import Point, join
from raceproof.analysis.walk.steps import WalkSteps
from raceproof.ir import (
    AfterInvoke,
    Branch,
    Call,
    Cast,
    Compare,
    Instruction,
    IntConstant,
    NullPointer,
    Phi,
    Register,
    Return,
    Terminator,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.threads import ThreadInfo
    from raceproof.analysis.walk.analysis import Walk
    from raceproof.analysis.walk.join_loops import JoinLoop

_MOST_BLOCKS = 200_000
"""Blocks gone through, by all threads, before shorter contexts are tried."""
_MOST_CALLS = 300_000
"""Functions entered, each time that a call is gone through, before the same."""
_MOST_THREADS = 32
"""Threads before the same."""
_MOST_ENTRIES = 6
"""Different points at the entry of a function in one context; more are joined."""


def _joined(block: int, node: Node[Point], point: Point) -> Point:
    return join(node.state, point)


def _by_number(block: int) -> int:
    return block


class TooManyContexts(Exception):
    """The program has more contexts of this depth than we can visit."""


@dataclass(eq=False)
class Visit:
    """A function in a context, entered at a point."""

    name: str
    context: Context
    entry: Point
    exit: Point | None = None
    blocks: dict[int, Point] = field(default_factory=dict)
    callers: dict[tuple[int, int], tuple[Visit, int]] = field(default_factory=dict)
    """Those that go on from a block when the exit grows, by identity and block."""
    work: FixpointSolver[int, Point] = field(
        default_factory=lambda: FixpointSolver(_joined, _by_number)
    )
    """Its blocks, with the points at their starts."""
    at: int = 0
    """The block at hand."""
    entered: dict[int, int] = field(default_factory=dict)
    """Head of a create loop -> bit set of the threads that may run when it is entered."""


class Walker:
    def __init__(self, walk: Walk, info: ThreadInfo) -> None:
        self.walk = walk
        self.info = info
        self.layouts = walk.layouts
        self.steps = WalkSteps(self)
        self.has_joins = False
        """Does the thread join others?"""
        self._visits: dict[tuple[str, int], dict[Point, Visit]] = {}
        self._overflow: dict[tuple[str, int], Visit] = {}
        self._solver = FixpointSolver[Visit, Point](
            lambda visit, node, point: join(node.state, point),
            lambda visit: self.layouts.rank[visit.name],
        )
        """Of functions; the state of each is the point at its entry."""

    def run(self, name: str, context: Context, point: Point) -> Visit:
        """Visits all that can be reached; returns the first visit."""
        first = self.visit(name, context, point)
        for visit, node in self._solver.pending():
            self.walk.tick()
            if self.walk.may_shorten and self._is_too_much():
                raise TooManyContexts
            visit.entry = node.state
            self._make(visit)
        return first

    def _is_too_much(self) -> bool:
        walk = self.walk
        if walk.blocks > _MOST_BLOCKS or walk.calls > _MOST_CALLS:
            return True
        return walk.depth > 0 and len(walk.threads.all) > _MOST_THREADS

    def visit(
        self, name: str, context: Context, point: Point, caller: Visit | None = None
    ) -> Visit:
        """The visit that answers for a call."""
        known = self._visits.setdefault((name, context.number), {})
        self.walk.calls += 1
        found = known.get(point)
        if found is None and len(known) < _MOST_ENTRIES and not self.walk.joins_entries:
            found = known[point] = Visit(name, context, point)
            self._solver.arrive(found, point)
        if found is None:
            found = self._joined(name, context, point)
        if caller is not None:
            found.callers[id(caller), caller.at] = (caller, caller.at)
        return found

    def _joined(self, name: str, context: Context, point: Point) -> Visit:
        key = (name, context.number)
        found = self._overflow.get(key)
        if found is None:
            found = self._overflow[key] = Visit(name, context, point)
        self._solver.arrive(found, point)
        return found

    def all_visits(self) -> Iterator[Visit]:
        for known in self._visits.values():
            yield from known.values()
        yield from self._overflow.values()

    # --- one function ------------------------------------------------------------

    def _make(self, visit: Visit) -> None:
        layout = self.layouts.of(visit.name)
        loops = self.walk.join_loops.of(visit.name) if self.walk.join_loops else {}
        blocks = visit.work
        blocks.arrive(0, visit.entry)
        exit_: Point | None = None
        for block, node in blocks.pending():
            self.walk.blocks += 1
            visit.at = block
            point = self._through(visit, layout, block, node.state)
            terminator = layout.function.blocks[block].terminator
            if isinstance(terminator, AfterInvoke):
                blocks.arrive(terminator.unwind, self.steps.surprised(point or node.state))
            if point is None:
                continue
            if isinstance(terminator, Return):
                exit_ = point if exit_ is None else join(exit_, point)
                continue
            for target, arriving in self._edges(layout, block, terminator, point):
                for loop in loops.values():
                    arriving = self._past(visit, loop, (block, target), arriving, blocks)
                blocks.arrive(target, arriving)
        visit.blocks = {block: node.state for block, node in blocks.nodes.items()}
        if exit_ is not None:
            exit_ = exit_._replace(fresh=frozenset(), attempts=frozenset())
            if visit.exit is not None:
                exit_ = join(visit.exit, exit_)
            if exit_ != visit.exit:
                visit.exit = exit_
                for caller, block in visit.callers.values():
                    caller.work.put(block)
                    self._solver.put(caller)

    def _past(
        self,
        visit: Visit,
        loop: JoinLoop,
        edge: tuple[int, int],
        point: Point,
        blocks: FixpointSolver[int, Point],
    ) -> Point:
        """After an edge: the last one of a join loop leaves none of its threads behind."""
        if edge in loop.entries:
            before = visit.entered.get(loop.entered, 0)
            visit.entered[loop.entered] = before | point.facets.may_parallel
            if point.facets.may_parallel & ~before and loop.head in blocks.nodes:
                blocks.put(loop.head)
        if edge != (loop.head, loop.exit) or not self.info.is_unique:
            return point
        infos = [i for i in self.walk.threads.all if i.call == loop.create and i.index]
        gone = sum(info.bit for info in infos)
        if visit.entered.get(loop.entered, 0) & gone:
            return point
        if any(i.parent != self.info.index or i is self.info for i in infos):
            return point
        for info in infos:
            if info.left is not None and not self.walk.has_cancellation:
                gone |= info.children & ~info.left
        return point.with_facets(point.facets.ended(gone))

    def _through(self, visit: Visit, layout: WalkLayout, block: int, entry: Point) -> Point | None:
        point: Point | None = entry
        assert point is not None
        if not (layout.stops[block] or point.beside or point.attempts):
            return point
        for instruction in layout.function.blocks[block].instructions:
            assert point is not None
            if isinstance(instruction, Terminator):
                return point
            if isinstance(instruction, Phi):
                continue
            point = self._step(visit, layout, block, instruction, point)
            if point is None:
                return None
        return point

    def _step(
        self, visit: Visit, layout: WalkLayout, block: int, instruction: Instruction, point: Point
    ) -> Point | None:
        if block in layout.sure_blocks or not isinstance(instruction, Call):
            return self.steps.step(visit, layout, instruction, point)
        inside = point._replace(is_in_branch=True)
        after = self.steps.step(visit, layout, instruction, inside)
        return after and after._replace(is_in_branch=point.is_in_branch)

    def points(self, visit: Visit) -> Iterator[tuple[Instruction, Point]]:
        """Each instruction that can be reached, with the point before it."""
        layout = self.layouts.of(visit.name)
        for block in sorted(visit.blocks):
            point: Point | None = visit.blocks[block]
            is_sure = block in layout.sure_blocks
            for instruction in layout.function.blocks[block].instructions:
                if point is None:
                    break
                here = point if is_sure else point._replace(is_in_branch=True)
                yield instruction, here
                if not isinstance(instruction, Terminator | Phi):
                    point = self._step(visit, layout, block, instruction, point)

    # --- edges ------------------------------------------------------------

    def _edges(
        self, layout: WalkLayout, block: int, terminator: Terminator, point: Point
    ) -> Iterator[tuple[int, Point]]:
        targets = dict.fromkeys(terminator.targets)
        if isinstance(terminator, AfterInvoke):
            targets = {terminator.normal: None}
        for target in targets:
            arriving = point
            if isinstance(terminator, Branch) and point.attempts and len(targets) == 2:
                is_true = target == terminator.if_true
                arriving = self._tried(layout, terminator.condition, is_true, point)
            if arriving.beside or arriving.attempts:
                arriving = self._phis(layout, block, target, arriving)
            yield target, arriving

    def _tried(self, layout: WalkLayout, condition: Value, is_true: bool, point: Point) -> Point:
        """The result of a trylock was tested: now we know whether the lock is held."""
        tested = _tested(layout, condition)
        if tested is None:
            return point
        register, zero_if_true = tested
        is_zero = zero_if_true == is_true
        for attempt in point.attempts:
            if attempt.register == register:
                point = point._replace(attempts=point.attempts - {attempt})
                if attempt.is_zero == is_zero:
                    point = self.steps.locks.take(
                        point, attempt.key, attempt.place, attempt.is_write
                    )
        return point

    def _phis(self, layout: WalkLayout, source: int, target: int, point: Point) -> Point:
        for phi in layout.function.blocks[target].phis:
            assert phi.result is not None
            point = point.after_definition(phi.result.index)
        return point


def _tested(layout: WalkLayout, condition: Value) -> tuple[int, bool] | None:
    """The register that a condition tests, and whether it is zero if the condition holds."""
    if not isinstance(condition, Register):
        return None
    maker = layout.makers.get(condition.index)
    if isinstance(maker, Compare) and maker.predicate in ("eq", "ne"):
        zero = isinstance(maker.right, NullPointer) or (
            isinstance(maker.right, IntConstant) and maker.right.value == 0
        )
        if zero and isinstance(maker.left, Register):
            return _source(layout, maker.left), maker.predicate == "eq"
        return None
    if isinstance(maker, Cast | Call) or maker is None:
        return _source(layout, condition), False
    return None


def _source(layout: WalkLayout, register: Register) -> int:
    """Looks through widenings, which keep zero and not zero."""
    maker = layout.makers.get(register.index)
    while isinstance(maker, Cast) and maker.operation in ("zext", "sext"):
        if not isinstance(maker.value, Register):
            break
        register = maker.value
        maker = layout.makers.get(register.index)
    return register.index
