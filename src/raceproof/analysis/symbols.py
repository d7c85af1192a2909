"""Addresses as sums over registers: `&node->lock` is (node, +8), `&m[i]` is (m, 0, i * 24).

Two registers with the same symbol hold the same address, whatever it is. That is how a lock beside
the accessed element is recognised when it is unknown which element it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.analysis.locks import Symbol
from raceproof.analysis.names import Token
from raceproof.analysis.records import RelativeLock
from raceproof.analysis.state import ThreadState
from raceproof.domains.values import AbstractValue
from raceproof.ir import Cast, Freeze, GlobalAddress, Offset, Register, Value

if TYPE_CHECKING:
    from raceproof.analysis.interpreter import Activation, Interpreter


def symbol_of(
    run: Interpreter, act: Activation, value: Value, state: ThreadState | None = None
) -> Symbol | None:
    """The address as a sum; None if it is a plain constant without a base.

    With a state, an array in a single object has this object as root, however its address was come
    by: `locks[i]` and `locks[i]` again, through a pointer that was loaded twice.
    """
    constant = 0
    terms: list[tuple[Token, int]] = []
    while True:
        if isinstance(value, GlobalAddress):
            address = run.evaluator.scalar(value).only_address
            if address is None:
                return None
            return Symbol(address[0], constant + address[1], _sorted(terms))
        if not isinstance(value, Register):
            return None
        definition = act.flow.definitions.get(value.index)
        match definition:
            case Offset():
                constant += definition.constant
                for index, scale in definition.terms:
                    token = _index_token(act, index)
                    if token is None:
                        return None
                    terms.append((token, scale))
                value = definition.base
                continue
            case Cast(operation="bitcast" | "addrspacecast") | Freeze():
                value = definition.value
                continue
        known = act.symbols.get(value.index)
        if terms and state is not None:
            place = _single_place(run, act, state, value)
            if place is not None:
                return Symbol(place[0], place[1] + constant, _sorted(terms))
        if known is not None:
            return Symbol(known.root, known.constant + constant, _sorted([*known.terms, *terms]))
        return Symbol(act.token(value.index), constant, _sorted(terms))


def _single_place(
    run: Interpreter, act: Activation, state: ThreadState, value: Value
) -> tuple[int, int] | None:
    """The exact address in a single object."""
    content = run.value(act, state, value)
    place = content.only_address if isinstance(content, AbstractValue) else None
    return None if place is None or run.analysis.objects.is_weak(place[0]) else place


def _sorted(terms: list[tuple[Token, int]]) -> tuple[tuple[Token, int], ...]:
    return tuple(sorted(terms)) if len(terms) > 1 else tuple(terms)


def _index_token(act: Activation, value: Value) -> Token | None:
    """An index without its extensions to the width of addresses. What the extension makes of a
    negative number counts: the token of a zero-extended register has another name."""
    extensions: list[str] = []
    while isinstance(value, Register):
        definition = act.flow.definitions.get(value.index)
        if isinstance(definition, Cast) and definition.operation in ("sext", "zext"):
            extensions.append(definition.operation)
            value = definition.value
            continue
        token = act.token(value.index)
        known = act.symbols.get(value.index)
        if known is not None:
            if known.constant or known.terms or isinstance(known.root, int):
                return None
            token = known.root
        if "zext" not in extensions:
            return token
        return token.zero_extended() if extensions[-1] == "zext" else None
    return None


def relative_locks(state: ThreadState, symbol: Symbol | None) -> frozenset[RelativeLock]:
    """The symbolically held locks whose place follows from the accessed address."""
    if not state.facets.symbolic_locks or symbol is None:
        return frozenset()
    found: list[RelativeLock] = []
    for lock in state.facets.symbolic_locks:
        other = lock.symbol
        if other.root == symbol.root and other.terms == symbol.terms:
            found.append(("beside", other.constant - symbol.constant, lock.is_write))
        elif (
            isinstance(other.root, int)
            and isinstance(symbol.root, int)
            and len(other.terms) == 1
            and len(symbol.terms) == 1
            and other.terms[0][0] == symbol.terms[0][0]
        ):
            found.append(
                (
                    "indexed",
                    other.root,
                    other.constant,
                    other.terms[0][1],
                    symbol.root,
                    symbol.constant,
                    symbol.terms[0][1],
                    lock.is_write,
                )
            )
    return frozenset(found)
