"""Commands about raceproof itself: `doctor`, `man`, `schema`; and the Python API."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import jsonschema
import pytest

import raceproof
from raceproof.cli import main
from raceproof.cli.configuration import configurable
from raceproof.cli.registry import COMMANDS
from raceproof.cli.schema import settings
from raceproof.errors import UserError
from raceproof.frontend import system_clang
from raceproof.frontend.toolchain import Toolchain

ROOT = Path(__file__).parents[2]


def test_doctor_finds_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "FAIL" not in said
    for what in ("compiler", "a race found", "llvmlite", "memory", "cgroups"):
        assert what in said


def test_doctor_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--clang", "/no/clang"]) == 2
    said = capsys.readouterr().out
    assert "FAIL  compiler     --clang /no/clang: there is no such file" in said


def test_the_manual_page_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(".TH RACEPROOF 1")
    for name in COMMANDS:
        assert f'.SH "RACEPROOF {name.upper()}"' in page
    assert "\\-\\-timeout SECONDS" in page
    if shutil.which("man"):
        shown = subprocess.run(
            ["man", "--warnings", "-l", "-"],
            input=page,
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.stderr == ""


def test_settings_have_a_schema() -> None:
    found = settings()
    jsonschema.Draft7Validator.check_schema(found)
    assert set(found["properties"]) == set(configurable())
    good = tomllib.loads('timeout = 3\nfail-on = "possible"\ndefines = ["A=1"]\n')
    jsonschema.validate(good, found)
    for text in ("tiemout = 3", 'timeout = "3"', 'fail-on = "never"'):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(text), found)


def test_the_schema_of_the_verdict_has_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "verdict"]) == 0
    assert json.loads(capsys.readouterr().out)["$id"].startswith("urn:raceproof:")


def test_the_python_api() -> None:
    options = raceproof.Options(timeout=60)
    verdict = raceproof.check([ROOT / "examples" / "bank.c"], options)
    assert verdict.outcome is raceproof.Outcome.RACE
    (finding,) = verdict.findings
    assert finding.confidence is raceproof.Confidence.CONFIRMED
    assert finding.location.name == "bank.transfers"
    assert set(raceproof.__all__) <= set(dir(raceproof))
    with pytest.raises(raceproof.UserError, match="there is no such file"):
        raceproof.check("none.c")


def _without_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    system_clang.system_clang.cache_clear()


def test_without_the_wheel_the_systems_clang_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = system_clang.llvm_version()
    clang = tmp_path / f"clang-{wanted}"
    clang.write_text(f"#!/bin/sh\necho clang version {wanted}.1.0\n")
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    _without_wheel(monkeypatch)
    assert Toolchain(raceproof.Options()).command == (str(clang),)
    assert "-nostdinc" not in Toolchain(raceproof.Options()).flags(is_cxx=False)


def test_a_clang_of_another_version_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\necho clang version 3.9.1\n")
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    _without_wheel(monkeypatch)
    with pytest.raises(UserError, match=r"is version 3.*raceproof\[clang\]"):
        Toolchain(raceproof.Options()).command  # noqa: B018 - what is asked for raises


def test_one_page_about_several_programs(tmp_path: Path) -> None:
    verdicts = {"server": ("race", ["confirmed", "possible"]), "client": ("race-free", [])}
    for name, (verdict, found) in verdicts.items():
        findings = [{"confidence": one, "rule": "no-lock"} for one in found]
        data = {
            "program": {"files": [f"{name}.c"]},
            "verdict": verdict,
            "findings": findings,
            "seconds": 1.0,
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    (tmp_path / "server.html").write_text("")
    files = [str(tmp_path / f"{name}.json") for name in verdicts]
    page = tmp_path / "index.html"
    assert main(["overview", *files, "-o", str(page)]) == 0
    text = page.read_text()
    assert '<a href="server.html">server</a>' in text
    assert "client.html" not in text
    assert "no-lock × 2" in text
    assert text.index("server.c") < text.index("client.c")
    (tmp_path / "bad.json").write_text("[]")
    assert main(["overview", str(tmp_path / "bad.json")]) == 2
