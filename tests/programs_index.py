"""The test programs under ``tests/programs`` and what their comments expect of them.

``programs()`` is made for parametrised tests::

    @pytest.mark.parametrize("program", programs(), ids=str)
    def test_never_calls_a_racy_program_race_free(program: TestProgram) -> None: ...
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

PROGRAMS = Path(__file__).parent / "programs"
SUFFIXES = {".c", ".cpp"}
CXX = "cxx-"
"""Groups of programs about C++'s library."""

_VERDICT = re.compile(r"// verdict: (race|race-free)")
_MARK = re.compile(r"// (RACE|NORACE)$")


@dataclass(frozen=True, slots=True)
class TestProgram:
    """One program: its file, its expected verdict and its marked lines (counted from 1)."""

    __test__: ClassVar[bool] = False  # not a test case, whatever pytest makes of the name

    path: Path
    group: str
    verdict: Literal["race", "race-free"]
    race_lines: frozenset[int]
    norace_lines: frozenset[int]
    unbounded: bool

    def __str__(self) -> str:
        return f"{self.group}/{self.path.stem}"


@cache
def programs() -> list[TestProgram]:
    """All test programs that every engine runs on, by group and number."""
    return [read(path) for path in paths() if not path.parent.name.startswith(CXX)]


@cache
def cxx_programs() -> list[TestProgram]:
    """The programs about C++'s library, which the pipeline runs on (`tests/cxx`)."""
    return [read(path) for path in paths() if path.parent.name.startswith(CXX)]


def paths() -> list[Path]:
    return sorted(path for path in PROGRAMS.glob("*/*") if path.suffix in SUFFIXES)


def read(path: Path) -> TestProgram:
    lines = path.read_text(encoding="utf-8").splitlines()
    verdict = _VERDICT.fullmatch(lines[0]) if lines else None
    if verdict is None:
        raise ValueError(f"{path}: the first line is not '// verdict: race' or 'race-free'")
    return TestProgram(
        path=path,
        group=path.parent.name,
        verdict="race" if verdict[1] == "race" else "race-free",
        race_lines=_marked(lines, "RACE"),
        norace_lines=_marked(lines, "NORACE"),
        unbounded=lines[1:2] == ["// unbounded"],
    )


def _marked(lines: list[str], word: str) -> frozenset[int]:
    marks = ((number, _MARK.search(line)) for number, line in enumerate(lines, start=1))
    return frozenset(number for number, mark in marks if mark is not None and mark[1] == word)
