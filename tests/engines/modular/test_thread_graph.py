"""The threads of a large program by points-to sets alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raceproof.analysis import facts
from raceproof.cli import main

PROGRAM = """\
#include <pthread.h>
struct event { void *library[16]; };
void event_set(struct event *, int, short, void (*)(int, short, void *), void *);
int event_base_loop(void *, int);

static int handled;
static void drive(int fd) { handled += fd; }
static void on_read(int fd, short what, void *argument) { drive(fd); }
static void on_timer(int fd, short what, void *argument) { handled = 0; }
static void log_line(void *text) { }
static void set_up(struct event *event, void (*handler)(int, short, void *))
{
    event_set(event, 3, 2, handler, event);
}
static void (*sink)(void *) = log_line;
static void *worker(void *base) { event_base_loop(base, 0); return 0; }
static void *logger(void *unused) { sink("hello"); return 0; }
static void *twice(void *unused) { return 0; }
static void start(void *(*entry)(void *), pthread_t *id) { pthread_create(id, 0, entry, 0); }
int main(void)
{
    static struct event one, two;
    pthread_t threads[2], id, other;
    set_up(&one, on_read);
    set_up(&two, on_timer);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    pthread_create(&id, 0, logger, 0);
    pthread_join(id, 0);
    start(twice, &other);
    start(logger, &other);
    return 0;
}
"""


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(facts, "SMALL_PROGRAM", 0)
    (tmp_path / "server.c").write_text(PROGRAM)

    def answer(*words: str) -> Any:
        assert main(["threads", "server.c", "--format", "json", *words]) == 0
        return json.loads(capsys.readouterr().out)["threads"]

    return answer


def test_all_threads_of_a_large_program(ask: Any) -> None:
    threads = ask()
    found = [(one["entry"], one["parent"], one["unique"]) for one in threads]
    assert found[0] == ("main", None, True)
    assert sorted(found[1:]) == [
        ("logger", 0, False),  # by start(), which is called twice
        ("logger", 0, True),
        ("twice", 0, False),
        ("worker", 0, False),
    ]
    by_entry = {one["entry"]: one for one in threads}
    assert by_entry["worker"]["handlers"] == ["on_read", "on_timer"]
    assert by_entry["twice"]["handlers"] == []
    (joined,) = [one for one in threads if one["joined"]]
    assert joined["entry"] == "logger"
    assert joined["unique"]
    assert by_entry["worker"]["number"] in by_entry["worker"]["beside"]
    assert 0 not in threads[0]["beside"]


def test_it_finds_what_the_walk_finds(ask: Any) -> None:
    def named(threads: Any) -> set[tuple[str, str]]:
        return {(t["entry"], str(t["created"] and t["created"]["line"])) for t in threads}

    assert named(ask()) == named(ask("--backend", "alias"))


def test_who_runs_a_function(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = ask("--function", "drive")
    assert one["entry"] == "worker"
    assert one["path"][0] == "worker"
    assert one["path"][-2:] == ["on_read (by a pointer to one of 2)", "drive"]
    assert {one["entry"] for one in ask("--function", "log_line")} == {"logger"}
    assert ask("--function", "twice")[0]["path"] == ["twice"]
    assert main(["threads", "server.c", "--function", "driv"]) == 2
    assert "did you mean drive?" in capsys.readouterr().err
