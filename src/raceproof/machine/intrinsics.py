"""Pure operations of the compiler on the machine's values, some of which may be unknown."""

from __future__ import annotations

from typing import Any

from raceproof.machine.faults import Unsupported
from raceproof.machine.unknown import Unknown, unknown_from
from raceproof.semantics.concrete import MEANINGS, by_element
from raceproof.semantics.operations import OPERATIONS, Kind


def intrinsic(name: str, bits: int, target: int, *arguments: Any) -> Any:
    """Its value; `bits` is the width of the first argument, `target` that of the result."""
    meaning = MEANINGS.get(f"llvm.{name}")
    if meaning is None:
        raise Unsupported(f"the intrinsic {name}")
    if any(isinstance(argument, Unknown) for argument in arguments):
        found = unknown_from(*arguments)
        is_scalar = OPERATIONS[f"llvm.{name}"].result not in (Kind.PAIR, Kind.AGGREGATE)
        return found if is_scalar else (found, found)
    if any(isinstance(argument, tuple) for argument in arguments):
        return by_element(meaning, bits, target, arguments)
    return meaning(bits, target, *arguments)
