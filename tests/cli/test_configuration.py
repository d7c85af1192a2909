"""Settings from files, and the file that `init` writes."""

from __future__ import annotations

import re
import tomllib
from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from raceproof.cli import check, init
from raceproof.cli.arguments import read_options
from raceproof.cli.configuration import configurable, find_file, read_file
from raceproof.errors import UserError
from raceproof.options import DataModel, FailOn, Options


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def arguments(*words: str) -> Namespace:
    parser = ArgumentParser()
    check.add_arguments(parser)
    return parser.parse_intermixed_args(words)


def test_the_command_line_wins_and_lists_add_up(tmp_path: Path) -> None:
    Path("raceproof.toml").write_text(
        'timeout = 7\nfail-on = "possible"\ndefines = ["A"]\ninclude-dirs = ["inc"]\n'
    )
    options = read_options(arguments("x.c", "--timeout", "9", "-D", "B"))
    assert options.timeout == 9
    assert options.fail_on is FailOn.POSSIBLE
    assert options.defines == ("A", "B")
    assert options.include_dirs == (tmp_path / "inc",)
    assert read_options(arguments("x.c", "--no-config")) == Options()


def test_pyproject_and_folders_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text('[tool.raceproof]\ndata-model = "ilp32"\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_file(below) == tmp_path / "pyproject.toml"
    assert read_options(arguments("x.c")).data_model is DataModel.ILP32
    Path("raceproof.toml").write_text("seed = 3\n")
    assert read_options(arguments("x.c")).data_model is DataModel.LP64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = 1\ntimout = 3\n", r":2: unknown setting 'timout'; did you mean 'timeout'\?"),
        ('timeout = "long"\n', r":1: 'timeout' must be a number"),
        ('fail-on = "never"\n', r":1: 'fail-on' must be one of confirmed, likely, possible"),
        ('models = "m.toml"\n', r":1: 'models' must be a list"),
        ("seed = \n", "is not valid TOML"),
        ("verbosity = 1\n", "unknown setting 'verbosity'"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    Path("raceproof.toml").write_text(text)
    with pytest.raises(UserError, match=message):
        read_options(arguments("x.c"))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"cannot read other\.toml"):
        read_options(arguments("x.c", "--config", "other.toml"))


def test_init_writes_what_can_be_read() -> None:
    assert init.run(Namespace(folder=Path(), force=False)) == 0
    assert read_file(Path("raceproof.toml")) == {}
    with pytest.raises(UserError, match="--force"):
        init.run(Namespace(folder=Path(), force=False))
    settings = re.sub(r"^# (?=[a-z-]+ = )", "", init.TEMPLATE, flags=re.M)
    Path("raceproof.toml").write_text(settings)
    given = read_file(Path("raceproof.toml"))
    assert {key.replace("_", "-") for key in given} == set(tomllib.loads(settings))
    assert set(tomllib.loads(settings)) <= set(configurable())
    assert init.run(Namespace(folder=Path(), force=True)) == 0


def test_the_defaults_that_init_shows_are_the_defaults() -> None:
    examples = {"include-dirs", "defines", "std", "clang-args", "database", "target", "entry",
                "models", "timeout", "memory", "schedules", "exclude", "cache", "suppressions",
                "baseline", "threads"}  # fmt: skip
    settings = re.sub(r"^# (?=[a-z-]+ = )", "", init.TEMPLATE, flags=re.M)
    defaults = Options()
    for key, value in tomllib.loads(settings).items():
        if key not in examples:
            assert getattr(defaults, key.replace("-", "_")) == value
