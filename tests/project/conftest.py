"""A small project to scan: a race on `hits`, none on `total`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raceproof.cli import main

STATS_H = """\
#include <pthread.h>
extern pthread_mutex_t guard;
extern int hits, total;
void count(int n);
"""
STATS_C = """\
#include "stats.h"
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
int hits, total;

static void enter(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
}

void count(int n)
{
    enter(&guard);
    total += n;
    pthread_mutex_unlock(&guard);
    hits++;
}
"""
MAIN_C = """\
#include "stats.h"

static void *worker(void *argument)
{
    count(1);
    return argument;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, worker, 0);
    pthread_create(&second, 0, worker, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"""

Scan = Callable[..., dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder, which is also the working directory."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "stats.h").write_text(STATS_H)
    (folder / "src" / "stats.c").write_text(STATS_C)
    (folder / "src" / "main.c").write_text(MAIN_C)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def scan(tmp_path: Path) -> Scan:
    """Runs ``raceproof scan WORDS...``; the JSON report, with the exit code as `code`."""

    def run(*words: str, code: int | None = None) -> dict[str, Any]:
        output = tmp_path / "report.json"
        output.unlink(missing_ok=True)
        found = main(["scan", *words, "--jobs", "1", "--format", "json", "-o", str(output)])
        assert code is None or found == code
        report: dict[str, Any] = json.loads(output.read_text()) if output.exists() else {}
        return {**report, "code": found}

    return run


def locations(report: dict[str, Any]) -> list[str]:
    """The names of the racing locations that count."""
    return sorted(f["location"]["name"] for f in report["findings"] if "suppressed" not in f)


def essence(report: dict[str, Any]) -> dict[str, Any]:
    """All of a report but what may differ between equal runs: the time it took."""
    kept = {key: value for key, value in report.items() if key not in ("seconds", "engines")}
    kept["engines"] = [(run["name"], run["answer"]) for run in report["engines"]]
    return kept
