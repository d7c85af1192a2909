"""What does not count: by comment, by setting, by baseline; for `scan` and for `check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raceproof.cli import main
from tests.project.conftest import STATS_C, Scan, locations


def write(project: Path, text: str) -> None:
    (project / "src" / "stats.c").write_text(text)


@pytest.mark.parametrize(
    "comment",
    [
        "// raceproof: ignore[hits] a lost hit is fine",
        "// raceproof: ignore[hi*] a lost hit is fine",
        "// raceproof: ignore a lost hit is fine",
        "/* raceproof: ignore[hits] a lost hit is fine */",
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_a_comment(project: Path, scan: Scan, comment: str, above: bool) -> None:
    line = f"    {comment}\n    hits++;\n" if above else f"    hits++; {comment}\n"
    write(project, STATS_C.replace("    hits++;\n", line))
    report = scan(code=0)
    assert locations(report) == []
    assert report["verdict"] == "unknown"
    (finding,) = report["findings"]
    assert finding["suppressed"] == {"by": "comment", "reason": "a lost hit is fine"}
    assert report["notices"] == []


def test_a_comment_for_another_location(project: Path, scan: Scan) -> None:
    write(project, STATS_C.replace("hits++;", "hits++; // raceproof: ignore[misses] gone"))
    report = scan(code=1)
    assert locations(report) == ["hits"]
    assert report["notices"] == ["src/stats.c:15: this comment suppresses no finding"]


def test_a_comment_beside_other_code_is_not_for_the_next_line(project: Path, scan: Scan) -> None:
    write(project, STATS_C.replace("    hits++;", "    total; // raceproof: ignore\n    hits++;"))
    assert locations(scan(code=1)) == ["hits"]


def test_brackets_in_a_location(project: Path, scan: Scan) -> None:
    text = STATS_C.replace("int hits, total;", "int hits[4], total;").replace(
        "hits++;", "hits[2]++; // raceproof: ignore[hits[2]] fine"
    )
    write(project, text)
    for name in ("stats.h", "main.c"):
        path = project / "src" / name
        path.write_text(path.read_text().replace("extern int hits,", "extern int hits[4],"))
    assert locations(scan(code=0)) == []


def test_settings(project: Path, scan: Scan) -> None:
    (project / "raceproof.toml").write_text(
        "suppressions = [\n"
        '  { location = "hits", file = "*/stats.c", reason = "a statistic" },\n'
        '  { location = "gone.*", reason = "old" },\n'
        "]\n"
    )
    report = scan(code=0)
    assert report["findings"][0]["suppressed"] == {"by": "setting", "reason": "a statistic"}
    assert report["notices"] == ["the suppression of 'gone.*' matches no finding"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('suppressions = ["hits"]', "must be a list of tables"),
        ('suppressions = [{ place = "x" }]', "unknown key 'place'"),
        ("suppressions = [{ location = 3 }]", "'suppressions.location' must be a text"),
    ],
)
def test_settings_that_make_no_sense(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    (project / "raceproof.toml").write_text(text + "\n")
    assert main(["scan"]) == 2
    assert complaint in capsys.readouterr().err


def test_a_baseline_survives_moved_lines(project: Path, scan: Scan) -> None:
    scan("--write-baseline", "known.json", code=0)
    (entry,) = json.loads((project / "known.json").read_text())["findings"]
    assert entry["location"] == "hits"
    write(project, "/* one more line */\n" + STATS_C)
    report = scan("--baseline", "known.json", code=0)
    assert report["findings"][0]["suppressed"]["by"] == "baseline"


def test_new_findings_count_beside_a_baseline(project: Path, scan: Scan) -> None:
    scan("--write-baseline", "known.json", code=0)
    write(project, STATS_C.replace("    hits++;", "    hits++;\n    total++;"))
    assert locations(scan("--baseline", "known.json", code=1)) == ["total"]
    # Writing it again keeps what the old one knew.
    write(project, STATS_C.replace("    hits++;\n", ""))
    report = scan("--baseline", "known.json", code=0)
    assert "no more (write it again): hits" in report["notices"][0]


def test_a_baseline_that_is_none(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "known.json").write_text("[]")
    assert main(["scan", "--baseline", "known.json"]) == 2
    assert "not a baseline" in capsys.readouterr().err


def sarif(project: Path, *words: str) -> list[dict[str, Any]]:
    main(["scan", "--format", "sarif", "-o", "report.sarif", *words])
    found: list[dict[str, Any]] = json.loads((project / "report.sarif").read_text())["runs"]
    results: list[dict[str, Any]] = found[0]["results"]
    return results


def test_sarif_and_github_know_of_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "--write-baseline", "known.json", "-q"])
    (result,) = sarif(project, "--baseline", "known.json")
    assert result["suppressions"][0]["kind"] == "external"
    write(project, STATS_C.replace("hits++;", "hits++; // raceproof: ignore fine"))
    (result,) = sarif(project)
    assert result["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "fine"}
    ]
    capsys.readouterr()
    main(["scan", "--format", "github"])
    assert "::warning" not in capsys.readouterr().out


def test_check_honours_them_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, STATS_C.replace("hits++;", "hits++; // raceproof: ignore[hits] fine"))
    words = ["check", "src/main.c", "src/stats.c", "--engine", "summary"]
    assert main(words) == 0
    assert "1 suppressed" in capsys.readouterr().out
    assert main([*words, "-v"]) == 0
    assert "Suppressed in the source: fine: two writes of hits" in capsys.readouterr().out
