"""Which calls get constraints of the callee of their own.

    struct queue *new_queue(void) { ... }       a = new_queue();  push(a, &x);
    void push(struct queue *q, int *item);      b = new_queue();  push(b, &y);

With one set for each register, both queues would be one object and hold both items. So the
constraints of a small function, or of one that makes objects, are generated once for each *frame*:
the function and the latest calls on the way to it, as long as these are calls of such functions.

Why every execution is covered. Each frame of a function has all constraints of its body. A call
enters the frame that stands for it, or the function's frame without calls, which stands for all
ways that have no frame of their own. Each activation of a function belongs to one of its frames, so
by induction over an execution the registers of the activation hold what the frame's nodes hold, and
an object that it allocates is one of that frame. Who asks about a function without saying how it
was called is told about all its frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from raceproof.concurrency import events as ev
from raceproof.concurrency.accesses import Events
from raceproof.ir import (
    Call,
    Function,
    FunctionAddress,
    IntType,
    PointerType,
    Program,
    VoidType,
)

_SMALL = 80
"""Instructions of a function, with those it calls, up to which it is copied."""
_SMALL_MAKER = 300
"""The same for functions that return objects they make."""
_MOST_CALLS = 3
"""On the way to a frame."""
_LEAST_BUDGET = 3000
"""Instructions that may be copied in any program; in a large one as many as it has."""


class Frames:
    def __init__(self, program: Program, events: Events) -> None:
        self._program = program
        self._events = events
        self._callees: dict[str, list[str]] = {}
        self._called: dict[str, int] = {}
        """Function -> direct calls of it."""
        self._is_taken: set[str] = set(program.constructors) | {program.entry}
        """Functions that may be called otherwise."""
        self._makes: set[str] = set()
        for function in program.defined:
            self._look(function)
        self._left = max(_LEAST_BUDGET, program.instruction_count)
        self._copied = self._choose()
        self._frames: dict[str, list[str]] = {}
        """Function -> its frames."""
        self._calls: dict[str, tuple[int, ...]] = {}
        """Frame -> the calls on the way to it, if there are any."""
        self._owners: dict[str, str] = {}
        self._ways: dict[tuple[int, str], dict[str, None]] = {}
        """Call and function -> the frames that it may enter."""
        self._known: dict[tuple[str, tuple[int, ...]], tuple[str, ...]] = {}

    def _look(self, function: Function) -> None:
        callees: list[str] = []
        for instruction in function.instructions:
            operands = instruction.operands
            if isinstance(instruction, Call):
                operands = instruction.arguments
                if isinstance(instruction.callee, FunctionAddress):
                    name = instruction.callee.name
                    event = self._events.of(instruction)
                    if isinstance(event, ev.Allocate | ev.Reallocate):
                        self._makes.add(function.name)
                    if event is None and self._is_defined(name):
                        callees.append(name)
                        self._called[name] = self._called.get(name, 0) + 1
            self._is_taken.update(o.name for o in operands if isinstance(o, FunctionAddress))
        self._callees[function.name] = callees

    def _is_defined(self, name: str) -> bool:
        function = self._program.functions.get(name)
        return function is not None and function.is_defined

    def _choose(self) -> set[str]:
        """Functions to be copied: callees before callers, so that recursive ones are left out."""
        cost: dict[str, int] = {}
        chosen: set[str] = set()
        for name in self._bottom_up():
            function = self._program.functions[name]
            callees = self._callees[name]
            if any(callee not in cost for callee in callees):
                cost[name] = 1 << 30  # Recursive.
                continue
            if any(callee in self._makes for callee in callees):
                self._makes.add(name)
            inside = sum(cost[callee] for callee in callees if callee in chosen)
            cost[name] = len(function.instructions) + inside
            returns = function.type.result
            makes = name in self._makes and isinstance(returns, PointerType)
            most = _SMALL_MAKER if makes else _SMALL
            if cost[name] <= most and self._is_worth_it(function):
                chosen.add(name)
        return chosen

    def _is_worth_it(self, function: Function) -> bool:
        if function.type.variadic or function.by_value:
            return False
        types = [parameter.type for parameter in function.parameters]
        is_told = any(isinstance(type_, PointerType) for type_ in types)
        return is_told or not isinstance(function.type.result, IntType | VoidType)

    def _bottom_up(self) -> Iterable[str]:
        seen: set[str] = set()
        for root in self._callees:
            if root in seen:
                continue
            seen.add(root)
            stack = [(root, iter(self._callees[root]))]
            while stack:
                name, rest = stack[-1]
                following = next((callee for callee in rest if callee not in seen), None)
                if following is None:
                    stack.pop()
                    yield name
                else:
                    seen.add(following)
                    stack.append((following, iter(self._callees[following])))

    # --- frames ------------------------------------------------------------

    def has_own(self, function: Function) -> bool:
        """Is the frame without calls needed from the start?"""
        name = function.name
        return name not in self._copied or name in self._is_taken or not self._called.get(name)

    def entered(self, frame: str, call: Call, function: Function) -> tuple[str, bool]:
        """The frame that a call in a frame enters, and whether it is new."""
        entered, is_new = self._entered_by(frame, call, function)
        self.note(call.number, function.name, entered)
        return entered, is_new

    def note(self, call: int, name: str, frame: str) -> None:
        """The call may enter this frame of the function."""
        self._ways.setdefault((call, name), {})[frame] = None

    def _entered_by(self, frame: str, call: Call, function: Function) -> tuple[str, bool]:
        path = (*self.calls(frame), call.number)
        name = function.name
        if name in self._copied and self._has_room(path, name):
            new = f"{name} {path}"
            if new in self._calls:
                return new, False
            if len(function.instructions) <= self._left:
                self._left -= len(function.instructions)
                self._calls[new] = path
                self._owners[new] = name
                self._frames.setdefault(name, []).append(new)
                return new, True
        return name, self.own(name)

    def own(self, name: str) -> bool:
        """Is the frame without calls new? Now it is known."""
        known = self._frames.setdefault(name, [])
        if name in known:
            return False
        known.append(name)
        return True

    def _has_room(self, path: tuple[int, ...], name: str) -> bool:
        on_the_way = [self._program.function_of(call).name for call in path]
        return len(path) <= _MOST_CALLS and name not in on_the_way

    def calls(self, frame: str) -> tuple[int, ...]:
        """The calls on the way to a frame."""
        return self._calls.get(frame, ())

    def function(self, frame: str) -> str:
        """The name of its function."""
        return self._owners.get(frame, frame)

    def of(self, name: str) -> Sequence[str]:
        """All frames of a function."""
        return self._frames.get(name, ())

    def after(self, name: str, calls: tuple[int, ...]) -> tuple[str, ...]:
        """The frames that a function may be in if these are the latest calls on the way to it.
        To be asked when all frames are known."""
        key = (name, calls)
        found = self._known.get(key)
        if found is None:
            ways = self._ways.get((calls[-1], name)) if calls else None
            frames = tuple(self.of(name) if ways is None else ways)
            agreeing = tuple(frame for frame in frames if _agree(self.calls(frame), calls))
            found = self._known[key] = agreeing or frames
        return found


def _agree(path: tuple[int, ...], calls: tuple[int, ...]) -> bool:
    """May both be the latest calls on one way?"""
    common = min(len(path), len(calls))
    return not common or path[-common:] == calls[-common:]
