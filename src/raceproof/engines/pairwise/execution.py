"""Executes one thread symbolically, once, for any instance, any schedule and any number of rounds.

All ways through a function are followed at once, with guards; calls are entered; loops are cut at
their heads (`loops`).
"""

from __future__ import annotations

from raceproof.analysis.unrolling import LoopOrder
from raceproof.engines.pairwise.calls import PairCalls
from raceproof.engines.pairwise.execution_log import ExecutionLog
from raceproof.engines.pairwise.instructions import Content, PairActivation, PairInstructions
from raceproof.engines.pairwise.locking import Locking
from raceproof.engines.pairwise.loops import Head, Loops
from raceproof.engines.pairwise.memory import PairMemory
from raceproof.engines.pairwise.shared import NotModelled
from raceproof.engines.pairwise.state import PairState, merged
from raceproof.engines.pairwise.values import PairValue, chosen
from raceproof.ir import (
    Block,
    Branch,
    Call,
    Compare,
    Function,
    Jump,
    Phi,
    Register,
    Return,
    Switch,
    Terminator,
    Unreachable,
)
from raceproof.ir.cfg import ControlFlow
from raceproof.smt.terms import Term

_MOST_STEPS = 8000
_DEEPEST = 24
_Edge = tuple[int, PairState]


