"""Which objects a pointer may point to, coarsely: for the lock set and abstract layers.

Inclusion-based, for the whole program at once, without regard to order, context and offsets: one
set of objects for each register, and one for the contents of each object. Every way in which a step
can move an address is covered by a rule that moves at least as much, so each set holds whatever the
register or object holds in any execution; what comes from outside the program is `EXTERNAL`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from raceproof.concurrency import Events
from raceproof.concurrency import events as ev
from raceproof.ir import (
    AggregateConstant,
    Assembly,
    AtomicUpdate,
    Call,
    CompareExchange,
    ConstantExpression,
    CopyMemory,
    Function,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Load,
    NextArgument,
    Program,
    Register,
    Return,
    StackSlot,
    Store,
    Value,
)

Thing = tuple[str, str | int]
"""An object: a global, a function, a stack slot or a heap object by its instruction."""

EXTERNAL: Thing = ("external", "")
_SPECIFIC: Thing = ("specific", "")
_NONE: frozenset[Thing] = frozenset()


class Pointers:
    """The solution; `is_late` ends the work early, then `is_complete` is False."""

    def __init__(
        self, program: Program, events: Events, is_late: Callable[[], bool] = lambda: False
    ) -> None:
        self._program = program
        self._events = events
        self._registers: dict[Register, set[Thing]] = {}
        self._contents: dict[Thing, set[Thing]] = {EXTERNAL: {EXTERNAL}}
        self._returns: dict[str, set[Thing]] = {}
        self._is_changed = True
        self.handed_over: set[Thing] = set()
        """What new threads are given."""
        self.is_complete = False
        self._start()
        while self._is_changed:
            if is_late():
                return
            self._is_changed = False
            for function in program.defined:
                for instruction in function.instructions:
                    self._apply(function, instruction)
        self.is_complete = True

    # --- questions ------------------------------------------------------------

    def of(self, value: Value) -> Iterable[Thing]:
        """The objects that a value may point to."""
        if isinstance(value, Register):
            return self._registers.get(value, _NONE)
        return _constant(value)

    def functions(self, value: Value) -> list[str]:
        """The functions that a value may be, by name."""
        return sorted(str(name) for kind, name in self.of(value) if kind == "function")

    def callees(self, call: Call) -> list[str]:
        if isinstance(call.callee, FunctionAddress):
            return [call.callee.name]
        return self.functions(call.callee)

    def shareable(self) -> set[Thing]:
        """The objects that more than one thread may get hold of."""
        work: list[Thing] = [("global", name) for name in self._program.globals]
        work += [EXTERNAL, _SPECIFIC, *self.handed_over]
        found: set[Thing] = set()
        while work:
            thing = work.pop()
            if thing not in found:
                found.add(thing)
                work.extend(self._contents.get(thing, ()))
        return found

    def taken(self) -> set[Thing]:
        """The objects whose address is kept in memory, or was given to a thread."""
        return set(self.handed_over).union(*self._contents.values())

    # --- constraints ------------------------------------------------------------

    def _start(self) -> None:
        for variable in self._program.globals.values():
            if variable.initializer is None:
                self._fill(("global", variable.name), {EXTERNAL})
            else:
                self._fill(("global", variable.name), _constant(variable.initializer))
        for parameter in self._program.functions[self._program.entry].parameters:
            self._give(parameter, {EXTERNAL})

    def _give(self, register: Register | None, things: Iterable[Thing]) -> None:
        if register is None or not things:
            return
        known = self._registers.setdefault(register, set())
        before = len(known)
        known.update(things)
        self._is_changed |= len(known) != before

    def _fill(self, target: Thing, things: Iterable[Thing]) -> None:
        if not things:
            return
        known = self._contents.setdefault(target, set())
        before = len(known)
        known.update(things)
        self._is_changed |= len(known) != before

    def _inside(self, value: Value) -> set[Thing]:
        found: set[Thing] = set()
        for thing in self.of(value):
            found |= self._contents.get(thing, _NONE)
        return found

    def _store(self, pointer: Value, things: Iterable[Thing]) -> None:
        for thing in list(self.of(pointer)):
            self._fill(thing, things)

    def _apply(self, function: Function, instruction: Instruction) -> None:
        match instruction:
            case StackSlot():
                self._give(instruction.result, {("slot", instruction.number)})
            case Load(pointer=pointer):
                self._give(instruction.result, self._inside(pointer))
            case Store(value=value, pointer=pointer):
                self._store(pointer, self.of(value))
            case AtomicUpdate(pointer=pointer, value=value):
                self._store(pointer, self.of(value))
                self._give(instruction.result, self._inside(pointer))
            case CompareExchange(pointer=pointer, replacement=value):
                self._store(pointer, self.of(value))
                self._give(instruction.result, self._inside(pointer))
            case CopyMemory(target=target, source=source):
                self._store(target, self._inside(source))
            case NextArgument() | Assembly():
                self._give(instruction.result, self._contents[EXTERNAL])
            case Return(value=value):
                if value is not None:
                    known = self._returns.setdefault(function.name, set())
                    before = len(known)
                    known.update(self.of(value))
                    self._is_changed |= len(known) != before
            case Call():
                for name in self.callees(instruction):
                    self._call(instruction, name)
            case _:
                if instruction.result is not None:
                    for operand in instruction.operands:
                        self._give(instruction.result, self.of(operand))

    def _call(self, call: Call, name: str) -> None:
        function = self._program.functions.get(name)
        event = self._events.of(call, name)
        if function is not None and function.is_defined:
            if event is None or isinstance(event, ev.AtomicFunction):
                self._enter(function, [self.of(argument) for argument in call.arguments])
                self._give(call.result, self._returns.get(name, _NONE))
                return
        match event:
            case ev.ThreadCreate(entry=entry, argument=argument):
                given = set() if argument is None else set(self.of(argument))
                self.handed_over |= given
                for target in self.functions(entry):
                    self._run(target, given)
            case ev.ThreadJoin(result_pointer=pointer):
                if pointer is not None:
                    self._store(pointer, self._all_returned())
            case (
                ev.Once(routine=routine, argument=argument)
                | ev.CleanupPush(routine=routine, argument=argument)
            ):
                given = set() if argument is None else set(self.of(argument))
                for target in self.functions(routine):
                    self._run(target, given)
            case ev.SpecificSet(value=value):
                self._fill(_SPECIFIC, self.of(value))
            case ev.SpecificGet():
                self._give(call.result, self._contents.get(_SPECIFIC, _NONE))
            case ev.Allocate(pointer_to=pointer):
                if pointer is not None:
                    self._store(pointer, {("heap", call.number)})
                self._give(call.result, {("heap", call.number)})
            case None | ev.LibraryCall() | ev.Reallocate() | ev.AtomicOperation():
                self._unknown(call, event)

    def _unknown(self, call: Call, event: ev.Event | None) -> None:
        """May return, and store through its arguments, whatever it is given or can reach."""
        reached: set[Thing] = {("heap", call.number)}
        for argument in call.arguments:
            reached |= set(self.of(argument))
            reached |= self._inside(argument)
        if event is None or not isinstance(event, ev.Reallocate):
            reached.add(EXTERNAL)
        for argument in call.arguments:
            self._store(argument, reached)
        self._fill(("heap", call.number), reached)
        self._give(call.result, reached)
        for callback in () if event is None else event.callbacks:
            for target in self.functions(callback.function):
                self._run(target, reached)

    def _enter(self, function: Function, arguments: list[Iterable[Thing]]) -> None:
        for parameter, given in zip(function.parameters, arguments, strict=False):
            self._give(parameter, given)
        for given in arguments[len(function.parameters) :]:
            self._fill(EXTERNAL, given)

    def _run(self, name: str, given: set[Thing]) -> None:
        """A call by someone else, with these objects."""
        function = self._program.functions.get(name)
        if function is not None and function.is_defined:
            self._enter(function, [given for _ in function.parameters])

    def _all_returned(self) -> set[Thing]:
        found: set[Thing] = set()
        for things in self._returns.values():
            found |= things
        return found


def _constant(value: Value) -> frozenset[Thing]:
    """The objects whose addresses a constant holds."""
    match value:
        case GlobalAddress(name=name):
            return frozenset({("global", name)})
        case FunctionAddress(name=name):
            return frozenset({("function", name)})
        case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
            return _NONE.union(*[_constant(part) for part in parts])
    return _NONE
