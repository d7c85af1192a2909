"""Verdicts as plain data, for the memory on disk: no pickles, only the words of `verdict`."""

from __future__ import annotations

from enum import Enum
from typing import Any

from raceproof import verdict as words
from raceproof.ir import Position

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Position,
        words.Access,
        words.BaseKind,
        words.Confidence,
        words.EngineRun,
        words.Finding,
        words.HeldLock,
        words.Location,
        words.LockMode,
        words.Outcome,
        words.Protection,
        words.Site,
        words.Thread,
        words.Verdict,
    )
}


_TUPLE = "()"
Data = tuple[list[list[Any]], Any]
"""A table of objects, and the whole in terms of them."""


def encode(value: Any) -> Data:
    """Objects and tuples become rows `[kind, *parts]` of a table, each once; `(row,)` means one.

    Findings share threads, calls and positions: written out each time they would be ten times as
    much.
    """
    table: list[list[Any]] = []
    rows: dict[Any, int] = {}
    seen: dict[int, tuple[Any, Any]] = {}

    def row(kind: str, parts: list[Any]) -> tuple[int]:
        key = (kind, *parts)
        found = rows.get(key)
        if found is None:
            found = rows[key] = len(table)
            table.append([kind, *parts])
        return (found,)

    def convert(one: Any) -> Any:
        if one is None or isinstance(one, str | float | bool) or type(one) is int:
            return one
        known = seen.get(id(one))
        if known is not None:
            return known[1]
        if isinstance(one, Enum):
            found: Any = row(type(one).__name__, [one.value])
        elif isinstance(one, tuple):
            found = row(_TUPLE, [convert(item) for item in one])
        else:
            parts = [convert(getattr(one, name)) for name in one.__match_args__]
            found = row(type(one).__name__, parts)
        seen[id(one)] = (one, found)
        return found

    whole = convert(value)
    return table, whole


def decode(data: Data) -> Any:
    """The other way round; raises KeyError or TypeError for what `encode` did not write."""
    table, whole = data
    objects: list[Any] = []

    def restore(one: Any) -> Any:
        return objects[one[0]] if type(one) is tuple else one

    for name, *parts in table:
        restored = [restore(part) for part in parts]
        objects.append(tuple(restored) if name == _TUPLE else _KINDS[name](*restored))
    return restore(whole)
