"""From words to Options."""

from pathlib import Path

import pytest

from raceproof.cli.arguments import read_options
from raceproof.cli.shell import parse
from raceproof.options import DataModel, FailOn, Options, ReportFormat


def options(*words: str) -> Options:
    return read_options(parse(["check", "a.c", *words])[1])


def test_defaults_are_those_of_options() -> None:
    assert options() == Options()


def test_compiler_options_as_compilers_spell_them() -> None:
    assert options("-Iinclude", "-I", "lib", "-DA", "-D", "B=1", "-DC=x=y", "-std=c11") == Options(
        include_dirs=(Path("include"), Path("lib")), defines=("A", "B=1", "C=x=y"), std="c11"
    )


def test_every_other_option() -> None:
    words = (
        "--data-model ilp32 --clang /usr/bin/clang --clang-arg=-fblocks --clang-arg=-w "
        "-p build/compile_commands.json --target server --file-filter src/* --entry start "
        "--model a.toml --model b.toml -o out.json --engine modular --format json "
        "--fail-on possible --schedules runs --timeout 1.5 --memory 2 --jobs 3 --seed 7 -vv"
    )
    assert options(*words.split()) == Options(
        data_model=DataModel.ILP32,
        clang=Path("/usr/bin/clang"),
        clang_args=("-fblocks", "-w"),
        database=Path("build/compile_commands.json"),
        target="server",
        file_filter="src/*",
        entry="start",
        models=(Path("a.toml"), Path("b.toml")),
        output=Path("out.json"),
        engine="modular",
        format=ReportFormat.JSON,
        fail_on=FailOn.POSSIBLE,
        schedules=Path("runs"),
        timeout=1.5,
        memory=2.0,
        jobs=3,
        seed=7,
        verbosity=2,
    )


def test_quiet() -> None:
    assert options("-q").verbosity == -1


def test_files_may_stand_between_options() -> None:
    _, arguments = parse(["ir", "a.c", "-I", "include", "b.c", "-DX", "c.c"])
    assert arguments.files == [Path("a.c"), Path("b.c"), Path("c.c")]


@pytest.mark.parametrize(
    "words",
    [
        ["--data-model", "lp32"],
        ["--format", "xml"],
        ["--timeout", "0"],
        ["--timeout", "soon"],
        ["--timeout", "nan"],
        ["--jobs", "-1"],
        ["--jobs", "1.5"],
        ["--time", "3"],
        ["-q", "-v"],
    ],
)
def test_values_that_make_no_sense(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse(["check", "a.c", *words])
    assert end.value.code == 2
    assert "raceproof check: error:" in capsys.readouterr().err
