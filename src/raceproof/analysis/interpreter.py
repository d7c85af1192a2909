"""Abstract interpretation of one thread.

A function is run block by block until nothing changes. States are kept apart by the round of the
loops they are in (up to a bound, so short loops are unrolled), and by the locks they hold (a few),
so that

    if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }

is followed on two ways. Calls are run in the context of their caller; recursion is cut at the
second activation of a function and iterated until its summary is stable.

Soundness: `thread_modular` says why reading what other threads wrote, at each read, is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from raceproof.analysis.contexts import Context, Counters
from raceproof.analysis.flow import Flow
from raceproof.analysis.refine import depends_on_others, refine_condition
from raceproof.analysis.state import Content, State, Symbol, Token, join_states
from raceproof.domains import value_refinement
from raceproof.domains import values as domain
from raceproof.ir import (
    AfterInvoke,
    Branch,
    Function,
    IndirectJump,
    Instruction,
    IntType,
    Jump,
    Phi,
    Register,
    Return,
    Switch,
    Terminator,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.thread_modular import Analysis

VARIANTS = 4
"""So many different lock sets are kept apart at a block."""
PATIENCE = 3
"""Rounds of a loop before values are widened."""

Exit = tuple[State, Content | None]


class OutOfBudget(Exception):
    """The analysis takes too long; a cheaper one must do."""


@dataclass(eq=False, slots=True)
class Activation:
    """A running function."""

    function: Function
    flow: Flow
    context: Context
    symbols: dict[int, Symbol]
    """Parameters whose value the caller knows symbolically."""
    slots: list[int]
    """Bases of its stack slots."""
    exits: list[Exit]
    counters: Counters = ()
    is_capped: bool = False
    """Are we in a round that stands for many?"""
    arguments: tuple[Content, ...] = ()
    variadic: Content = domain.BOTTOM

    def token(self, register: int) -> Token:
        return Token(self.context.number, register)


@dataclass(eq=False, slots=True)
class _Node:
    state: State
    visits: int = 0
    queued: bool = True


class Interpreter:
    """Runs one thread; what it finds goes to the analysis."""

    def __init__(self, analysis: Analysis, thread: int) -> None:
        from raceproof.analysis.calls import Calls
        from raceproof.analysis.evaluate import Evaluator
        from raceproof.analysis.transfer import TRANSFER

        self.analysis = analysis
        self.thread = thread
        self.evaluator = Evaluator(analysis, thread)
        self.calls = Calls(self)
        self.stack: list[Activation] = []
        self._transfer = TRANSFER
        self._recursion: dict[str, _Recursion] = {}

    # --- functions ------------------------------------------------------------

    def run(
        self,
        function: Function,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: State,
        context: Context,
    ) -> list[Exit]:
        """The states in which the function may return, with its result."""
        if any(a.function is function for a in self.stack):
            return self._run_again(function, arguments, state)
        exits = self._run_once(function, arguments, symbols, state, context)
        recursion = self._recursion.get(function.name)
        while recursion is not None and recursion.is_open:
            recursion.is_open = False
            exits = self._run_once(function, recursion.arguments, {}, recursion.entry, context)
            recursion.add_exits(exits)
        if recursion is not None:
            del self._recursion[function.name]
        return exits

    def _run_again(
        self, function: Function, arguments: tuple[Content, ...], state: State
    ) -> list[Exit]:
        """A call of a function that is running already: take what is known of its exits."""
        recursion = self._recursion.get(function.name)
        if recursion is None:
            first = next(a for a in self.stack if a.function is function)
            recursion = _Recursion(arguments, state)
            recursion.meet(first.arguments, state)
            self._recursion[function.name] = recursion
        recursion.meet(arguments, state)
        if recursion.exit is None:
            return []
        exit_state, value = recursion.exit
        after = exit_state.copy()
        after.registers = dict(state.registers)
        return [(after, value)]

    def _run_once(
        self,
        function: Function,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: State,
        context: Context,
    ) -> list[Exit]:
        flow = self.analysis.flows.of(function)
        activation = Activation(function, flow, context, symbols, [], [])
        activation.arguments = arguments
        self.stack.append(activation)
        try:
            entry = state.copy()
            entry.registers = {}
            for parameter, value in zip(function.parameters, arguments, strict=False):
                entry.registers[parameter.index] = value
            for parameter in function.parameters[len(arguments) :]:
                entry.registers[parameter.index] = domain.UNKNOWN
            self._fixpoint(activation, entry)
        finally:
            self.stack.pop()
        return self._leave(activation)

    def _leave(self, activation: Activation) -> list[Exit]:
        """Slots die; exits with the same locks are joined."""
        grouped: dict[object, Exit] = {}
        for state, value in activation.exits:
            for slot in activation.slots:
                state.memory = state.memory.forget(slot)
            state.registers = {}
            key: object = (state.held, state.symbolic)
            if key not in grouped and len(grouped) >= VARIANTS:
                key = None
            old = grouped.get(key)
            if old is None:
                grouped[key] = (state, value)
            else:
                grouped[key] = _join_exits(old, (state, value))
        return list(grouped.values())

    # --- blocks ------------------------------------------------------------

    def _fixpoint(self, activation: Activation, entry: State) -> None:
        flow = activation.flow
        nodes: dict[tuple[int, Counters, object], _Node] = {}
        variants: dict[tuple[int, Counters], set[object]] = {}
        exits: dict[tuple[int, Counters, object], list[Exit]] = {}
        queue: list[tuple[tuple[int, ...], int, int, Counters, object]] = []
        order = 0

        def arrive(block: int, counters: Counters, state: State) -> None:
            nonlocal order
            known = variants.setdefault((block, counters), set())
            variant: object = state.held
            if variant not in known:
                if len(known) >= VARIANTS:
                    variant = None
                known.add(variant)
            key = (block, counters, variant)
            node = nodes.get(key)
            if node is None:
                node = nodes[key] = _Node(state)
            else:
                widen = node.visits > PATIENCE and block in flow.graph.loop_heads
                thresholds = self.analysis.thresholds if widen else None
                joined = join_states(node.state, state, thresholds)
                if joined is node.state:
                    return
                node.state = joined
                if node.queued:
                    return
                node.queued = True
            order += 1
            heappush(queue, (_priority(flow, block, counters), order, block, counters, variant))

        arrive(0, self._enter_loops(flow, 0, -1, ()), entry)
        while queue:
            _, _, block, counters, variant = heappop(queue)
            node = nodes[(block, counters, variant)]
            if not node.queued:
                continue
            node.queued = False
            node.visits += 1
            self.analysis.tick()
            activation.counters = counters
            activation.is_capped = any(
                count >= self.analysis.rounds.of(flow, head)
                for head, count in zip(flow.nests[block], counters, strict=True)
            )
            activation.exits = []
            for target, state in self._block(activation, block, node.state.copy()):
                arrive(target, self._enter_loops(flow, target, block, counters), state)
            if activation.exits:
                exits[(block, counters, variant)] = activation.exits
        activation.exits = [exit_ for found in exits.values() for exit_ in found]

    def _enter_loops(self, flow: Flow, block: int, source: int, counters: Counters) -> Counters:
        """The rounds at a block, coming from another."""
        nest = flow.nests[block]
        if not nest:
            return ()
        old = flow.nests[source] if source >= 0 else ()
        rounds = []
        for depth, head in enumerate(nest):
            if depth < len(old) and old[depth] == head:
                count = counters[depth]
                if head == block and source in flow.loops[head].blocks:
                    count = min(count + 1, self.analysis.rounds.of(flow, head))
                    rounds.append(count)
                    break
                rounds.append(count)
            else:
                rounds.append(0)
                counters = ()
                old = ()
        rounds.extend([0] * (len(nest) - len(rounds)))
        return tuple(rounds)

    def _block(self, activation: Activation, index: int, state: State) -> list[tuple[int, State]]:
        """The edges that can be taken out of a block, with their states."""
        block = activation.function.blocks[index]
        states = [state]
        transfer = self._transfer
        for instruction in block.instructions:
            if type(instruction) is Phi:
                continue
            if isinstance(instruction, Terminator):
                edges: list[tuple[int, State]] = []
                for current in states:
                    self._terminate(activation, index, instruction, current, edges)
                return edges
            handler = transfer[type(instruction)]
            after: list[State] = []
            for current in states:
                after += handler(self, activation, instruction, current)
            states = after
            if not states:
                return []
        return []

    def value(self, activation: Activation, state: State, value: Value) -> Content:
        if type(value) is Register:
            return state.registers.get(value.index, domain.BOTTOM)
        return self.evaluator.constant(value)

    def assign(
        self, activation: Activation, instruction: Instruction, state: State, value: Content
    ) -> None:
        assert instruction.result is not None
        index = instruction.result.index
        state.registers[index] = value
        if state.symbolic or state.fresh:
            state.forget_token(activation.token(index))

    # --- leaving a block ------------------------------------------------------------

    def _terminate(
        self,
        activation: Activation,
        source: int,
        terminator: Terminator,
        state: State,
        edges: list[tuple[int, State]],
    ) -> None:
        match terminator:
            case Jump(target=target):
                self._edge(activation, source, target, state, edges)
            case Branch():
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
                result = None if value is None else self.value(activation, state, value)
                activation.exits.append((state, result))
            case Switch():
                self._switch(activation, source, terminator, state, edges)
            case IndirectJump(possible=possible):
                for target in dict.fromkeys(possible):
                    self._edge(activation, source, target, state.copy(), edges)
            case AfterInvoke(normal=normal, unwind=unwind):
                self._edge(activation, source, normal, state.copy(), edges)
                self._edge(activation, source, unwind, state, edges)

    def _branch(
        self,
        activation: Activation,
        source: int,
        condition: Value,
        if_true: int,
        if_false: int,
        state: State,
        edges: list[tuple[int, State]],
    ) -> None:
        value = self.value(activation, state, condition)
        assert isinstance(value, domain.AbstractValue)
        if value.is_bottom:
            return
        known = value_refinement.truth(value, 1)
        if state.running and not state.guided:
            state.guided = depends_on_others(self, activation, state, condition)
        if known is not False:
            taken = state.copy() if known is None else state
            if refine_condition(self, activation, taken, condition, True):
                self._edge(activation, source, if_true, taken, edges)
        if known is not True and refine_condition(self, activation, state, condition, False):
            self._edge(activation, source, if_false, state, edges)

    def _switch(
        self,
        activation: Activation,
        source: int,
        terminator: Switch,
        state: State,
        edges: list[tuple[int, State]],
    ) -> None:
        value = self.value(activation, state, terminator.value)
        assert isinstance(value, domain.AbstractValue)
        assert isinstance(terminator.value.type, IntType)
        if state.running and not state.guided:
            state.guided = depends_on_others(self, activation, state, terminator.value)
        width = terminator.value.type.bits
        left = value
        for number, target in terminator.cases:
            constant = domain.constant(number, width)
            if value_refinement.compare("eq", value, constant, width) is False:
                continue
            taken = state.copy()
            if isinstance(terminator.value, Register):
                refined, _ = value_refinement.refine("eq", value, constant, width)
                taken.registers[terminator.value.index] = refined
            self._edge(activation, source, target, taken, edges)
            left, _ = value_refinement.refine("ne", left, constant, width)
        if not left.is_bottom:
            if isinstance(terminator.value, Register):
                state.registers[terminator.value.index] = left
            self._edge(activation, source, terminator.default, state, edges)

    def _edge(
        self,
        activation: Activation,
        source: int,
        target: int,
        state: State,
        edges: list[tuple[int, State]],
    ) -> None:
        """Takes an edge: phis get their values, dead registers are dropped."""
        flow = activation.flow
        block = activation.function.blocks[target]
        if target in flow.relays:
            phi, branch = block.instructions
            assert isinstance(phi, Phi)
            assert isinstance(branch, Branch)
            value = next((v for origin, v in phi.incoming if origin == source), None)
            assert phi.result is not None
            if value is not None and phi.result.index not in flow.live[branch.if_true]:
                if phi.result.index not in flow.live[branch.if_false]:
                    self._branch(
                        activation, source, value, branch.if_true, branch.if_false, state, edges
                    )
                    return
        registers = state.registers
        new = {index: registers[index] for index in flow.live[target] if index in registers}
        tokens = []
        for instruction in block.instructions:
            if type(instruction) is not Phi:
                break
            for origin, value in instruction.incoming:
                if origin == source:
                    assert instruction.result is not None
                    new[instruction.result.index] = self.value(activation, state, value)
                    tokens.append(instruction.result.index)
                    break
        state.registers = new
        if state.symbolic or state.fresh:
            for index in tokens:
                state.forget_token(activation.token(index))
        edges.append((target, state))


class _Recursion:
    """What is known of a recursive function: how it is entered, how it exits."""

    def __init__(self, arguments: tuple[Content, ...], entry: State) -> None:
        self.arguments = arguments
        self.entry = entry.copy()
        self.exit: Exit | None = None
        self.is_open = True
        self.meetings = 0

    def meet(self, arguments: tuple[Content, ...], state: State) -> None:
        """The function is also entered like this."""
        from raceproof.analysis.state import join_contents

        self.meetings += 1
        before, old = self.entry, self.arguments
        bare = state.copy()
        bare.registers = {-1 - i: value for i, value in enumerate(arguments)}
        mine = before.copy()
        mine.registers = {-1 - i: value for i, value in enumerate(old)}
        joined = join_states(mine, bare, (0,) if self.meetings > 3 else None)
        if joined is mine:
            return
        self.entry = joined
        count = min(len(old), len(arguments))
        self.arguments = tuple(
            joined.registers.get(-1 - i, join_contents(old[i], arguments[i])) for i in range(count)
        )
        self.is_open = True

    def add_exits(self, exits: list[Exit]) -> None:
        for found in exits:
            copy = (found[0].copy(), found[1])
            if self.exit is None:
                self.exit = copy
                self.is_open = True
                continue
            joined = _join_exits(self.exit, copy, (0,) if self.meetings > 3 else None)
            if joined[0] is not self.exit[0] or joined[1] is not self.exit[1]:
                self.exit = joined
                self.is_open = True
        self.meetings += 1


def _join_exits(a: Exit, b: Exit, thresholds: tuple[int, ...] | None = None) -> Exit:
    from raceproof.analysis.state import join_contents

    state = join_states(a[0], b[0], thresholds)
    if a[1] is None or b[1] is None:
        return state, a[1] if b[1] is None else b[1]
    if thresholds is not None and isinstance(a[1], domain.AbstractValue):
        if isinstance(b[1], domain.AbstractValue):
            return state, domain.widen(a[1], b[1], thresholds)
    return state, join_contents(a[1], b[1])


def _priority(flow: Flow, block: int, counters: Counters) -> tuple[int, ...]:
    """Rounds of a loop one after the other, inside a round in reverse post-order."""
    found: list[int] = []
    for head, count in zip(flow.nests[block], counters, strict=False):
        found += (head, count)
    found.append(block)
    return tuple(found)
