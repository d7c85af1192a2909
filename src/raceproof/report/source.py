"""The lines of the source that a position names, for excerpts; a missing file has none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.ir import Position

if TYPE_CHECKING:
    from raceproof.ir import Program


@dataclass(frozen=True, slots=True)
class Line:
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

    def line(self, position: Position | None) -> str:
        """The text at a position, without indentation; empty if unknown."""
        if position is None:
            return ""
        lines = self.lines(position.file)
        return lines[position.line - 1].strip() if 0 < position.line <= len(lines) else ""

    def excerpt(self, position: Position | None, context: int) -> list[Line]:
        """The line at the position with `context` lines before and after."""
        if position is None:
            return []
        lines = self.lines(position.file)
        if not 0 < position.line <= len(lines):
            return []
        first = max(1, position.line - context)
        last = min(len(lines), position.line + context)
        return [
            Line(number, lines[number - 1].rstrip(), number == position.line)
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
        width = 0
        while column + width < len(text) and (text[column + width].isalnum() or width == 0):
            width += 1
        return column, max(width, 1)


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
