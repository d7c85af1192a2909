"""Operands in the words of the source: ``bank.accounts[from].balance`` for an address.

A name is worked out backwards from the instructions that made the value. Where the source's words
are lost the text falls back to ``*(pointer + bytes)`` or ``...``; it is for people only.
"""

from __future__ import annotations

import re

from raceproof.ir import (
    BytesConstant,
    Call,
    Cast,
    FloatConstant,
    Function,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    IntConstant,
    Load,
    NullPointer,
    Offset,
    Program,
    Register,
    StackSlot,
    Value,
)

_INDEX = re.compile(r"\[0\]")
_PRIVATE = re.compile(r"\.(__|_M_).*")
"""Members of a library's own structs: the insides of a mutex."""
_DEPTH = 8
"""How many instructions to look back."""
_LOST = "..."
_WHOLE = 1 << 62
"""A size that no member has."""

Terms = tuple[tuple[str, int], ...]
"""Variable indices by name, with the bytes that each step skips."""


class Operands:
    """Names the values of one function."""

    def __init__(self, program: Program, function: Function) -> None:
        self._program = program
        self._made_by: dict[int, Instruction] = {
            instruction.result.index: instruction
            for instruction in function.instructions
            if instruction.result is not None
        }

    def value(self, value: Value, depth: int = _DEPTH) -> str:
        """A value as the source would write it."""
        match value:
            case IntConstant():
                return str(value.signed)
            case FloatConstant(value=number):
                return repr(number)
            case NullPointer():
                return "null"
            case FunctionAddress(name=name):
                return self._function(name)
            case GlobalAddress():
                return self._address_of(self.place(value, None))
            case Register(name=name) if name:
                return name
            case Register():
                return self._made(value, depth) if depth else _LOST
        return _LOST

    def place(self, address: Value, size: int | None = 1, depth: int = _DEPTH) -> str:
        """What lies at an address, as the source would write it.

        Many objects start at the same byte: this is the innermost that has ``size`` bytes, or
        (None) the outermost that the address can mean.
        """
        if isinstance(address, GlobalAddress):
            return self._global(address.name, address.offset, (), size)
        instruction = self._maker(address)
        if isinstance(instruction, StackSlot) and instruction.name:
            return self._inside(instruction.name, instruction.debug_type, 0, (), size)
        if isinstance(instruction, Offset) and depth:
            return self._moved(instruction, size, depth - 1)
        text = self.value(address, depth)
        return text[1:] if text.startswith("&") else f"*{text}"

    def _made(self, register: Register, depth: int) -> str:
        """The value of an unnamed register."""
        match self._maker(register):
            case Load(pointer=pointer):
                return self.place(pointer, depth=depth - 1)
            case Cast(value=inner):
                return self.value(inner, depth - 1)
            case Offset() | StackSlot():
                return self._address_of(self.place(register, None, depth - 1))
            case Call(callee=callee):
                return f"{self.value(callee, depth - 1)}()"
        return _LOST

    def _moved(self, offset: Offset, size: int | None, depth: int) -> str:
        """What lies at the end of pointer arithmetic, however many steps it takes."""
        constant, terms = 0, list[tuple[Value, int]]()
        step: Instruction | None = offset
        while isinstance(step, Offset):
            base = step.base
            constant += step.constant
            terms += step.terms
            step = self._maker(base)
        named = tuple((self.value(index, depth), scale) for index, scale in terms)
        if isinstance(base, GlobalAddress):
            return self._global(base.name, base.offset + constant, named, size)
        if isinstance(step, StackSlot) and step.name:
            return self._inside(step.name, step.debug_type, constant, named, size)
        return _sum(self.value(base, depth), constant, named)

    def _global(self, name: str, offset: int, terms: Terms, size: int | None) -> str:
        variable = self._program.globals.get(name)
        if variable is None:
            return name
        if variable.is_string and isinstance(variable.initializer, BytesConstant):
            return _quoted(variable.initializer.data)
        return self._inside(variable.display, variable.debug_type, offset, terms, size)

    def _inside(
        self, name: str, debug_type: str, offset: int, terms: Terms, size: int | None
    ) -> str:
        """A part of an object; each variable index takes the place of a ``[0]`` in its path."""
        if size is None:
            size = min((scale for _, scale in terms), default=1 if offset else _WHOLE)
        path = self._program.debug.path(debug_type, offset, size) if debug_type else ""
        path = _PRIVATE.sub("", path)
        if not terms:
            return name + (path or (f"+{offset}" if offset else ""))
        if len(_INDEX.findall(path)) != len(terms):
            return _sum(f"&{name}", offset, terms)
        indices = iter(sorted(terms, key=lambda term: -term[1]))
        return name + _INDEX.sub(lambda _: f"[{next(indices)[0]}]", path)

    def _function(self, name: str) -> str:
        function = self._program.functions.get(name)
        return function.display if function is not None else name

    def _maker(self, value: Value) -> Instruction | None:
        return self._made_by.get(value.index) if isinstance(value, Register) else None

    @staticmethod
    def _address_of(place: str) -> str:
        if place.startswith("*"):
            return place[1:]
        return place if place.startswith('"') else f"&{place}"


def _sum(base: str, constant: int, terms: Terms) -> str:
    parts = [base, *([str(constant)] if constant else [])]
    parts += [f"{index}*{scale}" if scale != 1 else index for index, scale in terms]
    return f"*({' + '.join(parts)})" if len(parts) > 1 else f"*{base}"


def _quoted(data: bytes) -> str:
    text = data.rstrip(b"\0").decode("utf-8", "replace")
    text = text if len(text) <= 20 else text[:17] + "..."
    return '"' + text.encode("unicode_escape").decode() + '"'
