"""Threads that one loop creates and a later loop of the same function waits for.

    for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, NULL);
    ...
    for (i = 0; i < n; i++) pthread_join(ids[i], NULL);
    // none of them runs here

The value analysis knows this from values (`facets.thread_pools`); a walk has none, so it goes by
the code. A *create loop* and a *join loop* belong together if

1. both count alike: same start, step, test and bound, the test is in the head, and the bound and
   the array are the same values in both (below);
2. each round of the first creates one thread: the creation is in no inner loop, and no round gets
   past it; other ways out of the loop do not lead to the second one;
3. each round of the second waits for the thread whose id is in the round's element, and the first
   loop dominates it;
4. nothing but the creation writes the elements from the first round of the one to the last round of
   the other.

Why no thread of the creation runs when the head's test of the join loop fails. The rounds of the
first loop had different counters (the loop ended, and its bound did not change), so each id is in
an element of its own, and still there (4). The second loop had a round for each of these counters
(1), and each round waited for the thread in its element (3). Threads of an earlier round of an
outer loop, or of an earlier call, might still run: the walk applies this only where none may run
when the create loop is entered (`JoinLoop.entered`), and only to threads that no other thread
creates. A creation that fails stores no id and starts no thread.

*The same values.* A constant; a register defined outside of every loop around one of the two; a
load in the loops themselves, from the same address, of a variable that no thread writes in the
meantime; and casts and sums of these. *In the meantime*: any code of the function between the
loops and of any other function, if another thread may run beside it, for the threads of the loop
run beside all of it. Only one thread, of which one instance runs, may call the function,
and it does not call itself: so there is one activation at a time. All that is known from a first
walk without this knowledge, which covers every execution; the second walk has it. A write that may
go anywhere is none here: it is noted as not followed, and no proof goes past it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raceproof.analysis.counted_loops import CountedLoop, counted_loops
from raceproof.analysis.races.reasons.disjoint import may_overlap
from raceproof.analysis.walk.layout import WalkLayout
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import Success, Wait
from raceproof.domains.values import AbstractValue
from raceproof.ir import (
    Binary,
    Call,
    Cast,
    Freeze,
    GlobalAddress,
    Instruction,
    IntConstant,
    Load,
    Offset,
    Register,
    Type,
    Value,
)
from raceproof.ir.cfg import Loop

if TYPE_CHECKING:
    from raceproof.analysis.walk.analysis import Walk

Term = tuple[object, ...]
"""A value, so that equal terms mean equal values while what they load does not change."""
_ID_SIZE = 4
"""No id of a thread is smaller."""


@dataclass(frozen=True, slots=True)
class JoinLoop:
    create: int
    """The creating call."""
    entered: int
    """The head of the create loop."""
    entries: frozenset[tuple[int, int]]
    """The edges that enter it."""
    head: int
    exit: int
    """No thread of the creation runs after this edge."""


class JoinLoops:
    """Those of a program that was walked through once: `of` a function, by the join loop's head."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._backend = walk.backend
        self._busy = {n for info in walk.threads.all for n in info.records.parallel}
        self._writes: list[tuple[str, Instruction, Value, int | None]] | None = None
        self._found: dict[str, dict[int, JoinLoop]] = {}
        for function in walk.program.defined:
            if function.name in walk.layouts.stirring and self._has_one_caller(function.name):
                loops = self._of(walk.layouts.of(function.name))
                if loops:
                    self._found[function.name] = loops

    def __bool__(self) -> bool:
        return bool(self._found)

    def of(self, function: str) -> dict[int, JoinLoop]:
        return self._found.get(function, {})

    def _of(self, layout: WalkLayout) -> dict[int, JoinLoop]:
        function = layout.function
        calls = [i for i in function.instructions if isinstance(i, Call)]
        creations: list[tuple[Call, Value]] = []
        joins: list[tuple[Call, Value]] = []
        for call in calls:
            event = self._event(function.name, call)
            if isinstance(event, ev.ThreadCreate) and event.id_pointer is not None:
                creations.append((call, event.id_pointer))
            elif isinstance(event, ev.ThreadJoin) and self._waits(event):
                place = event.thread if event.is_indirect else _loaded(layout, event.thread)
                if place is not None:
                    joins.append((call, place))
        if not creations or not joins or self._is_recursive(function.name):
            return {}
        if any(self._returns_twice(function.name, call) for call in calls):
            return {}
        counted = counted_loops(function, layout.graph, layout.makers)
        found: dict[int, JoinLoop] = {}
        for call, place in joins:
            second = _round_of(layout, call, counted)
            for creation, address in creations if second is not None else ():
                first = _round_of(layout, creation, counted)
                if first is None or second is None or first[0].head == second[0].head:
                    continue
                pair = _Pair(layout, *first, *second)
                if pair.fits(address, place) and self._is_kept(pair, creation, address):
                    loop = pair.result(creation)
                    found[loop.head] = loop
        return found

    def _event(self, function: str, call: Call) -> ev.Event | None:
        names = self._backend.callees(function, call)
        return self._backend.events.of(call, names[0]) if len(names) == 1 else None

    def _waits(self, event: ev.ThreadJoin) -> bool:
        return event.wait is Wait.BLOCK and event.success in (Success.ALWAYS, Success.ZERO)

    def _returns_twice(self, function: str, call: Call) -> bool:
        event = self._event(function, call)
        return event is not None and event.model.returns_twice

    def _has_one_caller(self, name: str) -> bool:
        """Is the function run by one thread only, one instance at a time?"""
        those = [i for i in self._walk.threads.all if (name, 0) in i.records.reached]
        return len(those) == 1 and those[0].is_unique

    def _is_recursive(self, name: str) -> bool:
        called = self._walk.layouts.called
        work, seen = list(called.get(name, ())), set[str]()
        while work:
            at = work.pop()
            if at == name:
                return True
            if at not in seen:
                seen.add(at)
                work.extend(called.get(at, ()))
        return False

    # --- what no thread may write -----------------------------------------------------------------

    def _is_kept(self, pair: _Pair, creation: Call, address: Value) -> bool:
        """Do the ids, the bound and the array stay what they are from loop to loop?"""
        name = pair.layout.function.name
        places: list[tuple[AbstractValue, int, Call | None]] = [
            (self._pointers(name, address), _ID_SIZE * 2, creation)
        ]
        places += [(self._pointers(name, load.pointer), 8, None) for load in pair.loads]
        if any(place.is_unknown or not place.pointers for place, _, _ in places):
            return False
        between = pair.between()
        for function, instruction, pointer, size in self._all_writes():
            if function == name and instruction not in between:
                continue
            if instruction.number not in self._busy:
                continue
            target = self._pointers(function, pointer)
            if any(
                instruction is not allowed and _meet(target, size, place, length)
                for place, length, allowed in places
            ):
                return False
        return True

    def _pointers(self, function: str, value: Value) -> AbstractValue:
        return self._backend.pointers(function, value, 0)

    def _all_writes(self) -> list[tuple[str, Instruction, Value, int | None]]:
        if self._writes is None:
            self._writes = list(self._find_writes())
        return self._writes

    def _find_writes(self) -> Iterator[tuple[str, Instruction, Value, int | None]]:
        for function, instruction in self._walk.program.all_instructions():
            effects = list(self._backend.events.effects(instruction))
            if isinstance(instruction, Call) and not effects:
                for name in self._backend.callees(function.name, instruction):
                    event = self._backend.events.of(instruction, name)
                    effects += event.effects if event is not None else ()
            for effect in effects:
                if effect.is_write:
                    yield function.name, instruction, effect.pointer, effect.constant_size


