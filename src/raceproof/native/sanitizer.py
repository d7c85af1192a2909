"""What ThreadSanitizer prints, read back, and held against our findings."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from raceproof.ir import Position
from raceproof.verdict import Access, Finding, Location

_START = "WARNING: ThreadSanitizer: "
_RULER = "=================="
_ACCESS = re.compile(
    r"^  (?:Previous )?(?P<atomic>[Aa]tomic )?(?P<kind>[Rr]ead|[Ww]rite) of size \d+"
    r" at 0x(?P<address>[0-9a-f]+)",
    re.M,
)
_FRAME = re.compile(
    r"^    #\d+ (?P<function>.+?) (?P<file>/?[^\s:][^:\n]*):(?P<line>\d+)(?::(?P<column>\d+))? \(",
    re.M,
)
_LOCATION = re.compile(
    r"^  Location is global '(?P<name>[^']*)' of size \d+ at 0x(?P<base>[0-9a-f]+)", re.M
)
_FREE = re.compile(r"^    #0 (?:free|realloc|reallocarray|operator delete)", re.M)
_RUNTIME = re.compile(r"/(?:lib)?tsan/|/libsanitizer/|sanitizer_common|/raceproof/native/")


@dataclass(frozen=True, slots=True)
class Frame:
    function: str
    file: str
    line: int
    column: int
    """0: not known."""


@dataclass(frozen=True, slots=True)
class SeenAccess:
    is_write: bool
    frames: tuple[Frame, ...]
    """The innermost of the program first; those of the sanitizer itself are left out."""
    address: int = 0
    is_free: bool = False
    """The end of the whole block: of its uses only one is reported."""


@dataclass(frozen=True, slots=True)
class SeenRace:
    """One report: the two accesses, as far as it has them."""

    kind: str
    accesses: tuple[SeenAccess, ...]
    variable: str
    base: int
    """Where the variable starts."""
    text: str

    @property
    def places(self) -> tuple[str, ...]:
        """`file:line` of each access."""
        tops = [access.frames[0] for access in self.accesses if access.frames]
        return tuple(f"{os.path.relpath(f.file)}:{f.line}" for f in tops)


def read_reports(log: str) -> list[SeenRace]:
    """All data races in what was printed."""
    found = []
    for block in log.split(_RULER):
        at = block.find(_START)
        if at < 0:
            continue
        text = block[at:].strip("\n")
        kind = text[len(_START) :].split(" (pid=")[0]
        if "race" in kind or "use-after-free" in kind:
            found.append(_read(kind, text))
    return found


def _read(kind: str, text: str) -> SeenRace:
    accesses = []
    for paragraph in text.split("\n\n"):
        match = _ACCESS.search(paragraph)
        if match is None:
            continue
        frames = tuple(
            Frame(m["function"], m["file"], int(m["line"]), int(m["column"] or 0))
            for m in _FRAME.finditer(paragraph)
            if not _RUNTIME.search(m["file"])
        )
        is_free = _FREE.search(paragraph) is not None
        is_write = match["kind"].lower() == "write"
        accesses.append(SeenAccess(is_write, frames, int(match["address"], 16), is_free))
    variable = _LOCATION.search(text)
    named, base = (variable["name"], int(variable["base"], 16)) if variable else ("", 0)
    return SeenRace(kind, tuple(accesses), named, base, text)


def is_about(race: SeenRace, finding: Finding) -> bool:
    """Whether the report shows the finding: the same two accesses, or two of the same location in
    the same functions."""
    if len(race.accesses) != 2:
        return False
    pairs = (finding.accesses, *finding.others)
    return any(
        _are(seen, ours)
        for pair in pairs
        for ours in (pair, pair[::-1])
        for seen in (race.accesses, race.accesses[::-1])
    ) or _is_variable(race, finding.location)


def _are(seen: tuple[SeenAccess, ...], pair: tuple[Access, Access]) -> bool:
    first, second = seen
    if not _is_at(first, pair[0].position):
        return False
    return _is_at(second, pair[1].position) or (first.is_free and _is_below(second, pair[1]))


def _is_below(seen: SeenAccess, access: Access) -> bool:
    """Whether a function that made the access is on the stack of the other one."""
    return any(frame.function == access.function for frame in seen.frames)


def _is_variable(race: SeenRace, location: Location) -> bool:
    """Whether it is about the same bytes of a global variable."""
    if not race.variable or race.variable != _head(location.name):
        return False
    offset = race.accesses[0].address - race.base
    if location.start is None:
        return True
    return location.start <= offset and (location.end is None or offset < location.end)


def _is_at(seen: SeenAccess, position: Position | None) -> bool:
    if position is None or not seen.frames:
        return False
    top = seen.frames[0]
    if top.line != position.line or not _is_same_file(top.file, position.file):
        return False
    return not top.column or not position.column or top.column == position.column


def _is_same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other) or (
        os.path.basename(one) == os.path.basename(other) and not os.path.exists(one)
    )


def _head(name: str) -> str:
    """The variable in `table[3].next`."""
    return re.split(r"[.\[]|->", name, maxsplit=1)[0]
