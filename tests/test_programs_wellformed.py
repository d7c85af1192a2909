"""Every test program says what it expects, in the form that ``tests/programs/README.md`` gives."""

import re
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from tests.programs_index import CXX, PROGRAMS, TestProgram, cxx_programs, paths, programs, read

NAME = re.compile(r"[0-9]{2}-[a-z0-9]+(-[a-z0-9]+)*\.(c|cpp)")
LEAST_IN_A_GROUP = 5
ALL = [*programs(), *cxx_programs()]
GROUPS = {group: list(members) for group, members in groupby(ALL, lambda program: program.group)}


def lines_of(program: TestProgram) -> list[str]:
    return program.path.read_text(encoding="utf-8").splitlines()


def test_each_says_in_one_line_what_it_exercises() -> None:
    for program in ALL:
        description, after = lines_of(program)[2 if program.unbounded else 1 :][:2]
        assert re.fullmatch(r"// [A-Za-z].*\.", description), program
        assert not after.startswith("//"), program


def test_marks_agree_with_verdict() -> None:
    for program in ALL:
        assert bool(program.race_lines) == (program.verdict == "race"), program
        assert not program.race_lines & program.norace_lines, program


def test_every_mark_ends_its_line() -> None:
    for program in ALL:
        mentions = {n for n, line in enumerate(lines_of(program), start=1) if "RACE" in line}
        assert mentions == program.race_lines | program.norace_lines, program


def test_each_is_small_and_tidy() -> None:
    for program in ALL:
        lines = lines_of(program)
        assert 15 <= len(lines) <= 60, program
        assert all(len(line) <= 100 and line == line.rstrip() for line in lines), program
        assert not any("\t" in line for line in lines), program


def test_each_is_named_by_number_and_words() -> None:
    for program in ALL:
        assert NAME.fullmatch(program.path.name), program


def test_names_are_unique() -> None:
    words = Counter(program.path.stem[3:] for program in ALL)
    assert [word for word, count in words.items() if count > 1] == []


def test_numbers_count_up_in_each_group() -> None:
    for group, members in GROUPS.items():
        numbers = [int(program.path.name[:2]) for program in members]
        assert numbers == list(range(1, len(members) + 1)), group


def test_each_group_has_both_verdicts_and_an_unbounded_program() -> None:
    for group, members in GROUPS.items():
        assert len(members) >= LEAST_IN_A_GROUP, group
        assert {program.verdict for program in members} == {"race", "race-free"}, group
        assert group.startswith(CXX) or any(program.unbounded for program in members), group


def test_nothing_else_lies_among_the_programs() -> None:
    files = {path for path in PROGRAMS.rglob("*") if path.is_file()}
    assert files == {*paths(), PROGRAMS / "README.md"}


def test_the_index_reads_the_comments(tmp_path: Path) -> None:
    path = tmp_path / "01-sample.c"
    path.write_text(
        "// verdict: race\n// unbounded\n// What it is.\nint x; // RACE\nint y; // NORACE\n"
    )
    assert read(path) == TestProgram(
        path=path,
        group=tmp_path.name,
        verdict="race",
        race_lines=frozenset({4}),
        norace_lines=frozenset({5}),
        unbounded=True,
    )


def test_the_index_refuses_a_program_without_verdict(tmp_path: Path) -> None:
    path = tmp_path / "01-sample.c"
    path.write_text("// verdict: maybe\n")
    with pytest.raises(ValueError, match="first line"):
        read(path)
