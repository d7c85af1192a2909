"""``raceproof replay`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raceproof.cli import main

PROGRAM = """\
#include <pthread.h>
int total;
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
void *add(void *arg) {
    pthread_mutex_lock(&one);
    total = total + 5;
    pthread_mutex_unlock(&one);
    return 0;
}
void *clear(void *arg) {
    pthread_mutex_lock(&other);
    total = 0;
    pthread_mutex_unlock(&other);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, clear, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A racy program and the schedule of its race."""
    folder = tmp_path_factory.mktemp("racy")
    (folder / "racy.c").write_text(PROGRAM)
    words = ["check", str(folder / "racy.c"), "--first", "--schedules", str(folder), "--no-config"]
    assert main([*words, "-o", str(folder / "report.txt")]) == 1
    return folder


def replay(folder: Path, schedule: str, *words: str) -> int:
    return main(["replay", str(folder / schedule), str(folder / "racy.c"), *words, "--no-config"])


def edited(folder: Path, name: str, **fields: Any) -> None:
    content = json.loads((folder / "race-1.json").read_text())
    (folder / name).write_text(json.dumps({**content, **fields}))


def test_ends_at_the_two_accesses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, "race-1.json") == 0
    text = capsys.readouterr().out
    assert "1: add" in text
    assert "2: clear" in text
    assert "starts 2: clear" in text
    assert "about to write total" in text
    last = " ".join(text.rpartition("\n\n")[2].split())
    assert last.startswith("Both accesses are enabled at once: ")
    assert "of total by 1: add" in last
    assert "write of total by 2: clear" in last


def test_shows_values_and_locks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, "race-1.json", "--format", "json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["reached"]
    assert [thread["entry"] for thread in shown["threads"]] == ["main", "add", "clear"]
    adding = [step for step in shown["steps"] if step["function"] == "add"]
    assert adding[0]["call"] == "pthread_mutex_lock"
    assert adding[0]["locks"] == [{"name": "one", "mode": "write"}]
    assert {access["kind"] for step in shown["race"] for access in step["accesses"]} >= {"write"}
    assert {access["location"] for step in shown["race"] for access in step["accesses"]} == {
        "total"
    }
    held = {step["thread"]: [lock["name"] for lock in step["locks"]] for step in shown["race"]}
    assert held == {1: ["one"], 2: ["other"]}


def test_the_file_tells_what_it_is_about(folder: Path) -> None:
    content = json.loads((folder / "race-1.json").read_text())
    assert content["format"] == 1
    assert content["program"]["data_model"] == "lp64"
    assert [thread["entry"] for thread in content["threads"]] == ["main", "add", "clear"]
    assert content["threads"][2]["created_at"]["line"] == 19
    assert {access["location"] for access in content["race"]} == {"total"}


def test_a_schedule_that_ends_too_early(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(folder, "short.json", steps=[])
    assert replay(folder, "short.json") == 1
    assert "The schedule does not end at the two accesses" in capsys.readouterr().out


def test_a_step_that_cannot_be_taken(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(folder, "far.json", steps=[[7]])
    assert replay(folder, "far.json") == 1
    assert "step 1: there is no thread 7 yet" in capsys.readouterr().out


def test_steps_without_instructions(folder: Path) -> None:
    content = json.loads((folder / "race-1.json").read_text())
    edited(folder, "plain.json", steps=[step[:1] for step in content["steps"]])
    assert replay(folder, "plain.json") == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "broken JSON"),
        ("[]", "no field 'format'"),
        ('{"format": 7}', "format 7 is not known"),
        ('{"format": 1}', "the field 'program' is missing"),
        ("\udcff", "no schedule"),
    ],
)
def test_what_is_no_schedule(
    folder: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert replay(folder, "broken.json") == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "fields",
    [{"steps": [[-1]]}, {"steps": [["x"]]}, {"steps": 3}, {"race": []}, {"inputs": [True]}],
    ids=str,
)
def test_fields_that_make_no_sense(
    folder: Path, fields: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    edited(folder, "odd.json", **fields)
    assert replay(folder, "odd.json") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, "nowhere.json") == 2
    assert "cannot read the schedule" in capsys.readouterr().err


def test_another_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.c").write_text("int main(void) { return 3; }\n")
    words = [str(folder / "race-1.json"), str(folder / "other.c")]
    assert main(["replay", *words, "--no-config"]) == 2
    assert "was made for another program" in capsys.readouterr().err


def test_another_data_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, "race-1.json", "--data-model", "ilp32") == 2
    assert "give --data-model lp64" in capsys.readouterr().err


def test_the_program_may_have_moved(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.c"
    moved.write_text("/* a comment more */ " + PROGRAM)
    assert main(["replay", str(folder / "race-1.json"), str(moved), "--no-config"]) == 0
