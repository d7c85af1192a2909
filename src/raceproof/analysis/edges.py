"""Leaving a block: which edges can be taken, and in what state each arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.facets import START
from raceproof.analysis.names import RETURNED
from raceproof.analysis.refine import depends_on_others, refine_condition
from raceproof.analysis.symbols import symbol_of
from raceproof.domains import value_refinement
from raceproof.domains import values as domain
from raceproof.ir import (
    AfterInvoke,
    Branch,
    IndirectJump,
    IntType,
    Jump,
    Phi,
    Register,
    Resume,
    Return,
    Switch,
    Terminator,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter
    from raceproof.analysis.state import ThreadState


class Edges:
    """Those of one thread's functions; found edges are added to the list of the caller."""

    def __init__(self, run: Interpreter) -> None:
        self.run = run

    def terminate(
        self,
        activation: Activation,
        source: int,
        terminator: Terminator,
        state: ThreadState,
        edges: list[tuple[int, ThreadState]],
    ) -> None:
        match terminator:
            case Jump(target=target):
                self.take(activation, source, target, state, edges)
            case Branch():
                if self.run.counting is not None and source in activation.flow.counted:
                    self.run.counting.tested(activation, source, state)
                self._branch(
                    activation,
                    source,
                    terminator.condition,
                    terminator.if_true,
                    terminator.if_false,
                    state,
                    edges,
                )
            case Return(value=value):
                result = None if value is None else self.run.value(activation, state, value)
                if state.facets.fresh_objects:
                    self._return_fresh(activation, value, state)
                activation.exits.append((state, result))
            case Switch():
                self._switch(activation, source, terminator, state, edges)
            case IndirectJump(possible=possible):
                for target in dict.fromkeys(possible):
                    self.take(activation, source, target, state.copy(), edges)
            case AfterInvoke(normal=normal):
                self.take(activation, source, normal, state, edges)
            case Resume():
                activation.thrown.append(state)

    def _return_fresh(
        self, activation: Activation, value: Value | None, state: ThreadState
    ) -> None:
        """An object that only this thread knows may become the caller's: `p = my_malloc(8)`."""
        returned = activation.token(RETURNED)
        state.facets = state.facets._replace(
            fresh_objects=frozenset(f for f in state.facets.fresh_objects if f[0] != returned)
        )
        symbol = None if value is None else symbol_of(self.run, activation, value)
        if symbol is not None and not symbol.constant and not symbol.terms:
            state.facets = state.facets._replace(
                fresh_objects=state.facets.fresh_objects
                | (
                    {
                        (returned, base)
                        for token, base in state.facets.fresh_objects
                        if token == symbol.root
                    }
                )
            )

    def _branch(
        self,
        activation: Activation,
        source: int,
        condition: Value,
        if_true: int,
        if_false: int,
        state: ThreadState,
        edges: list[tuple[int, ThreadState]],
        relay: int | None = None,
    ) -> None:
        value = self.run.value(activation, state, condition)
        assert isinstance(value, domain.AbstractValue)
        if value.is_bottom:
            if not self.run.analysis.goes_on:
                return
            value = domain.any_integer(1)
        known = value_refinement.truth(value, 1)
        activation.deciding = activation.function.blocks[source].terminator
        if state.facets.may_parallel and not state.depends_on_others:
            state.depends_on_others = depends_on_others(
                self.run, activation, state, condition, known is None
            )
        if (
            known is None
            and state.facets.must_parallel
            and self.run.analysis.rounds.joins(activation.flow, source)
        ):
            state.facets = state.facets._replace(must_parallel=0)
        if known is not False:
            taken = state.copy() if known is None else state
            if refine_condition(self.run, activation, taken, condition, True):
                self.take(activation, source, if_true, taken, edges, relay)
        if known is not True and refine_condition(self.run, activation, state, condition, False):
            self.take(activation, source, if_false, state, edges, relay)

    def _switch(
        self,
        activation: Activation,
        source: int,
        terminator: Switch,
        state: ThreadState,
        edges: list[tuple[int, ThreadState]],
    ) -> None:
        value = self.run.value(activation, state, terminator.value)
        assert isinstance(value, domain.AbstractValue)
        assert isinstance(terminator.value.type, IntType)
        if state.facets.may_parallel and not state.depends_on_others:
            is_open = value.constant is None
            state.depends_on_others = depends_on_others(
                self.run, activation, state, terminator.value, is_open
            )
        width = terminator.value.type.bits
        if value.is_bottom and self.run.analysis.goes_on:
            value = domain.any_integer(width)
        left = value
        for number, target in terminator.cases:
            constant = domain.constant(number, width)
            if value_refinement.compare("eq", value, constant, width) is False:
                continue
            taken = state.copy()
            if isinstance(terminator.value, Register):
                refined, _ = value_refinement.refine("eq", value, constant, width)
                taken.registers[terminator.value.index] = refined
            self.take(activation, source, target, taken, edges)
            left, _ = value_refinement.refine("ne", left, constant, width)
        if not left.is_bottom:
            if isinstance(terminator.value, Register):
                state.registers[terminator.value.index] = left
            self.take(activation, source, terminator.default, state, edges)

    def take(
        self,
        activation: Activation,
        source: int,
        target: int,
        state: ThreadState,
        edges: list[tuple[int, ThreadState]],
        relay: int | None = None,
    ) -> None:
        """Takes an edge: phis get their values, dead registers are dropped. It may lead through a
        block that only relays: that is the one that phis know."""
        flow = activation.flow
        block = activation.function.blocks[target]
        before = source if relay is None else relay
        if self.run.counting is not None:
            self.run.counting.edge(activation, before, target, state)
        if target in flow.relays:
            phi, branch = block.instructions
            assert isinstance(phi, Phi)
            assert isinstance(branch, Branch)
            value = next((v for origin, v in phi.incoming if origin == before), None)
            assert phi.result is not None
            if value is not None and phi.result.index not in flow.live[branch.if_true]:
                if phi.result.index not in flow.live[branch.if_false]:
                    state.registers[phi.result.index] = self.run.value(activation, state, value)
                    targets = branch.if_true, branch.if_false
                    self._branch(activation, source, value, *targets, state, edges, target)
                    return
        registers = state.registers
        new = {index: registers[index] for index in flow.live[target] if index in registers}
        tokens = []
        for instruction in block.instructions:
            if type(instruction) is not Phi:
                break
            for origin, value in instruction.incoming:
                if origin == before:
                    assert instruction.result is not None
                    new[instruction.result.index] = self.run.value(activation, state, value)
                    tokens.append(instruction.result.index)
                    break
        state.registers = new
        if state.facets is not START:
            for index in tokens:
                state.assigned(activation.token(index))
            if self.run.counting is not None:
                self.run.counting.after_edge(activation, target, state)
        edges.append((target, state))
