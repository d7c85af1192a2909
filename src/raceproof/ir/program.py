"""A whole linked program: functions, globals, layout and the names people know."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from raceproof.ir.debug import DebugInfo
from raceproof.ir.instructions import Instruction, Phi, Terminator
from raceproof.ir.position import Position
from raceproof.ir.types import FunctionType, Layout, Type
from raceproof.ir.unordered import Unordered
from raceproof.ir.values import Constant, Register


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A straight run of instructions; the last one is the terminator."""

    index: int
    instructions: tuple[Instruction, ...]

    @property
    def terminator(self) -> Terminator:
        last = self.instructions[-1]
        assert isinstance(last, Terminator)
        return last

    @property
    def phis(self) -> tuple[Phi, ...]:
        found = []
        for instruction in self.instructions:
            if not isinstance(instruction, Phi):
                break
            found.append(instruction)
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Function:
    """A function; one without blocks is only declared.

    `name` is the linker's, `display` what the source calls it. `by_value` are the parameters that
    are structs passed by value: pointers to a copy of the given type, made at the call.
    """

    name: str
    display: str
    type: FunctionType
    parameters: tuple[Register, ...]
    blocks: tuple[Block, ...]
    position: Position | None = None
    is_external: bool = True
    """Visible outside its translation unit (not `static`)."""
    no_return: bool = False
    register_count: int = 0
    by_value: tuple[tuple[int, Type], ...] = ()
    first_number: int = 0
    """Number of its first instruction; a function's instructions are numbered without gaps."""

    @property
    def is_defined(self) -> bool:
        return bool(self.blocks)

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions in the order of their numbers."""
        return tuple(i for block in self.blocks for i in block.instructions)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


@dataclass(frozen=True, eq=False)
class Global:
    """A global variable; one without initializer is only declared (defined elsewhere)."""

    name: str
    display: str
    type: Type
    size: int
    initializer: Constant | None
    is_constant: bool = False
    is_thread_local: bool = False
    is_external: bool = True
    is_string: bool = False
    """A string literal or other unnamed constant of the compiler."""
    position: Position | None = None
    debug_type: str = ""

    def __repr__(self) -> str:
        return f"<global {self.name}>"


@dataclass(frozen=True, slots=True)
class UnitOrigin:
    """A translation unit: what it leaves to others, and how to read its text again."""

    folder: str
    """Where it is compiled."""
    preprocess: tuple[str, ...]
    """The command that prints its text with all headers; none for LLVM and preprocessed files."""
    lacking: frozenset[str]
    """Functions that it declares and that no unit of the program defines, by linker's name."""
    is_cxx: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """How a program was put together from the files of a project, and what is not in it."""

    is_build: bool = False
    """A build chose the files, not a person."""
    units: tuple[UnitOrigin, ...] = ()
    system_folders: tuple[str, ...] = ()
    """Where headers lie that are not the project's."""
    failed: int = 0
    """How many translation units do not compile."""
    left_out: tuple[str, ...] = ()
    """Code of the project that is not in the program, as phrases."""
    notices: tuple[str, ...] = ()
    """What the user should know of it."""


@dataclass(frozen=True, eq=False)
class Program:
    """Immutable after lowering. Instructions are numbered through all functions in order."""

    functions: Mapping[str, Function]
    globals: Mapping[str, Global]
    layout: Layout
    debug: DebugInfo
    files: tuple[str, ...]
    """The translation units, as given."""
    entry: str = "main"
    constructors: tuple[str, ...] = ()
    """Functions run before `main`, in order."""
    assembly: str = ""
    """File-scope inline assembly."""
    heap_types: Mapping[int, str] = field(default_factory=dict)
    """Number of a call -> debug type of the pointer variable that receives its result."""
    variable_types: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Function -> register with a pointer -> debug type of the variable that holds it."""
    origin: Origin = Origin()
    assumptions: tuple[str, ...] = ()
    """What was assumed to make it, for whoever says something about it."""
    unordered: Mapping[int, Unordered] = field(default_factory=dict)
    """Number of an atomic read -> the values that it may return without being ordered after their
    write, see `memory_order`. Empty: what holds for accesses at once holds for happens-before."""

    within_ranges: frozenset[int] = frozenset()
    """Numbers of comparisons and of subtractions of pointers in the C++ library's code about
    iterators: both point into one object, or the program broke the library's rules."""

    @property
    def data_model(self) -> str:
        return "ilp32" if self.layout.pointer_size == 4 else "lp64"

    @cached_property
    def defined(self) -> tuple[Function, ...]:
        """The functions with a body, in the order of their instructions' numbers."""
        return tuple(f for f in self.functions.values() if f.blocks)

    @cached_property
    def _first_numbers(self) -> list[int]:
        return [function.first_number for function in self.defined]

    @cached_property
    def instruction_count(self) -> int:
        last = self.defined[-1] if self.defined else None
        return last.first_number + len(last.instructions) if last else 0

    def function_of(self, number: int) -> Function:
        """The function that holds the instruction with this number."""
        return self.defined[bisect_right(self._first_numbers, number) - 1]

    def instruction(self, number: int) -> Instruction:
        function = self.function_of(number)
        return function.instructions[number - function.first_number]

    def all_instructions(self) -> Iterator[tuple[Function, Instruction]]:
        for function in self.defined:
            for instruction in function.instructions:
                yield function, instruction
