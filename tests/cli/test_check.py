"""``raceproof check``: the exit code follows the findings, whatever the engines are."""

import json
from pathlib import Path

import pytest

from raceproof.cli import main
from raceproof.ir import Position, Program
from raceproof.options import Options
from raceproof.verdict import (
    Access,
    BaseKind,
    Confidence,
    Finding,
    Location,
    Outcome,
    Thread,
    Verdict,
)

WORKER = Thread("worker", is_unique=False)
COUNTER = Location(BaseKind.GLOBAL, "counter", "counter", 0, 4)
WRITE = Access(WORKER, 0, "worker", Position("a.c", 3), COUNTER, is_write=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "a.c"
    path.write_text("int counter;\nint main(void) {\n    return counter++;\n}\n")
    return path


def found(monkeypatch: pytest.MonkeyPatch, *confidences: Confidence) -> None:
    """Lets the pipeline find races of these confidences."""
    findings = tuple(Finding(COUNTER, confidence, (WRITE, WRITE)) for confidence in confidences)

    def check(program: Program, options: Options, progress: object) -> Verdict:
        return Verdict(Outcome.RACE if findings else Outcome.RACE_FREE, findings)

    monkeypatch.setattr("raceproof.pipeline.check", check)


@pytest.mark.parametrize(
    ("confidence", "fail_on", "code"),
    [
        (Confidence.CONFIRMED, "confirmed", 1),
        (Confidence.LIKELY, "confirmed", 0),
        (Confidence.LIKELY, "likely", 1),
        (Confidence.POSSIBLE, "likely", 0),
        (Confidence.POSSIBLE, "possible", 1),
    ],
)
def test_fail_on(
    monkeypatch: pytest.MonkeyPatch,
    program: Path,
    confidence: Confidence,
    fail_on: str,
    code: int,
) -> None:
    found(monkeypatch, confidence)
    assert main(["check", str(program), "--fail-on", fail_on]) == code


def test_fails_on_likely_if_nothing_is_said(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    found(monkeypatch, Confidence.POSSIBLE)
    assert main(["check", str(program)]) == 0
    found(monkeypatch, Confidence.POSSIBLE, Confidence.LIKELY)
    assert main(["check", str(program)]) == 1


def test_nothing_to_report(
    monkeypatch: pytest.MonkeyPatch, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(monkeypatch)
    assert main(["check", str(program)]) == 0
    assert "race-free" in capsys.readouterr().out


def test_json_to_a_file(monkeypatch: pytest.MonkeyPatch, program: Path, tmp_path: Path) -> None:
    found(monkeypatch, Confidence.LIKELY)
    output = tmp_path / "verdict.json"
    assert main(["check", str(program), "--format", "json", "-o", str(output)]) == 1
    verdict = json.loads(output.read_text())
    assert verdict["verdict"] == "race"
    assert verdict["findings"][0]["confidence"] == "likely"


def test_what_does_not_compile(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text("int main(void) { return x; }\n")
    assert main(["check", str(program)]) == 2
    message = capsys.readouterr().err
    assert message.startswith("raceproof: error: ")
    assert "a.c:1:25" in message
    assert "Traceback" not in message


def test_unknown_engine(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(program), "--engine", "steam"]) == 2
    assert "raceproof: error: no engine 'steam'" in capsys.readouterr().err
