"""Unknown code that is given functions of the program may run them: that is never proved."""

from __future__ import annotations

import pytest

from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.pipeline import check
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Outcome
from tests.lowering import lower

GIVEN = """
#include <pthread.h>

struct operations {
    void (*open)(void);
    int (*read)(int);
};

int run_server(const struct operations *operations);

static int requests;

static void *background(void *unused)
{
    requests++;
    return NULL;
}

static void open_server(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, background, NULL);
}

static int read_request(int number)
{
    return requests + number;
}

static const struct operations operations = {open_server, read_request};

int main(void)
{
    return run_server(&operations);
}
"""
HARMLESS = """
#include <pthread.h>
int log_message(const char *text);
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    log_message("done");
    return NULL;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    return 0;
}
"""
ENGINES = [
    ("modular", BackendChoice.VALUE),
    ("modular", BackendChoice.ALIAS),
    ("interleave", BackendChoice.VALUE),
    ("bounded", BackendChoice.VALUE),
]


@pytest.mark.parametrize(("engine", "backend"), ENGINES)
def test_functions_given_away_may_run(engine: str, backend: BackendChoice) -> None:
    answer = ask(engine, lower(GIVEN), Question(Options(backend=backend, timeout=20)))
    assert answer.outcome is Outcome.UNKNOWN
    assert any(
        "not seen" in assumption and "run_server" in assumption for assumption in answer.assumptions
    )


def test_the_pipeline_proves_nothing_either() -> None:
    assert check(lower(GIVEN), Options(timeout=20)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(("engine", "backend"), ENGINES)
def test_unknown_code_that_gets_no_function_is_no_obstacle(
    engine: str, backend: BackendChoice
) -> None:
    options = Options(backend=backend, timeout=20)
    answer = ask(engine, lower(HARMLESS), Question(options))
    assert answer.outcome is Outcome.RACE_FREE
