"""What a race is: by happens-before, or, as in SV-COMP, what can happen at once."""

import json
from pathlib import Path

import pytest

from raceproof.cli import main
from tests.programs_index import PROGRAMS

GROUP = PROGRAMS / "memory-orders"
RELAXED = str(GROUP / "02-spin-relaxed.c")


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--memory-model", "sc"), 0)])
def test_a_relaxed_spin_lock(
    words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", RELAXED, "--no-config", "--timeout", "60", *words]) == code
    text = capsys.readouterr().out
    assert ("[weak-order]" in " ".join(text.split())) is (code == 1)
    assert ("makes the first happen before the second" in text) is (code == 1)
    assert ("in the order in which they are executed" in text) is (code == 1)


def test_sv_comp_has_the_other_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["svcomp", RELAXED, "--timeout", "60"]) == 0
    assert "verdict: true" in capsys.readouterr().out


def test_a_schedule_whose_first_access_is_done_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--no-config", "--timeout", "60", "--schedules", str(tmp_path)]
    assert main(["check", RELAXED, *words]) == 1
    path = tmp_path / "race-1.json"
    assert json.loads(path.read_text())["first_is_done"] is True
    capsys.readouterr()
    assert main(["replay", str(path), RELAXED]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Nothing orders the first access before the second" in text


def test_the_printed_program_cannot_follow_such_a_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--no-config", "--timeout", "60", "--schedules", str(tmp_path)]
    assert main(["check", RELAXED, *words]) == 1
    capsys.readouterr()
    follow = ["--follow", str(tmp_path / "race-1.json"), "-o", str(tmp_path / "s.c")]
    assert main(["sequentialize", RELAXED, *follow]) == 2
    assert "happens-before does not order" in capsys.readouterr().err