@dataclass(eq=False, slots=True)
class _Pair:
    layout: WalkLayout
    first: CountedLoop
    outer: Loop
    second: CountedLoop
    other: Loop
    loads: list[Load] = field(default_factory=list)
    """What must not change."""

    def fits(self, address: Value, place: Value) -> bool:
        """Do the loops count alike, over the elements of one array?"""
        first, second = self.first, self.second
        graph = self.layout.graph
        if first.pointer is not None or second.pointer is not None or first.head == 0:
            return False
        if self.outer.blocks & self.other.blocks:
            return False
        if not graph.dominators.dominates(first.head, second.head):
            return False
        alike = (first.size, first.step, first.shift, first.relation, first.sign)
        if alike != (second.size, second.step, second.shift, second.relation, second.sign):
            return False
        starts = {self._term(value, self.outer) for _, value in first.start}
        starts |= {self._term(value, self.other) for _, value in second.start}
        if len(starts) != 1 or None in starts:
            return False
        bound = self._term(first.bound, self.outer)
        if bound is None or bound != self._term(second.bound, self.other):
            return False
        element = self._element(address, first, self.outer)
        if element is None or element != self._element(place, second, self.other):
            return False
        return self._leaves_by_test()

    def _leaves_by_test(self) -> bool:
        """Does every other way out of the create loop miss the join loop?"""
        graph = self.layout.graph
        for block in self.outer.blocks:
            for target in graph.successors[block]:
                if target in self.outer.blocks:
                    continue
                if (block, target) == (self.first.head, self.first.exit):
                    continue
                if self.second.head in _reached(graph.successors, [target]):
                    return False
        return True

    def _element(self, address: Value, counted: CountedLoop, loop: Loop) -> Term | None:
        """Where an element is, with the counter left out; None if it is no element of the round."""
        makers = self.layout.makers
        parts: list[Term] = []
        steps = 0
        while isinstance(address, Register):
            maker = makers.get(address.index)
            match maker:
                case Offset():
                    for index, scale in maker.terms:
                        inner, how = _widened(makers, index)
                        if inner == counted.counter:
                            if abs(scale) < _ID_SIZE * 2:
                                return None
                            steps += 1
                            parts.append(("counter", how, scale))
                        else:
                            term = self._term(index, loop)
                            if term is None:
                                return None
                            parts.append((term, scale))
                    parts.append(("constant", maker.constant))
                    address = maker.base
                    continue
                case Cast(operation="bitcast" | "addrspacecast") | Freeze():
                    address = maker.value
                    continue
            break
        root = self._term(address, loop)
        if root is None or steps != 1:
            return None
        constant = sum(int(str(p[1])) for p in parts if p[0] == "constant")
        terms = sorted((p for p in parts if p[0] != "constant"), key=repr)
        return (root, constant, *terms)

    def _term(self, value: Value, loop: Loop) -> Term | None:
        makers = self.layout.makers
        if isinstance(value, IntConstant):
            return ("integer", value.value, str(value.type))
        if isinstance(value, GlobalAddress):
            return ("global", value.name, value.offset)
        if not isinstance(value, Register):
            return None
        maker = makers.get(value.index)
        if maker is not None and self._block(maker) in loop.blocks:
            return self._computed(maker, loop)
        if maker is not None and any(
            self._block(maker) in around.blocks
            for around in self.layout.graph.loops
            if self.first.head in around.blocks or self.second.head in around.blocks
        ):
            return None
        if isinstance(maker, Binary):
            return self._computed(maker, loop) or ("register", value.index)
        return ("register", value.index)

    def _computed(self, maker: Instruction, loop: Loop) -> Term | None:
        """By an instruction of the loop itself."""
        match maker:
            case Cast():
                inner = self._term(maker.value, loop)
                return inner and ("cast", maker.operation, str(_type(maker)), inner)
            case Freeze():
                return self._term(maker.value, loop)
            case Load(atomic="", volatile=False):
                inner = self._term(maker.pointer, loop)
                self.loads.append(maker)
                return inner and ("load", str(maker.type), inner)
            case Binary():
                left, right = self._term(maker.left, loop), self._term(maker.right, loop)
                if left is None or right is None:
                    return None
                return ("binary", maker.operation, left, right)
            case Offset(terms=()):
                inner = self._term(maker.base, loop)
                return inner and ("offset", maker.constant, inner)
        return None

    def between(self) -> set[Instruction]:
        """What may be executed from the first round of the one to the last of the other."""
        successors = self.layout.graph.successors
        after = _reached(successors, [self.first.head])
        predecessors = self.layout.graph.predecessors
        before = _reached(predecessors, [self.second.head]) | self.other.blocks
        blocks = self.layout.function.blocks
        return {i for block in after & before for i in blocks[block].instructions}

    def result(self, creation: Call) -> JoinLoop:
        entries = frozenset(
            (block, self.first.head)
            for block in self.layout.graph.predecessors[self.first.head]
            if block not in self.outer.blocks
        )
        return JoinLoop(
            creation.number, self.first.head, entries, self.second.head, self.second.exit
        )

    def _block(self, instruction: Instruction) -> int:
        return _block_of(self.layout, instruction)


