"""One `[[function]]` table to one `FunctionModel`: which keys there are and what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from raceproof.concurrency import grammar
from raceproof.concurrency.model import (
    Argument,
    ArgumentCondition,
    AtomicOperationKind,
    BytesSize,
    CallbackModel,
    CallbackTime,
    CopyModel,
    ErrnoWhen,
    FunctionModel,
    KeepModel,
    LockKind,
    LockMode,
    RecursiveWhen,
    Role,
    SameIn,
    StoreModel,
    Success,
    Wait,
)
from raceproof.concurrency.roles import INDIRECT, NEVER_RETURNS, ROLES, RoleShape

T = TypeVar("T")
AnyEnum = TypeVar("AnyEnum", bound=Enum)
Types = Mapping[str, BytesSize]
Parse = Callable[[Any, Types], Any]


class ModelError(ValueError):
    """A mistake at a key of the table; None: in the table as a whole."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


def parse_function(
    table: Mapping[str, Any], name: str, types: Types, *, is_users: bool
) -> FunctionModel:
    """The model in a table, under one of the table's names."""
    known: dict[str, Any] = {"name": name, "override": is_users}
    operands: dict[str, Argument] = {}
    role, shape = None, None
    if "role" in table:
        role = _at("role", _enum, Role, table["role"])
        shape = ROLES[role]
        known["role"] = role
        known["no_return"] = role in NEVER_RETURNS
        if role is Role.UNLOCK:
            known["mode"] = LockMode.ANY
    for key, value in table.items():
        if key in ("name", "names", "role"):
            continue
        word = _field(key)
        if shape is not None and word in shape.operands:
            operands[word] = _at(key, grammar.operand, value, word in INDIRECT)
        elif key in _COMMON or (shape is not None and word in shape.settings):
            field, parse = _COMMON.get(key) or _SETTINGS[key]
            known[field] = _at(key, parse, value, types)
        else:
            raise ModelError(_misplaced(key, role, shape), key)
    if shape is not None:
        _check_complete(shape, known, operands)
    return FunctionModel(operands=operands, **known)


def unknown(what: str, given: object, allowed: tuple[str, ...] | list[str]) -> str:
    """Says that there is no such key or word, and what there is."""
    from difflib import get_close_matches

    close = get_close_matches(str(given), allowed, 1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"unknown {what} '{given}'; {hint}allowed: {', '.join(allowed)}"


def _at(key: str, parse: Callable[..., T], *arguments: Any) -> T:
    try:
        return parse(*arguments)
    except ValueError as error:
        raise ModelError(f"{key}: {error}", key) from None


def _check_complete(
    shape: RoleShape, known: Mapping[str, Any], operands: Mapping[str, Argument]
) -> None:
    given = {*known, *operands}
    if {"lock", "object"} <= given:
        raise ModelError("give either 'lock' or 'object', not both", "object")
    replaced = {"lock": "object", "semaphore": "is_result"}
    missing = [
        _key(name) for name in shape.needed if name not in given and replaced.get(name) not in given
    ]
    if missing:
        raise ModelError(f"role '{known['role']}' also needs: {', '.join(missing)}", "role")


def _misplaced(key: str, role: Role | None, shape: RoleShape | None) -> str:
    elsewhere = [r.value for r, s in ROLES.items() if _field(key) in s.keys]
    if elsewhere:
        mine = f"role '{role}'" if role else "a function without a role"
        return f"'{key}' does not go with {mine}, only with: {', '.join(elsewhere)}"
    own = map(_key, shape.keys) if shape else ()
    return unknown("key", key, ["name", "names", "role", *own, *_COMMON])


def _key(field: str) -> str:
    return field.replace("_", "-")


def _field(key: str) -> str:
    """The field that a key stands for; a key is written with hyphens only."""
    return "" if "_" in key else key.replace("-", "_")


# --- what the keys hold ------------------------------------------------------------


def _enum(enum: type[AnyEnum], value: object) -> AnyEnum:
    try:
        return enum(value)
    except ValueError:
        raise ValueError(
            unknown(_words(enum.__name__), value, [member.value for member in enum])
        ) from None


def _words(name: str) -> str:
    """`LockMode` -> `lock mode`."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def _choice(enum: type[Enum]) -> Parse:
    return lambda value, types: _enum(enum, value)


def _flag(value: Any, types: Types) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _count(value: Any, types: Types) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _text(value: Any, types: Types) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no text")
    return value


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{value!r} is no list of texts")
    return value


def _size(value: Any, types: Types) -> Any:
    if type(value) is int and value >= 0:
        return BytesSize(value, value)
    return grammar.size(_text(value, types), types)


def _effects(is_write: bool) -> Parse:
    return lambda value, types: tuple(
        grammar.effect(text, types, is_write=is_write) for text in _texts(value)
    )


def _range(value: Any, types: Types) -> tuple[int, int]:
    if (
        not isinstance(value, list)
        or [type(item) for item in value] != [int, int]
        or value[0] > value[1]
    ):
        raise ValueError(f"{value!r} is no range [least, greatest]")
    return value[0], value[1]


def _inline(value: Any, required: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Any]:
    """An inline table with these keys."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no table with the keys {', '.join(required + optional)}")
    for key in value:
        if key not in required + optional:
            raise ValueError(unknown("key", key, required + optional))
    for key in required:
        if key not in value:
            raise ValueError(f"'{key}' is missing")
    return value


