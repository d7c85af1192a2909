"""Executions that end early end for the encoder where they end for the machine."""

from pathlib import Path

import pytest

from raceproof.verdict import Outcome
from tests.engines.bounded.helpers import TWO_THREADS, ask, load

SECOND = "int shared; static void *second(void *arg) { shared = 2; return NULL; }\n"
ENDS_BEFORE = {
    "used after free": "int *p = malloc(4); *p = 0; free(p); shared = *p;",
    "freed twice": "int *p = malloc(4); free(p); free(p); shared = 1;",
    "set after free": "char *p = malloc(8); free(p); __builtin_memset(p, 0, 8); shared = 1;",
    "used after realloc": "int *p = malloc(4), *q = realloc(p, 8); *q = 1; *p = 1; shared = 1;",
    "freed on the way here": "int *p = malloc(4), n = __VERIFIER_nondet_int();"
    " if (n) free(p); *p = 1; if (n) shared = 1;",
    "aborted": "abort(); shared = 1;",
}
GOES_ON = {
    "freed at last": "int *p = malloc(4); *p = 0; shared = *p; free(p);",
    "freed elsewhere": "int *p = malloc(4), n = __VERIFIER_nondet_int();"
    " if (n) free(p); else *p = 1; shared = 1;",
    "another block": "int *p = malloc(4), *q = malloc(4); *q = 1; free(p); shared = *q;",
    "a block for each turn": "for (int i = 0; i < 3; i++)"
    " { int *p = malloc(4); *p = i; if (i == 2) shared = *p; free(p); }",
    "no block": "free(NULL); shared = 1;",
}


@pytest.mark.parametrize("name", ENDS_BEFORE)
def test_nothing_comes_after_the_end(name: str, tmp_path: Path) -> None:
    first = f"static void *first(void *arg) {{ {ENDS_BEFORE[name]} return NULL; }}"
    answer = ask(load(tmp_path, SECOND + first + TWO_THREADS))
    assert answer.outcome is Outcome.RACE_FREE, answer.detail


@pytest.mark.parametrize("name", GOES_ON)
def test_a_block_that_is_used_rightly_ends_nothing(name: str, tmp_path: Path) -> None:
    first = f"static void *first(void *arg) {{ {GOES_ON[name]} return NULL; }}"
    answer = ask(load(tmp_path, SECOND + first + TWO_THREADS))
    assert answer.outcome is Outcome.RACE, answer.detail


def test_the_freed_block_itself_can_race(tmp_path: Path) -> None:
    text = """
int *p, ready;
pthread_mutex_t lock;
static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    if (ready)
        free(p);
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *second(void *arg)
{
    p = malloc(4);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    *p = 1;
    return NULL;
}
"""
    answer = ask(load(tmp_path, text + TWO_THREADS))
    assert answer.outcome is Outcome.RACE, answer.detail


@pytest.mark.parametrize(
    "use",
    [
        "if (gone) { int seen = *p; shared = seen; }",
        "if (gone) { leave(); *q = 1; shared = 1; }",
    ],
)
def test_memory_that_is_gone_for_other_reasons_is_no_internal_error(
    use: str, tmp_path: Path
) -> None:
    text = f"""
int *p, *q, gone;
pthread_mutex_t lock;
static void leave(void) {{ int x = 1; q = &x; }}
static void *first(void *arg)
{{
    pthread_mutex_lock(&lock);
    {use}
    pthread_mutex_unlock(&lock);
    return NULL;
}}
int main(void)
{{
    pthread_t a, b;
    p = malloc(4);
    *p = 1;
    pthread_create(&a, NULL, second, NULL);
    pthread_create(&b, NULL, first, NULL);
    pthread_mutex_lock(&lock);
    free(p);
    gone = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}}
"""
    answer = ask(load(tmp_path, SECOND + text))
    assert answer.outcome is Outcome.UNKNOWN
    assert "internal error" not in answer.detail
