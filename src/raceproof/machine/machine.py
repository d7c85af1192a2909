"""The concrete machine: a whole program with its threads, run one visible step at a time.

A *visible step* is an access to memory that another thread may reach, or an operation of the
library in which threads meet. Between two visible steps a thread runs without interruption. The
caller picks who goes next:

    machine = Machine(program, models)
    machine.reset(GivenInputs())
    while machine.enabled():
        machine.step(choose(machine.enabled()))

While a single thread is alive, and inside an atomic section, there is nothing to choose; then a
step goes on by itself.
"""

from __future__ import annotations

from typing import Any

from raceproof.concurrency import Models
from raceproof.concurrency.model import FunctionModel, ReturnKind, Returns
from raceproof.ir import Call, Function, Program, Type
from raceproof.ir.names import is_of_library
from raceproof.machine.compiler import FunctionCompiler, Surroundings
from raceproof.machine.control import COMPUTED_ERROR
from raceproof.machine.effects import accessed_ranges
from raceproof.machine.entry import calls_entry, entry_arguments
from raceproof.machine.environment import Environment
from raceproof.machine.escape import EscapeAnalysis
from raceproof.machine.faults import (
    Aborted,
    ChoiceNeeded,
    Ended,
    UndefinedBehaviour,
    Unsupported,
)
from raceproof.machine.indeterminate import INDETERMINATE
from raceproof.machine.inputs import GivenInputs, Inputs, Invention
from raceproof.machine.jumps import jump_back
from raceproof.machine.library import Library
from raceproof.machine.memory import Memory, MemoryObject
from raceproof.machine.runner import Runner
from raceproof.machine.segments import AccessRange, CompiledFunction
from raceproof.machine.splitting import InputSites
from raceproof.machine.static_data import StaticData
from raceproof.machine.thread import ConcreteThread, Frame, Pending, Status
from raceproof.machine.unknown import UNKNOWN, Unknown
from raceproof.options import MutexRules
from raceproof.verdict import BaseKind

_CODE = 0x8000
"""Where functions lie: sixteen bytes each, in pages that hold no data."""

_LIBRARY_OBJECT = 256
"""What we know of an object that the library hands out; it may be longer."""
_ERRNO = "raceproof_errno"
"""The variable behind `errno` in a program that looks at it."""
_FEW = 4
"""An input with at most so many values is split into its cases by an open machine."""


