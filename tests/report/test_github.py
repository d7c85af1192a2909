"""Annotations: one command a line, special characters escaped."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from raceproof import report
from raceproof.options import Options, ReportFormat
from tests.report import made


def test_annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = made.program(tmp_path, "50%,a.c")
    stream = io.StringIO()
    report.write(made.racy(model), model, Options(format=ReportFormat.GITHUB), stream)
    lines = stream.getvalue().splitlines()
    commands = [line.split(" ")[0] for line in lines]
    assert commands[:5] == ["::error", "::error", "::warning", "::notice", "::notice"]
    assert lines[0].startswith(
        "::error file=50%25%2Ca.c,line=10,col=11,title=confirmed data race::Data race on total: "
        "both hold a lock, but different ones: lock and other [different-locks]%0A"
    )
    assert lines[5] == "::warning title=raceproof::engine bounded gave no answer: timeout"
    assert len(lines) == 7
