"""The source inside of the HTML page, so that steps and accesses can lead to their lines."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from raceproof.ir import Position
from raceproof.ir.names import is_of_library
from raceproof.report.highlight import highlighted
from raceproof.report.paths import shown
from raceproof.report.source import SourceLine, Sources

_WHOLE = 400
"""Lines of a file that is shown as a whole."""
_CONTEXT = 15


@dataclass(frozen=True, slots=True)
class ListedLine:
    number: int
    code: Markup
    is_linked: bool
    is_after_gap: bool


@dataclass(frozen=True, slots=True)
class Listing:
    number: int
    file: str
    lines: list[ListedLine]


class Links:
    """Collects the lines that the page speaks of. Of the project's own files only."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._lines: dict[str, set[int]] = {}
        self._numbers: dict[str, int] = {}

    def add(self, position: Position | None) -> None:
        if position is None or is_of_library(position):
            return
        if 0 < position.line <= len(self._sources.lines(position.file)):
            self._numbers.setdefault(position.file, len(self._numbers) + 1)
            self._lines.setdefault(position.file, set()).add(position.line)

    def link(self, position: Position | None) -> str:
        self.add(position)
        return "" if position is None else self.link_line(position.file, str(position.line))

    def link_line(self, file: str, line: str) -> str:
        """`#s1-50`; empty if the page does not have the line."""
        if line.isdigit() and int(line) in self._lines.get(file, ()):
            return f"#s{self._numbers[file]}-{line}"
        return ""

    def listings(self) -> list[Listing]:
        return [
            Listing(number, shown(file), self._listed(file))
            for file, number in self._numbers.items()
        ]

    def _listed(self, file: str) -> list[ListedLine]:
        lines, linked = self._sources.lines(file), self._lines[file]
        wanted = range(1, len(lines) + 1)
        if len(lines) > _WHOLE:
            near = {n + d for n in linked for d in range(-_CONTEXT, _CONTEXT + 1)}
            numbers = sorted(number for number in near if 1 <= number <= len(lines))
        else:
            numbers = list(wanted)
        code = highlighted([SourceLine(number, lines[number - 1].rstrip()) for number in numbers])
        return [
            ListedLine(number, text, number in linked, at > 0 and numbers[at - 1] != number - 1)
            for at, (number, text) in enumerate(zip(numbers, code, strict=True))
        ]
