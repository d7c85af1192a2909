"""``raceproof scan`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raceproof.cli import main
from tests.project.conftest import MAIN_C, Scan, essence, locations


def test_a_folder(project: Path, scan: Scan) -> None:
    report = scan("src", code=1)
    assert report["verdict"] == "race"
    assert locations(report) == ["hits"]
    finding = report["findings"][0]
    assert finding["accesses"][0]["position"]["file"] == "src/stats.c"
    assert report["program"]["files"] == ["src/main.c", "src/stats.c"]


def test_nothing_named_means_here(project: Path, scan: Scan) -> None:
    assert locations(scan(code=1)) == ["hits"]


def test_files_alone(project: Path, scan: Scan) -> None:
    assert locations(scan("src/main.c", "src/stats.c", code=1)) == ["hits"]


def test_any_number_of_jobs_gives_the_same(
    project: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raceproof.engines.summary.bottom_up.MIN_BLOCKS_TO_FORK", 0)
    expected = essence(scan("--no-cache"))
    output = project / "two.json"
    main(["scan", "--no-cache", "--jobs", "2", "--format", "json", "-o", str(output)])
    assert essence({**json.loads(output.read_text()), "code": 1}) == expected


def test_a_build_database(project: Path, scan: Scan) -> None:
    (project / "src" / "main.c").write_text("#ifdef RIGHT\n" + MAIN_C + "#endif\n")
    entries = [
        {"directory": str(project), "file": f"src/{name}.c", "command": f"cc -DRIGHT src/{name}.c"}
        for name in ("main", "stats", "gone")
    ]
    (project / "compile_commands.json").write_text(json.dumps(entries))
    report = scan(code=1)
    assert locations(report) == ["hits"]
    assert any("gone.c: is in" in notice for notice in report["notices"])


def test_positions_do_not_depend_on_where_the_compiler_ran(project: Path, scan: Scan) -> None:
    (project / "build").mkdir()
    entries = [
        {
            "directory": str(project / "build"),
            "file": f"../src/{n}.c",
            "command": f"cc ../src/{n}.c",
        }
        for n in ("main", "stats")
    ]
    (project / "build" / "compile_commands.json").write_text(json.dumps(entries))
    access = scan(code=1)["findings"][0]["accesses"][0]
    assert access["position"]["file"] == "src/stats.c"


def test_programs_that_share_a_file(project: Path, scan: Scan) -> None:
    """Two mains: each program is looked at with the code that both use, and apart."""
    other = MAIN_C.replace("count(1)", "own++").replace("static void", "int own;\nstatic void")
    (project / "src" / "other.c").write_text(other)
    report = scan(code=1)
    assert locations(report) == ["hits", "own"]


def test_a_library_without_main(project: Path, scan: Scan) -> None:
    (project / "src" / "main.c").unlink()
    report = scan("--fail-on", "possible", code=1)
    assert "hits" in locations(report)
    assert "total" not in locations(report)


def test_static_names_of_two_files_are_apart(project: Path, scan: Scan) -> None:
    for name in ("a", "b"):
        (project / "src" / f"{name}.c").write_text(
            f"static int mine;\nvoid set_{name}(void) {{ mine = 1; }}\n"
        )
    calls = MAIN_C.replace("    count(1);", "    set_a();").replace(
        "    pthread_join(first, 0);", "    set_b();\n    pthread_join(first, 0);"
    )
    (project / "src" / "main.c").write_text("void set_a(void), set_b(void);\n" + calls)
    found = scan()["findings"]
    assert {a["function"] for f in found for a in f["accesses"]} == {"set_a"}


def test_excluded_folders(project: Path, scan: Scan) -> None:
    (project / "third_party").mkdir()
    (project / "third_party" / "broken.c").write_text("this is not C\n")
    report = scan("--exclude", "third_party")
    assert report["notices"] == []
    assert report["program"]["files"] == ["src/main.c", "src/stats.c"]


def test_a_body_of_the_project_wins_over_a_model(project: Path, scan: Scan) -> None:
    """A function that usually comes from a library may be the project's own."""
    (project / "src" / "own.c").write_text(
        "extern int total;\nint pthread_mutex_lock(void *m) { total++; return 0; }\n"
    )
    assert locations(scan(code=1)) == ["hits", "total"]


# --- bad input ------------------------------------------------------------------------------------


def test_a_file_that_does_not_compile(project: Path, scan: Scan) -> None:
    (project / "src" / "broken.c").write_text("int x = ;\n")
    report = scan(code=1)
    assert locations(report) == ["hits"]
    notice, count = report["notices"]
    assert "broken.c: does not compile" in notice
    assert "expected expression" in notice
    assert "\n" not in notice
    assert count.startswith("1 of 3 files could not be compiled")
    assert essence(scan(code=1)) == essence(report)


def test_nothing_compiles(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "src" / "main.c").write_text("int x = ;\n")
    (project / "src" / "stats.c").unlink()
    assert main(["scan"]) == 2
    assert "nothing could be analysed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["empty"], "there is no C or C++ file"),
        (["gone.c"], "there is no such file"),
        (["src/stats.h"], "not a kind of file"),
        (["-p", "gone.json"], "cannot be read"),
        (["--changed-since", "HEAD"], "is not in a Git repository"),
        (["--entry", "begin"], "no file of the project defines"),
        (["--baseline", "gone.json"], "cannot be read"),
        (["--model", "gone.toml"], "cannot be read"),
    ],
)
def test_mistakes_get_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    (project / "empty").mkdir()
    assert main(["scan", *words, "--jobs", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line
