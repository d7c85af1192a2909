"""Unfolds one thread: loops unrolled, calls inlined, paths merged.

The copies of a function's blocks are visited in the order of `loops`; ways that meet are merged, so
each copy is walked once. A loop whose exit is decided by constants runs as long as it runs; one
that depends on data runs `unwind` times and then leaves a `Cut` behind. A loop iteration that only
waits (see `waiting`) is not repeated.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from raceproof.engines.bounded.accesses import Accesses, PathEnds
from raceproof.engines.bounded.events import Input, ThreadBody
from raceproof.engines.bounded.loops import CopyName, LoopOrder
from raceproof.engines.bounded.objects import TooBig
from raceproof.engines.bounded.sharing import UNKNOWN
from raceproof.engines.bounded.state import State, Value, choose, merge, relative
from raceproof.engines.bounded.terms import Term
from raceproof.engines.bounded.waiting import Waiting, forgets, waited
from raceproof.ir import (
    AfterInvoke,
    AggregateConstant,
    ArrayType,
    Branch,
    BytesConstant,
    Constant,
    Function,
    IndirectJump,
    Jump,
    Phi,
    Register,
    Return,
    StructType,
    Switch,
    Terminator,
    Type,
    Undefined,
    VectorType,
    ZeroConstant,
)
from raceproof.ir import Value as Operand

if TYPE_CHECKING:
    from raceproof.engines.bounded.unfold import Unfolder

_KEPT = {Waiting.LET_GO: 1, Waiting.FORGOT: 2}
"""Fruitless iterations that are unrolled before one that goes on."""
_FEW = 8
"""Iterations that a loop bounded by constants may always have."""
_Arrival = tuple[State, int]
"""A state and the block it comes from."""


class _LoopRun:
    """One loop instance while it is unrolled."""

    __slots__ = (
        "can_wait",
        "cleanups",
        "events",
        "guard",
        "has_worked",
        "is_decided",
        "is_symbolic",
        "memory",
        "phis",
        "section",
        "symbolic",
        "version",
    )

    def __init__(self, state: State) -> None:
        self.symbolic = 0
        """Iterations whose end depended on data, or on nothing."""
        self.is_decided = False
        """Some way out was open or closed for sure."""
        self.is_symbolic = False
        """Some way out depended on data."""
        self.phis: dict[int, Value] = {}
        self.events = 0
        self.remember(state)
        self.has_worked = False
        """Some way through the loop did more than wait."""
        self.can_wait = True
        """Whether what a later iteration depends on is known: not if control is irreducible."""

    def remember(self, state: State) -> None:
        """The state at the beginning of an iteration."""
        self.guard = state.guard
        self.version = state.version
        self.section = state.section
        self.cleanups = state.cleanups
        self.memory = state.snapshot()


class Walker(Accesses):
    """Walks the code of one thread; instructions and calls are done by its subclass."""

    def __init__(self, unfolder: Unfolder, body: ThreadBody) -> None:
        super().__init__(unfolder, body)
        self.depth: dict[str, int] = {}

    def execute(self, instruction: object) -> None:
        raise NotImplementedError

    # --- values ------------------------------------------------------------

    def value(self, operand: Operand) -> Value:
        if isinstance(operand, Register):
            found = self.state.registers.get(operand.index)
            return found if found is not None else self.undefined(operand.type)
        assert isinstance(operand, Constant)
        return self.constant(operand, operand.type)

    def term(self, operand: Operand) -> Term:
        value = self.value(operand)
        return value if isinstance(value, Term) else self.terms.const(0, 8)

    def constant(self, constant: Constant, type_: Type) -> Value:
        match constant:
            case Undefined():
                return self.undefined(type_)
            case ZeroConstant():
                return self.zero(type_)
            case AggregateConstant(elements=elements):
                return tuple(self.constant(element, element.type) for element in elements)
            case BytesConstant(data=data):
                return tuple(self.terms.const(byte, 8) for byte in data)
        if self.unfolder.is_thread_local(constant):
            return self.unfolder.thread_local_address(constant, self.thread)
        return self.space.constant(constant)

    def _members(self, type_: Type) -> list[Type] | None:
        if isinstance(type_, StructType):
            return list(type_.fields)
        if isinstance(type_, ArrayType | VectorType):
            return [type_.element] * type_.count
        return None

    def zero(self, type_: Type) -> Value:
        members = self._members(type_)
        if members is not None:
            return tuple(self.zero(member) for member in members)
        return self.terms.const(0, self.space.width(type_))

    def undefined(self, type_: Type) -> Value:
        members = self._members(type_)
        if members is not None:
            return tuple(self.undefined(member) for member in members)
        return self.fresh_input("undefined", max(self.space.width(type_), 1))

    def fresh_input(self, what: str, width: int) -> Term:
        variable = self.terms.var(self.name(what), width)
        if width == self.space.pointer_width:
            self.sharing.define(variable, frozenset([UNKNOWN]))
        self.body.inputs.append(
            Input(
                len(self.body.events),
                self.state.guard,
                self.instruction.number if self.instruction else -1,
                variable,
            )
        )
        return variable

    def unknown(self, what: str, width: int) -> Term:
        """A result that we don't compute exactly."""
        self.unfolder.result.is_exact = False
        self.unfolder.assume_once(f"{what} is taken to give any result")
        variable = self.terms.var(self.name("any"), width)
        if width == self.space.pointer_width:
            self.sharing.define(variable, frozenset([UNKNOWN]))
        return variable

    def set_result(self, value: Value | None) -> None:
        assert self.instruction is not None
        result = self.instruction.result
        if result is not None:
            if value is None:
                value = self.undefined(result.type)
            self.state.set_register(result.index, value)

    # --- functions ------------------------------------------------------------

    def call(self, function: Function, arguments: list[Value]) -> Value | None:
        """Runs a function of the program; ends the path if it doesn't return."""
        depth = self.depth.get(function.name, 0)
        if depth > self.unfolder.limits.recursion:
            self.cut(f"the recursion of {function.display}")
            raise PathEnds
        self.depth[function.name] = depth + 1
        label, instruction, calls, names = self.label, self.instruction, self.calls, self.names
        if instruction is not None:
            self.calls = (*calls, instruction.number)
        registers = self.state.enter()
        for parameter, argument in zip(function.parameters, arguments, strict=False):
            self.state.set_register(parameter.index, argument)
        try:
            number = instruction.number if instruction is not None else ""
            result = self._run(function, f"{label}@{number}/")
        finally:
            self.depth[function.name] = depth
            self.label, self.instruction, self.calls, self.names = label, instruction, calls, names
        self.state.leave(registers)
        return result

    def _run(self, function: Function, prefix: str) -> Value | None:
        order = self.unfolder.order_of(function)
        first = order.first()
        queue: list[CopyName] = [first]
        arrivals: dict[CopyName, list[_Arrival]] = {first: [(self.state, -1)]}
        loops: dict[CopyName, _LoopRun] = {}
        returned: list[tuple[State, Value | None]] = []
        while queue:
            name = heapq.heappop(queue)
            incoming = [a for a in arrivals.pop(name) if a[0].guard is not self.terms.false]
            if not incoming:
                continue
            self.label = f"{prefix}{'.'.join(map(str, name))}"
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

    def _join(self, returned: list[tuple[State, Value | None]]) -> Value | None:
        result = returned[0][1]
        state = returned[0][0]
        for other, value in returned[1:]:
            if result is not None and value is not None:
                result = choose(self.terms, relative(state.guard, other.guard), result, value)
            state = self.merge([state, other])
        self.state = state
        return result

    def merge(self, states: list[State]) -> State:
        if len(states) > 1 and any(s.is_threaded for s in states):
            for state in states:
                if not state.is_threaded:
                    self.unfolder.publish(state)
        if any(s.section != states[0].section for s in states):
            self.cut_at(states, "an atomic section on one of two ways that meet")
        if any(s.cleanups != states[0].cleanups for s in states):
            self.cut_at(states, "a clean-up handler on one of two ways that meet")
        return merge(states, self.space.all)

    def cut_at(self, states: list[State], reason: str) -> None:
        current = self.state
        for state in states:
            self.state = state
            self.cut(reason)
        self.state = current

    def _enter_block(
        self,
        function: Function,
        name: CopyName,
        incoming: list[_Arrival],
        order: LoopOrder,
        loops: dict[CopyName, _LoopRun],
    ) -> None:
        phis = function.blocks[name[-1]].phis
        values: list[dict[int, Value]] = []
        for state, source in incoming:
            self.state = state
            row = {}
            for phi in phis:
                assert phi.result is not None
                operand = next((v for b, v in phi.incoming if b == source), None)
                self.instruction = phi
                self.names = 0
                row[phi.result.index] = (
                    self.value(operand) if operand is not None else self.undefined(phi.result.type)
                )
            values.append(row)
        self.state = self.merge([state for state, _ in incoming])
        guard = incoming[0][0].guard
        result = values[0]
        for (state, _), row in zip(incoming[1:], values[1:], strict=True):
            condition = relative(guard, state.guard)
            result = {i: choose(self.terms, condition, v, row[i]) for i, v in result.items()}
            guard = self.terms.or_(guard, state.guard)
        for index, value in result.items():
            self.state.set_register(index, value)
        block = name[-1]
        if block in order.loops_around(block) or (order.loops_around(block) and block == 0):
            instance = LoopOrder.instance(name, block)
            run = loops.get(instance)
            if run is None:
                run = loops[instance] = _LoopRun(self.state)
            run.is_decided = run.is_symbolic = False
            run.phis = result
            run.remember(self.state)
            run.can_wait = order.is_reducible
            run.events = len(self.body.events)

    def _walk_block(
        self, function: Function, block: int, returned: list[tuple[State, Value | None]]
    ) -> list[tuple[int, Term]]:
        """The ways on, with their conditions."""
        limits = self.unfolder.limits
        for instruction in function.blocks[block].instructions:
            if isinstance(instruction, Phi):
                continue
            self.instruction = instruction
            self.names = 0
            self.unfolder.size += 1
            if self.unfolder.size > limits.size:
                raise TooBig
            if not self.unfolder.size & 0xFF:
                self.unfolder.check_time()
            if not isinstance(instruction, Terminator):
                self.execute(instruction)
                continue
            if isinstance(instruction, Return):
                value = None if instruction.value is None else self.value(instruction.value)
                returned.append((self.state, value))
                return []
            return self._ways(instruction)
        return []

    def _ways(self, terminator: Terminator) -> list[tuple[int, Term]]:
        terms = self.terms
        match terminator:
            case Jump(target=target):
                return [(target, terms.true)]
            case Branch():
                condition = self.term(terminator.condition)
                if terminator.if_true == terminator.if_false:
                    return [(terminator.if_true, terms.true)]
                return [
                    (terminator.if_true, condition),
                    (terminator.if_false, terms.not_(condition)),
                ]
            case Switch():
                value = self.term(terminator.value)
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
                address = self.term(terminator.address)
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
        loops: dict[CopyName, _LoopRun],
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
        guard = self.terms.and_(self.state.guard, condition)
        if guard is self.terms.false:
            return
        copy, repeated = order.follow(name, target)
        state = self.state if is_only else self.state.copy(guard)
        if repeated is not None and not self._may_repeat(name, repeated, state, loops):
            return
        if copy not in arrivals:
            arrivals[copy] = []
            heapq.heappush(queue, copy)
        arrivals[copy].append((state, block))

    def _may_repeat(
        self, name: CopyName, head: int, state: State, loops: dict[CopyName, _LoopRun]
    ) -> bool:
        run = loops.get(LoopOrder.instance(name, head))
        if run is None:
            return True
        limits = self.unfolder.limits
        position = LoopOrder.instance(name, head)
        iteration = name[len(position)]
        waited = self._waited(name, head, state, run)
        if waited is Waiting.NOTHING_CHANGED:
            return False
        if waited is not Waiting.NO and not run.has_worked:
            return iteration < _KEPT[waited]
        run.has_worked = True
        has_events = len(self.body.events) > run.events
        limit = limits.concrete_iterations if has_events else limits.silent_iterations
        most_events = limits.events
        if run.is_symbolic or not run.is_decided:
            run.symbolic += 1
            assert self.instruction is not None
            function = self.unfolder.program.function_of(self.instruction.number)
            if not run.is_decided or not self._counts(function, name, head, run):
                if run.symbolic >= self.unfolder.unwind_of(function, head, name[-1]):
                    self.cut("a loop unwound as often as allowed")
                    return False
            most_events //= 2
        if iteration >= self.unfolder.patience:
            self.unfolder.was_impatient = True
            return False
        if has_events and iteration >= _FEW and len(self.body.events) > most_events:
            limit = 0
        if iteration >= limit:
            self.cut("a loop of very many iterations")
            return False
        return True

    def _counts(self, function: Function, name: CopyName, head: int, run: _LoopRun) -> bool:
        """Whether the loop has a counter whose value is known."""
        for phi in function.blocks[head].phis:
            assert phi.result is not None
            before = run.phis.get(phi.result.index)
            operand = next((v for b, v in phi.incoming if b == name[-1]), None)
            now = None if operand is None else self.value(operand)
            if isinstance(before, Term) and isinstance(now, Term) and now is not before:
                if before.is_constant and now.is_constant:
                    return True
        return False

    def _waited(self, name: CopyName, head: int, state: State, run: _LoopRun) -> Waiting:
        """Whether the iteration did no more than wait for other threads."""
        if not run.can_wait or state.section != run.section or state.cleanups != run.cleanups:
            return Waiting.NO
        changed = self._changed(name, head, state, run)
        if changed is None:
            return Waiting.NO
        is_patient = not self.unfolder.has_trials and not self.unfolder.limits.anyone_unlocks
        events = self.body.events[run.events :]
        result = waited(self.terms, state.guard, events, is_patient)
        if not changed or result is Waiting.NO:
            return result
        if result is Waiting.LET_GO:
            return Waiting.NO
        if name[len(LoopOrder.instance(name, head))] == 0:
            is_forgetful = not any(now.is_constant for _, now in changed)
        else:
            is_forgetful = forgets(changed, run.guard, state.guard, events)
        return Waiting.FORGOT if is_forgetful else Waiting.NO

    def _changed(
        self, name: CopyName, head: int, state: State, run: _LoopRun
    ) -> list[tuple[Term, Term]] | None:
        """What the thread itself remembers differently after an iteration, before and now; None
        if that is hard to tell."""
        changed: list[tuple[Term, Term]] = []
        assert self.instruction is not None
        function = self.unfolder.program.function_of(self.instruction.number)
        for phi in function.blocks[head].phis:
            assert phi.result is not None
            operand = next((v for b, v in phi.incoming if b == name[-1]), None)
            before = run.phis.get(phi.result.index)
            now = None if operand is None else self.value(operand)
            if now is not before:
                if not (isinstance(now, Term) and isinstance(before, Term)):
                    return None
                changed.append((before, now))
        if state.version == run.version:
            return changed
        for number in run.memory.keys() | state.memory.keys():
            old, new = run.memory.get(number), state.memory.get(number)
            if old is new:
                continue
            if old is None or new is None or old.keys() != new.keys():
                return None
            changed += ((old[o], new[o]) for o in old if old[o] is not new[o])
        return changed
