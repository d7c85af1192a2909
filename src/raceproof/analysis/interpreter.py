"""Abstract interpretation of one thread.

A function is run block by block until nothing changes. States are kept apart by the round of the
loops they are in (up to a bound, so short loops are unrolled), and by the locks they hold and the
threads that may be running (a few), so that

    if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }
    if (start() == 0) { stop(); } x = 0;      // start returns 0 if it has created a thread

are followed on two ways each. Calls are run in the context of their caller; `recursion` says what
is done about functions that call themselves. C++ exceptions leave a function beside its returns:
what a call throws goes on at the landing pad of its caller, or at the caller's callers.

Soundness: `thread_modular` says why reading what other threads wrote, at each read, is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raceproof.analysis.blocks import Place, block_priority, enter_loops, joined_at, merged
from raceproof.analysis.contexts import Context, Counters
from raceproof.analysis.fixpoint import FixpointSolver, Variants
from raceproof.analysis.flow import Flow
from raceproof.analysis.locks import Symbol
from raceproof.analysis.memoisation import (
    CallEntry,
    CallerQuestion,
    CallMemo,
    CallResult,
    Start,
    Starts,
    add_start,
)
from raceproof.analysis.merging import Entries
from raceproof.analysis.names import Token
from raceproof.analysis.recursion import Exit, Recursion, join_exits
from raceproof.analysis.refine import ask_caller
from raceproof.analysis.state import Content, ThreadState
from raceproof.domains import values as domain
from raceproof.domains.memory import Touched
from raceproof.ir import (
    AfterInvoke,
    Call,
    Function,
    Instruction,
    Phi,
    Register,
    Terminator,
    Value,
)

if TYPE_CHECKING:
    from raceproof.analysis.thread_modular import Analysis
    from raceproof.analysis.threads import ThreadInfo
    from raceproof.domains.values import AbstractValue

VARIANTS = 6
"""So many different sets of locks and running threads are kept apart at a block."""
FEW_VARIANTS = 2
"""The same, in a coarse analysis."""


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
    entry: ThreadState | None = None
    origin: Origin | None = None
    deciding: Instruction | None = None
    """The branch or assumption that tells more about values."""
    raised: list[ThreadState] = field(default_factory=list)
    """What the call that is being run throws."""
    thrown: list[ThreadState] = field(default_factory=list)
    """How exceptions leave the function."""
    answers: dict[CallerQuestion, bool] = field(default_factory=dict)
    """What it asked its callers."""
    heads: set[str] = field(default_factory=set)
    """Those of its own callers that it has called."""
    starts: Starts = field(default_factory=dict)
    """The threads it has created."""
    is_entangled: bool = False
    """Did it look at more than what it was given?"""

    def token(self, register: int) -> Token:
        return Token(self.context.number, register)


Origin = tuple[Activation, Call, dict[int, Content]]
"""Who called, where, with what in its registers."""


class Interpreter:
    """Runs one thread; what it finds goes to the analysis."""

    def __init__(self, analysis: Analysis, thread: int) -> None:
        from raceproof.analysis.calls import Calls
        from raceproof.analysis.counting import Counting
        from raceproof.analysis.edges import Edges
        from raceproof.analysis.evaluate import Evaluator
        from raceproof.analysis.own_arguments import OwnArguments
        from raceproof.analysis.thread_pool_events import ThreadPoolEvents
        from raceproof.analysis.transfer import TRANSFER

        self.analysis = analysis
        self.thread = thread
        self.evaluator = Evaluator(analysis, thread)
        self.calls = Calls(self)
        self.pools = ThreadPoolEvents(self) if analysis.rounds.creates_threads else None
        """None, as the next two, if no loop of the program creates threads."""
        self.counting = Counting(self) if analysis.rounds.creates_threads else None
        self.own = OwnArguments(self) if analysis.rounds.creates_threads else None
        self.stack: list[Activation] = []
        self._edges = Edges(self)
        self._transfer = TRANSFER
        self._variants = FEW_VARIANTS if analysis.is_coarse else VARIANTS
        self._recursion: dict[str, Recursion] = {}
        self._memo = CallMemo()
        self._entries = None if analysis.contexts.depth is None else Entries()
        self.origin: Origin | None = None
        """The call about to be entered."""

    def is_repeated(self, activation: Activation) -> bool:
        """May what is made here be made more than once, or by more than one thread?"""
        info = self.analysis.threads[self.thread]
        return (
            activation.is_capped
            or activation.context.is_capped
            or info.is_repeated
            or not info.is_unique
        )

    def creates(self, info: ThreadInfo, argument: AbstractValue, state: ThreadState) -> None:
        """A thread may start in this state: whoever is running has created it."""
        self.analysis.threads.add_start(info, state, argument)
        start = Start(info, argument, state.memory, state.depends_on_others)
        for activation in self.stack:
            add_start(activation.starts, start)
            activation.is_entangled = activation.is_entangled or self.pools is not None

    # --- functions ------------------------------------------------------------

    def run(
        self,
        function: Function,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: ThreadState,
        context: Context,
        raised: list[ThreadState] | None = None,
    ) -> list[Exit]:
        """The states in which the function may return, with its result; those in which it may
        throw are added to `raised`."""
        self.analysis.entered.add(function.name)
        origin, self.origin = self.origin, None
        if any(a.function is function for a in self.stack):
            return self._run_again(function, arguments, state)
        if self._entries is not None and self.stack:
            met = self._entries.meet(context, arguments, symbols, state)
            arguments, symbols, origin = met.arguments, met.symbols, None
            state = met.start(state)
        entered = CallEntry(arguments, symbols, state, self.calls.varargs.passed(context))
        done = self._memo.find(
            context.number, entered, lambda question: ask_caller(self, function, origin, question)
        )
        if done is None:
            done = self._run_new(function, entered, context, origin)
        else:
            self._create_again(done)
        for head in sorted(done.heads):
            self._entangle(head)
        touched = state.memory.touched
        if touched is not None:
            touched.include(done.touched)
        for left in [*(left for left, _ in done.exits), *done.thrown]:
            left.memory = left.memory.watched(touched)
        if raised is not None:
            raised += done.thrown
        return done.exits

    def _run_new(
        self, function: Function, entered: CallEntry, context: Context, origin: Origin | None
    ) -> CallResult:
        """Runs a function that is not running yet, and remembers what it did."""
        epoch = self._memo.epoch
        unwatched = entered.state.copy()
        unwatched.registers = {}
        unwatched.memory = unwatched.memory.watched(None)
        entered = entered._replace(state=unwatched)
        joined = self._memo.joined(context.number, entered)
        if joined is None:
            done = self._run_entry(function, entered, context, origin)
            if not done.is_entangled:
                self._memo.keep(context.number, entered, done, epoch)
            return done
        if joined.widen(entered):
            known = joined.known(epoch)
            if known is not None:
                done = known.again(entered.state)
                self._create_again(done)
                return done
        done = self._run_entry(function, joined.entered, context, None)
        return joined.keep(done, epoch).again(entered.state)

    def _create_again(self, done: CallResult) -> None:
        """The threads that a call creates start with the memory of this very call."""
        for start in done.starts.values():
            state = ThreadState(start.memory)
            state.depends_on_others = start.depends_on_others
            self.creates(start.thread, start.argument, state)

    def _run_entry(
        self, function: Function, entered: CallEntry, context: Context, origin: Origin | None
    ) -> CallResult:
        """Runs a function; if it calls itself, until that is stable."""
        touched = Touched()
        entry = entered.state.copy()
        entry.memory = entry.memory.watched(touched)
        activation, exits, thrown = self._run_once(
            function, entered.arguments, entered.symbols, entry, context, origin
        )
        heads, answers, starts = activation.heads, activation.answers, activation.starts
        is_entangled = activation.is_entangled
        recursion = self._recursion.get(function.name)
        while recursion is not None and recursion.is_open:
            recursion.is_open = False
            capped = self.analysis.contexts.capped(context)
            again = recursion.entry.copy()
            again.memory = again.memory.watched(touched)
            activation, exits, thrown = self._run_once(
                function, recursion.arguments, {}, again, capped, None
            )
            heads |= activation.heads
            is_entangled = is_entangled or activation.is_entangled
            for start in activation.starts.values():
                add_start(starts, start)
            recursion.add_exits(exits)
            self._memo.epoch += recursion.is_open
        if recursion is not None:
            del self._recursion[function.name]
            self._memo.epoch += 1
            exits = [(recursion.back_in(entered.state, left), value) for left, value in exits]
        return CallResult(touched, exits, thrown, answers, heads, starts, is_entangled)

    def _run_again(
        self, function: Function, arguments: tuple[Content, ...], state: ThreadState
    ) -> list[Exit]:
        """A call of a function that is running already: take what is known of its exits."""
        entered = self._entangle(function.name)
        recursion = self._recursion.get(function.name)
        if recursion is None:
            assert entered.entry is not None
            recursion = Recursion(entered.arguments, entered.entry)
            self._recursion[function.name] = recursion
            self._memo.epoch += 1
        was_open = recursion.is_open
        recursion.is_open = False
        recursion.meet(arguments, state)
        self._memo.epoch += recursion.is_open
        recursion.is_open = recursion.is_open or was_open
        if recursion.exit is None:
            return []
        exit_state, value = recursion.exit
        after = recursion.back_in(state, exit_state)
        after.memory = after.memory.watched(state.memory.touched)
        after.registers = dict(state.registers)
        return [(after, value)]

    def _entangle(self, head: str) -> Activation:
        """Whoever is running above a function depends on it; returns its activation."""
        first = next(i for i, a in enumerate(self.stack) if a.function.name == head)
        self.analysis.recursive.update(a.function.name for a in self.stack[first:])
        for activation in self.stack[first + 1 :]:
            activation.heads.add(head)
        return self.stack[first]

    def _run_once(
        self,
        function: Function,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: ThreadState,
        context: Context,
        origin: Origin | None,
    ) -> tuple[Activation, list[Exit], list[ThreadState]]:
        flow = self.analysis.flows.of(function)
        activation = Activation(function, flow, context, symbols, [], [])
        activation.arguments = arguments
        activation.origin = origin
        self.stack.append(activation)
        try:
            entry = state.copy()
            entry.registers = {}
            activation.entry = entry.copy()
            for parameter, value in zip(function.parameters, arguments, strict=False):
                entry.registers[parameter.index] = value
            for parameter in function.parameters[len(arguments) :]:
                entry.registers[parameter.index] = domain.UNKNOWN
            self._fixpoint(activation, entry)
        finally:
            self.stack.pop()
        thrown: list[Exit] = [(state, None) for state in activation.thrown]
        return (
            activation,
            self._leave(activation, activation.exits),
            [state for state, _ in self._leave(activation, thrown)],
        )

    def _leave(self, activation: Activation, exits: list[Exit]) -> list[Exit]:
        """Slots die, unless an outer activation may own them; exits with the same locks are
        joined."""
        grouped: dict[object, Exit] = {}
        is_recursive = activation.function.name in self.analysis.recursive
        for state, value in exits:
            for slot in () if is_recursive else activation.slots:
                state.memory = state.memory.forget(slot)
            state.registers = {}
            key: object = state.facets.exit_key
            if key not in grouped and len(grouped) >= self._variants:
                key = None
            old = grouped.get(key)
            if old is None:
                grouped[key] = (state, value)
            else:
                grouped[key] = join_exits(old, (state, value))
        return list(grouped.values())

    # --- blocks ------------------------------------------------------------

    def _fixpoint(self, activation: Activation, entry: ThreadState) -> None:
        flow = activation.flow
        solver = FixpointSolver[Place, ThreadState](
            lambda place, node, state: joined_at(flow, place, node, state),
            lambda place: block_priority(flow, place[0], place[1]),
        )
        variants = Variants(self._variants)
        exits: dict[Place, list[Exit]] = {}
        thrown: dict[Place, list[ThreadState]] = {}

        def arrive(block: int, counters: Counters, state: ThreadState) -> None:
            variant = variants.of((block, counters), state.facets.block_key)
            solver.arrive((block, counters, variant), state)

        arrive(0, enter_loops(self.analysis.rounds, flow, 0, -1, ()), entry)
        for place, node in solver.pending():
            block, counters, _ = place
            self._begin(activation, block, counters)
            for target, state in self._block(activation, block, node.state.copy()):
                arrive(
                    target, enter_loops(self.analysis.rounds, flow, target, block, counters), state
                )
            if activation.exits:
                exits[place] = activation.exits
            if activation.thrown:
                thrown[place] = activation.thrown
        activation.thrown = [state for found in thrown.values() for state in found]
        activation.exits = [exit_ for found in exits.values() for exit_ in found]

    def _begin(self, activation: Activation, block: int, counters: Counters) -> None:
        """A block is about to be run in a round of its loops."""
        self.analysis.tick()
        flow = activation.flow
        activation.counters = counters
        activation.is_capped = any(
            count >= self.analysis.rounds.of(flow, head)
            for head, count in zip(flow.nests[block], counters, strict=True)
        )
        activation.exits, activation.thrown, activation.raised = [], [], []

    def _block(
        self, activation: Activation, index: int, state: ThreadState
    ) -> list[tuple[int, ThreadState]]:
        """The edges that can be taken out of a block, with their states."""
        block = activation.function.blocks[index]
        states = [state]
        edges: list[tuple[int, ThreadState]] = []
        transfer = self._transfer
        for instruction in block.instructions:
            if type(instruction) is Phi:
                continue
            if isinstance(instruction, Terminator):
                self._got_to(activation, index, instruction)
                for current in states:
                    known = len(edges) + len(activation.exits) + len(activation.thrown)
                    self._edges.terminate(activation, index, instruction, current, edges)
                    if known == len(edges) + len(activation.exits) + len(activation.thrown):
                        self.analysis.records.stopped.setdefault(instruction.number, "")
                return edges
            handler = transfer[type(instruction)]
            after: list[ThreadState] = []
            for current in states:
                left = handler(self, activation, instruction, current)
                if not left and not activation.raised:
                    self.analysis.records.stopped.setdefault(instruction.number, "")
                after += left
            states = after if len(after) <= 2 * self._variants else merged(after, self._variants)
            if activation.raised:
                is_last = instruction is block.instructions[-2]
                self._unwind(activation, index, is_last, edges)
            if not states:
                self._got_to(activation, index, instruction)
                return edges
        return edges

    def _got_to(self, activation: Activation, block: int, instruction: Instruction) -> None:
        key = (activation.function.name, block)
        reached = self.analysis.records.reached
        if reached.get(key, -1) < instruction.number:
            reached[key] = instruction.number

    def _unwind(
        self,
        activation: Activation,
        index: int,
        is_last: bool,
        edges: list[tuple[int, ThreadState]],
    ) -> None:
        """What the last call threw goes to its landing pad, or out of the function."""
        terminator = activation.function.blocks[index].terminator
        raised, activation.raised = activation.raised, []
        if not is_last or not isinstance(terminator, AfterInvoke):
            activation.thrown += raised
            return
        for state in raised:
            self._edges.take(activation, index, terminator.unwind, state, edges)

    def value(self, activation: Activation, state: ThreadState, value: Value) -> Content:
        if type(value) is Register:
            return state.registers.get(value.index, domain.BOTTOM)
        return self.evaluator.constant(value)

    def assign(
        self, activation: Activation, instruction: Instruction, state: ThreadState, value: Content
    ) -> None:
        assert instruction.result is not None
        index = instruction.result.index
        state.registers[index] = value
        state.assigned(activation.token(index))
