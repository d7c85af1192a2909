"""Settings from a file: ``raceproof.toml``, or ``[tool.raceproof]`` in ``pyproject.toml``.

The file is looked for in the working directory and the folders above it. A key is the name of a
field of :class:`~raceproof.options.Options`, with dashes; paths are relative to the file. What the
command line says wins; lists (header folders, macros, models) are added up.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from raceproof.errors import UserError
from raceproof.options import Options

FILE = "raceproof.toml"
_NOT_SET_HERE = {
    "verbosity",
    "output",
    "also",
    "stop_at_first",
    "cross_check",
    "explain_pipeline",
    "changed_since",
    "no_cache",
    "refine",
    "write_baseline",
}
"""What is said for one run only."""


def configurable() -> dict[str, Any]:
    """Key in the file -> type of its value."""
    hints = get_type_hints(Options)
    return {
        field.name.replace("_", "-"): hints[field.name]
        for field in fields(Options)
        if field.name not in _NOT_SET_HERE
    }


def find_file(start: Path) -> Path | None:
    """The nearest configuration file, in `start` or above."""
    for folder in (start, *start.parents):
        own = folder / FILE
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and "[tool.raceproof" in project.read_text("utf-8", "replace"):
            return project
    return None


def read_file(path: Path) -> dict[str, Any]:
    """The options that the file sets, by field name."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid TOML: {error}") from error
    if path.name == "pyproject.toml":
        table = table.get("tool", {}).get("raceproof", {})
    known = configurable()
    found: dict[str, Any] = {}
    for key, value in table.items():
        where = f"{path}:{_line(text, key)}"
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"{where}: unknown setting {key!r}{hint}")
        found[key.replace("-", "_")] = _convert(value, known[key], path.parent, where, key)
    return found


def _line(text: str, key: str) -> int:
    for number, line in enumerate(text.splitlines(), 1):
        name = line.split("=", 1)[0].strip().strip("[]\"' ")
        if name == key:
            return number
    return 1


def _convert(value: Any, kind: Any, folder: Path, where: str, key: str) -> Any:
    """The value as the field wants it."""
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise UserError(f"{where}: {key!r} must be a list, as {key} = [...]")
        item = get_args(kind)[0]
        return tuple(_convert(one, item, folder, where, key) for one in value)
    if is_dataclass(kind):
        return _convert_table(value, kind, folder, where, key)
    if kind is Path and isinstance(value, str):
        return folder / value
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if value not in list(kind):
            raise UserError(f"{where}: {key!r} must be one of {', '.join(kind)}")
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if kind in (str, int, float, bool) and type(value) is kind:
        return value
    raise UserError(f"{where}: {key!r} must be {_NOUNS.get(kind, 'a text')}")


def _convert_table(value: Any, kind: Any, folder: Path, where: str, key: str) -> Any:
    """A table, as `{ location = "stats.*", reason = "counters" }`."""
    hints = get_type_hints(kind)
    names = ", ".join(hints)
    if not isinstance(value, dict):
        raise UserError(f"{where}: {key!r} must be a list of tables with {names}")
    for name in value:
        if name not in hints:
            raise UserError(f"{where}: unknown key {name!r} in {key!r} (known: {names})")
    converted = {n: _convert(v, hints[n], folder, where, f"{key}.{n}") for n, v in value.items()}
    return kind(**converted)


_NOUNS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
