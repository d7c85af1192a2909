"""A program without its data: what is left is calls, synchronisation and the accesses asked about.

The layers above it (lock sets, the threading model) walk over *points*: instructions that matter.
What lies between two points is skipped, every branch may go either way. Only the result of a
`trylock` that is tested at once is followed:

    if (pthread_mutex_trylock(&m) == 0) { ... }    held in the branch, and nowhere else
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from raceproof.analysis.facts import ProgramFacts
from raceproof.concurrency import events as ev
from raceproof.concurrency.effects import Reachable
from raceproof.concurrency.model import CallbackTime, Success, Wait
from raceproof.engines.interleave.objects import ModelObjects, Thing
from raceproof.ir import (
    AfterInvoke,
    Branch,
    Call,
    Cast,
    Compare,
    Freeze,
    Function,
    GlobalAddress,
    Instruction,
    IntConstant,
    Load,
    NullPointer,
    Offset,
    Register,
    Return,
    StackSlot,
    Value,
)

Key = tuple[str, str | int, int]
"""An exact address: a global and an offset, or a slot, named by whoever resolves it."""

_SYNCHRONISING = (
    ev.ThreadCreate,
    ev.ThreadJoin,
    ev.ThreadExit,
    ev.ThreadCancel,
    ev.CancelPoint,
    ev.LockAcquire,
    ev.LockRelease,
    ev.ConditionWait,
    ev.ConditionSignal,
    ev.AtomicBegin,
    ev.AtomicEnd,
)


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """An address as a function sees it: a parameter, slot or global, and an offset."""

    kind: str
    name: str | int
    offset: int


class Skeleton:
    """The points of one program."""

    def __init__(self, facts: ProgramFacts, seconds: float = float("inf")) -> None:
        self.program = program = facts.program
        self.events = facts.events
        self.objects = ModelObjects(facts, seconds)
        self.not_followed: set[str] = set()
        """What the program does beyond this model: nothing that rests on it is a proof."""
        self.assumptions: set[str] = set()
        self._definitions: dict[Register, Instruction] = {}
        self._places: dict[Value, ModelPlace | None] = {}
        self._synchronising: set[int] = set()
        self._calls: dict[int, tuple[Function, ...]] = {}
        for function, instruction in program.all_instructions():
            if instruction.result is not None:
                self._definitions[instruction.result] = instruction
            if isinstance(instruction, Call):
                self._look_at(function, instruction)
            elif isinstance(instruction, AfterInvoke):
                self.not_followed.add("exceptions")
        if not self.objects.is_complete:
            self.not_followed.add("pointers: the time is over")
        self._reaching = self._callers_of_synchronisation()

    def _look_at(self, function: Function, call: Call) -> None:
        entered: list[Function] = []
        names = self.objects.callees(call)
        if not names:
            self.not_followed.add(f"a call through an unknown pointer in {function.display}")
        for name in names:
            event = self.events.of(call, name)
            target = self.program.functions.get(name)
            if target is not None and target.is_defined:
                if event is None or isinstance(event, ev.AtomicFunction):
                    entered.append(target)
                    continue
            if event is None:
                self.assumptions.add(f"{name} has no effect on threads, locks and memory")
                continue
            if event.model.caveat:
                self.not_followed.add(event.model.caveat)
            if event.model.not_followed:
                self.not_followed.add(event.model.not_followed)
            if any(isinstance(effect.size, Reachable) for effect in event.effects):
                self.not_followed.add(f"what {name} does through pointers that it finds")
            if isinstance(event, ev.CleanupPush):
                self.not_followed.add("clean-up handlers")
            if isinstance(event, ev.SpecificCreate) and not isinstance(
                event.destructor, NullPointer | type(None)
            ):
                self.not_followed.add("destructors of thread-specific values")
            if isinstance(event, ev.ThreadCreate):
                entries = self.objects.functions(event.entry)
                are_known = bool(entries) and len(self._defined(entries)) == len(entries)
                if event.virtual_slot is not None or not are_known:
                    self.not_followed.add("threads whose entry is not known")
            if isinstance(event, _SYNCHRONISING):
                self._synchronising.add(call.number)
            routines = [event.routine] if isinstance(event, ev.Once) else []
            for callback in event.callbacks:
                if callback.time is not CallbackTime.NOW or callback.is_indirect:
                    self.not_followed.add(f"functions that {name} has called later")
                routines.append(callback.function)
            for routine in routines:
                entered += self._defined(self.objects.functions(routine))
        if entered:
            self._calls[call.number] = tuple(entered)

    def _defined(self, names: Iterable[str]) -> list[Function]:
        found = [self.program.functions[name] for name in names if name in self.program.functions]
        return [function for function in found if function.is_defined]

    def _callers_of_synchronisation(self) -> set[str]:
        return self.reaching(self._synchronising)

    # --- questions ------------------------------------------------------------

    def event(self, number: int) -> ev.Event | None:
        """What the call at this point means; None if it enters functions of the program."""
        call = self.program.instruction(number)
        if not isinstance(call, Call) or number not in self._synchronising:
            return None
        for name in self.objects.callees(call):
            found = self.events.of(call, name)
            if isinstance(found, _SYNCHRONISING):
                return found
        return None

    def is_unclear(self, number: int) -> bool:
        """Whether a synchronising call may as well be another function."""
        call = self.program.instruction(number)
        return isinstance(call, Call) and len(self.objects.callees(call)) > 1

    def entered(self, number: int) -> tuple[Function, ...]:
        """The functions of the program that the call at this point may enter."""
        return self._calls.get(number, ())

    def may_skip(self, number: int) -> bool:
        """Whether a call may go on without entering any of them."""
        call = self.program.instruction(number)
        if not isinstance(call, Call):
            return True
        entered = {function.name for function in self.entered(number)}
        return not entered.issuperset(self.objects.callees(call))

    def is_atomic_function(self, call: int, name: str) -> bool:
        instruction = self.program.instruction(call)
        assert isinstance(instruction, Call)
        return isinstance(self.events.of(instruction, name), ev.AtomicFunction)

    def entries(self, create: ev.ThreadCreate) -> list[Function]:
        return self._defined(self.objects.functions(create.entry))

    def reaching(self, numbers: Iterable[int]) -> set[str]:
        """The functions that contain one of these instructions, or call one that does."""
        found = {self.program.function_of(number).name for number in numbers}
        callers: dict[str, set[str]] = {}
        for number, targets in self._calls.items():
            caller = self.program.function_of(number).name
            for target in targets:
                callers.setdefault(target.name, set()).add(caller)
        work = list(found)
        while work:
            for caller in callers.get(work.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    work.append(caller)
        return found

    def points(self, accesses: Iterable[int]) -> Points:
        """The points that matter for these accesses."""
        accesses = set(accesses)
        matters = self._reaching | self.reaching(accesses)
        calls = {
            number
            for number, targets in self._calls.items()
            if any(target.name in matters for target in targets)
        }
        return Points(self, accesses | calls | self._synchronising)

    def creates(self) -> list[tuple[int, ev.ThreadCreate]]:
        found = []
        for number in sorted(self._synchronising):
            event = self.event(number)
            if isinstance(event, ev.ThreadCreate):
                found.append((number, event))
        return found

    def place(self, value: Value) -> ModelPlace | None:
        """The address that a value always is, if that can be told."""
        if value not in self._places:
            self._places[value] = self._place(value)
        return self._places[value]

    def _place(self, value: Value) -> ModelPlace | None:
        if isinstance(value, GlobalAddress):
            variable = self.program.globals.get(value.name)
            if variable is not None and variable.is_thread_local:
                return None
            return ModelPlace("global", value.name, value.offset)
        if not isinstance(value, Register):
            return None
        definition = self._definitions.get(value)
        match definition:
            case None:
                return ModelPlace("parameter", value.index, 0)
            case StackSlot():
                return ModelPlace("slot", definition.number, 0)
            case Offset(base=base, constant=constant, terms=()):
                found = self.place(base)
                if found is None:
                    return None
                return ModelPlace(found.kind, found.name, found.offset + constant)
            case Freeze(value=inner) | Cast(operation="bitcast", value=inner):
                return self.place(inner)
        return None

    def handle(self, value: Value, is_indirect: bool) -> ModelPlace | None:
        """Where the thread id that a value is was loaded from."""
        if is_indirect:
            return self.place(value)
        definition = self._definitions.get(value) if isinstance(value, Register) else None
        return self.place(definition.pointer) if isinstance(definition, Load) else None

    def doubtful_handles(self) -> set[Thing]:
        """Objects that something else than the creation of a thread at a clear place writes."""
        found: set[Thing] = set()
        for _, instruction in self.program.all_instructions():
            event = self.event(instruction.number) if isinstance(instruction, Call) else None
            if isinstance(event, ev.ThreadCreate):
                pointer = event.id_pointer
                if pointer is not None and self.place(pointer) is None:
                    found.update(self.objects.of(pointer))
                continue
            for effect in self.events.effects(instruction):
                if effect.is_write:
                    found.update(self.objects.of(effect.pointer))
        return found

    def after_trial(self, number: int) -> tuple[list[int], list[int]] | None:
        """Blocks that follow a tried operation when it succeeds and when it fails."""
        call = self.program.instruction(number)
        event = self.event(number)
        success = getattr(event, "success", Success.ALWAYS)
        if call.result is None or success is Success.ALWAYS:
            return None
        function = self.program.function_of(number)
        block = next(b for b in function.blocks if call in b.instructions)
        last = block.terminator
        between = block.instructions[block.instructions.index(call) + 1 :]
        if not isinstance(last, Branch):
            return None
        if any(isinstance(i, Call) or self.events.effects(i) for i in between):
            return None  # points that must not be skipped
        when_true = self._tested(last.condition, call.result)
        if when_true is None:
            return None
        nonzero, zero = (last.if_true, last.if_false)
        if not when_true:
            nonzero, zero = zero, nonzero
        return ([zero], [nonzero]) if success is Success.ZERO else ([nonzero], [zero])

    def _tested(self, condition: Value, result: Register) -> bool | None:
        """Whether `condition` says that `result` is not zero or (False) is zero; None: neither."""
        if condition is result:
            return True
        definition = self._definitions.get(condition) if isinstance(condition, Register) else None
        match definition:
            case Compare(predicate="eq" | "ne" as predicate, left=left, right=IntConstant(value=0)):
                inner = self._tested(left, result)
                return None if inner is None else inner == (predicate == "ne")
            case Cast(operation="zext" | "sext", value=value) | Freeze(value=value):
                return self._tested(value, result)
        return None


class Points:
    """The points of a question, and what comes after each."""

    def __init__(self, skeleton: Skeleton, numbers: set[int]) -> None:
        self.skeleton = skeleton
        self._numbers = numbers
        self._after: dict[tuple[str, int, int], tuple[int, ...]] = {}

    def first(self, function: Function) -> tuple[int, ...]:
        return self._from(function, 0, 0)

    def after(self, number: int, blocks: list[int] | None = None) -> tuple[int, ...]:
        """The next points after a point, by way of these blocks if given; a return is a point."""
        function = self.skeleton.program.function_of(number)
        if blocks is not None:
            found = [self._from(function, block, 0) for block in blocks]
            return tuple(sorted({point for points in found for point in points}))
        offset = number - function.first_number
        for block in function.blocks:
            if offset < len(block.instructions):
                return self._from(function, block.index, offset + 1)
            offset -= len(block.instructions)
        return ()

    def _from(self, function: Function, block: int, index: int) -> tuple[int, ...]:
        key = (function.name, block, index)
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = self._search(function, block, index)
        return found

    def _search(self, function: Function, block: int, index: int) -> tuple[int, ...]:
        found: set[int] = set()
        seen: set[int] = set()
        work = [(block, index)]
        while work:
            block, index = work.pop()
            instructions = function.blocks[block].instructions
            for instruction in instructions[index:]:
                if instruction.number in self._numbers or isinstance(instruction, Return):
                    found.add(instruction.number)
                    break
            else:
                for successor in function.blocks[block].terminator.targets:
                    if successor not in seen:
                        seen.add(successor)
                        work.append((successor, 0))
        return tuple(sorted(found))


def is_trial(event: ev.Event) -> bool:
    """Whether an operation may come back without having done it."""
    return getattr(event, "wait", Wait.BLOCK) is not Wait.BLOCK
