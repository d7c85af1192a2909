"""Objects that only the thread that made them knows: accesses to them are not shared yet.

    c = malloc(sizeof *c);  c->fd = fd;  init(c);  push(c);      shared from `push` on

A register is *fresh* at a point if it holds null, or the address of an object made by this thread
whose address is in no memory and with no other thread. An allocation is fresh, and so is a local
variable; it stays so until the address is captured (see `capture`). What a function returns is
fresh if it is fresh at each of its returns: `conn_new()` may allocate and fill in. Parameters are
fresh if all that is passed is: the caller says which.

Why nothing else can reach such an object: to access it a thread needs its address, and the address
is only in registers of the thread, in those that are computed from the fresh one here, or in
parameters that callees do not capture. So an access through it is never part of a race, whatever
the points-to sets say of the object.

A second register may hold the same address: `p` after `if (bad) p = 0; else p = made;`. Such a phi
of null and one allocation outside of loops is a name of that allocation, and whoever captures one
of the names captures it. Where that is not so clear (a select, a phi of two allocations, the same
argument twice), nothing is fresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from raceproof.analysis.backend import Backend
from raceproof.analysis.walk.capture import Captures
from raceproof.analysis.walk.sums import Makers, root_of
from raceproof.concurrency import events as ev
from raceproof.ir import (
    Call,
    Function,
    Instruction,
    NullPointer,
    Phi,
    Register,
    Return,
    Select,
    StackSlot,
    Terminator,
    Value,
)
from raceproof.ir.cfg import ControlFlow

Fresh = frozenset[int]
"""Registers."""
_NONE: Fresh = frozenset()


@dataclass(frozen=True, slots=True)
class AddressFlow:
    """A function, with what is fresh before each instruction that can be reached."""

    before: dict[int, Fresh]
    returns_fresh: bool


class Freshness:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._program = backend.program
        self._captures = Captures(backend)
        self._roots: dict[str, _Roots] = {}
        self._flows: dict[tuple[str, Fresh], AddressFlow] = {}
        self._constructors: set[str] = set()
        self._known_makes: dict[str, bool] = {}
        self._private: dict[int, bool] = {}
        self._find_constructors()

    def before(self, function: str, parameters: Fresh, instruction: int) -> Fresh:
        """What is fresh there, if these parameters are at the function's entry."""
        if not parameters:
            makes = self._known_makes.get(function)
            if makes is None:
                makes = self._known_makes[function] = self._makes(function)
            if not makes:
                return _NONE
        return self._flow(function, parameters).before.get(instruction, _NONE)

    def is_fresh(self, function: str, parameters: Fresh, instruction: int, pointer: Value) -> bool:
        """Does an instruction access a fresh object through this pointer?"""
        fresh = self.before(function, parameters, instruction)
        return bool(fresh) and self._roots_of(function).root(pointer) in fresh

    def is_private(self, slot: StackSlot) -> bool:
        """A local variable whose address never gets anywhere."""
        found = self._private.get(slot.number)
        if found is None:
            assert slot.result is not None
            function = self._program.function_of(slot.number)
            found = not self._captures.escapes(function, slot.result)
            self._private[slot.number] = found
        return found

    def passed(
        self,
        function: str,
        parameters: Fresh,
        call: Call,
        callee: str,
        arguments: tuple[Value, ...],
    ) -> Fresh:
        """The parameters of a callee that are fresh, if it gets these arguments."""
        fresh = self.before(function, parameters, call.number)
        target = self._program.functions.get(callee)
        if not fresh or target is None:
            return _NONE
        names = self._roots_of(function)
        roots = [names.root(value) for value in arguments]
        copied = dict(call.by_value)
        return frozenset(
            parameter.index
            for index, (parameter, root) in enumerate(zip(target.parameters, roots, strict=False))
            if root is not None and root in fresh and roots.count(root) == 1 and index not in copied
        )

    # --- functions that return something fresh ---------------------------------------------------

    def _find_constructors(self) -> None:
        """From below: a function counts only if it is fresh by those that count already, so a
        recursive one never justifies itself."""
        changed = True
        while changed:
            changed = False
            for function in self._program.defined:
                name = function.name
                if name in self._constructors or not self._may_construct(function):
                    continue
                self._flows.pop((name, _NONE), None)
                if self._flow(name, _NONE).returns_fresh:
                    self._constructors.add(name)
                    changed = True
        self._flows.clear()

    def _may_construct(self, function: Function) -> bool:
        return self._makes(function.name) and any(
            isinstance(i, Return) and isinstance(i.value, Register) for i in function.instructions
        )

    def _makes(self, name: str) -> bool:
        """Is there anything in the function that could be fresh?"""
        function = self._program.functions[name]
        return any(isinstance(i, StackSlot) or self._is_new(name, i) for i in function.instructions)

    def _is_new(self, function: str, instruction: Instruction) -> bool:
        if not isinstance(instruction, Call) or instruction.result is None:
            return False
        names = self._backend.callees(function, instruction)
        return bool(names) and all(self._constructs(instruction, name) for name in names)

    def _constructs(self, call: Call, name: str) -> bool:
        event = self._backend.events.of(call, name)
        if event is not None:
            return isinstance(event, ev.Allocate) and event.pointer_to is None
        return name in self._constructors

    # --- one function ------------------------------------------------------------

    def _roots_of(self, function: str) -> _Roots:
        found = self._roots.get(function)
        if found is None:
            found = self._roots[function] = _Roots(self._program.functions[function])
        return found

    def _flow(self, name: str, parameters: Fresh) -> AddressFlow:
        found = self._flows.get((name, parameters))
        if found is None:
            found = self._flows[(name, parameters)] = self._solve(name, parameters)
        return found

    def _solve(self, name: str, parameters: Fresh) -> AddressFlow:
        function = self._program.functions[name]
        roots = self._roots_of(name)
        starts: dict[int, Fresh] = {0: parameters}
        work = [0]
        while work:
            block = heappop(work)
            fresh = starts[block]
            terminator: Terminator | None = None
            for instruction in function.blocks[block].instructions:
                if isinstance(instruction, Terminator):
                    terminator = instruction
                    break
                if not isinstance(instruction, Phi):
                    fresh = self._after(function, roots, instruction, fresh)
            for target in dict.fromkeys(terminator.targets if terminator else ()):
                arriving = self._through_phis(function, roots, block, target, fresh)
                old = starts.get(target)
                new = arriving if old is None else old & arriving
                if new != old:
                    starts[target] = new
                    if target not in work:
                        heappush(work, target)
        return self._noted(function, roots, starts)

    def _noted(self, function: Function, roots: _Roots, starts: dict[int, Fresh]) -> AddressFlow:
        before: dict[int, Fresh] = {}
        returned: list[bool] = []
        for block, fresh in starts.items():
            for instruction in function.blocks[block].instructions:
                if fresh:
                    before[instruction.number] = fresh
                if isinstance(instruction, Return):
                    returned.append(roots.is_fresh(instruction.value, fresh))
                elif not isinstance(instruction, Phi | Terminator):
                    fresh = self._after(function, roots, instruction, fresh)
        return AddressFlow(before, bool(returned) and all(returned))

    def _after(
        self, function: Function, roots: _Roots, instruction: Instruction, fresh: Fresh
    ) -> Fresh:
        """What is fresh after an instruction, which may give addresses away or make an object.

        A `setjmp` returns once more after anything that the function does later: nothing that is
        made before it stays fresh."""
        if isinstance(instruction, Call) and self._returns_twice(function.name, instruction):
            return _NONE
        if fresh and not isinstance(instruction, StackSlot):
            fresh = self._kept(function, roots, instruction, fresh)
        result = instruction.result
        if result is None:
            return fresh
        if result.index in fresh:
            fresh -= {result.index}
        if isinstance(instruction, StackSlot) or self._is_new(function.name, instruction):
            fresh |= {result.index}
        return fresh

    def _returns_twice(self, function: str, call: Call) -> bool:
        events = (
            self._backend.events.of(call, name) for name in self._backend.callees(function, call)
        )
        return any(event is not None and event.model.returns_twice for event in events)

    def _kept(
        self, function: Function, roots: _Roots, instruction: Instruction, fresh: Fresh
    ) -> Fresh:
        lost: set[int] = set()
        for operand in instruction.operands:
            root = roots.root(operand)
            if root is None or root not in fresh or not isinstance(operand, Register):
                continue
            is_choice = isinstance(instruction, Select)
            if is_choice or self._captures.keeps(function, instruction, operand.index):
                lost.add(root)
        return fresh - lost if lost else fresh

    def _through_phis(
        self, function: Function, roots: _Roots, source: int, target: int, fresh: Fresh
    ) -> Fresh:
        """Where ways meet: a phi that is a name of an allocation changes nothing, but where it is
        null and the allocation is still to come; any other one hands addresses on."""
        made: set[int] = set()
        lost: set[int] = set()
        for phi in function.blocks[target].phis:
            assert phi.result is not None
            name = roots.names.get(phi.result.index)
            for origin, value in phi.incoming:
                if origin != source:
                    continue
                root = roots.root(value)
                if name is not None and isinstance(value, NullPointer):
                    if source not in roots.after(name):
                        made.add(name)
                elif name is None and root is not None:
                    lost.add(root)
        return (fresh - lost) | made if lost or made else fresh


