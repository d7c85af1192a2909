"""The JSON report keeps its own schema."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from raceproof import report
from raceproof.options import Options, ReportFormat
from raceproof.report.json import SCHEMA_VERSION, schema
from raceproof.verdict import Outcome, Verdict
from tests.report import made


def written(verdict: Verdict, folder: Path) -> Any:
    stream = io.StringIO()
    report.write(verdict, made.program(folder), Options(format=ReportFormat.JSON), stream)
    return json.loads(stream.getvalue())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["properties"]["schema"]["const"] == SCHEMA_VERSION


@pytest.mark.parametrize("kind", ["race", "race-free", "empty"])
def test_reports_keep_the_schema(kind: str, tmp_path: Path) -> None:
    verdicts = {
        "race": made.racy(made.program(tmp_path)),
        "race-free": made.race_free(),
        "empty": Verdict(Outcome.UNKNOWN),
    }
    jsonschema.validate(written(verdicts[kind], tmp_path), schema())


def test_a_confirmed_finding_has_its_schedule(tmp_path: Path) -> None:
    found = written(made.racy(made.program(tmp_path)), tmp_path)
    first = found["findings"][0]
    assert found["verdict"] == "race"
    assert first["confidence"] == "confirmed"
    assert first["schedule"]["threads"] == [1, 2]
    assert [step["what"] for step in first["interleaving"]["steps"]] == [
        "create",
        "create",
        "lock",
        "lock",
        "race",
        "race",
    ]
    assert "schedule" not in found["findings"][2]


def test_the_schema_notices_a_missing_field(tmp_path: Path) -> None:
    found = written(made.race_free(), tmp_path)
    del found["assumptions"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema())