def _round_of(
    layout: WalkLayout, call: Call, counted: dict[int, CountedLoop]
) -> tuple[CountedLoop, Loop] | None:
    """The counting loop around a call each of whose rounds makes it once."""
    block = _block_of(layout, call)
    around = [loop for loop in layout.graph.loops if block in loop.blocks]
    if not around:
        return None
    inner = min(around, key=lambda loop: len(loop.blocks))
    if inner.head not in counted:
        return None
    if not all(layout.graph.dominators.dominates(block, latch) for latch in inner.latches):
        return None
    return counted[inner.head], inner


def _block_of(layout: WalkLayout, instruction: Instruction) -> int:
    return next(
        block.index for block in layout.function.blocks if instruction in block.instructions
    )


def _loaded(layout: WalkLayout, thread: Value) -> Value | None:
    """Where the id comes from."""
    while isinstance(thread, Register):
        maker = layout.makers.get(thread.index)
        if isinstance(maker, Load):
            return None if maker.atomic or maker.volatile else maker.pointer
        if not isinstance(maker, Cast | Freeze):
            return None
        thread = maker.value
    return None


def _widened(makers: dict[int, Instruction], index: Value) -> tuple[Value, tuple[str, ...]]:
    how: list[str] = []
    while isinstance(index, Register):
        maker = makers.get(index.index)
        if not isinstance(maker, Cast) or maker.operation not in ("sext", "zext"):
            break
        how.append(f"{maker.operation} {_type(maker)}")
        index = maker.value
    return index, tuple(how)


def _type(instruction: Instruction) -> Type | None:
    return None if instruction.result is None else instruction.result.type


def _reached(successors: list[tuple[int, ...]] | list[list[int]], work: list[int]) -> set[int]:
    found: set[int] = set()
    while work:
        block = work.pop()
        if block not in found:
            found.add(block)
            work.extend(successors[block])
    return found


def _meet(a: AbstractValue, a_size: int | None, b: AbstractValue, b_size: int) -> bool:
    for base, offsets in a.pointers.items():
        others = b.pointers.get(base)
        if others is not None:
            if a_size is None or may_overlap(offsets, a_size, others, b_size):
                return True
    return False
