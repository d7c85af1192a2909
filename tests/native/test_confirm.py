"""Races seen in the real program, under ThreadSanitizer. The first build makes its runtime."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_RACY = """\
#include <pthread.h>
static int hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *arg)
{
    pthread_mutex_t *own = arg;
    pthread_mutex_lock(own);
    hits++;
    pthread_mutex_unlock(own);
    return 0;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, run, &lock);
    run(&other);
    pthread_join(thread, 0);
    return 0;
}
"""
_RIGHT = _RACY.replace("run(&other)", "run(&lock)")
_BY_INPUT = """\
#include <pthread.h>
#include <stdlib.h>
static int hits;
static void *run(void *arg) { hits++; return arg; }
int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t threads[4];
    for (int i = 0; i < count && i < 4; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < count && i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""
_HANGS = """\
#include <pthread.h>
static int hits, x;
static void *run(void *arg) { x = hits; return arg; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    hits = 1;
    for (volatile int i = 1; i;) ;
    return 0;
}
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "raceproof", "confirm", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def _confirm(
    folder: Path, text: str, *arguments: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    (folder / "program.c").write_text(text)
    done = _run(folder, "program.c", "--format", "json", *arguments)
    if "cannot be built with ThreadSanitizer" in done.stderr:
        pytest.skip(f"no ThreadSanitizer here: {done.stderr.splitlines()[-1]}")
    return done, json.loads(done.stdout)["findings"]


def test_a_schedule_leads_the_real_program_to_its_race(tmp_path: Path) -> None:
    done, (finding,) = _confirm(tmp_path, _RACY)
    native = finding["native"]
    assert done.returncode == 1
    assert native["is_confirmed"] is True
    assert (native["way"], native["runs"]) == ("scheduled", 1)
    assert "data race" in native["report"]


def test_a_program_without_a_race_shows_none(tmp_path: Path) -> None:
    done, findings = _confirm(tmp_path, _RIGHT)
    assert (done.returncode, findings) == (0, [])


def test_arguments_behind_two_dashes_reach_the_program(tmp_path: Path) -> None:
    quick = ("--engine", "modular", "--runs")
    _, (without,) = _confirm(tmp_path, _BY_INPUT, *quick, "1")
    _, (given,) = _confirm(tmp_path, _BY_INPUT, *quick, "5", "--", "3")
    assert without["native"]["is_confirmed"] is False
    assert given["native"]["is_confirmed"] is True


def test_a_program_that_hangs_is_killed_with_what_was_seen(tmp_path: Path) -> None:
    done, findings = _confirm(
        tmp_path, _HANGS, "--engine", "modular", "--runs", "1", "--run-timeout", "3"
    )
    assert done.returncode == 1
    assert any(f["native"]["is_confirmed"] for f in findings)


def test_what_does_not_link_says_so_in_the_linkers_words(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(
        "int missing(void);\nint main(void) { return missing(); }\n"
    )
    done = _run(tmp_path, "program.c")
    assert done.returncode == 2
    assert "cannot be built with ThreadSanitizer" in done.stderr
    assert "missing" in done.stderr


def test_programs_of_32_bits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(_RIGHT)
    done = _run(tmp_path, "program.c", "--data-model", "ILP32")
    assert done.returncode == 2
    assert "64-bit" in done.stderr


def test_a_scan_looks_for_its_findings_in_the_program(tmp_path: Path) -> None:
    (tmp_path / "hits.c").write_text("int hits;\nvoid bump(void) { hits++; }\n")
    (tmp_path / "main.c").write_text(
        "#include <pthread.h>\nvoid bump(void);\n"
        "static void *run(void *arg) { bump(); return arg; }\n"
        "int main(void)\n{\n    pthread_t a;\n    pthread_create(&a, 0, run, 0);\n    bump();\n"
        "    pthread_join(a, 0);\n    return 0;\n}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "raceproof", "scan", "--no-cache", "--confirm", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if "cannot be built with ThreadSanitizer" in done.stderr:
        pytest.skip(f"no ThreadSanitizer here: {done.stderr.splitlines()[-1]}")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["native"]["is_confirmed"] is True
    assert "bump" in finding["native"]["report"]
