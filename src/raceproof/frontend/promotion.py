"""Which locals live in registers, and where their values meet (LLVM's `mem2reg`).

A local that is only loaded and stored whole, and whose address goes nowhere else, cannot be shared
between threads. It is kept in SSA registers: its loads and stores vanish, and where different
values meet a phi is placed (iterated dominance frontier, pruned to where the local is live).

    int i = 0;  while (i < n) i++;      ->      i1 = phi(0, i2);  i1 < n;  i2 = i1 + 1

A local that may be read before it is set holds any value, but always the same one.
"""

from __future__ import annotations

from collections.abc import Sequence

from raceproof.frontend.llvm_text import SCALAR_TYPES
from raceproof.ir.cfg import Dominators

Line = list[str]


def promotable(blocks: Sequence[Sequence[Line]]) -> dict[str, str]:
    """Local -> type token, for the stack slots of these token lists that can be registers."""
    slots: dict[str, str] = {}
    for line in blocks[0]:
        if len(line) > 3 and line[2] == "alloca" and line[3] in SCALAR_TYPES:
            if len(line) < 6 or line[5] == "align":
                slots[line[0]] = line[3]
    if not slots:
        return slots
    for block in blocks:
        for line in block:
            if len(line) > 6 and line[2] == "load":
                if line[6] in slots and line[3] == slots[line[6]] and line[4] == ",":
                    continue
            elif line[0] == "store" and len(line) > 5:
                pointer = stored_pointer(line)
                for token in line[2:pointer]:
                    slots.pop(token, None)
                if line[pointer] in slots and line[1] == slots[line[pointer]]:
                    continue
            elif len(line) > 3 and line[2] == "alloca":
                continue
            for token in line:
                slots.pop(token, None)
    return slots


def stored_pointer(line: Line) -> int:
    """Index of the address token in a `store` with a plain register address."""
    at = len(line) - 1
    while at > 1 and line[at] != "ptr":
        at -= 1
    return at + 1


def place_phis(
    blocks: Sequence[Sequence[Line]],
    slots: dict[str, str],
    predecessors: Sequence[Sequence[int]],
    dominators: Dominators,
) -> tuple[list[list[str]], set[str]]:
    """For each block, the locals that need a phi there; and the locals that may be read unset."""
    stores: dict[str, set[int]] = {slot: set() for slot in slots}
    uses: dict[str, set[int]] = {slot: set() for slot in slots}
    for index, block in enumerate(blocks):
        stored: set[str] = set()
        for line in block:
            if line[0] == "store":
                pointer = stored_pointer(line)
                if pointer < len(line) and line[pointer] in slots:
                    stored.add(line[pointer])
                    stores[line[pointer]].add(index)
            elif len(line) > 6 and line[2] == "load" and line[6] in slots:
                if line[6] not in stored:
                    uses[line[6]].add(index)
    placed: list[list[str]] = [[] for _ in blocks]
    unset: set[str] = set()
    for slot in slots:
        defining = stores[slot]
        if not uses[slot]:
            continue
        live = _live_in(uses[slot], defining, predecessors)
        if 0 in live:
            unset.add(slot)
        work, seen = list(defining), set(defining)
        done: set[int] = set()
        while work:
            for meeting in dominators.frontier(work.pop()):
                if meeting not in done and meeting in live:
                    done.add(meeting)
                    placed[meeting].append(slot)
                    if meeting not in seen:
                        seen.add(meeting)
                        work.append(meeting)
    return placed, unset


def _live_in(uses: set[int], stores: set[int], predecessors: Sequence[Sequence[int]]) -> set[int]:
    live = set(uses)
    work = list(uses)
    while work:
        for previous in predecessors[work.pop()]:
            if previous not in live and previous not in stores:
                live.add(previous)
                work.append(previous)
    return live
