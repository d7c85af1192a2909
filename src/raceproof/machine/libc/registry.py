"""Which functions of the C library we can compute.

A function is written once, over the machine's memory: `f(machine, *arguments)`. It looks at the
bytes that the real one has to look at and at no others, so that what it accesses need not be said
beside it (see `rehearsal`): `strcmp` stops at the first difference, `atoi` after the number.
It returns None where it cannot compute this call; then its model tells what it may do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

FUNCTIONS: dict[str, Callable[..., Any]] = {}
UNREHEARSED: set[str] = set()
"""Those whose accesses are said by their models only."""
INPUTS: set[str] = set()
"""Those that hand on what comes from outside."""
_F = TypeVar("_F", bound=Callable[..., Any])


def library(*names: str, is_rehearsed: bool = True, is_input: bool = False) -> Callable[[_F], _F]:
    """Registers what these functions compute: `f(machine, *arguments)`."""

    def register(function: _F) -> _F:
        for name in names:
            FUNCTIONS[name] = function
            if not is_rehearsed:
                UNREHEARSED.add(name)
            if is_input:
                INPUTS.add(name)
        return function

    return register