class _Roots:
    """Which register the addresses of one function are computed from."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.makers: Makers = {
            i.result.index: i for i in function.instructions if i.result is not None
        }
        self.names: dict[int, int] = {}
        """Phi -> the one allocation that it is, or null."""
        self._graph = ControlFlow(function)
        self._blocks = {
            i.number: block.index for block in function.blocks for i in block.instructions
        }
        self._after: dict[int, set[int]] = {}
        self._find_names()

    def _find_names(self) -> None:
        phis = [i for i in self.function.instructions if isinstance(i, Phi)]
        changed = True
        while changed:
            changed = False
            for phi in phis:
                assert phi.result is not None
                if phi.result.index in self.names:
                    continue
                values = [v for _, v in phi.incoming if not isinstance(v, NullPointer)]
                roots = {self.root(value) for value in values}
                root = next(iter(roots)) if len(roots) == 1 else None
                maker = None if root is None else self.makers.get(root)
                if root is not None and isinstance(maker, Call) and not self._is_in_loop(maker):
                    self.names[phi.result.index] = root
                    changed = True

    def root(self, value: Value) -> int | None:
        found = root_of(self.makers, value)
        return None if found is None else self.names.get(found, found)

    def is_fresh(self, value: Value | None, fresh: Fresh) -> bool:
        """Is a function's result null or fresh? A local variable of its own is neither."""
        if isinstance(value, NullPointer):
            return True
        root = None if value is None else self.root(value)
        return root is not None and root in fresh and isinstance(self.makers.get(root), Call)

    def after(self, root: int) -> set[int]:
        """The blocks that may run after an allocation, its own among them."""
        found = self._after.get(root)
        if found is None:
            work = [self._blocks[self.makers[root].number]]
            found = self._after[root] = set()
            while work:
                block = work.pop()
                if block not in found:
                    found.add(block)
                    work.extend(self._graph.successors[block])
        return found

    def _is_in_loop(self, maker: Instruction) -> bool:
        """May it be executed twice in one call of the function?"""
        assert maker.result is not None
        block = self._blocks[maker.number]
        after = self.after(maker.result.index)
        return any(block in self._graph.successors[other] for other in after)