def _recursive_when(value: Any, types: Types) -> RecursiveWhen:
    table = _inline(value, ("argument", "equals"), ("mask",))
    if not all(type(item) is int for item in table.values()):
        raise ValueError("'argument', 'equals' and 'mask' must be integers")
    return RecursiveWhen(grammar.index(table["argument"]), table["equals"], table.get("mask", -1))


def _tables(
    value: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is no list of tables")
    return [_inline(item, required, optional) for item in value]


def _stores(value: Any, types: Types) -> tuple[StoreModel, ...]:
    return tuple(
        StoreModel(grammar.operand(table["to"]).index, grammar.returns(table["value"]))
        for table in _tables(value, ("to", "value"))
    )


def _copies(value: Any, types: Types) -> tuple[CopyModel, ...]:
    return tuple(
        CopyModel(grammar.operand(table["to"]).index, grammar.operand(table["from"]).index)
        for table in _tables(value, ("to", "from"))
    )


def _callbacks(value: Any, types: Types) -> tuple[CallbackModel, ...]:
    found: list[CallbackModel] = []
    allowed = ("arguments", "time", "loop", "once", "after", "when")
    for table in _tables(value, ("function",), allowed):
        arguments = table.get("arguments", [])
        if not isinstance(arguments, list):
            raise ValueError(f"{arguments!r} is no list of arguments")
        time = _enum(CallbackTime, table.get("time", "now"))
        loop = _text(table["loop"], types) if "loop" in table else ""
        if (time is CallbackTime.LOOP) != bool(loop):
            raise ValueError(
                "'loop' names the loop of a callback with time \"loop\", and only that"
            )
        after = _flag(table.get("after", False), types)
        if after and not (found and found[-1].time.is_lowered and time.is_lowered):
            raise ValueError("'after' needs a callback before it; both with time loop or thread")
        found.append(
            CallbackModel(
                grammar.function_operand(table["function"], types),
                tuple(grammar.callback_argument(argument, types) for argument in arguments),
                time,
                loop,
                _flag(table.get("once", False), types),
                after,
                _when(table["when"], types) if "when" in table else None,
            )
        )
    return tuple(found)


def _when(value: Any, types: Types) -> ArgumentCondition:
    (table,) = _tables([value], ("argument", "equals"))
    wanted = table["equals"] if isinstance(table["equals"], list) else [table["equals"]]
    argument = grammar.function_operand(table["argument"], types)
    return ArgumentCondition(argument, tuple(_integer(one) for one in wanted))


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no integer")
    return value


def _loops(value: Any, types: Types) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{value!r} is no list of names of loops")
    return tuple(_text(one, types) for one in value)


def _name(value: Any, types: Types) -> str:
    """The name of what is kept; it becomes part of an identifier."""
    name = _text(value, types)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9 ]*", name):
        raise ValueError(f"{name!r} is no name; allowed: letters, digits and spaces")
    return name


def _keeps(value: Any, types: Types) -> tuple[KeepModel, ...]:
    return tuple(
        KeepModel(grammar.operand(table["argument"]).index, _name(table["as"], types))
        for table in _tables(value, ("argument", "as"))
    )


def _uses(value: Any, types: Types) -> tuple[str, ...]:
    return tuple(_name(text, types) for text in _texts(value))


_COMMON: dict[str, tuple[str, Parse]] = {
    "reads": ("reads", _effects(is_write=False)),
    "writes": ("writes", _effects(is_write=True)),
    "stores": ("stores", _stores),
    "copies": ("copies", _copies),
    "format": ("format", lambda value, types: grammar.format_string(_text(value, types))),
    "returns": ("returns", lambda value, types: grammar.returns(value)),
    "calls": ("callbacks", _callbacks),
    "runs": ("runs", _loops),
    "never-returns": ("no_return", _flag),
    "exits-if": ("exits_if", lambda value, types: grammar.operand(value).index),
    "returns-twice": ("returns_twice", _flag),
    "thread-safe": ("thread_safe", _flag),
    "hidden-object": ("hidden_object", _text),
    "opens-channel": ("opens_channel", _flag),
    "input": ("input", _flag),
    "same-in": ("same_in", _choice(SameIn)),
    "errno": ("errno", _choice(ErrnoWhen)),
    "keeps": ("keeps", _keeps),
    "uses": ("uses", _uses),
    "override": ("override", _flag),
    "caveat": ("caveat", _text),
    "not-followed": ("not_followed", _text),
}

_SETTINGS: dict[str, tuple[str, Parse]] = {
    "kind": ("kind", _choice(LockKind)),
    "mode": ("mode", _choice(LockMode)),
    "wait": ("wait", _choice(Wait)),
    "success": ("success", _choice(Success)),
    "operation": ("operation", _choice(AtomicOperationKind)),
    "recursive": ("recursive", _flag),
    "recursive-when": ("recursive_when", _recursive_when),
    "broadcast": ("broadcast", _flag),
    "zeroed": ("zeroed", _flag),
    "size": ("size", _size),
    "returns-new": ("returns_new", _flag),
    "returns-success": ("returns_success", _flag),
    "id-is-result": ("id_is_result", _flag),
    "is-result": ("is_result", _flag),
    "initial": ("initial", _count),
    "virtual-slot": ("virtual_slot", _count),
    "object": ("object", _text),
    "signed": ("signed", _flag),
    "range": ("range", _range),
}

COMMON_KEYS = tuple(_COMMON)
"""What every function may have, besides its name and role."""
