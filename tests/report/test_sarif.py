"""SARIF: what viewers need is there, and nothing that the format does not know.

The closed schema here holds the part of SARIF 2.1.0 that we write. With RACEPROOF_SARIF_SCHEMA
set to a copy of the official schema, that one is applied, too.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from raceproof import report
from raceproof.options import Options, ReportFormat
from raceproof.report.sarif import FINGERPRINT
from raceproof.verdict import Outcome, Verdict
from tests.report import made

STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object"}


def closed(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def some(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


MESSAGE = closed("text", text={**STRING, "minLength": 1})
ARTIFACT = closed("uri", uri={**STRING, "pattern": r"^[^ \\<>]+$"}, uriBaseId=STRING)
POSITIVE = {"type": "integer", "minimum": 1}
LOCATION = {
    "id": POSITIVE,
    "message": MESSAGE,
    "logicalLocations": some(closed("name", name=STRING, kind=STRING)),
    "physicalLocation": closed(
        "artifactLocation region",
        artifactLocation=ARTIFACT,
        region=closed("startLine", startLine=POSITIVE, startColumn=POSITIVE, endColumn=POSITIVE),
    ),
}
FLOW_STEP = closed(
    "location",
    location=closed("", **LOCATION),
    executionOrder=POSITIVE,
    nestingLevel={"type": "integer", "minimum": 0},
    importance={"enum": ["important", "essential", "unimportant"]},
)
FLOW = closed("locations", id=STRING, message=MESSAGE, locations={**some(FLOW_STEP), "minItems": 1})
RESULT = closed(
    "ruleId level message locations partialFingerprints codeFlows",
    ruleId=STRING,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    rank={"type": "number", "minimum": 0, "maximum": 100},
    message=MESSAGE,
    locations={**some(closed("", **LOCATION)), "minItems": 1},
    relatedLocations=some(closed("id", **LOCATION)),
    codeFlows=some(closed("threadFlows", threadFlows={**some(FLOW), "minItems": 1})),
    partialFingerprints={"type": "object", "additionalProperties": STRING},
    suppressions=some(
        closed("kind", kind={"enum": ["inSource", "external"]}, status=STRING, justification=STRING)
    ),
    properties=BAG,
)
RULE = closed(
    "id",
    id=STRING,
    name=STRING,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=closed("level", level=LEVEL),
    properties=BAG,
)
RUN = closed(
    "tool results",
    tool=closed(
        "driver",
        driver=closed(
            "name", name=STRING, version=STRING, semanticVersion=STRING, rules=some(RULE)
        ),
    ),
    automationDetails=closed("id", id=STRING),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    originalUriBaseIds=BAG,
    artifacts=some(closed("location", location=ARTIFACT, sourceLanguage=STRING)),
    invocations=some(
        closed(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=some(closed("message", level=LEVEL, message=MESSAGE)),
        )
    ),
    results=some(RESULT),
    properties=BAG,
)
SHAPE = {
    **closed("version runs", version={"const": "2.1.0"}, runs=some(RUN)),
    "$schema": "https://json-schema.org/draft/2020-12/schema",
}
SHAPE["properties"] = {**SHAPE["properties"], "$schema": STRING}


def written(verdict: Verdict, folder: Path) -> Any:
    stream = io.StringIO()
    report.write(verdict, made.program(folder), Options(format=ReportFormat.SARIF), stream)
    return json.loads(stream.getvalue())


def validate(found: Any) -> None:
    jsonschema.validate(found, SHAPE)
    official = os.environ.get("RACEPROOF_SARIF_SCHEMA")
    if official:
        jsonschema.validate(found, json.loads(Path(official).read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_kind_of_verdict_is_valid(tmp_path: Path) -> None:
    for verdict in (
        made.racy(made.program(tmp_path)),
        made.race_free(),
        Verdict(Outcome.UNKNOWN, notices=("internal error: engines disagree",)),
    ):
        validate(written(verdict, tmp_path))


def test_a_confirmed_race_has_a_flow_for_each_thread_in_one_order(tmp_path: Path) -> None:
    result = written(made.racy(made.program(tmp_path)), tmp_path)["runs"][0]["results"][0]
    flows = result["codeFlows"][0]["threadFlows"]
    assert [flow["id"] for flow in flows] == ["0: main", "1: 1: worker", "2: 2: worker"]
    orders = [[step["executionOrder"] for step in flow["locations"]] for flow in flows]
    assert orders == [[1, 2], [3, 5], [4, 5]]
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "sums.c",
        "uriBaseId": "SRCROOT",
    }


def test_fingerprints_do_not_depend_on_the_text_around(tmp_path: Path) -> None:
    def marks(text: str) -> list[str]:
        model = made.program(tmp_path)
        Path(model.files[0]).write_text(text, encoding="utf-8")
        found = report_of(model)
        return [one["partialFingerprints"][FINGERPRINT] for one in found["runs"][0]["results"]]

    def report_of(model: Any) -> Any:
        stream = io.StringIO()
        report.write(made.racy(model), model, Options(format=ReportFormat.SARIF), stream)
        return json.loads(stream.getvalue())

    before = marks(made.SOURCE)
    locations = {f.location for f in made.racy(made.program(tmp_path)).findings}
    assert len(set(before)) == len(locations)
    assert marks("\n" + made.SOURCE.replace("total + n", "total - n")) == before


def test_a_comment_suppresses(tmp_path: Path) -> None:
    model = made.program(tmp_path)
    commented = made.SOURCE.replace(
        "total + n;", "total + n; // raceproof: ignore[total] a statistic, may be off"
    )
    Path(model.files[0]).write_text(commented, encoding="utf-8")
    stream = io.StringIO()
    report.write(made.racy(model), model, Options(format=ReportFormat.SARIF), stream)
    found = json.loads(stream.getvalue())
    validate(found)
    first, second = found["runs"][0]["results"][:2]
    assert first["suppressions"][0]["justification"] == "a statistic, may be off"
    assert "suppressions" not in second
