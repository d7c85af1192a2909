"""A second run does what is needed only, and says what a first run would say."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raceproof.frontend.compiler import Translation
from raceproof.frontend.source import Source
from raceproof.frontend.toolchain import Toolchain
from raceproof.options import Options
from raceproof.project import ScanReport, find_project, units
from raceproof.project import scan as scan_project
from tests.project.conftest import STATS_C, Scan, essence, locations


def run(folder: Path, jobs: int = 1) -> ScanReport:
    options = Options(jobs=jobs)
    return scan_project(find_project([], options), options, folder / ".raceproof")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_nothing_changed(project: Path) -> None:
    first = run(project)
    second = run(project)
    assert (first.compiled, first.is_remembered) == (2, False)
    assert (second.compiled, second.composed, second.is_remembered) == (0, 0, True)
    assert second.verdict.findings == first.verdict.findings
    assert second.verdict.threads == first.verdict.threads


def test_a_touched_file_is_not_compiled(project: Path) -> None:
    run(project)
    os.utime(project / "src" / "stats.c")
    assert run(project).is_remembered


def test_one_function_changed(project: Path) -> None:
    run(project)
    edit(project / "src" / "main.c", "count(1);", "/* once */ count(1);")
    second = run(project)
    assert (second.compiled, second.composed) == (1, 0), "the same code at another place"
    edit(project / "src" / "main.c", "count(1);", "count(1); hits = 0;")
    third = run(project)
    assert third.compiled == 1
    assert 1 <= third.composed <= 2, "the function, and perhaps its caller"


FAR = """
#include <pthread.h>
static int total, ready, slots[4]; static int *cursor = &slots[1];
static pthread_mutex_t m; static pthread_t id;
static void add(int n)
{
    total += n;
}
static void point(void)
{
}
static void *work(void *unused)
{
    add(1);
    *cursor = 1;
    __atomic_store_n(&ready, 1, 5);
    return 0;
}
static void wait(void)
{
}
static void use(void)
{
    add(2);
    slots[2] = 2;
}
int main(void)
{
    pthread_create(&id, 0, work, 0);
    wait();
    use();
    point();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "likely", "possible"),
    [
        ("wait(void)\n{", "wait(void)\n{\n    pthread_join(id, 0);", [], []),
        ("wait(void)\n{", "wait(void)\n{\n    while (!__atomic_load_n(&ready, 5)) ;",
         [], ["total"]),
        ("point(void)\n{", "point(void)\n{\n    cursor = &slots[2];",
         ["cursor", "total"], ["slots[2]"]),
        ("    add(1);", "    pthread_mutex_lock(&m); add(1); pthread_mutex_unlock(&m);",
         ["total"], []),
        ("add(int n)\n{", "add(int n)\n{\n    if (n > 1)", ["total"], []),
    ],
)  # fmt: skip
def test_a_change_far_from_the_accesses(
    project: Path, scan: Scan, old: str, new: str, likely: list[str], possible: list[str]
) -> None:
    """What nobody touched is judged anew if another thread's lock, join or pointer says so."""
    path = project / "src" / "main.c"
    path.write_text(FAR)
    assert locations(scan()) == ["total"]
    edit(path, old, new)
    report = scan()
    found = {f["location"]["name"]: f["confidence"] for f in report["findings"]}
    assert found == {**dict.fromkeys(likely, "likely"), **dict.fromkeys(possible, "possible")}
    assert essence(report) == essence(scan("--no-cache"))
    path.write_text(FAR)
    assert locations(scan()) == ["total"]


def test_a_header_changed(project: Path) -> None:
    run(project)
    edit(project / "src" / "stats.h", "void count", "int more;\nvoid count")
    assert run(project).compiled == 2


def test_moved_lines_are_seen(project: Path, scan: Scan) -> None:
    before = scan()["findings"][0]["accesses"][0]["position"]["line"]
    edit(project / "src" / "stats.c", "int hits", "\n\nint hits")
    after = scan()["findings"][0]["accesses"][0]["position"]["line"]
    assert after == before + 2


def test_a_race_goes_and_comes_back(project: Path, scan: Scan) -> None:
    scan(code=1)
    unlock = "    pthread_mutex_unlock(&guard);\n"
    fixed = STATS_C.replace(unlock, "").replace("    hits++;\n", "    hits++;\n" + unlock)
    (project / "src" / "stats.c").write_text(fixed)
    assert locations(scan(code=0)) == []
    (project / "src" / "stats.c").write_text(STATS_C)
    assert locations(scan(code=1)) == ["hits"]


def test_other_flags_are_another_unit(project: Path, scan: Scan) -> None:
    edit(project / "src" / "stats.c", "    hits++;", "#ifdef COUNT\n    hits++;\n#endif")
    assert locations(scan(code=0)) == []
    assert locations(scan("-D", "COUNT", code=1)) == ["hits"]
    assert locations(scan(code=0)) == []


