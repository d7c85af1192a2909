"""Completion scripts."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Raceproof


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_script_knows_commands_and_options(raceproof: Raceproof, shell: str) -> None:
    answer = raceproof("completion", shell)
    assert answer.returncode == 0
    assert "check" in answer.stdout
    assert "data-model" in answer.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_script_is_accepted_by_the_shell(raceproof: Raceproof, tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(raceproof("completion", shell).stdout)
    subprocess.run([program, "-n", str(script)], check=True)


def test_unknown_shell(raceproof: Raceproof) -> None:
    assert raceproof("completion", "cmd").returncode == 2
