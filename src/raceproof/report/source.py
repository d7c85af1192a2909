"""The lines of the source that a position names, for excerpts; a missing file has none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.ir import Position

if TYPE_CHECKING:
    from raceproof.ir import Program


_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
_MOST_HEADERS = 50
_WORD = re.compile(r"\w+")
_ASSIGNING = frozenset("=+-*/%&|^<>")
"""What stands at the position of an assignment: `=`, `+=`, `++`, ..."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    number: int
    text: str
    is_marked: bool = False


class Sources:
    """Reads each file once. Relative names are looked up beside the program's files, too."""

    def __init__(self, program: Program) -> None:
        folders = [Path(), *(Path(file).parent for file in program.files)]
        self._folders = list(dict.fromkeys(folders))
        self._lines: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """All lines of the file, without their ends; none if it cannot be read."""
        if file not in self._lines:
            self._lines[file] = self._read(file)
        return self._lines[file]

    def _read(self, file: str) -> list[str]:
        for folder in self._folders:
            try:
                text = (folder / file).read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):
                continue
            return text.expandtabs(4).splitlines()
        return []

    def with_headers(self, files: Iterable[str]) -> list[str]:
        """The files, and the project's headers that they include by name."""
        found = dict.fromkeys(files)
        waiting = list(found)
        while waiting and len(found) < _MOST_HEADERS:
            file = waiting.pop()
            for line in self.lines(file):
                included = _INCLUDE.match(line)
                if included is None:
                    continue
                name = (Path(file).parent / included[1]).as_posix()
                if name not in found and self.lines(name):
                    found[name] = None
                    waiting.append(name)
        return list(found)

    def line(self, position: Position | None) -> str:
        """The text at a position, without indentation; empty if unknown."""
        if position is None:
            return ""
        lines = self.lines(position.file)
        return lines[position.line - 1].strip() if 0 < position.line <= len(lines) else ""

    def excerpt(self, position: Position | None, context: int) -> list[SourceLine]:
        """The line at the position with `context` lines before and after."""
        if position is None:
            return []
        lines = self.lines(position.file)
        if not 0 < position.line <= len(lines):
            return []
        first = max(1, position.line - context)
        last = min(len(lines), position.line + context)
        return [
            SourceLine(number, lines[number - 1].rstrip(), number == position.line)
            for number in range(first, last + 1)
        ]

    def caret(self, position: Position, expression: str = "") -> tuple[int, int]:
        """Start and width of what to underline in the position's line, from 0.

        The compiler's column may stand inside of the expression (`p->next` at `next`): the
        expression is searched in the line.
        """
        lines = self.lines(position.file)
        text = lines[position.line - 1] if 0 < position.line <= len(lines) else ""
        column = max(position.column - 1, 0)
        if not position.column:
            column = len(text) - len(text.lstrip())
        if expression:
            found = _nearest(text, expression, column)
            if found is not None:
                return found, len(expression)
        if text[column : column + 1] in _ASSIGNING:
            found = _before(text, column)
            if found is not None:
                return found, len(text[found:column].rstrip())
        word = _WORD.match(text, column)
        if word is None:
            return column, 1
        start = _before(text, word.end())
        start = column if start is None else start
        return start, word.end() - start


def _before(text: str, column: int) -> int | None:
    """Where the left side of an assignment starts whose sign is at the column: `p->next[i]`."""
    at = len(text[:column].rstrip())
    end = at
    while at > 0:
        before = text[at - 1]
        if before in "])":
            at = _opening(text, at - 1)
        elif before.isalnum() or before in "_.":
            at -= 1
        elif text[at - 2 : at] in ("->", "::"):
            at -= 2
        else:
            break
    while at > 0 and text[at - 1] == "*" and text[: at - 1].strip(" \t*(") == "":
        at -= 1
    return at if at < end else None


def _opening(text: str, closing: int) -> int:
    depth = 0
    for at in range(closing, -1, -1):
        depth += (text[at] in "])") - (text[at] in "[(")
        if depth == 0:
            return at
    return 0


def _nearest(text: str, expression: str, column: int) -> int | None:
    """Around the column, else the last one before it (a store's column is that of its `=`)."""
    before: int | None = None
    at = text.find(expression)
    while at >= 0:
        if at <= column < at + len(expression):
            return at
        if at > column:
            return at if before is None else before
        before = at
        at = text.find(expression, at + 1)
    return before
