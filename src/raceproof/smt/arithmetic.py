"""What bit-vector operations do to numbers: unsigned in, and to be cut to the width after.

The operations are those of `semantics.integers` wherever these have a result. Formulas also need
one where they have none, and then it is the solver's: that of SMT-LIB's bit-vectors.
"""

from __future__ import annotations

from collections.abc import Callable

from raceproof.semantics.edges import Undefined
from raceproof.semantics.integers import BINARY, to_signed
from raceproof.semantics.integers import COMPARE as COMPARE

signed = to_signed

_ELSE: dict[str, Callable[[int, int, int], int]] = {
    "udiv": lambda a, b, w: (1 << w) - 1,
    "urem": lambda a, b, w: a,
    "sdiv": lambda a, b, w: (1 if signed(a, w) < 0 else -1) if b == 0 else a,
    "srem": lambda a, b, w: a if b == 0 else 0,
    "shl": lambda a, b, w: 0,
    "lshr": lambda a, b, w: 0,
    "ashr": lambda a, b, w: -1 if signed(a, w) < 0 else 0,
}
"""The solver's result where the program's operation is undefined."""


def _total(name: str) -> Callable[[int, int, int], int]:
    operation, otherwise = BINARY[name], _ELSE.get(name)
    if otherwise is None:
        return operation

    def fold(a: int, b: int, width: int) -> int:
        try:
            return operation(a, b, width)
        except Undefined:
            return otherwise(a, b, width)

    return fold


FOLD: dict[str, Callable[[int, int, int], int]] = {
    {"and": "bvand", "or": "bvor", "xor": "bvxor"}.get(name, name): _total(name) for name in BINARY
}
