"""`examples/depot`: two files, six planted races of six kinds, threads that do no harm. What a C
developer reads: each race once, its kind, and the commands that answer the next questions."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEPOT = ROOT / "examples" / "depot"
FILES = ("main.c", "store.c")
PLANTED = {
    "store": "double-checked",
    "store.count": "released-early",
    "store.log_entries": "different-locks",
    "store.price": "read-lock-for-write",
    "store.is_open": "bit-field-neighbours",
    "visitors": "unlocked-read",
}


def raceproof(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "raceproof", *words],
        cwd=DEPOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The text; the folder has the schedules and `verdict.json`."""
    folder = tmp_path_factory.mktemp("depot")
    also = f"json={folder / 'verdict.json'}"
    answer = raceproof("check", *FILES, "--schedules", str(folder), "--also", also)
    assert answer.returncode == 1, answer.stderr
    return answer.stdout, folder


def test_each_race_is_told_once_with_its_kind(checked: tuple[str, Path]) -> None:
    _, folder = checked
    findings = json.loads((folder / "verdict.json").read_text())["findings"]
    rules = {f["location"]["name"].partition(" (")[0]: f["rule"] for f in findings}
    assert rules == PLANTED
    assert len(findings) == len(PLANTED)
    assert {f["confidence"] for f in findings} == {"confirmed"}


def test_idle_threads_are_not_in_the_schedules(checked: tuple[str, Path]) -> None:
    _, folder = checked
    for finding in json.loads((folder / "verdict.json").read_text())["findings"]:
        threads = {thread for thread, *_ in finding["schedule"]["steps"]}
        guests = threads & {1, 2}
        assert len(guests) <= (finding["location"]["name"] == "visitors")


def test_the_text_is_short_and_fits_80_columns(checked: tuple[str, Path]) -> None:
    text, _ = checked
    lines = text.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert len(lines) < 32 * len(PLANTED)
    for part in re.split(r"^Data race ", text, flags=re.M)[1:]:
        steps = re.findall(r"^  (?:>>|  ) \S.*$", part, re.M)
        assert len(steps) == len(set(steps)), part


def test_the_commands_at_the_end_answer(checked: tuple[str, Path]) -> None:
    """What protects it, how to see it again; the others are in the help."""
    text, folder = checked
    commands = re.findall(r"raceproof (explain .*|replay .*)$", text, re.M)
    assert len(commands) == 2
    for command in commands:
        answer = raceproof(*shlex.split(command.replace("DIR", str(folder))))
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout
    assert "// raceproof: ignore[" in text
