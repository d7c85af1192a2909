"""`scan` takes no atomic variable for an ordering, so a relaxed one orders nothing there either."""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.engines.question import Question
from raceproof.engines.summary import SummaryEngine
from raceproof.frontend import load_program
from raceproof.options import Options

MAIN = """
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
"""
HEAD = "#include <pthread.h>\n#include <stdatomic.h>\nstatic int data;\nstatic atomic_int word;\n"
FLAG = """
static void *first(void *a)
{
    data = 1;
    atomic_store_explicit(&word, 1, ORDER);
    return a;
}
static void *second(void *a)
{
    while (!atomic_load_explicit(&word, ORDER)) { }
    data++;
    return a;
}
"""
SPIN_LOCK = """
static void *first(void *a)
{
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&word, &free, 1, ORDER, ORDER))
        free = 0;
    data++;
    atomic_store_explicit(&word, 0, ORDER);
    return a;
}
static void *second(void *a) { return first(a); }
"""
COUNTER = """
static void *first(void *a)
{
    data = 1;
    atomic_fetch_add_explicit(&word, 1, ORDER);
    return a;
}
static void *second(void *a)
{
    if (atomic_load_explicit(&word, ORDER) == 1)
        data = 2;
    return a;
}
"""


@pytest.mark.parametrize("body", [FLAG, SPIN_LOCK, COUNTER], ids=["flag", "spin lock", "counter"])
def test_what_a_relaxed_operation_seems_to_protect_is_found(body: str, tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(HEAD + body.replace("ORDER", "memory_order_relaxed") + MAIN)
    answer = SummaryEngine().run(load_program([path], Options()), Question(Options()))
    assert "data" in {finding.location.name for finding in answer.findings}
