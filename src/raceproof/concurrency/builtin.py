"""The model files that come with raceproof.

They hold thousands of functions of which a program calls a few dozen, so a function is searched for
in the text and only its table is parsed. In these files every table starts with `[[function]]` at
the start of a line; the tests read them as a whole and compare.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from raceproof.concurrency.files import ModelFile, read_model_file
from raceproof.concurrency.model import BytesSize, FunctionModel
from raceproof.concurrency.schema import parse_function

_FOLDER = Path(__file__).parent / "models"
_TYPES = _FOLDER / "types.toml"
_RESULTS = _FOLDER / "results.toml"
_HEADER = "[[function]]\n"
_RESULT = "[[result]]\n"
_PATTERN = re.compile(r'"(\w[\w\[\]?*]*[?*\[][\w\[\]?*]*)"')


class BuiltInFile:
    """One of our files, by the text."""

    __slots__ = ("path", "text")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @property
    def patterns(self) -> list[str]:
        return _PATTERN.findall(self.text)

    def get(self, name: str) -> FunctionModel | None:
        """The model under exactly this name or pattern."""
        quoted = f'"{name}"'
        at = self.text.find(quoted)
        while at >= 0:
            table = self._table_around(at)
            if name == table.get("name") or name in table.get("names", ()):
                table = {**table, **_result(name)}
                return parse_function(table, name, built_in_types(), is_users=False)
            at = self.text.find(quoted, at + len(quoted))
        return None

    def _table_around(self, at: int) -> dict[str, Any]:
        start = self.text.rfind(_HEADER, 0, at)
        end = self.text.find("\n" + _HEADER, at)
        text = self.text[start + len(_HEADER) : end if end >= 0 else None]
        return tomllib.loads(text) if start >= 0 else {}


@cache
def built_in_files() -> tuple[BuiltInFile, ...]:
    paths = [path for path in sorted(_FOLDER.glob("*.toml")) if path not in (_TYPES, _RESULTS)]
    return tuple(BuiltInFile(path) for path in paths)


@cache
def built_in_types() -> dict[str, BytesSize]:
    """The sizes of C's types."""
    return read_model_file(_TYPES, is_users=False).types


@cache
def _results_text() -> str:
    return _RESULTS.read_text(encoding="utf-8")


@cache
def _results() -> dict[str, dict[str, Any]]:
    """All of them by name."""
    tables = tomllib.loads(_results_text())["result"]
    return {
        name: {key: value for key, value in table.items() if key != "names"}
        for table in tables
        for name in table["names"]
    }


def _result(name: str) -> dict[str, Any]:
    """What a function of the environment gives: more keys for its table. As for the functions,
    only the tables that speak of it are parsed."""
    text = _results_text()
    quoted = f'"{name}"'
    found: dict[str, Any] = {}
    at = text.find(quoted)
    while at >= 0:
        end = text.find("\n" + _RESULT, at)
        end = end if end >= 0 else len(text)
        table = tomllib.loads(text[text.rfind(_RESULT, 0, at) + len(_RESULT) : end])
        if name in table["names"]:
            found = {key: value for key, value in table.items() if key != "names"}
        at = text.find(quoted, end)
    return found


def result_names() -> list[str]:
    """The functions of which the results are described."""
    return sorted(_results())


def read_whole(file: BuiltInFile) -> ModelFile:
    """The same file as a user's would be read."""
    whole = read_model_file(file.path, is_users=False, types=built_in_types())
    for name, number in whole.index.items():
        if name in _results():
            whole.index[name] = len(whole.tables)
            whole.tables.append({**whole.tables[number], **_results()[name]})
    return whole
