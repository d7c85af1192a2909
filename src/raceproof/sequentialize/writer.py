"""The text of one thread function: lines, labels, numbered visible statements.

Visible statements are numbered in the order of the text, and all jumps but those of loops without
visible statements lead forward. So a thread that resumes at statement n gets there by hopping from
one number to the next (`if (pc > 6) goto v7;`), as in Lazy-CSeq.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raceproof.errors import UserError
from raceproof.ir import Position
from raceproof.sequentialize.c_text import comment, quoted

END = "end"


@dataclass(frozen=True, slots=True)
class Touched:
    """Bytes that a visible statement touches: C texts of address and size, and the kind."""

    start: str
    size: str
    kind: str
    is_shared: str = ""
    """A condition under which others can see it; by default what the shadow memory says."""

    @property
    def condition(self) -> str:
        return self.is_shared or f"shared({self.start})"


class CWriter:
    """Collects the lines of a thread function."""

    def __init__(self, most_lines: int) -> None:
        self._lines: list[tuple[str, str]] = []
        """(kind, text); `label`, `goto`, `visible`, `place` (a comment) or `text`."""
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}
        self._position: Position | None = None
        self._most_lines = most_lines
        self.labels = 0
        """Visible statements so far."""
        self.fields: dict[str, str] = {}
        """The thread's own variables: name and C type."""

    def line(self, text: str) -> None:
        self._lines.append(("text", text))
        if len(self._lines) > self._most_lines:
            raise UserError(
                f"the printed program would have more than {self._most_lines} statements; "
                "lower --unwind"
            )

    def at(self, position: Position | None) -> None:
        """What follows comes from this place in the source."""
        if position is None or not position.line:
            return
        if self._position is None or str(position) != str(self._position):
            if self._lines and self._lines[-1][0] == "place":
                self._lines.pop()
            self._lines.append(("place", comment(str(position))))
        self._position = position

    @property
    def place(self) -> str:
        return str(self._position) if self._position is not None else "an unknown place"

    def fresh(self, prefix: str) -> str:
        """A label that is not used yet."""
        count = self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}{count}"

    def label(self, name: str) -> None:
        self._lines.append(("label", name))

    def goto(self, name: str) -> None:
        self._lines.append(("goto", name))

    def jump(self, name: str) -> str:
        """A `goto` to stand inside another statement."""
        self._used.add(name)
        return f"goto {name};"

    def field(self, name: str, type_: str) -> str:
        """A variable that the thread keeps between its contexts."""
        self.fields[name] = type_
        return f"l->{name}"

    def visible(self, touched: Sequence[Touched], *, is_sync: bool, enabled: str = "") -> None:
        """Begin a visible statement; with `enabled` it waits until that holds."""
        self.labels += 1
        number = self.labels
        self._lines.append(("visible", str(number)))
        conditions = list(dict.fromkeys(t.condition for t in touched))
        condition = "1" if is_sync or "1" in conditions else " || ".join(conditions)
        said = [
            f"announce(t, {t.start}, {t.size}, {t.kind}, {quoted(self.place)});" for t in touched
        ]
        if said:
            self.line(f"if (stop(t, {number}, {condition})) {{")
            for text in said:
                self.line(f"    {text}")
            self.line(f"    {self.jump(END)}")
            self.line("}")
        else:
            self.line(f"if (stop(t, {number}, {condition})) {self.jump(END)}")
        if enabled:
            self.line(f"if (!({enabled})) {{ blocked(t, {number}); {self.jump(END)} }}")

    def text(self) -> str:
        """The body of the function, without labels that are not needed."""
        lines = []
        skipped = {
            index
            for index, (kind, text) in enumerate(self._lines)
            if kind == "goto" and self._falls_through(index, text)
        }
        used = self._used | {
            text
            for index, (kind, text) in enumerate(self._lines)
            if kind == "goto" and index not in skipped
        }
        for index, (kind, text) in enumerate(self._lines):
            if kind == "visible":
                number = int(text)
                following = f"v{number + 1}" if number < self.labels else END
                lines.append(f"v{number}: if (pc > {number}) goto {following};")
            elif kind == "label":
                if text in used:
                    lines.append(f"{text}:;")
            elif kind == "goto":
                if index not in skipped:
                    lines.append(f"    goto {text};")
            else:
                lines.append(f"    {text}")
        return "\n".join(lines)

    def _falls_through(self, index: int, target: str) -> bool:
        for kind, text in self._lines[index + 1 : index + 8]:
            if kind != "label":
                return False
            if text == target:
                return True
        return False
