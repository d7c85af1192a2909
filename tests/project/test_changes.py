"""``--changed-since``: only what the change touches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from raceproof.cli import main
from tests.project.conftest import MAIN_C, STATS_C, Scan, locations

OTHER_C = """\
#include "stats.h"
int lost;

void lose(void)
{
    lost++;
}
"""


def git(folder: Path, *words: str) -> None:
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(project: Path) -> Path:
    """The project under version control, with a second race in another file."""
    (project / "src" / "other.c").write_text(OTHER_C)
    calls = MAIN_C.replace("count(1);", "count(1);\n    lose();")
    (project / "src" / "main.c").write_text("void lose(void);\n" + calls)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    return project


def test_no_change_touches_nothing(repository: Path, scan: Scan) -> None:
    assert locations(scan(code=1)) == ["hits", "lost"]
    report = scan("--changed-since", "HEAD", code=0)
    assert locations(report) == []
    assert report["verdict"] == "unknown"


def test_a_changed_function(repository: Path, scan: Scan) -> None:
    (repository / "src" / "stats.c").write_text(STATS_C.replace("total += n;", "total -= n;"))
    assert locations(scan("--changed-since", "HEAD", code=1)) == ["hits"]
    git(repository, "commit", "-qam", "second")
    assert locations(scan("--changed-since", "HEAD", code=0)) == []
    assert locations(scan("--changed-since", "HEAD~1", code=1)) == ["hits"]


def test_a_line_that_is_gone(repository: Path, scan: Scan) -> None:
    (repository / "src" / "other.c").write_text(OTHER_C.replace("{\n    lost", "{ lost"))
    (repository / "src" / "stats.c").write_text(STATS_C.replace("    total += n;\n", ""))
    assert locations(scan("--changed-since", "HEAD", code=1)) == ["hits", "lost"]


def test_a_caller_counts(repository: Path, scan: Scan) -> None:
    """The change may be in who calls the code that races: it may have dropped a lock."""
    path = repository / "src" / "main.c"
    path.write_text(path.read_text().replace("return argument;", "return 0;"))
    assert locations(scan("--changed-since", "HEAD", code=1)) == ["hits", "lost"]


def test_a_change_elsewhere_in_the_file(repository: Path, scan: Scan) -> None:
    text = STATS_C.replace("    pthread_mutex_lock(lock);", "    ;\n    pthread_mutex_lock(lock);")
    (repository / "src" / "stats.c").write_text(text)
    assert locations(scan("--changed-since", "HEAD", code=0)) == []


def test_a_new_file(repository: Path, scan: Scan) -> None:
    git(repository, "rm", "-q", "--cached", "src/other.c")
    git(repository, "commit", "-qm", "forgotten")
    assert locations(scan("--changed-since", "HEAD", code=1)) == ["lost"]


@pytest.mark.parametrize("revision", ["nobody", "--help"])
def test_an_unknown_revision(
    repository: Path, capsys: pytest.CaptureFixture[str], revision: str
) -> None:
    assert main(["scan", f"--changed-since={revision}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert revision in line
