"""Witnesses: well-formed, and they say what the verdict says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import yaml

from raceproof.ir import Program
from raceproof.report import witness
from raceproof.report.yaml import dump
from raceproof.verdict import Outcome, Verdict
from tests.report import made

ORIGIN = witness.Origin("2026-01-02T03:04:05Z", "00000000-0000-4000-8000-000000000000")
SPACE = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def model(tmp_path: Path) -> Program:
    return made.program(tmp_path)


def read_yaml(verdict: Verdict, model: Program) -> Any:
    (entry,) = yaml.safe_load(witness.yaml(verdict, model, ORIGIN))
    return entry


def test_the_yaml_of_a_replayed_race_has_threads(model: Program) -> None:
    entry = read_yaml(made.racy(model), model)
    assert entry["entry_type"] == "violation_sequence"
    metadata = entry["metadata"]
    assert metadata["format_version"] == "2.2"
    assert metadata["task"]["data_model"] == "LP64"
    (digest,) = metadata["task"]["input_file_hashes"].values()
    assert len(digest) == 64
    *steps, last = [segment["segment"] for segment in entry["content"]]
    assert [one["waypoint"]["thread_id"] for segment in steps for one in segment] == [0, 0, 1, 2]
    assert all(one["waypoint"]["type"] == "assumption" for segment in steps for one in segment)
    targets = [one["waypoint"] for one in last]
    assert [(t["type"], t["thread_id"], t["location"]["line"]) for t in targets] == [
        ("target", 1, 10),
        ("target", 2, 18),
    ]


def test_the_yaml_without_a_schedule_has_one_target(model: Program) -> None:
    likely = made.racy(model).findings[2]
    entry = read_yaml(Verdict(Outcome.RACE, findings=(likely,)), model)
    assert entry["metadata"]["format_version"] == "2.0"
    ((only,),) = [segment["segment"] for segment in entry["content"]]
    assert only["waypoint"]["type"] == "target"
    assert "thread_id" not in only["waypoint"]


def test_the_yaml_of_a_proof(model: Program) -> None:
    entry = read_yaml(made.race_free(), model)
    assert (entry["entry_type"], entry["content"]) == ("invariant_set", [])


def test_the_graphml_of_a_race_is_a_path(model: Program) -> None:
    root = ElementTree.fromstring(witness.graphml(made.racy(model), model, ORIGIN))
    graph = root.find(f"{SPACE}graph")
    assert graph is not None
    nodes, edges = graph.findall(f"{SPACE}node"), graph.findall(f"{SPACE}edge")
    assert [edge.get("source") for edge in edges] == [node.get("id") for node in nodes[:-1]]
    data = [{d.get("key"): d.text for d in edge.findall(f"{SPACE}data")} for edge in edges]
    assert data[0] == {"threadId": "0", "createThread": "0", "enterFunction": "main"}
    assert [d.get("createThread") for d in data[1:3]] == ["1", "2"]
    assert [d.get("enterFunction") for d in data[3:5]] == ["worker", "worker"]
    assert [d["startline"] for d in data[-2:]] == ["10", "18"]
    assert nodes[-1][0].get("key") == "violation"


def test_the_graphml_of_a_proof_is_one_node(model: Program) -> None:
    root = ElementTree.fromstring(witness.graphml(made.race_free(), model, ORIGIN))
    assert len(root.findall(f".//{SPACE}node")) == 1
    assert "correctness_witness" in witness.graphml(made.race_free(), model, ORIGIN)


def test_nothing_is_written_without_a_verdict(model: Program, tmp_path: Path) -> None:
    path = tmp_path / "witness.yml"
    assert not witness.write_witness(path, Verdict(Outcome.UNKNOWN), model)
    assert not path.exists()
    assert witness.write_witness(path, made.race_free(), model)
    assert path.exists()


def test_yaml_is_read_as_it_was_meant() -> None:
    value = {"a": [], "b": [{"c": "x: #y", "d": [1, "ü"]}, [True, None]], "e": {"f": {"g": "1"}}}
    assert yaml.safe_load(dump([value])) == [value]
