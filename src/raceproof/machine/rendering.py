"""From drafts of segments to code that runs.

In a draft `@n@` stands for segment n and `goto #k#` for the k-th edge out of it: set the phis that
matter, then return the target.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from raceproof.machine.segments import (
    CompiledFunction,
    Draft,
    Edge,
    SegmentKind,
    live_after,
    live_registers,
)

if TYPE_CHECKING:
    from raceproof.machine.compiler import FunctionCompiler

_GOTO = re.compile(r"^(.*?)goto #(\d+)#$")
_TARGET = re.compile(r"@(\d+)@")


def render(c: FunctionCompiler) -> CompiledFunction:
    """Write out the drafts of a compiler as one Python source and load it."""
    drafts = c.drafts
    before = live_registers(drafts)

    def number(target: int) -> int:
        return target if drafts[target].info.kind is SegmentKind.PLAIN else ~target

    lines: list[str] = []
    for draft in drafts:
        _render_segment(draft, before, number, lines)
    for draft in drafts:
        if draft.peek:
            lines.append(f"def p{draft.number}(r): return {draft.peek}")
    space: dict[str, Any] = c.names
    exec(compile("\n".join(lines), f"<{c.function.name}>", "exec"), space)
    code = []
    infos = []
    for draft in drafts:
        info = draft.info
        info.live = tuple(sorted(before[draft.number]))
        info.next = number(info.next)
        if draft.peek:
            info.peek = space[f"p{draft.number}"]
        if info.kind is SegmentKind.CHOICE:
            info.operation = {k: number(v) for k, v in info.operation.items()}
            info.targets = tuple(number(target) for target in info.targets)
        infos.append(info)
        code.append(space[f"s{draft.number}"])
    return CompiledFunction(
        function=c.function,
        code=code,
        infos=infos,
        kinds=[int(info.kind) for info in infos],
        entry=number(0),
        size=max(c.function.register_count, _highest(c) + 1),
        parameters=tuple(parameter.index for parameter in c.function.parameters),
        counts=[draft.count for draft in drafts],
    )


def _highest(c: FunctionCompiler) -> int:
    registers = [register.index for register in (*c.function.parameters, *c.definitions)]
    return max(registers, default=-1)


def _render_segment(draft: Draft, before: list[set[int]], number: Any, lines: list[str]) -> None:
    lines.append(f"def s{draft.number}(r):")
    start = len(lines)
    lines.extend(f"    v{index} = r[{index}]" for index in sorted(draft.uses))
    kept = live_after(draft, before)
    for register, text in draft.lines:
        if register is not None:
            both = f"v{register} = r[{register}]" if register in kept else f"v{register}"
            lines.append(f"    {both} = {text}")
            continue
        found = _GOTO.match(text)
        if found is None:
            lines.append("    " + _TARGET.sub(lambda m: str(number(int(m[1]))), text))
            continue
        edge = draft.edges[int(found[2])]
        statements = _edge(edge, before[edge.target], number)
        if found[1]:
            lines.append(f"    {found[1]}")
            lines.extend(f"        {statement}" for statement in statements)
        else:
            lines.extend(f"    {statement}" for statement in statements)
    if len(lines) == start:
        lines.append("    pass")


def _edge(edge: Edge, needed: set[int], number: Any) -> list[str]:
    moves = [(register.index, text) for register, text in edge.phis if register.index in needed]
    statements = []
    if moves:
        targets = ", ".join(f"r[{index}]" for index, _ in moves)
        statements.append(f"{targets} = {', '.join(text for _, text in moves)}")
    statements.append(f"return {number(edge.target)}")
    return statements
