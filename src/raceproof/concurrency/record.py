"""Frozen records with keyword fields, like `dataclass(frozen=True, kw_only=True, eq=False)`.

A dataclass compiles its methods when it is defined; for the forty kinds of events that would take
longer than many an analysis. A record's methods are shared.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=True)
class Record:
    """Fields are the annotated names of the class and its bases; a class attribute is a default."""

    _fields: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if not name.startswith("_")]
        cls._fields = cls._fields.union(own)
        cls._required = frozenset(name for name in cls._fields if not hasattr(cls, name))

    def __init__(self, **values: Any) -> None:
        if not self._required <= values.keys() <= self._fields:
            missing = sorted(self._required - values.keys())
            unknown = sorted(values.keys() - self._fields)
            raise TypeError(f"{type(self).__name__}: missing {missing}, unknown {unknown}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({values})"
