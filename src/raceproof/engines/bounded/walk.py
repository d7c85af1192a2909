"""Unfolds one thread: loops unrolled, calls inlined, paths merged.

The copies of a function's blocks are visited in the order of `loops`; ways that meet are merged, so
each copy is walked once. A loop whose exit is decided by constants runs as long as it runs; one
that depends on data runs `unwind` times and then leaves a `Cut` behind. A loop iteration that only
waits (see `waiting`) is not repeated.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from raceproof.analysis.loop_counters import Counter
from raceproof.analysis.unrolling import CopyName, LoopOrder
from raceproof.engines.bounded.counting import counts
from raceproof.engines.bounded.cursor import Part, PathEnds
from raceproof.engines.bounded.objects import TooBig
from raceproof.engines.bounded.repeating import LoopRun
from raceproof.engines.bounded.state import UnfoldState, Value, choose, merge, relative
from raceproof.engines.bounded.waiting import implies
from raceproof.ir import (
    AfterInvoke,
    Branch,
    Function,
    IndirectJump,
    IntConstant,
    Jump,
    Phi,
    Register,
    Return,
    Switch,
    Terminator,
)
from raceproof.ir import Value as Operand
from raceproof.smt.terms import Term

if TYPE_CHECKING:
    pass

_Arrival = tuple[UnfoldState, int]
"""A state and the block it comes from."""


if TYPE_CHECKING:
    from raceproof.engines.bounded.thread import ThreadWalker


class Functions(Part):
    """Walks the code of one thread; instructions and calls are done by its subclass."""

    def __init__(self, walker: ThreadWalker) -> None:
        super().__init__(walker)
        self.operands = walker.operands
        self.loops = walker.loops
        self.instructions = walker.instructions
        self.depth: dict[str, int] = {}

    # --- functions ------------------------------------------------------------

    def call(self, function: Function, arguments: list[Value]) -> Value | None:
        """Runs a function of the program; ends the path if it doesn't return."""
        depth = self.depth.get(function.name, 0)
        if depth > self.unfolder.limits.recursion:
            self.cursor.cut(f"the recursion of {function.display}")
            raise PathEnds
        self.depth[function.name] = depth + 1
        label, instruction, calls, names = (
            self.cursor.label,
            self.cursor.instruction,
            self.cursor.calls,
            self.cursor.names,
        )
        if instruction is not None:
            self.cursor.calls = (*calls, instruction.number)
        registers = self.cursor.state.enter()
        for parameter, argument in zip(function.parameters, arguments, strict=False):
            self.cursor.state.set_register(parameter.index, argument)
        try:
            number = instruction.number if instruction is not None else ""
            result = self._run(function, f"{label}@{number}/")
        finally:
            self.depth[function.name] = depth
            self.cursor.label, self.cursor.instruction, self.cursor.calls, self.cursor.names = (
                label,
                instruction,
                calls,
                names,
            )
        self.cursor.state.leave(registers)
        return result

    def _run(self, function: Function, prefix: str) -> Value | None:
        order = self.unfolder.order_of(function)
        first = order.first()
        queue: list[CopyName] = [first]
        arrivals: dict[CopyName, list[_Arrival]] = {first: [(self.cursor.state, -1)]}
        loops: dict[CopyName, LoopRun] = {}
        returned: list[tuple[UnfoldState, Value | None]] = []
        while queue:
            name = heapq.heappop(queue)
            incoming = [a for a in arrivals.pop(name) if a[0].guard is not self.terms.false]
            if not incoming:
                continue
            self.cursor.label = f"{prefix}{'.'.join(map(str, name))}"
            self._enter_block(function, name, incoming, order, loops)
            try:
                ways = self._walk_block(function, name[-1], returned)
            except PathEnds:
                continue
            for target, condition in ways:
                is_only = condition is self.terms.true
                self._follow(name, target, condition, is_only, order, loops, arrivals, queue)
        if not returned:
            raise PathEnds
        return self._join(returned)

    def _join(self, returned: list[tuple[UnfoldState, Value | None]]) -> Value | None:
        result = returned[0][1]
        state = returned[0][0]
        for other, value in returned[1:]:
            if result is not None and value is not None:
                result = choose(self.terms, relative(state.guard, other.guard), result, value)
            state = self.merge([state, other])
        self.cursor.state = state
        return result

    def merge(self, states: list[UnfoldState]) -> UnfoldState:
        if len(states) > 1 and any(s.is_threaded for s in states):
            for state in states:
                if not state.is_threaded:
                    self.unfolder.publish(state)
        if any(s.section != states[0].section for s in states):
            self.cut_at(states, "an atomic section on one of two ways that meet")
        if any(s.cleanups != states[0].cleanups for s in states):
            self.cut_at(states, "a clean-up handler on one of two ways that meet")
        return merge(states, self.space.all)

    def cut_at(self, states: list[UnfoldState], reason: str) -> None:
        current = self.cursor.state
        for state in states:
            self.cursor.state = state
            self.cursor.cut(reason)
        self.cursor.state = current

    def _enter_block(
        self,
        function: Function,
        name: CopyName,
        incoming: list[_Arrival],
        order: LoopOrder,
        loops: dict[CopyName, LoopRun],
    ) -> None:
        phis = function.blocks[name[-1]].phis
        values: list[dict[int, Value]] = []
        for state, source in incoming:
            self.cursor.state = state
            row = {}
            for phi in phis:
                assert phi.result is not None
                operand = next((v for b, v in phi.incoming if b == source), None)
                self.cursor.instruction = phi
                self.cursor.names = 0
                row[phi.result.index] = (
                    self.operands.value(operand)
                    if operand is not None
                    else self.operands.undefined(phi.result.type)
                )
            values.append(row)
        self.cursor.state = self.merge([state for state, _ in incoming])
        guard = incoming[0][0].guard
        result = values[0]
        for (state, _), row in zip(incoming[1:], values[1:], strict=True):
            condition = relative(guard, state.guard)
            result = {i: choose(self.terms, condition, v, row[i]) for i, v in result.items()}
            guard = self.terms.or_(guard, state.guard)
        for index, value in result.items():
            self.cursor.state.set_register(index, value)
        block = name[-1]
        if block in order.loops_around(block) or (order.loops_around(block) and block == 0):
            instance = LoopOrder.instance(name, block)
            run = loops.get(instance)
            if run is None:
                run = loops[instance] = LoopRun(order)
            self.loops.begin_iteration(run, result)

    def _walk_block(
        self, function: Function, block: int, returned: list[tuple[UnfoldState, Value | None]]
    ) -> list[tuple[int, Term]]:
        """The ways on, with their conditions."""
        limits = self.unfolder.limits
        for instruction in function.blocks[block].instructions:
            if isinstance(instruction, Phi):
                continue
            self.cursor.instruction = instruction
            self.cursor.names = 0
            self.unfolder.size += 1
            if self.unfolder.size > limits.size:
                raise TooBig
            if not self.unfolder.size & 0xFF:
                self.unfolder.check_time()
            if not isinstance(instruction, Terminator):
                self.instructions.execute(instruction)
                continue
            if isinstance(instruction, Return):
                value = (
                    None if instruction.value is None else self.operands.value(instruction.value)
                )
                returned.append((self.cursor.state, value))
                return []
            return self._ways(instruction)
        return []

    def _ways(self, terminator: Terminator) -> list[tuple[int, Term]]:
        terms = self.terms
        match terminator:
            case Jump(target=target):
                return [(target, terms.true)]
            case Branch():
                condition = self.operands.term(terminator.condition)
                if terminator.if_true == terminator.if_false:
                    return [(terminator.if_true, terms.true)]
                return [
                    (terminator.if_true, condition),
                    (terminator.if_false, terms.not_(condition)),
                ]
            case Switch():
                value = self.operands.term(terminator.value)
                ways: dict[int, Term] = {}
                rest = terms.true
                for number, target in terminator.cases:
                    is_it = terms.eq(value, terms.const(number, value.width))
                    ways[target] = terms.or_(ways.get(target, terms.false), is_it)
                    rest = terms.and_(rest, terms.not_(is_it))
                default = terminator.default
                ways[default] = terms.or_(ways.get(default, terms.false), rest)
                return list(ways.items())
            case AfterInvoke(normal=normal):
                return [(normal, terms.true)]
            case IndirectJump(possible=possible):
                address = self.operands.term(terminator.address)
                return [
                    (target, terms.eq(address, terms.const(target + 1, address.width)))
                    for target in dict.fromkeys(possible)
                ]
        return []

    def _follow(
        self,
        name: CopyName,
        target: int,
        condition: Term,
        is_only: bool,
        order: LoopOrder,
        loops: dict[CopyName, LoopRun],
        arrivals: dict[CopyName, list[_Arrival]],
        queue: list[CopyName],
    ) -> None:
        block = name[-1]
        for head in order.loops_left(block, target):
            run = loops.get(LoopOrder.instance(name, head))
            if run is not None and order.returns(target):
                if condition.is_constant:
                    run.is_decided = True
                else:
                    run.is_symbolic = True
        guard = self.terms.and_(self.cursor.state.guard, condition)
        if guard is self.terms.false:
            return
        copy, repeated = order.follow(name, target)
        state = self.cursor.state if is_only else self.cursor.state.copy(guard)
        if repeated is not None:
            going_on = self.loops.repeated(name, repeated, state, loops)
            if going_on is None:
                return
            state = going_on
        counter = order.counter(target) if repeated is None else None
        entries = [(copy, state)] if counter is None else self._counted(copy, state, block, counter)
        for entered, entering in entries:
            if entered not in arrivals:
                arrivals[entered] = []
                heapq.heappush(queue, entered)
            arrivals[entered].append((entering, block))

    def _counted(
        self, copy: CopyName, state: UnfoldState, source: int, counter: Counter
    ) -> list[tuple[CopyName, UnfoldState]]:
        """The copies of a counting loop's head that a state enters, and with what."""
        terms = self.terms
        operand, limit = counter.start(source), self._known(state, counter.limit)
        start = self._known(state, operand)
        if not isinstance(operand, Register) or start is None or limit is None:
            return [(copy, state)]
        numbers, behind = counts(counter, start, limit, self._assumed(state.guard))
        if not numbers:
            return [(copy, state)]
        entries: list[tuple[CopyName, UnfoldState]] = []
        for number in numbers:
            count = terms.const(number, start.width)
            entering = state.copy(terms.and_(state.guard, terms.eq(start, count)))
            entering.set_register(operand.index, count)
            iteration = (number - numbers[0]) * counter.step
            entries.append((LoopOrder.at_iteration(copy, iteration), entering))
        goes_on = terms.compare(counter.predicate, start, limit)
        passing = state.copy(terms.and_(state.guard, terms.not_(goes_on)))
        entries.append((LoopOrder.at_iteration(copy, behind), passing))
        return [entry for entry in entries if entry[1].guard is not terms.false]

    def _assumed(self, guard: Term) -> Term:
        """What holds on a path: its guard and the assumptions on the way."""
        return self.terms.all(
            [
                guard,
                *(
                    constraint.condition
                    for constraint in self.body.constraints
                    if implies(guard, constraint.guard)
                ),
            ]
        )

    def _known(self, state: UnfoldState, operand: Operand | None) -> Term | None:
        """A number that a state holds."""
        if isinstance(operand, IntConstant):
            return self.terms.const(operand.value, self.space.width(operand.type))
        found = state.registers.get(operand.index) if isinstance(operand, Register) else None
        return found if isinstance(found, Term) and found.width > 1 else None
