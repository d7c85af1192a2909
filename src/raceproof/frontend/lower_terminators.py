"""Calls and the instructions that end a block: how each becomes one of the IR."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.frontend.llvm_text import (
    Reader,
)
from raceproof.frontend.lower_calls import lower_call
from raceproof.frontend.lowering import Lowering
from raceproof.ir import (
    POINTER,
    VOID,
    AfterInvoke,
    Branch,
    IndirectJump,
    IntConstant,
    Jump,
    Resume,
    Return,
    Switch,
    Undefined,
    Unreachable,
)

Handler = Callable[[Lowering, list[str], int], None]


def _br(low: Lowering, tokens: list[str], at: int) -> None:
    if tokens[at] == "label":
        low.emit(Jump(low.new_number(), low.position, None, low.block(tokens[at + 1])))
        return
    reader = Reader(tokens, low.names, at)
    condition = low.read_typed(reader)
    labels = [tokens[i + 1] for i in range(reader.at, len(tokens)) if tokens[i] == "label"]
    if_true, if_false = low.block(labels[0]), low.block(labels[1])
    low.emit(Branch(low.new_number(), low.position, None, condition, if_true, if_false))


def _switch(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    value = low.read_typed(reader)
    reader.expect(",")
    reader.expect("label")
    default = low.block(reader.next())
    reader.expect("[")
    cases: list[tuple[int, int]] = []
    while not reader.accept("]"):
        constant = reader.constant(reader.type())
        assert isinstance(constant, IntConstant)
        reader.expect(",")
        reader.expect("label")
        cases.append((constant.value, low.block(reader.next())))
    low.emit(Switch(low.new_number(), low.position, None, value, default, tuple(cases)))


def _indirectbr(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    address = low.read_typed(reader)
    possible = tuple(
        low.block(tokens[i + 1]) for i in range(reader.at, len(tokens)) if tokens[i] == "label"
    )
    low.emit(IndirectJump(low.new_number(), low.position, None, address, possible))


def _ret(low: Lowering, tokens: list[str], at: int) -> None:
    reader = Reader(tokens, low.names, at)
    type_ = reader.type()
    value = None if type_ is VOID or type_ == VOID else low.read(reader, type_)
    low.emit(Return(low.new_number(), low.position, None, value))


def _resume(low: Lowering, tokens: list[str], at: int) -> None:
    value = low.read_typed(Reader(tokens, low.names, at))
    low.emit(Resume(low.new_number(), low.position, None, value))


def _unreachable(low: Lowering, tokens: list[str], at: int) -> None:
    low.emit(Unreachable(low.new_number(), low.position, None))


def _invoke(low: Lowering, tokens: list[str], at: int) -> None:
    labels = [tokens[i + 1] for i, token in enumerate(tokens) if token == "label"]
    lower_call(low, tokens, at)
    normal, unwind = low.block(labels[-2]), low.block(labels[-1])
    low.emit(AfterInvoke(low.new_number(), low.position, None, normal, unwind))


def _call(low: Lowering, tokens: list[str], at: int) -> None:
    lower_call(low, tokens, at)


def _callbr(low: Lowering, tokens: list[str], at: int) -> None:
    """`asm goto`: opaque, then any of its labels."""
    lower_call(low, tokens, at)
    possible = tuple(low.block(tokens[i + 1]) for i, t in enumerate(tokens) if t == "label")
    low.emit(IndirectJump(low.new_number(), low.position, None, Undefined(POINTER), possible))


def _tail_call(low: Lowering, tokens: list[str], at: int) -> None:
    _call(low, tokens, at + 1)


TERMINATORS: dict[str, Handler] = {
    "br": _br,
    "switch": _switch,
    "indirectbr": _indirectbr,
    "ret": _ret,
    "resume": _resume,
    "unreachable": _unreachable,
    "invoke": _invoke,
    "callbr": _callbr,
    "call": _call,
    "tail": _tail_call,
    "musttail": _tail_call,
    "notail": _tail_call,
}
