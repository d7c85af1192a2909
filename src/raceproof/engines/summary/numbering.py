"""Numbers for the instructions of a function that an edit elsewhere in it does not shift.

Summaries name objects, calls and places by function and number, and a caller is composed again if
anything in the summary of a callee has changed. Counted from the top, a new first statement would
renumber all that follows, and so change every summary above. Here an instruction is numbered by
what it is: its kind and the terms of its operands, which are made of such numbers again. Those
that look the same are told apart by counting.

    x->size++;  x->size++;      two loads of `*p0 + 8`: the first and the second
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from zlib import crc32

from raceproof.engines.summary.terms import Terms
from raceproof.ir import Instruction, StackSlot, Value

_MASK = (1 << 31) - 1


class Numbering:
    def __init__(self, first_number: int, terms: Callable[[Value], Terms]) -> None:
        self.order: dict[int, int] = {}
        """Our number -> the place in the function, counted from the top."""
        self._first_number = first_number
        self._terms = terms
        self._known: dict[int, int] = {}

    def of(self, instruction: Instruction) -> int:
        """What is known of the operands when first asked counts."""
        known = self._known.get(instruction.number)
        if known is None:
            known = self._known[instruction.number] = self._made(instruction)
            self.order[known] = instruction.number - self._first_number
        return known

    def _made(self, instruction: Instruction) -> int:
        look = marshal.dumps(tuple([self._terms(one) for one in instruction.operands]), 2)
        kind = type(instruction).__name__
        if isinstance(instruction, StackSlot):
            kind = f"{kind} {instruction.name}"
        found = crc32(look, crc32(kind.encode())) & _MASK
        while found in self.order:
            found = (found + 1) & _MASK
        return found
