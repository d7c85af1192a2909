"""Model files: reading them, and telling every mistake by file and line.

Built-in files are trusted (the tests read them all), so their functions are parsed when asked
for; a user's file is checked as a whole.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raceproof.concurrency.lines import TableLines, line_with, table_lines
from raceproof.concurrency.model import BytesSize, FunctionModel
from raceproof.concurrency.schema import ModelError, parse_function, unknown
from raceproof.errors import UserError

_PATTERN = re.compile(r"[*?\[]")
_TOML_POSITION = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(slots=True)
class ModelFile:
    """One file: its functions by name, parsed on demand."""

    path: Path
    is_users: bool
    text: str
    types: dict[str, BytesSize]
    tables: list[dict[str, Any]] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    """Name or pattern -> number of its table."""
    _parsed: dict[str, FunctionModel] = field(default_factory=dict)

    @property
    def patterns(self) -> list[str]:
        return [name for name in self.index if _PATTERN.search(name)]

    def names(self) -> Iterator[str]:
        return iter(self.index)

    def get(self, name: str) -> FunctionModel | None:
        """The model under exactly this name or pattern."""
        number = self.index.get(name)
        if number is None:
            return None
        if name not in self._parsed:
            try:
                self._parsed[name] = parse_function(
                    self.tables[number], name, self.types, is_users=self.is_users
                )
            except ModelError as error:
                raise self.error(str(error), number, error.key) from None
        return self._parsed[name]

    def error(self, message: str, number: int, key: str | None = None) -> UserError:
        """A mistake in the function table with this number, at `key` if given."""
        return self.error_at(self._function_lines(number).of(key), message)

    def error_at_name(self, message: str, number: int, name: str) -> UserError:
        """A mistake about one of the names of a function table."""
        return self.error_at(line_with(self.text, name, self._function_lines(number)), message)

    def error_at_key(self, message: str, key: str, table: str = "") -> UserError:
        """A mistake at a key of another table, or of the file."""
        tables = table_lines(self.text)
        lines = [t.of(key) for t in tables if t.name == table and key in t.keys]
        lines += [t.line for t in tables if t.name == key]
        return self.error_at(lines[0] if lines else 1, message)

    def error_at(self, line: int, message: str) -> UserError:
        return UserError(f"{self.path}:{line}: {message}")

    def _function_lines(self, number: int) -> TableLines:
        tables = table_lines(self.text)
        functions = [table for table in tables if table.name == "function"]
        if number < len(functions):
            return functions[number]
        return TableLines("function", tables[0].of("function"))


def read_model_file(
    path: Path, *, is_users: bool, types: Mapping[str, BytesSize] | None = None
) -> ModelFile:
    """Reads a model file; `types` are the sizes it may use besides its own."""
    text = _read(path)
    content = _parse_toml(path, text)
    file = ModelFile(path, is_users, text, dict(types or {}))
    for key in content:
        if key not in ("function", "types"):
            raise file.error_at_key(unknown("key", key, ("function", "types")), key)
    file.types.update(_types(file, content.get("types", {})))
    file.tables = _function_tables(file, content.get("function", []))
    for number, table in enumerate(file.tables):
        for name in _names(file, number, table):
            if name in file.index:
                raise file.error_at_name(f"'{name}' has a model already in this file", number, name)
            file.index[name] = number
    if is_users:
        for name in file.index:
            file.get(name)
    return file


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError(f"{path}:{line}: a model file must be UTF-8 text") from None
    except OSError as error:
        raise UserError(f"{path}: cannot read the model file: {error.strerror or error}") from None


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _TOML_POSITION.search(message)
        line = found[1] if found and found[1] else str(max(1, len(text.splitlines())))
        message = message[: found.start()] if found else message
        raise UserError(f"{path}:{line}: not valid TOML: {message}") from None


def _types(file: ModelFile, content: object) -> dict[str, BytesSize]:
    """`name = bytes` or `name = [bytes for ilp32, bytes for lp64]`."""
    if not isinstance(content, dict):
        raise file.error_at_key("'types' must be a table", "types")
    types = {}
    for name, value in content.items():
        sizes = value if isinstance(value, list) else [value, value]
        if len(sizes) != 2 or not all(type(size) is int and size > 0 for size in sizes):
            raise file.error_at_key(
                f"the size of '{name}' must be a number of bytes, or two: [for ilp32, for lp64]",
                name,
                "types",
            )
        types[name] = BytesSize(*sizes)
    return types


def _function_tables(file: ModelFile, content: object) -> list[dict[str, Any]]:
    if not isinstance(content, list) or not all(isinstance(table, dict) for table in content):
        raise file.error_at_key("functions are written as [[function]] tables", "function")
    return content


def _names(file: ModelFile, number: int, table: Mapping[str, Any]) -> list[str]:
    if ("name" in table) == ("names" in table):
        raise file.error("a function needs 'name' or 'names', and not both", number)
    if "name" in table:
        names, key, expected = [table["name"]], "name", "a text"
    else:
        names, key, expected = table["names"], "names", "a list of texts, not empty"
    is_list = isinstance(names, list) and names != []
    if not is_list or not all(isinstance(name, str) and name for name in names):
        raise file.error(f"'{key}' must be {expected}", number, key)
    return names