def test_no_cache_leaves_nothing_behind(project: Path, scan: Scan) -> None:
    scan("--no-cache")
    assert not (project / ".raceproof").exists()


def test_the_cache_keeps_itself_out_of_version_control(project: Path, scan: Scan) -> None:
    scan()
    assert "*" in (project / ".raceproof" / ".gitignore").read_text().splitlines()


# --- a memory that cannot be trusted --------------------------------------------------------------


@pytest.mark.parametrize("damage", ["garbage", "cut", "entries", "tables", "empty"])
def test_a_damaged_cache_is_rebuilt(project: Path, scan: Scan, damage: str) -> None:
    expected = scan()
    database = project / ".raceproof" / "cache.db"
    if damage == "garbage":
        database.write_bytes(b"this is not a database " * 400)
    elif damage == "cut":
        database.write_bytes(database.read_bytes()[:5000])
    elif damage == "empty":
        database.write_bytes(b"")
    else:
        with sqlite3.connect(database) as connection:
            if damage == "entries":
                connection.execute("UPDATE stamps SET data = zeroblob(100)")
            else:
                connection.execute("DROP TABLE stamps")
        connection.close()
    again = scan(code=1)
    damaged = [notice for notice in again.pop("notices") if "damaged and is rebuilt" in notice]
    assert len(damaged) == (0 if damage == "empty" else 1)
    expected.pop("notices")
    assert essence(again) == essence(expected)
    assert run(project).is_remembered


def test_a_cache_of_another_version_is_not_read(project: Path) -> None:
    run(project)
    with sqlite3.connect(project / ".raceproof" / "cache.db") as connection:
        connection.execute("UPDATE about SET version = 'raceproof of tomorrow'")
    connection.close()
    assert run(project).compiled == 2
    assert run(project).is_remembered


def test_a_cache_that_cannot_be_made(project: Path, scan: Scan) -> None:
    (project / "file").write_text("")
    report = scan("--cache", "file/inside", code=1)
    assert any("works without a cache" in notice for notice in report["notices"])


def test_two_at_once(project: Path, scan: Scan) -> None:
    """Several processes that share a cache all give the right answer."""
    words = [sys.executable, "-m", "raceproof", "scan", "--jobs", "1", "-q"]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    texts = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [1, 1, 1]
    assert all("write of hits" in text or "hits" in text for text in texts)
    assert run(project).is_remembered


@pytest.mark.slow
def test_killed_at_any_moment(project: Path, scan: Scan) -> None:
    """Whatever a killed run leaves behind, the next one is right."""
    expected = essence(scan("--no-cache"))
    words = [sys.executable, "-m", "raceproof", "scan", "--jobs", "1", "-q"]
    for tenths in range(1, 9):
        shutil.rmtree(project / ".raceproof", ignore_errors=True)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        time.sleep(tenths / 10)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert essence(scan(code=1)) == expected


# --- a change inside of one function --------------------------------------------------------------

PATCHED = [
    ("hits++;", "hits += 2;"),
    ("hits++;", "hits++;\n    static int times;\n    times++;"),
    ("    total += n;\n", ""),
    ("hits++;", 'hits++;\n    puts("counted");'),
]
WHOLE = [
    ("hits++;", "#ifdef MORE\n    hits++;\n#endif"),
    ("hits++;", "/* a remark */ hits++;"),
    ("hits++;", "enter(0); hits++;\n}\n\nvoid another(void)\n{"),
    ("    enter(&guard);", "    pthread_mutex_lock(&guard);"),
    ("int hits, total;", "int hits, total, more;"),
    ("void count(int n)", "void count(int m)"),
]


@pytest.mark.parametrize(("old", "new"), PATCHED)
def test_the_compiler_sees_the_changed_body_only(
    project: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    scan()
    edit(project / "src" / "stats.c", old, new)
    expected = essence(scan("--no-cache"))
    monkeypatch.delattr("raceproof.project.units._compile")
    assert essence(scan()) == expected


@pytest.mark.parametrize(("old", "new"), WHOLE)
def test_other_changes_need_the_whole_file(
    project: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    scan()
    edit(project / "src" / "stats.c", old, new)
    if "int m" in new:
        edit(project / "src" / "stats.c", "total += n", "total += m")
    expected = essence(scan("--no-cache"))
    compiled = []
    as_ever = units._compile

    def compile_whole(source: Source, toolchain: Toolchain) -> tuple[Translation, list[str]]:
        compiled.append(source.path.name)
        return as_ever(source, toolchain)

    monkeypatch.setattr(units, "_compile", compile_whole)
    assert essence(scan()) == expected
    assert compiled == ["stats.c"]
