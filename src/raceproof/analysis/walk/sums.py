"""Addresses as sums over the registers of one function: `&node->lock` is node + 8.

As in `symbols`, but without values: two addresses with the same root and the same indices differ
by their constants, whatever they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from raceproof.analysis.records import RelativeLock
from raceproof.analysis.walk.point import Beside, Sum
from raceproof.ir import Cast, Freeze, GlobalAddress, Instruction, Offset, Register, Value

Makers = dict[int, Instruction]


def sum_of(makers: Makers, value: Value, base_of: Callable[[Value], int | None]) -> Sum | None:
    """The address as a sum; None if it has no root. `base_of` numbers a global."""
    constant = 0
    terms: list[tuple[int, int]] = []
    while True:
        if isinstance(value, GlobalAddress):
            base = base_of(value)
            if base is None:
                return None
            return -1 - base, constant + value.offset, tuple(sorted(terms))
        if not isinstance(value, Register):
            return None
        maker = makers.get(value.index)
        match maker:
            case Offset():
                constant += maker.constant
                for index, scale in maker.terms:
                    register = _index(makers, index)
                    if register is None:
                        return None
                    terms.append((register, scale))
                value = maker.base
            case Cast(operation="bitcast" | "addrspacecast") | Freeze():
                value = maker.value
            case _:
                return value.index, constant, tuple(sorted(terms))


def root_of(makers: Makers, value: Value) -> int | None:
    """The register that an address is computed from."""
    while isinstance(value, Register):
        maker = makers.get(value.index)
        if isinstance(maker, Offset):
            value = maker.base
        elif isinstance(maker, Freeze) or (
            isinstance(maker, Cast) and maker.operation in ("bitcast", "addrspacecast")
        ):
            value = maker.value
        else:
            return value.index
    return None


def _index(makers: Makers, value: Value) -> int | None:
    """The register of an index without its extensions; its complement if it is zero-extended."""
    extensions: list[str] = []
    while isinstance(value, Register):
        maker = makers.get(value.index)
        if isinstance(maker, Cast) and maker.operation in ("sext", "zext"):
            extensions.append(maker.operation)
            value = maker.value
        elif "zext" not in extensions:
            return value.index
        else:
            return ~value.index if extensions[-1] == "zext" else None
    return None


def relative_locks(locks: Iterable[Beside], place: Sum | None) -> frozenset[RelativeLock]:
    """The locks whose place follows from the accessed address."""
    if place is None:
        return frozenset()
    root, constant, terms = place
    found: list[RelativeLock] = []
    for (other, at, indices), is_write in locks:
        if other == root and indices == terms:
            found.append(("beside", at - constant, is_write))
        elif other < 0 and root < 0 and len(indices) == 1 and len(terms) == 1:
            if indices[0][0] == terms[0][0]:
                scales = indices[0][1], terms[0][1]
                found.append(
                    (
                        "indexed",
                        -1 - other,
                        at,
                        scales[0],
                        -1 - root,
                        constant,
                        scales[1],
                        is_write,
                    )
                )
    return frozenset(found)


def into_callee(lock: Beside, argument: Sum, parameter: int) -> Beside | None:
    """A lock of the caller, told from a parameter that was given this argument."""
    (root, constant, terms), is_write = lock
    if root == argument[0] and terms == argument[2]:
        return Beside((parameter, constant - argument[1], ()), is_write)
    return None


def out_of_callee(lock: Beside, argument: Sum, parameter: int) -> Beside | None:
    """A lock of the callee, told from the argument that its parameter was given."""
    (root, constant, terms), is_write = lock
    if root == parameter and not terms:
        return Beside((argument[0], argument[1] + constant, argument[2]), is_write)
    return None
