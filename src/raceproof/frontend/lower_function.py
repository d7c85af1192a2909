"""One function: from LLVM's lines to our blocks.

Blocks are taken in reverse post-order, so every register is defined before it is used, except in
phis, which are completed at the end. Locals that can live in registers (`promotion`) leave no
instruction behind; compiler intrinsics without meaning for us (lifetimes, debug records) neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from raceproof.frontend.function_text import Signature, cut_blocks
from raceproof.frontend.llvm_text import SCALAR_TYPES, LlvmSyntaxError, Names
from raceproof.frontend.lower_instructions import LOWER
from raceproof.frontend.lowering import Lowering
from raceproof.frontend.positions import Positions
from raceproof.frontend.promotion import place_phis, promotable, stored_pointer
from raceproof.ir import (
    Block,
    Freeze,
    Function,
    Instruction,
    Phi,
    Position,
    Register,
    Type,
    Undefined,
    Value,
)
from raceproof.ir.cfg import Dominators, reverse_post_order, reversed_edges

_DECLARE = re.compile(r"#dbg_declare\(ptr (%[^,]+), (![0-9]+), !DIExpression\((?:DW_OP_deref)?\)")


@dataclass(slots=True)
class _PendingPhi:
    number: int
    position: Position | None
    result: Register
    incoming: list[tuple[int, Value | str]]
    """A token where the value was not known yet."""


class FunctionLowering(Lowering):
    """The state of lowering one function; `finish` gives the result."""

    def __init__(
        self,
        signature: Signature,
        names: Names,
        positions: Positions,
        no_return_attributes: frozenset[str],
        first_number: int,
    ) -> None:
        super().__init__(names)
        self.no_return_attributes = no_return_attributes
        self.signature = signature
        self.positions = positions
        self.first_number = first_number
        self.number = first_number
        self.position: Position | None = None
        self.values: dict[str, Value] = {}
        self.hints: dict[str, str] = {}
        self.slot_names: dict[str, tuple[str, str]] = {}
        self.register_count = 0
        self.variable_types: dict[int, str] = {}
        """Register -> debug type of the first local variable that it is stored to."""
        self.within_ranges: set[int] = set()
        self._from_pointers: set[str] = set()
        self._output: list[Instruction | _PendingPhi] = []
        self._slots: dict[str, Type] = {}
        self._unset: set[str] = set()
        self._slot_values: list[dict[str, Value]] = []
        self._labels: dict[str, int] = {}
        self._parents: list[int] = []
        self._predecessors: list[list[int]] = []
        self._current = 0

    # --- what the instruction handlers use -----------------------------------------------------

    def register(self, token: str, type_: Type) -> Register:
        register = Register(type_, self.register_count, self.hints.get(token, ""))
        self.register_count += 1
        self.values[token] = register
        return register

    def new_number(self) -> int:
        number = self.number
        self.number += 1
        return number

    def emit(self, instruction: Instruction) -> None:
        self._output.append(instruction)

    def local(self, token: str) -> Value:
        try:
            return self.values[token]
        except KeyError:
            raise LlvmSyntaxError(f"{token} is used before it is defined") from None

    def block(self, token: str) -> int:
        return self._labels[token]

    def emit_phi(self, token: str, type_: Type, incoming: list[tuple[str, Value | str]]) -> None:
        real = self._predecessors[self._current]
        edges = [
            (self._labels[label], value)
            for label, value in incoming
            if self._labels.get(label) in real
        ]
        self._output.append(
            _PendingPhi(self.new_number(), self.position, self.register(token, type_), edges)
        )

    def slot_name(self, token: str) -> tuple[str, str]:
        return self.slot_names.get(token, ("", ""))

    def alias(self, token: str, value: Value) -> None:
        self.values[token] = value

    def is_no_return(self, tokens: list[str]) -> bool:
        return any(token in self.no_return_attributes for token in tokens)

    # --- the walk ------------------------------------------------------------

    def lower(self, lines: list[str]) -> Function:
        signature = self.signature
        self._read_names(lines)
        texts = cut_blocks(lines, signature)
        labels = {text.label: i for i, text in enumerate(texts)}
        successors = [[labels[t] for t in text.targets()] for text in texts]
        order = reverse_post_order(successors)
        position_of = {old: new for new, old in enumerate(order)}
        self._labels = {texts[old].label: new for old, new in position_of.items()}
        ordered = [texts[old] for old in order]
        code = [text.lines for text in ordered]
        predecessors = reversed_edges([[position_of[s] for s in successors[old]] for old in order])
        self._predecessors = predecessors
        dominators = Dominators(predecessors)
        self._parents = dominators.parents
        slots = promotable(code)
        phis, self._unset = place_phis(code, slots, predecessors, dominators)
        self._slots = {slot: SCALAR_TYPES[token] for slot, token in slots.items()}
        self._read_hints(code, slots)
        parameters = tuple(self.register(token, type_) for token, type_ in signature.parameters)
        outputs: list[list[Instruction | _PendingPhi]] = []
        slot_phis: list[tuple[_PendingPhi, str, int]] = []
        for index, text in enumerate(ordered):
            self._current = index
            self._output = []
            self._slot_values.append({})
            for slot in phis[index]:
                slot_phis.append((self._slot_phi(slot), slot, index))
            self._lower_lines(text.lines, text.debug)
            outputs.append(self._output)
        for phi, slot, index in slot_phis:
            for previous in predecessors[index]:
                phi.incoming.append((previous, self._slot_value(slot, previous)))
        blocks = tuple(
            Block(index, tuple(self._complete(i) for i in output))
            for index, output in enumerate(outputs)
        )
        return Function(
            name=signature.name,
            display=signature.display,
            type=signature.type,
            parameters=parameters,
            blocks=blocks,
            position=signature.position,
            is_external=signature.is_external,
            no_return=signature.no_return,
            register_count=self.register_count,
            by_value=signature.by_value,
            first_number=self.first_number,
        )

    def _read_names(self, lines: list[str]) -> None:
        for line in lines:
            if "#dbg_declare" in line:
                match = _DECLARE.search(line)
                if match:
                    self.slot_names[match[1]] = self.positions.variable(match[2])

    def _read_hints(self, code: list[list[list[str]]], slots: dict[str, str]) -> None:
        """A register that is stored to a named local carries that name."""
        for block in code:
            for line in block:
                if line[0] == "store" and line[2][0] == "%":
                    slot = line[stored_pointer(line)]
                    if slot in slots and slot in self.slot_names:
                        self.hints.setdefault(line[2], self.slot_names[slot][0])

    def _lower_lines(self, lines: list[list[str]], debug: list[str]) -> None:
        slots = self._slots
        for tokens, position_key in zip(lines, debug, strict=True):
            first = tokens[0]
            if first == "store":
                pointer = stored_pointer(tokens)
                if pointer < len(tokens) and tokens[pointer] in slots:
                    self._store_slot(tokens, tokens[pointer])
                    continue
                opcode, at = first, 1
            elif len(tokens) > 1 and tokens[1] == "=":
                opcode, at = tokens[2], 3
                if opcode == "load" and tokens[6] in slots:
                    self.values[first] = self._slot_value(tokens[6], self._current)
                    continue
                if opcode == "alloca" and first in slots:
                    self._declare_slot(first)
                    continue
            else:
                opcode, at = first, 1
            self.position = self.positions.of(position_key)
            handler = LOWER.get(opcode)
            if handler is None:
                raise LlvmSyntaxError(f"unknown instruction {opcode!r}")
            if opcode == "ptrtoint":
                self._from_pointers.add(first)
            elif opcode == "icmp" or (
                opcode == "sub" and {tokens[-3], tokens[-1]} <= self._from_pointers
            ):
                if self.positions.is_of_iterators(position_key):
                    self.within_ranges.add(self.number)
            handler(self, tokens, at)

    # --- locals in registers ------------------------------------------------------------

    def _declare_slot(self, slot: str) -> None:
        """A variable that may be read before it is set gets its value of chance here.

        The compiler's own temporaries, as the result of a function that returns none, do not.
        """
        if slot in self._unset and slot in self.slot_names:
            type_ = self._slots[slot]
            register = Register(type_, self.register_count, self.slot_names[slot][0])
            self.register_count += 1
            self.emit(Freeze(self.new_number(), None, register, Undefined(type_)))
            self._slot_values[-1][slot] = register

    def _slot_phi(self, slot: str) -> _PendingPhi:
        name = self.slot_names.get(slot, ("", ""))[0]
        register = Register(self._slots[slot], self.register_count, name)
        self.register_count += 1
        self._note_type(register, slot)
        pending = _PendingPhi(self.new_number(), None, register, [])
        self._output.append(pending)
        self._slot_values[-1][slot] = register
        return pending

    def _store_slot(self, tokens: list[str], slot: str) -> None:
        value = self.operand(tokens, 2, self._slots[slot])
        self._slot_values[self._current][slot] = value
        self._note_type(value, slot)

    def _note_type(self, value: Value, slot: str) -> None:
        """A register gets the type of the first variable that holds it."""
        if isinstance(value, Register) and slot in self.slot_names:
            self.variable_types.setdefault(value.index, self.slot_names[slot][1])

    def _slot_value(self, slot: str, block: int) -> Value:
        """The value of a local at the end of what was lowered of a block."""
        at = block
        while True:
            value = self._slot_values[at].get(slot)
            if value is not None:
                break
            if at == 0:
                value = Undefined(self._slots[slot])
                break
            at = self._parents[at]
        if at != block:
            self._slot_values[block][slot] = value
        return value

    def _complete(self, instruction: Instruction | _PendingPhi) -> Instruction:
        if isinstance(instruction, Instruction):
            return instruction
        incoming = tuple(
            (block, self._phi_operand(value, instruction.result.type))
            for block, value in instruction.incoming
        )
        return Phi(instruction.number, instruction.position, instruction.result, incoming)

    def _phi_operand(self, value: Value | str, type_: Type) -> Value:
        if isinstance(value, str):
            return self.values.get(value) or Undefined(type_)
        return value
