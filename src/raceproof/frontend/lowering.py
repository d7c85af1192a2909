"""What the handlers of single instructions ask of the function that is being lowered."""

from __future__ import annotations

from raceproof.frontend.llvm_text import Names, Reader
from raceproof.ir import Instruction, Position, Register, Type, Value


class Lowering:
    """What handlers may ask for; the function that is being lowered answers."""

    position: Position | None = None

    def __init__(self, names: Names) -> None:
        self.names = names

    def register(self, token: str, type_: Type) -> Register:
        raise AssertionError

    def new_number(self) -> int:
        raise AssertionError

    def emit(self, instruction: Instruction) -> None:
        raise AssertionError

    def local(self, token: str) -> Value:
        raise AssertionError

    def block(self, token: str) -> int:
        raise AssertionError

    def emit_phi(self, token: str, type_: Type, incoming: list[tuple[str, Value | str]]) -> None:
        raise AssertionError

    def slot_name(self, token: str) -> tuple[str, str]:
        raise AssertionError

    def alias(self, token: str, value: Value) -> None:
        """Makes a result another name of a value."""
        raise AssertionError

    def is_no_return(self, tokens: list[str]) -> bool:
        """Do the attributes behind a call say that it never returns?"""
        raise AssertionError

    def operand(self, tokens: list[str], at: int, type_: Type) -> Value:
        """The value that starts at a token, when nothing after it matters."""
        token = tokens[at]
        if token[0] == "%":
            return self.local(token)
        return Reader(tokens, self.names, at).constant(type_)

    def read(self, reader: Reader, type_: Type) -> Value:
        """The value at the reader, which moves past it."""
        token = reader.tokens[reader.at]
        if token[0] == "%":
            reader.at += 1
            return self.local(token)
        return reader.constant(type_)

    def read_typed(self, reader: Reader) -> Value:
        """A type, then perhaps attributes, then a value."""
        type_ = reader.type()
        reader.skip_attributes()
        return self.read(reader, type_)
