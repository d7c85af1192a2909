"""The shell around the commands: help, version, and what it makes of errors."""

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from raceproof import __version__
from raceproof.cli import main, registry
from raceproof.errors import UserError
from tests.cli.conftest import Raceproof

HEAVY = ("llvmlite", "ziglang", "bitwuzla", "rustworkx", "rich", "jinja2", "shtab")


def test_version(raceproof: Raceproof) -> None:
    answer = raceproof("--version")
    assert answer.returncode == 0
    assert answer.stdout == f"raceproof {__version__}\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["check", "--help"], ["ir", "-h"]])
def test_nothing_heavy_is_imported_before_a_command_runs(words: list[str]) -> None:
    program = (
        "import sys\n"
        "from raceproof.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit:\n"
        "    print('modules', *sys.modules)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    modules = answer.stdout.splitlines()[-1].split()
    assert modules[0] == "modules"
    assert not {module.split(".")[0] for module in modules} & set(HEAVY)
    assert "raceproof.ir" not in modules


def test_help_lists_every_command(raceproof: Raceproof) -> None:
    answer = raceproof("--help")
    assert answer.returncode == 0
    for name in registry.COMMANDS:
        assert f"    {name}" in answer.stdout


@pytest.mark.parametrize("name", registry.COMMANDS)
def test_help_of_a_command_has_examples(raceproof: Raceproof, name: str) -> None:
    answer = raceproof(name, "--help")
    assert answer.returncode == 0
    assert f"usage: raceproof {name}" in answer.stdout
    assert f"  raceproof {name} " in answer.stdout


@pytest.mark.parametrize("words", [[], ["chek"], ["check", "--no-such-option", "a.c"]])
def test_senseless_words(raceproof: Raceproof, words: list[str]) -> None:
    answer = raceproof(*words)
    assert answer.returncode == 2
    assert "error:" in answer.stderr
    assert not answer.stdout


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["check", "--tiemout", "a.c"], "did you mean --timeout?"),
        (["chek", "a.c"], "did you mean check?"),
        (["check", "--timeout", "soon", "a.c"], "is not a number above 0"),
    ],
)
def test_a_wrong_word_is_told_in_one_line(
    raceproof: Raceproof, words: list[str], hint: str
) -> None:
    answer = raceproof(*words)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert hint in answer.stderr


def test_a_full_disk_is_no_bug_of_ours(raceproof: Raceproof, tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    answer = raceproof("check", str(source), "-o", "/dev/full")
    assert answer.returncode == 2
    assert answer.stderr == ("raceproof: error: cannot write /dev/full: No space left on device\n")


Replace = Callable[[BaseException | int], None]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Replace:
    """Puts a command in place of ``ir`` that raises, or returns its exit code."""

    def replace(outcome: BaseException | int) -> None:
        def run(arguments: Namespace) -> int:
            if isinstance(outcome, int):
                return outcome
            raise outcome

        monkeypatch.setattr(registry.load("ir"), "run", run)

    return replace


@pytest.mark.parametrize("code", [0, 1])
def test_exit_code_is_the_commands(command: Replace, code: int) -> None:
    command(code)
    assert main(["ir", "a.c"]) == code


def test_user_error_is_one_line(command: Replace, capsys: pytest.CaptureFixture[str]) -> None:
    command(UserError("a.c: no such file"))
    assert main(["ir", "a.c"]) == 2
    assert capsys.readouterr().err == "raceproof: error: a.c: no such file\n"


def test_interrupt(command: Replace, capsys: pytest.CaptureFixture[str]) -> None:
    command(KeyboardInterrupt())
    assert main(["ir", "a.c"]) == 130
    assert capsys.readouterr().err == "raceproof: interrupted\n"


def test_internal_error_says_how_to_see_it_again(
    command: Replace, capsys: pytest.CaptureFixture[str]
) -> None:
    command(KeyError("phi"))
    assert main(["ir", "my file.c"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("raceproof: internal error: KeyError: 'phi'\n")
    assert "raceproof ir 'my file.c'" in message
    assert __version__ in message
    assert "Traceback" not in message


def test_internal_error_has_a_traceback_with_v(
    command: Replace, capsys: pytest.CaptureFixture[str]
) -> None:
    command(KeyError("phi"))
    assert main(["ir", "a.c", "-v"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        answer = subprocess.run(
            [sys.executable, "-m", "raceproof", "completion", "bash"],
            cwd=tmp_path,
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert answer.returncode == 141
    assert answer.stderr == ""
