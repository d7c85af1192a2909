"""A function as the walk sees it: what matters in each block, and which blocks are surely reached.

Most functions neither lock nor create nor join, and neither do those they call: they are *calm*,
every point inside is the point at their entry. Of the others only the instructions with events,
calls and definitions that a point may speak of are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raceproof.analysis.backend import Backend
from raceproof.analysis.facets import EVENT_HOOKS
from raceproof.concurrency import events as ev
from raceproof.ir import AfterInvoke, Call, Function, FunctionAddress, Instruction, Return
from raceproof.ir.cfg import ControlFlow

_STIRRING = (
    ev.ThreadCreate,
    ev.ThreadJoin,
    ev.ThreadExit,
    ev.LockAcquire,
    ev.LockRelease,
    ev.ConditionWait,
    ev.BarrierWait,
    ev.SemaphoreWait,
    ev.Once,
    ev.AtomicBegin,
    ev.AtomicEnd,
    ev.AtomicFunction,
    ev.OnceBegin,
    ev.OnceEnd,
    ev.OnceAbort,
    *EVENT_HOOKS,
)
"""Events that change the point."""
_WAITING = (
    ev.ThreadJoin,
    ev.ThreadExit,
    ev.ProcessExit,
    ev.ConditionWait,
    ev.BarrierWait,
    ev.SemaphoreWait,
    ev.Once,
    ev.OnceBegin,
    ev.Assume,
)
"""Events after which it is unknown whether the thread goes on."""


@dataclass(eq=False)
class WalkLayout:
    function: Function
    graph: ControlFlow
    makers: dict[int, Instruction]
    """Register -> the instruction that defines it."""
    sure_blocks: frozenset[int]
    stops: tuple[tuple[Instruction, ...], ...]
    """For each block the instructions that may change a point without registers in it."""


class Layouts:
    """The layouts of a program, and which functions are calm, releasing or certain to return."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.program = backend.program
        self._layouts: dict[str, WalkLayout] = {}
        self.called: dict[str, tuple[str, ...]] = {}
        """Function -> the program's own functions that it may call or have called."""
        stirring: set[str] = set()
        releasing: set[str] = set()
        doubtful: set[str] = set()
        for function in self.program.defined:
            called: dict[str, None] = {}
            for call in function.instructions:
                if not isinstance(call, Call):
                    continue
                if call.no_return:
                    doubtful.add(function.name)
                for name in backend.callees(function.name, call):
                    event = backend.events.of(call, name)
                    if event is None or isinstance(event, ev.AtomicFunction):
                        called[name] = None
                    if event is None:
                        continue
                    twice = event.model.returns_twice
                    if isinstance(event, _STIRRING) or twice:
                        stirring.add(function.name)
                    if isinstance(event, _WAITING) or event.no_return:
                        doubtful.add(function.name)
                    if isinstance(event, ev.LockRelease):
                        releasing.add(function.name)
                for name in backend.entries(function.name, call):
                    if not self._is_creation(function.name, call):
                        called[name] = None
            if ControlFlow(function).loop_heads:
                doubtful.add(function.name)
            self.called[function.name] = tuple(name for name in called if self._is_defined(name))
        callers: dict[str, list[str]] = {}
        for name, called_names in self.called.items():
            for callee in called_names:
                callers.setdefault(callee, []).append(name)
        self.stirring = _closure(stirring, callers)
        """Not calm."""
        self.releasing = _closure(releasing, callers)
        self.doubtful = _closure(doubtful, callers)
        """Functions that may not return, as far as we know."""
        self.rank = _post_order(self.called)
        """Callees before callers, as far as recursion lets them."""
        self.endless = self._endless()
        """Functions that never return."""

    def _endless(self) -> set[str]:
        """All functions, less those with a way to a return past calls that return."""
        left = {f.name: f for f in self.program.defined if f.name in self.doubtful}
        changed = True
        while changed:
            changed = False
            for name, function in list(left.items()):
                if self._returns(function, left):
                    del left[name]
                    changed = True
        return set(left)

    def _returns(self, function: Function, endless: Mapping[str, object]) -> bool:
        seen = {0}
        work = [0]
        while work:
            block = function.blocks[work.pop()]
            if any(self._ends(function.name, call, endless) for call in block.instructions):
                if not isinstance(block.terminator, AfterInvoke):
                    continue
            if isinstance(block.terminator, Return):
                return True
            for target in block.terminator.targets:
                if target not in seen:
                    seen.add(target)
                    work.append(target)
        return False

    def _ends(self, function: str, call: Instruction, endless: Mapping[str, object]) -> bool:
        """Does nothing come after it?"""
        if not isinstance(call, Call):
            return False
        if call.no_return:
            return True
        names = self.backend.callees(function, call)
        events = [self.backend.events.of(call, name) for name in names]
        return bool(names) and all(
            name in endless
            or isinstance(event, ev.ProcessExit | ev.ThreadExit)
            or (event is not None and event.no_return)
            for name, event in zip(names, events, strict=True)
        )

    def _is_defined(self, name: str) -> bool:
        function = self.program.functions.get(name)
        return function is not None and function.is_defined

    def _is_creation(self, function: str, call: Call) -> bool:
        return any(
            isinstance(self.backend.events.of(call, name), ev.ThreadCreate)
            for name in self.backend.callees(function, call)
        )

    def of(self, name: str) -> WalkLayout:
        found = self._layouts.get(name)
        if found is None:
            function = self.program.functions[name]
            graph = ControlFlow(function)
            makers = {i.result.index: i for i in function.instructions if i.result is not None}
            doubtful = {
                block.index
                for block in function.blocks
                if any(self._is_doubtful(name, i) for i in block.instructions)
            }
            sure = _sure_blocks(graph, doubtful)
            stops = tuple(
                tuple(i for i in block.instructions if self._matters(name, i))
                for block in function.blocks
            )
            found = self._layouts[name] = WalkLayout(function, graph, makers, sure, stops)
        return found

    def _matters(self, function: str, call: Instruction) -> bool:
        """May it do more than define a register?"""
        if not isinstance(call, Call):
            return False
        if call.no_return or self._is_doubtful(function, call):
            return True
        for name in self.backend.callees(function, call):
            event = self.backend.events.of(call, name)
            if name in self.stirring or name in self.endless:
                return True
            if event is not None and (
                event.no_return
                or event.model.returns_twice
                or isinstance(event, (*_STIRRING, ev.Allocate))
            ):
                return True
        entries = self.backend.entries(function, call)
        return any(name in self.stirring or name in self.doubtful for name in entries)

    def _is_doubtful(self, function: str, call: Instruction) -> bool:
        """May the thread not go on after this?"""
        if not isinstance(call, Call):
            return False
        names = self.backend.callees(function, call)
        events = [self.backend.events.of(call, name) for name in names]
        return (
            call.no_return
            or any(e is not None and (e.no_return or isinstance(e, _WAITING)) for e in events)
            or any(name in self.doubtful for name in names)
        )

    def is_plain_call(self, function: str, call: Call) -> bool:
        """Does the call just do what a model says, without keeping or handing on pointers?"""
        if not isinstance(call.callee, FunctionAddress):
            return False
        event = self.backend.events.of(call)
        if event is None or event.stores or event.copies or event.callbacks:
            return False
        return event.model.role is None or isinstance(
            event, ev.Free | ev.LockInit | ev.ConditionInit | ev.SemaphoreInit | ev.LockAttribute
        )


def _post_order(called: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    rank: dict[str, int] = {}
    seen: set[str] = set()
    for root in called:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(called[root]))]
        while stack:
            name, rest = stack[-1]
            following = next((callee for callee in rest if callee not in seen), None)
            if following is None:
                rank[name] = len(rank)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(called.get(following, ()))))
    return rank


def _closure(names: set[str], callers: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    work = list(names)
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work.extend(callers.get(name, ()))
    return found


def _sure_blocks(graph: ControlFlow, doubtful: set[int]) -> frozenset[int]:
    """Blocks that every run of the function comes to: no edge leads past them, no loop, no end and
    no block that may not go on stands before them."""
    count = len(graph.successors)
    farthest = 0
    loop_ends = count
    sure = []
    for block in range(count):
        if farthest <= block and loop_ends >= block:
            sure.append(block)
        elif block in doubtful:
            break
        targets = graph.successors[block]
        if not targets:
            break
        farthest = max(farthest, *targets)
        if any(target <= block for target in targets):
            loop_ends = min(loop_ends, block)
    return frozenset(sure)
