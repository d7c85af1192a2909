"""Where the keys of a TOML text stand: `tomllib` keeps no lines, an error message needs them.

The text is known to be valid TOML, so it is enough to follow brackets and strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*[.=]""")
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'.*?\'{3,5}'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n',
    re.DOTALL,
)


@dataclass(slots=True)
class TableLines:
    """A table, the line of its header and the line of each key in it."""

    name: str
    line: int
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, key: str | None) -> int:
        return self.keys.get(key, self.line) if key is not None else self.line


def table_lines(text: str) -> list[TableLines]:
    """The tables of a valid TOML text in order; the first is the nameless one at the top."""
    tables = [TableLines("", 1)]
    start, line, depth = 0, 1, 0
    statement_line = 1
    for token in _TOKEN.finditer(text):
        character = token[0]
        if character == "\n":
            if depth == 0:
                _note(tables, text[start : token.start()], statement_line)
                start, statement_line = token.end(), line + 1
            line += 1
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        else:
            line += character.count("\n")
    _note(tables, text[start:], statement_line)
    return tables


def line_with(text: str, word: str, table: TableLines) -> int:
    """The first line at or after the table's header that quotes the word."""
    for number, line in enumerate(text.splitlines(), 1):
        if number >= table.line and (f'"{word}"' in line or f"'{word}'" in line):
            return number
    return table.line


def _note(tables: list[TableLines], statement: str, line: int) -> None:
    header = _HEADER.match(statement)
    if header is not None:
        tables.append(TableLines(header[2].strip("\"'"), line))
        return
    key = _KEY.match(statement)
    if key is not None:
        tables[-1].keys.setdefault(key[1].strip("\"'"), line)
