"""Libraries and several programs in one scan, and scans that end in time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raceproof.cli import main
from raceproof.project import analysis
from raceproof.project.public import declared_in, public_headers

PUBLIC_H = "void log_line(int level);\n"
INTERNAL_H = "void write_out(int level);\n"
LOG_C = """\
#include <pthread.h>
#include "log.h"
#include "log_internal.h"
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
void log_line(int level) {
    pthread_mutex_lock(&guard);
    write_out(level);
    pthread_mutex_unlock(&guard);
}
"""
OUT_C = (
    '#include "log_internal.h"\nstatic int lines;\nvoid write_out(int level) { lines += level; }\n'
)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "log.h": PUBLIC_H, "log_internal.h": INTERNAL_H, "log.c": LOG_C, "out.c": OUT_C,
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    return tmp_path


def scanned(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    main(["scan", "--no-cache", "--format", "json", *words])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def locations(report: dict[str, Any]) -> list[str]:
    return [finding["location"]["name"] for finding in report["findings"]]


def test_a_library_is_entered_by_its_public_functions(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`write_out` is called under the lock only, by those who know it."""
    found = scanned(capsys)
    assert locations(found) == []
    assert found["notices"] == [
        "the library: entered by the one function that its public headers declare"
    ]
    (library / "log.h").write_text(PUBLIC_H + INTERNAL_H)
    assert locations(scanned(capsys)) == ["lines"], "public now, and needs no lock"


def test_public_headers(tmp_path: Path) -> None:
    names = ["a.h", "a_internal.h", "config.h", "sub/b.hpp", "c.c"]
    files = [str(tmp_path / name) for name in names]
    assert public_headers([*files, "/usr/include/stdio.h"], tmp_path) == [files[0], files[3]]
    shown = str(tmp_path / "include" / "d.h")
    assert public_headers([*files, shown], tmp_path) == [shown]
    assert declared_in([str(tmp_path / "none.h")]) == set()


def test_programs_and_libraries_of_one_build(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (library / "main.c").write_text('#include "log.h"\nint main(void) { log_line(1); return 0; }\n')
    entries = [
        {"directory": str(library), "file": f, "arguments": ["cc", "-c", f, "-o", f"{f}.o"]}
        for f in ("log.c", "out.c", "main.c")
    ]
    objects = {name: str(library / f"{name}.c.o") for name in ("log", "out", "main")}
    shared = str(library / "liblog.so")
    links = [
        {"output": shared, "kind": "shared library", "inputs": [objects["log"], objects["out"]]},
        {"output": str(library / "app"), "kind": "program", "inputs": [objects["main"], shared]},
        {"output": str(library / "app-debug"), "kind": "program",
         "inputs": [objects["main"], shared]},
    ]  # fmt: skip
    (library / "compile_commands.json").write_text(json.dumps(entries))
    (library / "link_commands.json").write_text(json.dumps(links))
    found = scanned(capsys)
    assert found["engines"][0]["detail"] == "2 programs", "app-debug is app once more"
    assert locations(found) == []
    assert main(["targets"]) == 0
    assert "app        program, 3 files, with liblog.so" in capsys.readouterr().out


def test_a_program_that_takes_too_long_is_named(
    library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*arguments: object) -> None:
        while True:
            pass

    monkeypatch.setattr(analysis, "analyse_units", endless)
    found = scanned(capsys, "--timeout", "0.2")
    assert found["verdict"] == "unknown"
    assert "no time left for the library: not part of the verdict" in found["notices"]
