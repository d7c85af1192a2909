"""What other tools run: the GitHub Action's script, and the pre-commit hook's entry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EMPTY = "int main(void) { return 0; }\n"


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """As GitHub's runner has it: the tool in RUNNER_TEMP, outputs in a file."""
    bin_folder = tmp_path / "temp" / "raceproof" / "bin"
    bin_folder.mkdir(parents=True)
    for name in ("raceproof", "python"):
        script = bin_folder / name
        module = "-m raceproof " if name == "raceproof" else ""
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {module}"$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return {
        **os.environ,
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "FAIL_ON": "likely",
        "TIMEOUT": "60",
    }


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_action_checks_and_tells_the_verdict(runner: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a b.c").write_text(EMPTY, encoding="utf-8")
    ended = subprocess.run(
        ["bash", ROOT / ".github/action/check.sh"],
        cwd=tmp_path,
        env={**runner, "ARGUMENTS": "'a b.c' -D X=1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, 2), ended.stderr
    said = json.loads((tmp_path / "raceproof.json").read_text(encoding="utf-8"))
    outputs = (tmp_path / "outputs").read_text()
    assert outputs == f"verdict={said['verdict']}\nsarif={tmp_path / 'raceproof.sarif'}\n"
    assert said["verdict"] in (tmp_path / "summary").read_text()
    assert json.loads((tmp_path / "raceproof.sarif").read_text())["version"] == "2.1.0"
    assert said["verdict"] in ended.stdout.splitlines()[-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_action_scans(runner: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(EMPTY, encoding="utf-8")
    ended = subprocess.run(
        ["bash", ROOT / ".github/action/check.sh"],
        cwd=tmp_path,
        env={**runner, "COMMAND": "scan", "ARGUMENTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "### raceproof scan" in (tmp_path / "summary").read_text()


def test_our_workflow_uses_inputs_that_the_action_has() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    text = (ROOT / ".github/workflows/races.yml").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    (step,) = [one for one in job["steps"] if one.get("uses") == "./"]
    assert set(step["with"]) <= set(action["inputs"])
    for row in job["strategy"]["matrix"]["include"]:
        for file in row["arguments"].split():
            assert (ROOT / row["folder"] / file).is_file()


def test_the_action_names_files_that_are_there() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    assert "check.sh" in json.dumps(action["runs"]["steps"])
    for step in action["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash"


def test_the_hook_names_a_command() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["entry"] == "raceproof check"
    assert hook["pass_filenames"] is False
