"""What inline assembly reads and writes, as far as its constraints tell.

    asm("lock; incl %0" : "+m"(v->counter))      reads and writes the operand, atomically
    asm("movl %1, %0" : "=r"(x) : "m"(*place))   reads it
    asm("incl (%0)" : : "r"(p))                  may do both to what p points to

A text is taken to be atomic if it has a `lock` prefix or an `xchg`, which locks by itself. An empty
text only keeps the compiler from moving code. What a text does beyond its operands is an
assumption that the engines name.
"""

from __future__ import annotations

import re

from raceproof.concurrency.effects import MemoryEffect
from raceproof.ir import Assembly, Layout, PointerType, Type, Value

_ATOMIC = re.compile(r"\block\b|\bxchg")
_FENCE = r"(?:[mls]fence|nop|pause|rep;? *nop|yield|isb(?: sy)?|d[ms]b(?: [a-z]+)?|hint #\d+)"
FENCES = re.compile(rf"{_FENCE}(?:\s*[;\n]\s*{_FENCE})*\s*;?")
"""Texts that change nothing but the order of accesses."""
_NUMBERS = ("i", "n", "s")
"""Constraints of operands that are known when the code is assembled."""


def assembly_effects(assembly: Assembly, layout: Layout) -> tuple[MemoryEffect, ...]:
    if not assembly.text.strip():
        return ()
    is_atomic = _ATOMIC.search(assembly.text) is not None
    if not assembly.constraints:
        return tuple(
            MemoryEffect(argument, None, True, True, is_atomic)
            for argument in assembly.arguments
            if isinstance(argument.type, PointerType)
        )
    found: dict[Value, MemoryEffect] = {}
    for argument, constraint, type_ in _operands(assembly):
        if not isinstance(argument.type, PointerType):
            continue
        if "*" in constraint:
            size = None if type_ is None else layout.size(type_)
            is_output = constraint.startswith("=")
            effect = MemoryEffect(argument, size, not is_output, is_output, is_atomic)
        elif constraint not in _NUMBERS:
            effect = MemoryEffect(argument, None, True, True, is_atomic)
        else:
            continue
        found[argument] = _both(found.get(argument), effect)
    return tuple(found.values())


def may_order_threads(assembly: Assembly, layout: Layout) -> bool:
    """Whether it may be a lock, or part of one: more than a fence and plain accesses."""
    if not assembly.text.strip() or FENCES.fullmatch(assembly.text.strip()):
        return False
    effects = assembly_effects(assembly, layout)
    return assembly.clobbers_memory or any(e.is_atomic or e.size is None for e in effects)


def _both(old: MemoryEffect | None, new: MemoryEffect) -> MemoryEffect:
    """`+m` comes as an output and an input with the same address."""
    if old is None:
        return new
    return MemoryEffect(
        new.pointer,
        new.size if new.size == old.size else None,
        old.is_read or new.is_read,
        old.is_write or new.is_write,
        new.is_atomic,
    )


def _operands(assembly: Assembly) -> list[tuple[Value, str, Type | None]]:
    """Each argument with its constraint, and for a place in memory the type of what is there."""
    found: list[tuple[Value, str, Type | None]] = []
    places = dict(assembly.places)
    index = 0
    for constraint in assembly.constraints.split(","):
        is_result = constraint.startswith("=") and "*" not in constraint
        if constraint.startswith(("~", "!")) or is_result:
            continue
        if index < len(assembly.arguments):
            found.append((assembly.arguments[index], constraint, places.get(index)))
            index += 1
    return found
