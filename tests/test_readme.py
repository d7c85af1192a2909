"""What the README shows is what its commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_SECONDS = re.compile(r"\d+\.\d+ s\b")


def sessions() -> list[tuple[str, str]]:
    """Command and output of every `console` block."""
    blocks = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", README, re.M | re.S)
    return [(command, output) for command, output in blocks]


def normal(text: str) -> list[str]:
    """Without times, and without the white space that tables end in."""
    return [line.rstrip() for line in _SECONDS.sub("N s", text).strip().splitlines()]


@pytest.mark.parametrize(("command", "output"), sessions(), ids=[c for c, _ in sessions()])
def test_the_command_prints_what_is_shown(command: str, output: str) -> None:
    words = shlex.split(command)
    assert words[0] == "raceproof"
    ended = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stderr
    assert normal(ended.stdout) == normal(output)


def test_something_is_shown() -> None:
    assert sessions()


def test_every_command_is_in_the_table() -> None:
    from raceproof.cli.registry import COMMANDS

    for name in COMMANDS:
        assert f"`raceproof {name}`" in README
