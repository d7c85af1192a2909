"""Frozen records with keyword fields, like `dataclass(frozen=True, kw_only=True, eq=False)`.

A dataclass compiles its methods when it is defined; for the forty kinds of events that would take
longer than many an analysis. A record's methods are shared.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=True)
class Record:
    """Fields are the annotated names of the class and its bases; a class attribute is a default."""

    field_names: ClassVar[tuple[str, ...]] = ()
    """In the order of their definition, those of the bases first."""
    _required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if not name.startswith("_")]
        cls.field_names = tuple(dict.fromkeys([*cls.field_names, *own]))
        cls._required = frozenset(name for name in cls.field_names if not hasattr(cls, name))

    def __init__(self, **values: Any) -> None:
        if not self._required <= values.keys() <= set(self.field_names):
            missing = sorted(self._required - values.keys())
            unknown = sorted(values.keys() - set(self.field_names))
            raise TypeError(f"{type(self).__name__}: missing {missing}, unknown {unknown}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({values})"
