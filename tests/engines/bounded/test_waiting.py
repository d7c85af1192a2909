"""Loops that wait, of many shapes, against the oracle that explores every schedule.

A proof of the engine rests on iterations that it leaves out; a program whose race needs one of them
must not get one.
"""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from raceproof.engines.bounded import ENGINE
from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.verdict import Outcome
from tests.engines.oracle.judging import is_racy
from tests.lowering import lower

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
atomic_int c0, c1, c2;
int shared, ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void note(int *at, int value) {{ if (value == 1) *at = value; }}
static void *first(void *arg)
{{
    int x = 0, y = 0, z = 0;
    {first}
    return arg;
}}
static void *second(void *arg)
{{
    int x = 0, y = 0, z = 0;
    {second}
    return arg;
}}
int main(void)
{{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}}
"""
_CONDITIONS = (
    "(x = atomic_load(&c0)) != (int){n}",
    "(x = atomic_load(&c1)) != (int){n}",
    "atomic_exchange(&c2, 1)",
    "!atomic_compare_exchange_strong(&c1, &(int){n}, 2)",
)
_BODIES = (
    ";",
    "y = x;",
    "z = y, y = x;",
    "note(&y, x);",
    "atomic_store(&c2, 1);",
    "atomic_store(&c0, x);",
    "{ if (x == 1) atomic_store(&c1, 1); }",
    "{ pthread_mutex_lock(&lock); y = ready; pthread_mutex_unlock(&lock); }",
    "{ pthread_mutex_lock(&lock); ready = 1; pthread_mutex_unlock(&lock); }",
    "{ atomic_store(&c2, 2); z = atomic_load(&c2); }",
)
_STEPS = (
    "atomic_store(&c0, 1);",
    "atomic_store(&c1, 1);",
    "atomic_store(&c2, 0);",
    "atomic_fetch_add(&c0, 1);",
    "x = atomic_load(&c2);",
    "y = atomic_load(&c1);",
    "if (y == 1) shared = 1;",
    "if (x == 2) shared = 1;",
    "if (y == 1 && z == 0) shared = 1;",
    "shared = 2;",
    "pthread_mutex_lock(&lock); y = ready; pthread_mutex_unlock(&lock);",
)


@st.composite
def _loop(draw: st.DrawFn) -> str:
    condition = draw(st.sampled_from(_CONDITIONS)).replace(
        "{n}", draw(st.sampled_from(("{1}", "{2}")))
    )
    body = draw(st.sampled_from(_BODIES))
    if draw(st.booleans()):
        return f"while ({condition}) {body}"
    return f"do {{ {body} }} while ({condition});"


@st.composite
def _thread(draw: st.DrawFn) -> str:
    parts = [draw(st.sampled_from(_STEPS)) for _ in range(draw(st.integers(0, 2)))]
    parts.append(draw(_loop()))
    parts += [draw(st.sampled_from(_STEPS)) for _ in range(draw(st.integers(1, 2)))]
    return "\n    ".join(parts)


@settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(_thread(), _thread())
def test_waiting_loops_against_the_oracle(first: str, second: str) -> None:
    program = lower(PROGRAM.format(first=first, second=second))
    said = ENGINE.run(program, Question(Options()))
    assert "internal error" not in said.detail
    if said.outcome is Outcome.UNKNOWN:
        return
    racy = is_racy(program, 20_000)
    assume(racy is not None)
    assert (said.outcome is Outcome.RACE) is racy, (first, second)
