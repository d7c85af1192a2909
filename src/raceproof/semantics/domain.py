"""What an executor leaves out of the table of operations.

Each has a list `OMITTED` beside its entries, from the name of an operation to what it gives in its
place. Everything else in the table it computes. The conformance test runs all of them and compares
what they do with their lists, so that nothing is silently left out.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from raceproof.semantics.operations import OPERATIONS


class Omission(Enum):
    ANY = "any value of the type"
    UNSUPPORTED = "the execution is given up"


OPEN: Final[dict[str, Omission]] = {
    name: Omission.ANY
    for name, operation in OPERATIONS.items()
    if not operation.is_fixed and not name.startswith("vector ")
}
"""Operations whose result their operands do not fix: no proof may rest on one result."""


def omitted(names: str, what: Omission = Omission.ANY) -> dict[str, Omission]:
    """A list, from names that are separated by commas."""
    found = [name.strip() for name in names.split(",")]
    unknown = [name for name in found if name not in OPERATIONS]
    if unknown:
        raise ValueError(f"no operations: {', '.join(unknown)}")
    return dict.fromkeys(found, what)
