"""Abstract interpretation of one thread by one worklist over all functions, without contexts.

`Interpreter` runs a callee at each call, from its first block on. Where functions call each other
in circles, or through pointers to whatever there is, that is circles inside of circles. Here each
function has, in each context, one `FunctionTask`: how it is entered (the join of all its calls),
what is known at its blocks, how it is left. A call joins its state into the task of its callee and
goes on with what is known of the exits so far; whenever those grow, the calling block is looked at
again. One worklist holds the blocks to be looked at, callees first. Everything only grows, and is
widened where it grows in circles: at the heads of loops, where functions are entered, and where
they exit.

    int depth(struct tree *t) { return t ? 1 + max(depth(t->left), depth(t->right)) : 0; }

The task of `depth` is entered with `t` and with its children, and its exit goes 0, 1, ..., any.

*Memory.* A task takes only those objects over from a caller that it or what it calls touches
(`Touched`); if that becomes more, its callers are looked at again. A caller gets those back that
may have been written, whatever they held before: what they hold is joined over all callers. All
else stays as the caller has it. A function that creates threads touches everything, since they do.

*Recursion.* Functions that call themselves share their slots and registers between activations, as
in `recursion`: slots outlive them, and nothing is known by the name of a register.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from raceproof.analysis.blocks import PATIENCE, STEPS, Place, block_priority, enter_loops, joined_at
from raceproof.analysis.contexts import Context, Counters
from raceproof.analysis.fixpoint import FixpointSolver, Node, Variants
from raceproof.analysis.interpreter import Activation, Interpreter
from raceproof.analysis.locks import Symbol
from raceproof.analysis.recursion import Exit, join_exits
from raceproof.analysis.state import Content, ThreadState, join_states
from raceproof.domains import object_lattice
from raceproof.domains import values as domain
from raceproof.domains.memory import EMPTY, Memory, Touched
from raceproof.domains.objects import Contents
from raceproof.domains.values import AbstractValue
from raceproof.ir import Function
from raceproof.ir.cfg import direct_calls
from raceproof.verdict import BaseKind

if TYPE_CHECKING:
    from raceproof.analysis.thread_modular import Analysis
    from raceproof.analysis.threads import ThreadInfo

_ENTRIES = 6
"""So many sets of locks and running threads are kept apart where a function is entered."""
_BUSY = 12
"""A function that is entered in so many ways no longer tells apart what integers objects hold."""


@dataclass(eq=False, slots=True)
class FunctionTask:
    """A function in a context, entered with certain locks held and threads running."""

    function: Function
    activation: Activation
    order: int
    touched: Touched
    told: Touched
    """What its callers know to be touched."""
    is_total: bool = False
    """Does it depend on all of memory?"""
    entry: ThreadState | None = None
    """Its registers are the parameters."""
    meetings: int = 0
    variable: AbstractValue | None = None
    """What stands in its variable arguments."""
    places: dict[Place, None] = field(default_factory=dict)
    """Those that are reached."""
    exits: dict[object, Exit] = field(default_factory=dict)
    thrown: dict[object, Exit] = field(default_factory=dict)
    departures: int = 0
    """How often the exits have grown."""
    changes: dict[int, tuple[int, list[tuple[int, Contents]]]] = field(default_factory=dict)
    """Of each exit, by its identity: the objects that may have been written."""
    callers: dict[tuple[int, Place], _Calling] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Calling:
    """A block that calls a task."""

    task: FunctionTask
    place: Place
    memories: list[Memory] = field(default_factory=list)
    """Those that it called it with, when it was looked at last."""


class _Visit(NamedTuple):
    """A block that is being looked at."""

    task: FunctionTask
    place: Place
    called: set[int]
    """The tasks it has called so far, by their identity."""


_TaskPlace = tuple[FunctionTask, Place]


class WorklistInterpreter(Interpreter):
    """Runs one thread; what it finds goes to the analysis."""

    def __init__(self, analysis: Analysis, thread: int) -> None:
        super().__init__(analysis, thread)
        self._tasks: dict[tuple[int, object], FunctionTask] = {}
        self._entry_variants = Variants(_ENTRIES)
        self._block_variants = Variants(self._variants)
        self._order = analysis.callees_last
        self._solver = FixpointSolver[_TaskPlace, ThreadState](
            lambda key, node, state: joined_at(key[0].activation.flow, key[1], node, state),
            lambda key: (
                -key[0].order,
                block_priority(key[0].activation.flow, key[1][0], key[1][1]),
            ),
        )
        self._slots: dict[int, str] = {}
        """Stack slot -> the function whose it is."""
        self._at: _Visit | None = None

    def creates(self, info: ThreadInfo, argument: AbstractValue, state: ThreadState) -> None:
        self.analysis.threads.add_start(info, state, argument)
        if self._at is not None:
            self._at.task.is_total = True

    def run(
        self,
        function: Function,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: ThreadState,
        context: Context,
        raised: list[ThreadState] | None = None,
    ) -> list[Exit]:
        self.analysis.entered.add(function.name)
        self.origin = None
        at = self._at
        task = self._task(function, context, symbols, state)
        if at is not None:
            self.analysis.call_graph.add(at.task.function.name, function.name)
            if id(task) not in at.called:
                task.callers.pop((id(at.task), at.place), None)
        self._meet(task, arguments, symbols, state)
        self._solve(-1 if at is None else at.task.order)
        if at is not None:
            caller = at.task
            at.called.add(id(task))
            calling = task.callers.setdefault((id(caller), at.place), _Calling(caller, at.place))
            calling.memories.append(state.memory)
            caller.touched.include(task.touched)
            caller.is_total = caller.is_total or task.is_total
        if raised is not None:
            raised += [left for left, _ in self._back(task, task.thrown, state)]
        return self._back(task, task.exits, state)

    # --- entering and leaving ------------------------------------------------------------

    def _task(
        self, function: Function, context: Context, symbols: dict[int, Symbol], state: ThreadState
    ) -> FunctionTask:
        variant = self._entry_variants.of(context.number, state.facets.block_key)
        task = self._tasks.get((context.number, variant))
        if task is None:
            flow = self.analysis.flows.of(function)
            activation = Activation(function, flow, context, dict(symbols), [], [])
            order = self._order.get(function.name, 0)
            task = FunctionTask(function, activation, order, Touched(), Touched())
            self._tasks[(context.number, variant)] = task
        return task

    def _meet(
        self,
        task: FunctionTask,
        arguments: tuple[Content, ...],
        symbols: dict[int, Symbol],
        state: ThreadState,
    ) -> None:
        """The function is entered like this, too."""
        met = state.copy()
        if task.function.name in self.analysis.recursive:
            met.facets = met.facets.recur(is_entry=False)
        met.registers = {
            parameter.index: arguments[place] if place < len(arguments) else domain.UNKNOWN
            for place, parameter in enumerate(task.function.parameters)
        }
        self._meet_beside_memory(task, symbols)
        old = task.entry
        if old is None:
            met.memory = met.memory.watched(task.touched)
            task.entry = met
        else:
            wide = task.meetings > PATIENCE
            memory = _joined(task, old.memory, met.memory, wide)
            met.memory = EMPTY
            bare = old.copy()
            bare.memory = EMPTY
            joined = join_states(bare, met, (0,) if wide else None)
            if joined is bare and memory is old.memory:
                return
            joined = joined.copy()
            joined.memory = memory
            task.entry = joined
        task.meetings += 1
        flow = task.activation.flow
        self._arrive(task, 0, enter_loops(self.analysis.rounds, flow, 0, -1, ()), task.entry.copy())

    def _meet_beside_memory(self, task: FunctionTask, symbols: dict[int, Symbol]) -> None:
        """What blocks look up that is not in their state: if it changes, all are looked at."""
        activation = task.activation
        both = {i: s for i, s in activation.symbols.items() if symbols.get(i) == s}
        variable = self.calls.varargs.passed(activation.context)
        if len(both) < len(activation.symbols) or variable != task.variable:
            activation.symbols, task.variable = both, variable
            for place in task.places:
                self._solver.put((task, place))

    def _back(
        self, task: FunctionTask, exits: dict[object, Exit], state: ThreadState
    ) -> list[Exit]:
        """The exits as this caller sees them."""
        found: list[Exit] = []
        objects = state.memory.objects
        for left, value in exits.values():
            after = left.copy()
            after.memory = state.memory.set_all(
                {
                    base: contents
                    for base, contents in self._changes(task, left)
                    if (held := objects.get(base)) is not contents
                    and (held is not None or not self._is_foreign(base))
                }
            )
            found.append((after, value))
        return found

    def _changes(self, task: FunctionTask, left: ThreadState) -> list[tuple[int, Contents]]:
        written = task.touched.written
        known = task.changes.get(id(left))
        if known is None or known[0] != len(written):
            get = left.memory.objects.get
            changes = [(base, held) for base in sorted(written) if (held := get(base)) is not None]
            known = task.changes[id(left)] = (len(written), changes)
        return known[1]

    def _is_foreign(self, base: int) -> bool:
        """Is it a slot that a caller who has it not cannot get back from a call?"""
        if self.analysis.objects[base].kind is not BaseKind.STACK:
            return False
        return self._slots.get(base) not in self.analysis.recursive

    def _depart(self, task: FunctionTask, table: dict[object, Exit], exits: list[Exit]) -> None:
        """Slots die, unless an outer activation may own them; exits with the same locks are
        joined. Callers who may notice are looked at again."""
        is_recursive = task.function.name in self.analysis.recursive
        for state, value in exits:
            state.registers = {}
            if is_recursive:
                state.facets = state.facets.recur(is_entry=False)
            else:
                for slot in task.activation.slots:
                    state.memory = state.memory.forget(slot)
            key: object = state.facets.exit_key
            if key not in table and len(table) >= self._variants:
                key = None
            old = table.get(key)
            new = (state, value)
            if old is not None:
                new = join_exits(old, new, (0,) if task.departures > STEPS else None)
                if new[0] is old[0] and new[1] is old[1]:
                    continue
                task.changes.pop(id(old[0]), None)
            table[key] = new
            task.departures += 1
            self._tell_callers(task, old, new)

    def _tell_callers(self, task: FunctionTask, old: Exit | None, new: Exit) -> None:
        """Looks again at those callers for whom an exit has grown."""
        grown: list[int] | None = None
        if old is not None and new[1] is old[1] and _is_same_but_memory(old[0], new[0]):
            differences = old[0].memory.differences(new[0].memory)
            grown = [base for base, _, _ in differences if base in task.touched.written]
            if any(not self._is_foreign(base) for base in grown):
                grown = None
        for calling in task.callers.values():
            if grown is None or any(_has_any(memory, grown) for memory in calling.memories):
                self._solver.put((calling.task, calling.place))

    def _tell_touched(self, task: FunctionTask, seen: set[int], is_total: bool) -> None:
        """Has callers bring what is touched now, if they have it otherwise than it was brought."""
        work = [(task, seen)]
        while work:
            task, seen = work.pop()
            assert task.entry is not None
            mine = task.entry.memory.objects.get
            for calling in task.callers.values():
                caller = calling.task
                is_news = is_total and not caller.is_total
                caller.is_total = caller.is_total or is_total
                if is_total or any(
                    (there := memory.objects.get(base)) is not None and there is not mine(base)
                    for memory in calling.memories
                    for base in seen
                ):
                    self._solver.put((caller, calling.place))
                missing = {
                    base
                    for base in seen
                    if base not in caller.touched
                    or (base in task.touched.written and base not in caller.touched.written)
                }
                if missing or is_news:
                    caller.touched |= missing
                    caller.touched.written |= missing & task.touched.written
                    work.append((caller, missing))

    # --- blocks ------------------------------------------------------------

    def _solve(self, order: int) -> None:
        """Looks at blocks until nothing is left to do in functions after this place in the
        order."""
        at = self._at
        for (task, place), node in self._solver.pending(lambda priority: -priority[0] > order):
            self._at = _Visit(task, place, set())
            self._visit(task, place, node)
        self._at = at

    def _arrive(
        self, task: FunctionTask, block: int, counters: Counters, state: ThreadState
    ) -> None:
        variant = self._block_variants.of((task, block, counters), state.facets.block_key)
        place = (block, counters, variant)
        task.places[place] = None
        self._solver.arrive((task, place), state)

    def _visit(self, task: FunctionTask, place: Place, node: Node[ThreadState]) -> None:
        block, counters, _ = place
        activation = task.activation
        flow = activation.flow
        self._begin(activation, block, counters)
        is_total = task.is_total
        for target, state in self._block(activation, block, node.state.copy()):
            self._arrive(
                task,
                target,
                enter_loops(self.analysis.rounds, flow, target, block, counters),
                state,
            )
        self._slots.update(dict.fromkeys(activation.slots, task.function.name))
        self._depart(task, task.exits, activation.exits)
        self._depart(task, task.thrown, [(state, None) for state in activation.thrown])
        news = _news(task.touched, task.told)
        if news or task.is_total != is_total:
            self._tell_touched(task, news, task.is_total)


def _news(touched: Touched, told: Touched) -> set[int]:
    """What is touched and was not, or was not written."""
    if len(touched) == len(told) and len(touched.written) == len(told.written):
        return set()
    news = (touched - told) | (touched.written - told.written)
    told.include(touched)
    return news


def _has_any(memory: Memory, bases: list[int]) -> bool:
    get = memory.objects.get
    return any(get(base) is not None for base in bases)


def _is_same_but_memory(a: ThreadState, b: ThreadState) -> bool:
    bare, other = a.copy(), b.copy()
    bare.memory = other.memory = EMPTY
    return join_states(bare, other) is bare


def _joined(task: FunctionTask, mine: Memory, theirs: Memory, is_wide: bool) -> Memory:
    """The memory that a task is entered with, and that of one more call."""
    if task.is_total:
        return mine.widen(theirs, (0,)) if is_wide else mine.join(theirs)
    changes: dict[int, Contents | None] = {}
    get = theirs.objects.get
    for base in task.touched:
        there = get(base)
        here = mine.objects.get(base)
        if there is None or there is here:
            continue
        if here is None:
            both = there
        elif is_wide:
            both = object_lattice.widen(here, there, (0,))
            if both is not here and task.meetings > _BUSY:
                both = object_lattice.without_integers(both)
        else:
            both = object_lattice.join(here, there)
        if both is not here:
            changes[base] = both
    return Memory(mine.objects.set_all(changes), mine.touched) if changes else mine


class SeenCallGraph:
    """Who calls whom; notes those who call themselves, directly or not."""

    def __init__(self, recursive: set[str]) -> None:
        self._callees: dict[str, set[str]] = {}
        self._callers: dict[str, set[str]] = {}
        self._recursive = recursive

    def add(self, caller: str, callee: str) -> None:
        callees = self._callees.setdefault(caller, set())
        if callee in callees:
            return
        callees.add(callee)
        self._callers.setdefault(callee, set()).add(caller)
        self._recursive |= _reached(self._callees, callee) & _reached(self._callers, caller)


def _reached(edges: dict[str, set[str]], start: str) -> set[str]:
    found = {start}
    work = [start]
    while work:
        for name in edges.get(work.pop(), ()):
            if name not in found:
                found.add(name)
                work.append(name)
    return found


def callees_last(functions: list[Function]) -> dict[str, int]:
    """A place for each function, before those that it calls by name, where there are no circles."""
    callees = {f.name: sorted({name for _, name in direct_calls(f)}) for f in functions}
    found: dict[str, int] = {}
    seen: set[str] = set()
    for root in callees:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(callees[root]))]
        while stack:
            name, rest = stack[-1]
            for callee in rest:
                if callee in callees and callee not in seen:
                    seen.add(callee)
                    stack.append((callee, iter(callees[callee])))
                    break
            else:
                stack.pop()
                found[name] = len(callees) - len(found)
    return found