class Execution:
    def __init__(self, log: ExecutionLog, identity: Term) -> None:
        self.log = log
        self.terms = log.terms
        self.world = log.world
        self.events = self.world.analysis.events
        self.identity = identity
        """Tells this thread from others."""
        self.locking = Locking(log)
        self.memory = PairMemory(log, self.locking)
        self.loops = Loops(log, self.locking)
        self.instructions = PairInstructions(self)
        self.calls = PairCalls(self)
        self._orders: dict[str, LoopOrder] = {}

    def function(
        self,
        function: Function,
        arguments: list[Content],
        state: PairState,
        path: tuple[int, ...],
        functions: tuple[str, ...] = (),
    ) -> tuple[PairState, Content] | None:
        """The state when it returns, and its result; None if it never does."""
        if function.name in functions or len(path) > _DEEPEST:
            raise NotModelled(f"recursion of `{function.display}`")
        self.log.entered.add(function.name)
        outer = self.log.nest
        act = PairActivation(function, path, outer, functions=(*functions, function.name))
        for parameter, value in zip(function.parameters, arguments, strict=False):
            act.registers[parameter.index] = value
        exits = self._blocks(act, state)
        self.log.nest = outer
        if not exits:
            return None
        result: Content = exits[0][1]
        for left, value in exits[1:]:
            if isinstance(value, PairValue) and isinstance(result, PairValue):
                result = chosen(self.terms, left.guard, value, result)
            else:
                result = None
        return merged(self.terms, [left for left, _ in exits]), result

    def _order(self, function: Function) -> LoopOrder:
        order = self._orders.get(function.name)
        if order is None:
            order = self._orders[function.name] = LoopOrder(ControlFlow(function))
            if not order.is_reducible:
                raise NotModelled("a loop with several entries")
        return order

    def _blocks(self, act: PairActivation, state: PairState) -> list[tuple[PairState, Content]]:
        order = self._order(act.function)
        heads = order.flow.loop_heads
        incoming: dict[int, list[_Edge]] = {0: [(-1, state)]}
        begun: dict[int, Head] = {}
        exits: list[tuple[PairState, Content]] = []
        for block in act.function.blocks:
            edges = incoming.pop(block.index, [])
            if not edges:
                continue
            around = order.loops_around(block.index)
            self.log.nest = (*act.nest, *((act.path, head) for head in around))
            here = merged(self.terms, [s for _, s in edges])
            starts = self._phis(act, block.phis, edges)
            if block.index in heads:
                scalars = {i: v for i, v in starts.items() if isinstance(v, PairValue)}
                name = f"{self.log.name} {act.path} {act.function.name}:{block.index}"
                head = begun[block.index] = self.loops.enter(
                    name, here, scalars, self._bounds(act, block, scalars)
                )
                starts = {i: head.heads.get(i) for i in starts}
            act.registers.update(starts)
            for instruction in block.instructions:
                self.log.order += 1
                if self.log.order > _MOST_STEPS:
                    raise NotModelled("too many steps")
                if isinstance(instruction, Phi):
                    continue
                self.log.reached.add(instruction.number)
                if isinstance(instruction, Terminator):
                    for target, left in self._leave(act, instruction, here, exits):
                        if target in begun:
                            self._again(act, begun[target], block.index, target, left)
                        else:
                            incoming.setdefault(target, []).append((block.index, left))
                    break
                if isinstance(instruction, Call):
                    after = self.calls.call(act, instruction, here)
                    if after is None:
                        break
                    here = after
                else:
                    self.instructions.execute(act, instruction, here)
        return exits

    def _bounds(
        self, act: PairActivation, block: Block, phis: dict[int, PairValue]
    ) -> tuple[tuple[int, Term], ...]:
        """What variables of the loop are compared with at its head, if that is set before."""
        found = []
        for instruction in block.instructions:
            if isinstance(instruction, Compare):
                for one, two in (
                    (instruction.left, instruction.right),
                    (instruction.right, instruction.left),
                ):
                    if not isinstance(one, Register) or one.index not in phis:
                        continue
                    if isinstance(two, Register) and two.index not in act.registers:
                        continue
                    bound = self.instructions.content(act, two)
                    variable = phis[one.index].bits
                    if isinstance(bound, PairValue) and bound.bits.width == variable.width > 1:
                        found.append((one.index, bound.bits))
        return tuple(found)

    def _phis(
        self, act: PairActivation, phis: tuple[Phi, ...], edges: list[_Edge]
    ) -> dict[int, Content]:
        found: dict[int, Content] = {}
        for phi in phis:
            assert phi.result is not None
            value: Content = None
            for index, (source, state) in enumerate(edges):
                operand = next(v for origin, v in phi.incoming if origin == source)
                given = self.instructions.content(act, operand)
                if index == 0:
                    value = given
                elif isinstance(value, PairValue) and isinstance(given, PairValue):
                    value = chosen(self.terms, state.guard, given, value)
                else:
                    value = None
            if value is None:
                value = self.instructions.anything(phi.result.type)
            found[phi.result.index] = value
        return found

    def _again(
        self, act: PairActivation, head: Head, source: int, target: int, state: PairState
    ) -> None:
        phis = act.function.blocks[target].phis
        values = self._phis(act, phis, [(source, state)])
        scalars: dict[int, PairValue] = {}
        for index in head.starts:
            value = values[index]
            if not isinstance(value, PairValue):
                raise NotModelled("a loop variable that is not a scalar")
            scalars[index] = value
        self.loops.again(head, state, scalars)

    def _leave(
        self,
        act: PairActivation,
        terminator: Terminator,
        state: PairState,
        exits: list[tuple[PairState, Content]],
    ) -> list[_Edge]:
        terms = self.terms
        edges: list[tuple[int, Term]] = []
        match terminator:
            case Jump(target=target):
                return [(target, state)]
            case Branch():
                condition = self.instructions.scalar(act, terminator.condition).bits
                edges = [
                    (terminator.if_true, condition),
                    (terminator.if_false, terms.not_(condition)),
                ]
            case Switch():
                value = self.instructions.scalar(act, terminator.value).bits
                default = terms.true
                for number, target in terminator.cases:
                    is_case = terms.eq(value, terms.const(number, value.width))
                    edges.append((target, is_case))
                    default = terms.and_(default, terms.not_(is_case))
                edges.append((terminator.default, default))
            case Return(value=result):
                given = None if result is None else self.instructions.content(act, result)
                exits.append((state, given))
                return []
            case Unreachable():
                return []
            case _:
                raise NotModelled(type(terminator).__name__)
        together: dict[int, Term] = {}
        for target, condition in edges:
            together[target] = terms.or_(together.get(target, terms.false), condition)
        return [
            (target, state.copy(guard))
            for target, condition in together.items()
            if (guard := terms.and_(state.guard, condition)) is not terms.false
        ]
