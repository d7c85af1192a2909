"""``raceproof events`` and ``raceproof ir`` on a small program."""

from pathlib import Path

import pytest

from raceproof.cli import main

PROGRAM = """\
#include <pthread.h>
struct account { pthread_mutex_t lock; long balance[4]; };
struct account bank[3], *best;
void unheard_of(void);
void pay(struct account *from, int i, int j) {
    pthread_mutex_lock(&bank[i].lock);
    bank[i].balance[j] = 1;
    best->balance[0] = bank[2].balance[1];
    pthread_mutex_unlock(&bank[i].lock);
    from->balance[2] = 0;
}
int main(void) {
    pay(best, 1, 2);
    unheard_of();
    return 0;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "pay.c"
    path.write_text(PROGRAM)
    return path


def test_events_by_function(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", str(program)]) == 0
    text = capsys.readouterr().out
    words = [line.split() for line in text.splitlines()]
    assert ["pay", f"({program}:5)"] in words
    assert ["6", "lock", "bank[i].lock", "pthread_mutex_lock"] in words
    assert ["7", "write", "bank[i].balance[j]"] in words
    assert ["8", "read", "bank[2].balance[1]"] in words
    assert ["9", "unlock", "bank[i].lock", "pthread_mutex_unlock"] in words
    assert ["10", "write", "*(from", "+", "56)"] in words


def test_unknown_functions_are_named(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", str(program)]) == 0
    assert f"  unheard_of (called at {program}:14)\n" in capsys.readouterr().out


def test_ir_to_a_file(program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "program.txt"
    assert main(["ir", str(program), "-o", str(output)]) == 0
    assert f"{program}:6" in output.read_text()
    assert capsys.readouterr().out == ""


def test_output_that_cannot_be_written(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ir", str(program), "-o", str(tmp_path / "no" / "where.txt")]) == 2
    assert "raceproof: error: cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "ir", "events"])
def test_a_file_that_is_not_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "no-such-file.c"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("raceproof: error: no-such-file.c")
    assert message.count("\n") == 1
