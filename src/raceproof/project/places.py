"""Where findings are: the functions they speak of, and their files as seen from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
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
    return cast(Value, _relocated(value, rename))


def _relocated(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, Position):
        return replace(value, file=rename(value.file))
    if isinstance(value, tuple):
        return tuple(_relocated(item, rename) for item in value)
    if isinstance(value, Enum) or not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {f.name: _relocated(getattr(value, f.name), rename) for f in fields(value)}
    return replace(value, **changed)
