"""Where findings are: the functions they speak of, and their files as seen from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, TypeVar, cast

from raceproof.ir import Position
from raceproof.verdict import Finding

Value = TypeVar("Value")


def places_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """File and function of the accesses, of the calls to them, of the creation of their threads."""
    for access in finding.accesses:
        if access.position is not None:
            yield access.position.file, access.function
        for site in (*access.calls, *access.thread.chain):
            if site.position is not None:
                yield site.position.file, site.function


def relocated(value: Value, rename: Callable[[str], str]) -> Value:
    """The same verdict (or part of one) with its files renamed."""
    seen: dict[int, tuple[Any, Any]] = {}

    def convert(one: Any) -> Any:
        if one is None or isinstance(one, str | int | float | Enum):
            return one
        known = seen.get(id(one))
        if known is not None:
            return known[1]
        if isinstance(one, Position):
            found: Any = Position(rename(one.file), one.line, one.column)
        elif isinstance(one, tuple):
            found = tuple([convert(item) for item in one])
        else:
            found = type(one)(*[convert(getattr(one, name)) for name in one.__match_args__])
        seen[id(one)] = (one, found)
        return found

    return cast(Value, convert(value))
