"""Verdicts as plain data, for the memory on disk: no pickles, only the words of `verdict`."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
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


def encode(value: Any) -> Any:
    """Dataclasses to `(name, *fields)`, enumerations to `(name, value)`; tuples stay lists."""
    if isinstance(value, Enum):
        return (type(value).__name__, value.value)
    if is_dataclass(value):
        return (type(value).__name__, *(encode(getattr(value, f.name)) for f in fields(value)))
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    return value


def decode(data: Any) -> Any:
    """The other way round; raises KeyError or TypeError for what `encode` did not write."""
    if isinstance(data, tuple):
        return _KINDS[data[0]](*(decode(item) for item in data[1:]))
    if isinstance(data, list):
        return tuple(decode(item) for item in data)
    return data