class Machine:
    """One program, ready to be executed any number of times.

    `is_open`: inputs are unknown values instead of numbers, see `unknown`.
    """

    def __init__(
        self,
        program: Program,
        models: Models | None = None,
        *,
        is_open: bool = False,
        mutex_rules: MutexRules = MutexRules.POSIX,
        wakes_spuriously: bool = True,
    ) -> None:
        self.program = program
        self.is_open = is_open
        self.mutex_rules = mutex_rules
        self.wakes_spuriously = wakes_spuriously
        self.memory = Memory(program.layout.pointer_size)
        if not is_open:
            self.memory.reveal = self.reveal
        self.threads: list[ConcreteThread] = []
        self.sync: dict[Any, Any] = {}
        """State of locks, conditions and the like: immutable values by key."""
        self.alive = 0
        self.ghosts = 0
        """With `keeps_ghosts`, finished threads that no thread has joined: the last thread alive
        still stops at its visible steps, since it may race with what they did last."""
        self.keeps_ghosts = False
        self.fences: list[tuple[int, str]] | None = None
        """Thread and order of the fences that were passed, if that is wanted."""
        self.left_out: set[str] = set()
        """What the machine did not do though the program asked for it: no proof may rest on it."""
        self.granted: set[str] = set()
        """What this execution rests on besides the program: caveats of models."""
        self.output = bytearray()
        self.assumptions: set[str] = set()
        self.input_sites = InputSites()
        """On an open machine; kept from one execution to the next."""
        self.recorded: list[int] = []
        """The inputs given so far."""
        self.inventions: list[Invention] = []
        """Those among them that no environment gives: see `confirming`."""
        self.withholds_inventions = False
        """Whether to give no value for them: the execution goes on as long as it needs none."""
        self.choice: int | None = None
        self.ended: Ended | None = None
        self.has_met_undefined = False
        """Whether any execution so far ended at something undefined."""
        self.current: ConcreteThread
        self._inputs: Inputs = GivenInputs()
        self._asking: int | None = None
        """The instruction that asks for an input, where it is not what its thread waits at."""
        self._library = Library(program, models or Models.load())
        self._functions = {name: _CODE + 16 * i for i, name in enumerate(program.functions)}
        self._function_at = {address: name for name, address in self._functions.items()}
        self._static = StaticData(program, self.memory, self._functions)
        escape = EscapeAnalysis(program, self._library.keeps)
        self._around = Surroundings(
            layout=program.layout,
            linker=self._static.linker,
            globals=program.globals,
            functions=program.functions,
            operation=self._library.operation,
            atomic_operations=self._library.atomic_section,
            private_slots=escape.private_slots,
            object_of=self._static.objects.__getitem__,
            names=Environment(self).names(),
            is_open=is_open,
            unobserved="" if calls_entry(program) else program.entry,
        )
        self._compiled: dict[str, CompiledFunction] = {}
        self._runner = Runner(self)
        self._initial = self.memory.snapshot()

    # --- one execution ------------------------------------------------------------

    def reset(self, inputs: Inputs | None = None) -> None:
        """Start anew: `main` is about to run, up to its first visible step."""
        self.memory.restore(self._initial)
        self.threads = []
        self.sync = {}
        self.alive = 0
        self.ghosts = 0
        self.granted = set()
        self.fences = None
        self.output = bytearray()
        self.recorded = []
        self.inventions = []
        self.choice = None
        self.ended = None
        self._inputs = inputs or GivenInputs()
        entry = self.program.functions[self.program.entry]
        main = self._new_thread(entry.name, -1, -1)
        main.frames.append(self.new_frame(entry, entry_arguments(self, main, entry)))
        for name in reversed(self.program.constructors):
            main.frames.append(self.new_frame(self.program.functions[name], ()))
        self._guard(lambda: self._runner.start(main))

    def enabled(self) -> list[int]:
        """The threads that can take a step now; none if the execution is over or stuck."""
        if self.ended is not None:
            return []
        for thread in self.threads:
            if thread.atomic_depth and thread.is_alive:
                return [thread.number] if self.is_enabled(thread) else []
        return [t.number for t in self.threads if t.is_alive and self.is_enabled(t)]

    def is_forced(self) -> bool:
        """Whether there is no choice who goes next: one thread alone, or an atomic section."""
        return self.alive == 1 or any(t.atomic_depth and t.is_alive for t in self.threads)

    def is_enabled(self, thread: ConcreteThread) -> bool:
        pending = thread.pending
        if pending is None:
            return False
        if pending.operation is None:
            return True
        try:
            return pending.operation.is_enabled(self, thread, pending.arguments)
        except Unsupported:
            raise
        except Ended:
            return True  # it is about to fail, and nothing holds it back

    def step(self, number: int, choice: int | None = None) -> None:
        """Thread `number` takes its visible step and runs up to its next one."""
        thread = self.threads[number]
        self.choice = choice
        self._guard(lambda: self._runner.resume(thread))

    def race(self, moved: int, known: int) -> tuple[ConcreteThread, ConcreteThread] | None:
        """Two racing threads, one of them `moved` or created after the first `known` ones."""
        for number in (moved, *range(known, len(self.threads))):
            other = self.race_of(self.threads[number])
            if other is not None:
                return self.threads[number], other
        return None

    def race_of(self, thread: ConcreteThread) -> ConcreteThread | None:
        """A thread whose pending access races with the pending access of `thread`."""
        pending = thread.pending
        if pending is None or not pending.accesses:
            return None
        for other in self.threads:
            theirs = other.pending
            if other is thread or theirs is None or not theirs.accesses:
                continue
            found = pending.conflict(theirs)
            if (
                found
                and self.is_valid(found[0])
                and self.is_valid(found[1])
                and self.is_enabled(thread)
                and self.is_enabled(other)
            ):
                return other
        return None

    def is_valid(self, access: AccessRange) -> bool:
        """Whether these bytes exist, so that accessing them is no other mistake."""
        target = self.memory.object_at(access[0])
        return (
            target is not None
            and not target.is_freed
            and access[1] - target.base <= max(target.size, 1)
        )

    def _guard(self, action: Any) -> None:
        try:
            action()
        except Ended as ended:
            self.ended = ended
            self.has_met_undefined |= isinstance(ended, UndefinedBehaviour)
            return
        if self.alive == 0:
            self.ended = Ended("all threads have finished")

    # --- threads and functions ------------------------------------------------------------

    def start_thread(
        self, entry: int, arguments: tuple[Any, ...], creator: int, parent: int
    ) -> ConcreteThread:
        """A new thread, run up to its first visible step."""
        function = self.function_at(entry)
        if function is None:
            raise Unsupported("a thread whose entry is not known")
        thread = self._new_thread(function.name, creator, parent)
        thread.created_at = self._place_of(creator, self.threads[parent])
        wanted = arguments[: len(function.parameters)]
        thread.frames.append(self.new_frame(function, wanted))
        return thread

    def _place_of(self, creator: int, parent: ConcreteThread) -> int:
        """The call in the program's own code that led to a creation."""
        if not is_of_library(self.program.instruction(creator).position):
            return creator
        for frame in reversed(parent.frames[:-1]):
            info = frame.code.infos[~frame.segment if frame.segment < 0 else frame.segment]
            if info.instruction is not None and not is_of_library(info.instruction.position):
                return info.instruction.number
        return creator

    def leave_alone(self, thread: ConcreteThread) -> None:
        """All other threads are gone, as in a new process."""
        for other in self.threads:
            if other is not thread and other.is_alive:
                other.frames = []
                other.pending = None
                other.atomic_depth = 0
                other.status = Status.FINISHED
        self.alive = 1
        self.ghosts = 0

    @property
    def is_exploring(self) -> bool:
        """Whether all executions are looked at, so that no value may stand for others."""
        return self.is_open or self._inputs.needs_all

    @property
    def has_handlers(self) -> bool:
        """Whether a function of the program may run when a signal comes."""
        return any(isinstance(key, tuple) and key[0] == "handler" for key in self.sync)

    def _new_thread(self, entry: str, creator: int, parent: int) -> ConcreteThread:
        number = len(self.threads)
        thread = ConcreteThread(number, entry, creator, parent, self.memory.arena(number))
        self.threads.append(thread)
        self.alive += 1
        return thread

    def compiled(self, function: Function) -> CompiledFunction:
        found = self._compiled.get(function.name)
        if found is None:
            found = FunctionCompiler(self._around, function).compile()
            self._compiled[function.name] = found
        return found

    def new_frame(self, function: Function, arguments: tuple[Any, ...]) -> Frame:
        compiled = self.compiled(function)
        registers: list[Any] = [None] * compiled.size
        for index, argument in zip(compiled.parameters, arguments, strict=False):
            registers[index] = argument
        if len(arguments) < len(compiled.parameters):
            for index in compiled.parameters[len(arguments) :]:
                registers[index] = UNKNOWN if self.is_open else 0
        frame = Frame(compiled, registers)
        frame.arguments = arguments[len(compiled.parameters) :]
        return frame

    def function_at(self, address: Any) -> Function | None:
        """The program's function at an address, if it has a body."""
        function = self.program.functions.get(self._function_at.get(self.known(address), ""))
        return function if function is not None and function.is_defined else None

    def operation_at(self, address: Any, call: Call) -> Any:
        """The library's function at an address."""
        name = self._function_at.get(self.known(address))
        return None if name is None else self._library.operation(name, call)

    def leaves_no_trace(self, address: int) -> bool:
        """Can nobody tell how often, and in which order, the function there is called?"""
        name = self._function_at.get(address)
        return name is not None and self._library.leaves_no_trace(name)

    def current_instruction(self, thread: ConcreteThread) -> int:
        """The instruction that a thread is at."""
        if self._asking is not None:
            return self._asking
        frame = thread.frames[-1]
        segment = frame.segment
        info = frame.code.infos[~segment if segment < 0 else segment]
        return info.instruction.number if info.instruction is not None else 0

    def variadic_call(self) -> list[Type]:
        """Types of the variable arguments that the running function was called with."""
        frames = self.current.frames
        caller = frames[-2]
        instruction = caller.code.infos[caller.segment].instruction
        assert isinstance(instruction, Call)
        given = instruction.arguments[len(frames[-1].code.parameters) :]
        return [argument.type for argument in given]

    # --- values ------------------------------------------------------------

    def input(self, bits: int, limits: tuple[int, int] | None, inventor: str = "") -> Any:
        """The next nondeterministic value, within limits (inclusive, signed).

        `inventor`: what an environment does not choose, but this function would compute.
        """
        if self.is_open:
            if limits is None or limits[1] - limits[0] >= _FEW:
                return self._open_input(bits, limits)
            if self.choice is None:
                raise ChoiceNeeded(limits[1] - limits[0] + 1)
            value = limits[0] + self.choice & ((1 << bits) - 1)
            self.choice = None
        else:
            value = self._inputs.next(bits, limits)
            if limits is not None and not _is_within(value, bits, limits):
                raise Aborted(f"{value:#x} is no input between {limits[0]} and {limits[1]}")
        self.recorded.append(value)
        if inventor:
            is_fixed = self._library.is_modelled(inventor)
            self.inventions.append(Invention(inventor, value, is_fixed=is_fixed))
            return INDETERMINATE if self.withholds_inventions else value
        return value

    def _open_input(self, bits: int, limits: tuple[int, int] | None) -> Any:
        """A range of values; one of its parts if it was split."""
        low, high = (0, (1 << bits) - 1) if limits is None else limits
        site = self.input_sites.at(self.current_instruction(self.current), low, high, bits)
        if len(site.parts) > 1 and self.choice is None:
            raise ChoiceNeeded(len(site.parts))
        part, self.choice = self.choice or 0, None
        return site.value(part)

    def unset(self, bits: int, instruction: int) -> Any:
        """What a variable holds that was never set: an input of this instruction."""
        if self._inputs.needs_all:
            return INDETERMINATE
        self._asking = instruction
        value = self.input(bits, None)
        self._asking = None
        return value

    def undefined(self) -> Any:
        """A value on which nothing should depend, as what a function returns that forgot to."""
        if self.is_open:
            return UNKNOWN
        return INDETERMINATE if self._inputs.needs_all else 0

    def fence(self, order: str) -> None:
        if self.fences is not None:
            self.fences.append((self.current.number, order))

    def reveal(self, target: MemoryObject, offset: int, size: int = 1) -> None:
        """Bytes that were never written are an input; those among them that are known stay."""
        mask = target.mask
        assert mask is not None
        value = self.input(8 * size, None, target.invented_by(offset, size))
        if value is INDETERMINATE:
            raise Unsupported("bytes that were not computed")
        for place, byte in enumerate(value.to_bytes(size, "little"), offset):
            if mask[place]:
                target.data[place : place + 1] = bytes((byte,))  # type: ignore[index]
        target.frozen = None
        target.learn(offset, size)

    def fails_spuriously(self, segment: int, instruction: int) -> bool:
        """Whether a weak exchange that could succeed does not: an input of this instruction, or
        one of two ways to go for who wants all; `segment` is then run again with the choice."""
        if not self.is_open and not self._inputs.needs_all:
            self._asking = instruction
            value = self.input(1, (0, 1))
            self._asking = None
            return bool(value)
        if self.choice is None:
            raise ChoiceNeeded(2, segment)
        value, self.choice = self.choice, None
        self.recorded.append(value)
        return bool(value)

    def input_is_null(self) -> bool:
        """Whether a function that may return null does so: an input, and by chance seldom true."""
        return self.input_fails()

    def input_fails(self) -> bool:
        """Whether a function that may fail does so: an input, and by chance seldom true."""
        if self.is_open:
            return bool(self.input(1, (0, 1)))
        return bool(self.input(4, (0, 15)) == 15)

    def input_within(self, pointer: Any, or_null: bool, inventor: str = "") -> Any:
        """A pointer somewhere into the object that `pointer` points into."""
        found = None if isinstance(pointer, Unknown) else self.memory.object_at(pointer)
        if self.is_open or found is None:
            return UNKNOWN if self.is_open else pointer
        bits = 8 * self.program.layout.pointer_size
        limits = (-1 if or_null else 0, max(found.size - 1, 0))
        offset = self.input(bits, limits, inventor)
        if offset is INDETERMINATE:
            return offset
        return 0 if offset >> bits - 1 else found.base + offset

    def jump_back(self, thread: ConcreteThread, buffer: int, value: int) -> Any:
        return jump_back(self, thread, buffer, value)

    def known(self, value: Any) -> Any:
        """The value itself; what needs it cannot go on if it is unknown."""
        if isinstance(value, Unknown):
            value.blame()
            raise Unsupported("an unknown value where a known one is needed")
        return value

    def unsupported(self, what: str) -> None:
        raise Unsupported(what)

    def note_inexact(self, what: str) -> None:
        """The machine does not do exactly what the program asks for: neither a proof nor a
        confirmed race may rest on what follows."""
        self.left_out.add(what)
        if self.withholds_inventions:
            raise Unsupported(what)
        self.inventions.append(Invention(what, 0, is_inexact=True))

    def assume(self, text: str) -> None:
        self.assumptions.add(text)

    def effects(self, model: FunctionModel, arguments: tuple[Any, ...]) -> tuple[AccessRange, ...]:
        return accessed_ranges(self, model, arguments)

    def read_pointer(self, address: Any) -> Any:
        size = self.program.layout.pointer_size
        found = self.memory.find(self.known(address), size)
        offset = address - found.base
        if found.is_unknown(offset, size):
            if self.is_open:
                return UNKNOWN
            raise UndefinedBehaviour("use of an uninitialised value")
        return int.from_bytes(found.data[offset : offset + size], "little")

    def write_pointer(self, address: Any, value: Any) -> None:
        size = self.program.layout.pointer_size
        if isinstance(value, Unknown):
            self.forget(address, size)
            return
        mask = (1 << 8 * size) - 1
        self.memory.write(self.known(address), (value & mask).to_bytes(size, "little"))

    def distrust(self, function: str, arguments: tuple[Any, ...]) -> None:
        """A function that nobody knows may have written what its arguments lead to: a race that
        needs these bytes is not confirmed."""
        for argument in arguments:
            if not isinstance(argument, int):
                continue
            found = self.memory.object_at(argument)
            if found is None or found.is_freed or found.base not in self.memory.changing:
                continue
            self.inventions.append(Invention(function, 0))
            if self.withholds_inventions:
                found.forget(argument - found.base, found.base + found.size - argument, function)

    def forget(self, address: Any, size: int, inventor: str = "") -> None:
        """Bytes get an unknown value, or the `inventor` only."""
        found = self.memory.check_write(self.known(address), size)
        found.forget(address - found.base, size, inventor)

    def thread_local(self, name: str) -> int:
        """The current thread's copy of a variable."""
        thread = self.current
        base = thread.thread_locals.get(name)
        if base is None:
            variable = self.program.globals[name]
            block = self.memory.allocate(
                thread.arena, variable.size, variable.display, f"tls:{name}"
            )
            block.kind = BaseKind.THREAD_LOCAL
            block.mask = None
            block.data = bytearray(self._static.initial_bytes(variable))
            base = thread.thread_locals[name] = block.base
        return base

    def library_object(self, thread: ConcreteThread, returns: Returns, inventor: str) -> int:
        """An object that the library owns and hands out, as `localtime`'s result."""
        is_local = returns.kind is ReturnKind.THREAD_LOCAL
        table = thread.thread_locals if is_local else self.sync
        key: Any = f"library:{returns.name}"
        base = table.get(key)
        if base is None:
            block = self.memory.allocate(thread.arena, _LIBRARY_OBJECT, returns.name, key)
            block.is_private = is_local
            block.is_partial = True
            base = table[key] = block.base
        # The library has written to it since the last time.
        self.forget(base, _LIBRARY_OBJECT, inventor)
        return int(base)

    def static_text(self, text: str) -> int:
        """A string of the library's own, the same for all."""
        key = ("text", text)
        if key not in self.sync:
            block = self.memory.allocate(self.current.arena, len(text) + 1, text, f"text:{text}")
            self.memory.write(block.base, text.encode() + b"\0")
            self.sync[key] = block.base
        return int(self.sync[key])

    # --- errno ------------------------------------------------------------

    def set_errno(self, number: int) -> None:
        """A computed function fails; calls that may fail otherwise are followed by code that says
        so (see `frontend.library`)."""
        if _ERRNO in self.program.globals:
            self.current.thread_locals[COMPUTED_ERROR] = number

    def errno(self) -> int:
        """What the current thread's `errno` is."""
        return int.from_bytes(self.memory.read(self.thread_local(_ERRNO), 4), "little")

    def note_computed(self, is_exact: bool) -> None:
        """A library function is called; `is_exact`: it will say itself whether it fails."""
        if _ERRNO in self.program.globals:
            self.current.thread_locals.pop(COMPUTED_ERROR, None)
            if is_exact:
                self.current.thread_locals[COMPUTED_ERROR] = 0

    def wants_result(self) -> bool:
        """Whether the program looks at what the current thread's call returns."""
        frame = self.current.frames[-1]
        infos, segment = frame.code.infos, frame.segment
        info = infos[~segment if segment < 0 else segment]
        if info.result < 0:
            return False
        following = info.next
        return info.result in infos[~following if following < 0 else following].live

    def standard_error(self) -> int:
        found = self._static.objects.get("stderr")
        return -1 if found is None else found.base


def _is_within(value: int, bits: int, limits: tuple[int, int]) -> bool:
    return limits[0] <= value <= limits[1] or limits[0] <= value - (1 << bits) <= limits[1]


__all__ = ["Machine", "Pending"]
