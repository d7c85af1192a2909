"""A function cut into segments: what the machine runs without looking up.

A segment is a Python function on the frame's registers that returns the number of the next
segment. It ends where the machine has to decide something: before a visible access, a call, a
library operation, a return, and where blocks meet. The bitwise complement of a number announces
such a special segment. All state between two segments stands in the frame, so that it can be
copied, compared and continued at will:

    def s4(r):                  # *p += 1 with p in register 2, a visible load first
        v2 = r[2]
        o = P[v2 >> 10]
        v3 = r[3] = U4(o.data, v2 - o.base)[0]
        return ~5               # next, the visible store
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from raceproof.ir import Function, Instruction, Register

WRITE = 1
ATOMIC = 2
UNSURE = 4
"""Perhaps fewer bytes: no race may be confirmed by it."""

AccessRange = tuple[int, int, int]
"""First byte, end, and `WRITE`, `ATOMIC` and `UNSURE` as flags."""


class SegmentKind(IntEnum):
    PLAIN = 0
    ACCESS = 1
    """Starts with a memory access that another thread may see; `peek` tells which bytes."""
    CALL = 2
    """Returns (function or address, arguments)."""
    OPERATION = 3
    """Returns the arguments of a library function."""
    RETURN = 4
    """Returns the function's result."""
    CHOICE = 5
    """A branch whose condition may be unknown."""


Code = Callable[[list[Any]], Any]


@dataclass(slots=True, eq=False)
class SegmentInfo:
    """What the machine must know at a special segment."""

    kind: SegmentKind
    instruction: Instruction | None = None
    live: tuple[int, ...] = ()
    """Registers whose values still matter when the segment starts."""
    peek: Callable[[list[Any]], tuple[AccessRange, ...]] | None = None
    operation: Any = None
    callee: Function | None = None
    """A call's target if it is known."""
    result: int = -1
    """Register for the value of a call or operation; -1 if there is none."""
    next: int = 0
    """Where to go on after a call or operation."""
    targets: tuple[int, ...] = ()
    """Ways on from a choice."""
    by_value: tuple[tuple[int, int], ...] = ()
    """Arguments to be copied: index and size in bytes."""


@dataclass(slots=True, eq=False)
class CompiledFunction:
    """A function ready to run."""

    function: Function
    code: list[Code]
    infos: list[SegmentInfo]
    kinds: list[int]
    entry: int
    size: int
    """Registers in a frame."""
    parameters: tuple[int, ...]
    counts: list[int] = field(default_factory=list)
    """IR instructions in each segment."""


@dataclass(slots=True, eq=False)
class Edge:
    """From one segment to the next; phis of the target block are set on the way."""

    target: int
    phis: tuple[tuple[Register, str], ...] = ()


@dataclass(slots=True, eq=False)
class Draft:
    """A segment while it is being written."""

    number: int
    info: SegmentInfo
    lines: list[tuple[int | None, str]] = field(default_factory=list)
    """Defined register (or None) and the expression or statement."""
    uses: set[int] = field(default_factory=set)
    defined: set[int] = field(default_factory=set)
    edges: list[Edge] = field(default_factory=list)
    count: int = 0
    peek: str = ""
    """The source of the accessed ranges, if it is a visible access."""


def live_registers(drafts: list[Draft]) -> list[set[int]]:
    """For each segment the registers that must be in the frame when it starts."""
    before: list[set[int]] = [set(draft.uses) for draft in drafts]
    sources: list[set[int]] = [set() for _ in drafts]
    for draft in drafts:
        for edge in draft.edges:
            sources[edge.target].add(draft.number)
    work = list(range(len(drafts)))
    queued = set(work)
    while work:
        number = work.pop()
        queued.discard(number)
        draft = drafts[number]
        needed = live_after(draft, before) - draft.defined | draft.uses
        if needed != before[number]:
            before[number] = needed
            for source in sources[number]:
                if source not in queued:
                    queued.add(source)
                    work.append(source)
    return before


def live_after(draft: Draft, before: list[set[int]]) -> set[int]:
    """The registers that a segment must leave in the frame."""
    after: set[int] = set()
    for edge in draft.edges:
        after |= before[edge.target] - {register.index for register, _ in edge.phis}
    if draft.info.result >= 0:
        after.discard(draft.info.result)
    return after
