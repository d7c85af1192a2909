"""Which memory a branch looks at.

    while (!atomic_load(&ready)) ;      tests `ready`, and nothing else: it waits
    if (compare_and_swap(&owner, ...))  tests `owner`
    if (try_lock(&l))                   tests what the result of the call depends on

Whoever sets such a flag decides whether the code behind the test runs: synchronisation by hand.
The race check takes it for a doubt (`reasons.nobody_waits`).
"""

from __future__ import annotations

from collections.abc import Mapping

from raceproof.engines.summary.terms import Term, Terms, is_pointer_like
from raceproof.engines.summary.valuation import Valuation
from raceproof.ir import (
    AtomicUpdate,
    Binary,
    Branch,
    Call,
    Cast,
    Compare,
    CompareExchange,
    ExtractField,
    Freeze,
    Function,
    Instruction,
    Load,
    Phi,
    Register,
    Select,
    Value,
)

MAX_TESTED = 4
_MAX_VISITS = 30

Tested = tuple[Terms, bool]
"""Addresses (or results of calls), and whether nothing that a loop changes is tested, too."""


def tested(
    value: Value | None, definitions: Mapping[int, Instruction], values: Valuation
) -> Tested:
    """The memory that a value was read from, followed through computations."""
    found: dict[Term, None] = {}
    is_pure = True
    stack = [value]
    seen: set[int] = set()
    while stack and len(seen) < _MAX_VISITS:
        current = stack.pop()
        if not isinstance(current, Register) or current.index in seen:
            continue
        seen.add(current.index)
        match definitions.get(current.index):
            case Load(pointer=pointer) | AtomicUpdate(pointer=pointer):
                found.update(dict.fromkeys(values.terms(pointer)))
            case CompareExchange(pointer=pointer):
                found.update(dict.fromkeys(values.terms(pointer)))
            case Call() as call:
                found[("y", values.name, values.numbering.of(call)), 0, 0, ()] = None
            case Compare(left=left, right=right) | Binary(left=left, right=right):
                stack += [left, right]
            case Cast(value=inner) | Freeze(value=inner):
                stack.append(inner)
            case ExtractField(aggregate=inner):
                stack.append(inner)
            case Select(condition=condition, if_true=if_true, if_false=if_false):
                stack += [condition, if_true, if_false]
            case Phi() as phi:
                is_pure = False
                stack += [incoming for _, incoming in phi.incoming]
                stack += _ways(phi, values.function)
    addresses = tuple(term for term in found if is_pointer_like(term))
    return addresses[:MAX_TESTED], is_pure


def _ways(phi: Phi, function: Function) -> list[Value]:
    """The conditions that decide by which way a phi is reached, as far as they are near."""
    sources = {source for source, _ in phi.incoming}
    near = [
        block.terminator
        for block in function.blocks
        if block.index in sources or sources & set(block.terminator.targets)
    ]
    return [end.condition for end in near if isinstance(end, Branch)]
