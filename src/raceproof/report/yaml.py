"""Enough of YAML to write witnesses: mappings, lists and scalars; strings always in quotes."""

from __future__ import annotations

import json
from typing import Any


def dump(value: Any, indent: int = 0) -> str:
    """The value in block style, ending in a newline."""
    blank = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{blank}{key}:{_after(entry, indent)}" for key, entry in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{blank}-{_item(entry, indent)}" for entry in value)
    return f"{blank}{_scalar(value)}\n"


def _after(value: Any, indent: int) -> str:
    if isinstance(value, dict | list) and value:
        return "\n" + dump(value, indent + 1)
    return f" {_scalar(value)}\n"


def _item(value: Any, indent: int) -> str:
    if isinstance(value, dict | list) and value:
        return " " + dump(value, indent + 1).lstrip(" ")
    return f" {_scalar(value)}\n"


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
