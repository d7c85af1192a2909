"""What a library function returns: an object, or null, whatever the engine."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Outcome
from tests.lowering import lower

PATIENCE = 2.0
"""Seconds: enough to prove what should not be proved."""
FORMS = ["argument 0", "into 0", "pointee 0", "reachable 0", "fresh", "static"]
PROGRAM = """
#include <pthread.h>
int *find(int **from);
static int x, y;
static int *inner = &y;
static void *work(void *unused) { %s return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


def outcome(engine: str, body: str, returns: str, folder: Path) -> Outcome:
    model = folder / "find.toml"
    model.write_text(f'[[function]]\nname = "find"\nreturns = "{returns}"\n')
    options = Options(models=(model,))
    program = lower(PROGRAM % body)
    question = Question(options, deadline=time.monotonic() + PATIENCE)
    return ask(engine, program, question).outcome


@pytest.mark.parametrize("engine", ["modular", "interleave", "bounded", "summary"])
@pytest.mark.parametrize("returns", FORMS)
def test_null_is_among_the_results(engine: str, returns: str, tmp_path: Path) -> None:
    body = "if (!find(&inner)) x++;"
    assert outcome(engine, body, f"{returns} or null", tmp_path) is not Outcome.RACE_FREE


@pytest.mark.parametrize("engine", ["modular", "interleave", "bounded"])
def test_a_new_object_is_returned_for_null(engine: str, tmp_path: Path) -> None:
    body = "if (find(inner == &y ? 0 : &inner)) x++;"
    assert outcome(engine, body, "argument 0 or fresh", tmp_path) is not Outcome.RACE_FREE


def test_an_object_behind_the_argument_is_returned(tmp_path: Path) -> None:
    body = "(*find(&inner))++;"
    assert outcome("modular", body, "reachable 0", tmp_path) is not Outcome.RACE_FREE


def test_the_argument_is_proved_where_nothing_else_is_returned(tmp_path: Path) -> None:
    body = "if (!find(&inner)) x++;"
    assert outcome("modular", body, "argument 0", tmp_path) is Outcome.RACE_FREE


@pytest.mark.parametrize("engine", ["modular", "interleave", "bounded"])
@pytest.mark.parametrize("flags", ["MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED", "MAP_SHARED"])
def test_memory_may_be_mapped_where_it_was_asked_for(engine: str, flags: str) -> None:
    text = PROGRAM % (f"if (mmap(place, 4096, 3, {flags}, flag, 0) == place) x++;")
    text = (
        "#define _GNU_SOURCE\n#include <sys/mman.h>\nstatic int flag = -1; static void *place;\n"
        + text
    )
    text = text.replace(
        "pthread_t a, b;", "pthread_t a, b; place = mmap(0, 8192, 3, 34, -1, 0); flag = 3;"
    )
    question = Question(Options(), deadline=time.monotonic() + PATIENCE)
    assert ask(engine, lower(text), question).outcome is not Outcome.RACE_FREE
