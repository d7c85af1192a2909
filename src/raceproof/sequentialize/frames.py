"""One inlined call while its body is printed: names of its variables, C texts of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from raceproof.errors import UserError
from raceproof.ir import (
    Constant,
    Function,
    FunctionAddress,
    GlobalAddress,
    Layout,
    PointerType,
    Register,
    Type,
    Undefined,
    Value,
)
from raceproof.machine.faults import Unsupported
from raceproof.sequentialize.c_text import (
    c_type,
    flattened,
    identifier,
    leaves,
    literal,
)
from raceproof.sequentialize.context import FunctionFacts, ProgramContext
from raceproof.sequentialize.writer import CWriter


@dataclass(frozen=True, slots=True)
class Given:
    """An argument: its type and the C texts of its leaves."""

    type: Type
    texts: tuple[str, ...]


@dataclass(eq=False)
class PrintedFrame:
    """A function being printed in place. All frames of one chain of calls share their variables:
    two rounds of a loop never run at once."""

    context: ProgramContext
    writer: CWriter
    function: Function
    facts: FunctionFacts
    prefix: str
    calls: tuple[int, ...] = ()
    """The call instructions that lead here."""
    functions: tuple[str, ...] = ()
    """The functions being called, outermost first."""
    variadic: tuple[Given, ...] = ()
    done: str = ""
    """The label after the call."""
    result: tuple[PrintedFrame, Register] | None = None
    """Who gets what it returns."""
    needs_stack: bool = False
    _names: dict[Register, list[str]] = field(default_factory=dict)

    def registers(self, register: Register) -> list[str]:
        """The variables that hold a register, one for each leaf."""
        found = self._names.get(register)
        if found is None:
            name = f"{self.prefix}{identifier(register.name) if register.name else 'r'}"
            parts = list(leaves(register.type, self.context.program.layout))
            found = self._names[register] = [
                self.writer.field(
                    f"{name}_{register.index}" + (f"_{index}" if len(parts) > 1 else ""),
                    c_type(type_),
                )
                for index, (type_, _) in enumerate(parts)
            ]
        return found

    def value(self, value: Value) -> str:
        """The C text of a scalar."""
        texts = self.values(value)
        if len(texts) != 1:
            raise UserError(f"cannot translate an operation on a whole {value.type} to plain C")
        return texts[0]

    def values(self, value: Value) -> list[str]:
        """The C texts of a value's leaves."""
        if isinstance(value, Register):
            return self.registers(value)
        assert isinstance(value, Constant)
        arena = self.context.arena
        if isinstance(value, FunctionAddress):
            return [arena.function_macros[value.name]]
        if isinstance(value, GlobalAddress):
            return [self._global(value)]
        layout = self.layout
        types = [type_ for type_, _ in leaves(value.type, layout)]
        if isinstance(value, Undefined):
            return [literal(type_, 0, layout) for type_ in types]
        try:
            known = list(flattened(arena.linker.value(value)))
        except Unsupported as error:
            raise UserError(f"cannot translate to plain C: {error}") from error
        return [literal(type_, part, layout) for type_, part in zip(types, known, strict=True)]

    def _global(self, value: GlobalAddress) -> str:
        arena = self.context.arena
        placed = arena.placed.get(value.name)
        if placed is None:
            return f"{arena.named_lock(value.name)}u"
        start = placed.macro
        if placed.variable.is_thread_local:
            start = f"(LOCALS(t) + {placed.macro})"
        if value.offset:
            return f"(address)({start} + {literal(PointerType(), value.offset, self.layout)})"
        return start

    @property
    def layout(self) -> Layout:
        return self.context.program.layout

    def define(self, register: Register | None, texts: Sequence[str]) -> None:
        """Assign a register, leaf by leaf."""
        if register is None:
            return
        for name, text in zip(self.registers(register), texts, strict=True):
            self.writer.line(f"{name} = {text};")

    def given(self, value: Value) -> Given:
        return Given(value.type, tuple(self.values(value)))

    def address(self, value: Value) -> str:
        """A pointer's text; an integer used as one is cast."""
        text = self.value(value)
        return text if isinstance(value.type, PointerType) else f"(address)({text})"
