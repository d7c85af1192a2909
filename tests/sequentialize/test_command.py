"""``raceproof sequentialize`` as a user calls it."""

import subprocess
from pathlib import Path

from tests.cli.conftest import Raceproof, raceproof
from tests.sequentialize.native import WARNINGS, compiler

BANK = Path(__file__).parents[2] / "examples" / "bank.c"

__all__ = ["raceproof"]


def test_from_a_found_race_to_the_failing_assertion(raceproof: Raceproof, tmp_path: Path) -> None:
    assert raceproof("check", str(BANK), "--schedules", "found", "-q").returncode == 1
    (schedule,) = tmp_path.glob("found/*.json")
    done = raceproof("sequentialize", str(BANK), "-o", "bank.c", "--follow", str(schedule))
    assert (done.returncode, done.stderr) == (0, "")
    command = [*compiler(), *WARNINGS, "-DRACEPROOF_RUN", "bank.c", "-o", "bank"]
    subprocess.run(command, cwd=tmp_path, check=True)
    followed = subprocess.run(
        ["./bank", "follow", "bank.c.follow"], cwd=tmp_path, capture_output=True, check=False
    )
    assert followed.returncode == 1
    (tmp_path / "values").write_bytes(followed.stdout)
    again = subprocess.run(
        ["./bank", "values", "values"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert again.stderr.count("bank.c:50") == 2


def test_follow_needs_an_output_file(raceproof: Raceproof) -> None:
    answer = raceproof("sequentialize", str(BANK), "--follow", "schedule.json")
    assert answer.returncode == 2
    assert "--follow needs -o" in answer.stderr


def test_bounds_are_printed(raceproof: Raceproof) -> None:
    answer = raceproof("sequentialize", str(BANK), "--rounds", "7", "--threads", "4")
    assert answer.returncode == 0
    assert "#define ROUNDS 7u" in answer.stdout
    assert "#define THREADS 5u" in answer.stdout
