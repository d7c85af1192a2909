"""The text of one function: its signature, and its lines cut into blocks of tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from raceproof.frontend.library.called_back import CALLER
from raceproof.frontend.llvm_text import Names, Reader, symbol, tokenize
from raceproof.frontend.positions import Positions
from raceproof.ir import FunctionType, Position, Type

_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_DEBUG = re.compile(r", !dbg (![0-9]+)")
_TERMINATORS = frozenset(
    [
        "br",
        "switch",
        "indirectbr",
        "ret",
        "unreachable",
        "invoke",
        "resume",
        "callbr",
        "cleanupret",
        "catchret",
    ]
)
_LINKAGES_HIDDEN = frozenset({"internal", "private"})


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's header."""

    name: str
    display: str
    type: FunctionType
    parameters: tuple[tuple[str, Type], ...]
    by_value: tuple[tuple[int, Type], ...]
    position: Position | None
    is_external: bool
    no_return: bool


@dataclass(slots=True)
class BlockText:
    label: str
    lines: list[list[str]] = field(default_factory=list)
    debug: list[str] = field(default_factory=list)
    """For each line the key of its position, or an empty string."""

    def targets(self) -> list[str]:
        """Labels that the terminator names."""
        tokens = self.lines[-1]
        at = 2 if len(tokens) > 1 and tokens[1] == "=" else 0
        if tokens[at] not in _TERMINATORS:
            return []
        return [tokens[i + 1] for i, token in enumerate(tokens) if token == "label"]


def read_signature(
    header: str, names: Names, attributes: dict[str, str], positions: Positions
) -> Signature:
    """From a `define` or `declare` line."""
    debug = re.search(r"!dbg (![0-9]+)", header)
    tokens = tokenize(header)
    reader = Reader(tokens, names, 1)
    hidden = False
    while not reader.at_type():
        token = reader.next()
        hidden = hidden or token in _LINKAGES_HIDDEN
        if reader.peek() == "(":
            reader.skip_parentheses()
    result = reader.type()
    name = symbol(reader.next())
    reader.expect("(")
    parameters: list[tuple[str, Type]] = []
    by_value: list[tuple[int, Type]] = []
    variadic = False
    while not reader.accept(")"):
        if reader.accept("..."):
            variadic = True
        else:
            type_ = reader.type()
            kept = reader.skip_attributes()
            if "byval" in kept:
                by_value.append((len(parameters), kept["byval"]))
            token = f"%{len(parameters)}"
            if reader.peek()[:1] == "%":
                token = reader.next()
            parameters.append((token, type_))
        reader.accept(",")
    rest = tokens[reader.at :]
    no_return = "noreturn" in rest or any(
        "noreturn" in attributes.get(token, "").split() for token in rest if token[0] == "#"
    )
    display, position = positions.function(debug[1]) if debug else ("", None)
    return Signature(
        name,
        display or name.removeprefix(CALLER),
        FunctionType(result, tuple(type_ for _, type_ in parameters), variadic),
        tuple(parameters),
        tuple(by_value),
        position,
        not hidden,
        no_return,
    )


def cut_blocks(lines: list[str], signature: Signature) -> list[BlockText]:
    """The blocks in their order; the first one's label may be implicit."""
    blocks: list[BlockText] = []
    first = True
    for line in _joined(lines):
        if line[0] != " ":
            match = _LABEL.match(line)
            if match:
                blocks.append(BlockText("%" + match[1]))
                first = False
            continue
        if first:
            unnamed = sum(1 for token, _ in signature.parameters if token[1:].isdigit())
            blocks.append(BlockText(f"%{unnamed}"))
            first = False
        block = blocks[-1]
        key = ""
        cut = line.find(", !", line.rfind('"') + 1)
        if cut >= 0:
            debug = _DEBUG.match(line, cut) or _DEBUG.search(line, cut)
            if debug:
                key = debug[1]
            line = line[:cut]
        block.lines.append(tokenize(line))
        block.debug.append(key)
    return blocks


def _joined(lines: list[str]) -> list[str]:
    """Instruction and label lines; those that go on over several lines are joined."""
    found: list[str] = []
    in_switch = False
    for line in lines:
        if not line or line.startswith(("    #dbg_", "  ;")):
            continue
        if in_switch:
            found[-1] += line
            in_switch = not line.startswith("  ]")
        elif line.startswith("          "):
            found[-1] += line
        else:
            found.append(line)
            in_switch = line.endswith(" [") and line.startswith("  switch ")
    return found
