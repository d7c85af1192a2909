"""Barriers order accesses where they surely do, and nowhere else."""

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.verdict import Outcome
from tests.lowering import lower

HEAD = """
#include <pthread.h>
int x, y;
extern int any(void);
pthread_barrier_t b, c, many[2];
"""
WAIT = "pthread_barrier_wait(&b);"


def program(*bodies: str, parties: int = 2, init: str = "", more: str = "") -> str:
    """One thread for each body; `more` comes last in main."""
    text = HEAD
    create = ""
    for number, body in enumerate(bodies):
        text += f"void *t{number}(void *p) {{ {body} return 0; }}\n"
        create += f"pthread_t i{number}; pthread_create(&i{number}, 0, t{number}, 0);\n"
    init = init or f"pthread_barrier_init(&b, 0, {parties});"
    return f"{text}int main(void) {{ {init} {create} {more} return 0; }}"


def outcome(text: str) -> Outcome:
    return ENGINE.run(lower(text), Question(Options())).outcome


@pytest.mark.parametrize(
    "text",
    [
        program(f"x = 1; {WAIT}", f"{WAIT} x = 2;"),
        program(f"x = 1; {WAIT} {WAIT}", f"{WAIT} x = 2; {WAIT}"),
        program(f"x = 1; {WAIT} y = x;", f"{WAIT} if (x) {WAIT}"),
        program(f"x = 1; {WAIT} {WAIT} x = 3;", f"{WAIT} x = 2; {WAIT}"),
        program(f"x = 1; {WAIT}", WAIT, f"{WAIT} x = 2;", parties=3),
        program(f"x = 1; {WAIT}", f"{WAIT} x = 2;", parties=3),
        program(f"{WAIT} x = 1;", more=f"x = 2; {WAIT}"),
        program(f"x = 1; if (any()) {WAIT} else {WAIT}", f"{WAIT} x = 2;"),
    ],
    ids=[
        "before and after",
        "second round",
        "reads after",
        "three phases",
        "three threads",
        "never opens",
        "main takes part",
        "on both ways",
    ],
)
def test_ordered(text: str) -> None:
    assert outcome(text) is Outcome.RACE_FREE


@pytest.mark.parametrize(
    "text",
    [
        program(f"{WAIT} x = 1;", f"{WAIT} x = 2;"),
        program(f"x = 1; {WAIT}", f"x = 2; {WAIT}"),
        program(f"x = 1; {WAIT}", WAIT, f"{WAIT} x = 2; {WAIT}"),
        program(f"x = 1; {WAIT}", f"{WAIT} x = 2;", parties=1),
        program(f"x = 1; {WAIT}", f"{WAIT} x = 2;", init="pthread_barrier_init(&b, 0, any());"),
        program("x = 1;", f"{WAIT} x = 2;", parties=1),
        program("x = 1; pthread_barrier_wait(&c);", f"{WAIT} x = 2;", WAIT),
        program(f"if (any()) {WAIT} x = 1; {WAIT}", f"{WAIT} x = 2; {WAIT}"),
        program(f"if (any()) return 0; {WAIT} x = 1;", f"{WAIT} x = 2;"),
        program(f"while (any()) {WAIT} x = 1;", f"{WAIT} x = 2; {WAIT}"),
        program(
            "x = 1; pthread_barrier_wait(&many[any() & 1]);",
            "pthread_barrier_wait(&many[0]); x = 2;",
            "pthread_barrier_wait(&many[0]);",
            init="pthread_barrier_init(&many[0], 0, 2); pthread_barrier_init(&many[1], 0, 1);",
        ),
        program(
            f"x = 1; {WAIT}",
            f"{WAIT} x = 2;",
            init="pthread_barrier_init(&b, 0, 2); pthread_barrier_destroy(&b);"
            "pthread_barrier_init(&b, 0, 1);",
        ),
        HEAD
        + """
        void *worker(void *p) { x = 1; pthread_barrier_wait(&b); return 0; }
        int main(void) {
            pthread_t t;
            pthread_barrier_init(&b, 0, 2);
            for (int i = 0; i < 99; i++) pthread_create(&t, 0, worker, 0);
            pthread_barrier_wait(&b);
            x = 2;
            return 0;
        }""",
        HEAD
        + """
        void *other(void *p) { pthread_barrier_wait(&b); return 0; }
        void *worker(void *p) { x = 1; pthread_barrier_wait(&b); return 0; }
        int main(void) {
            pthread_t s, t;
            pthread_barrier_init(&b, 0, 2);
            while (any()) { pthread_create(&s, 0, other, 0); pthread_join(s, 0); }
            pthread_create(&t, 0, worker, 0);
            pthread_barrier_wait(&b);
            x = 2;
            return 0;
        }""",
    ],
    ids=[
        "both after",
        "both before",
        "a third thread",
        "for one",
        "for how many",
        "one does not wait",
        "another barrier",
        "perhaps twice",
        "perhaps gone",
        "any number of times",
        "unclear which",
        "made anew",
        "many threads",
        "one after the other",
    ],
)
def test_not_ordered(text: str) -> None:
    assert outcome(text) is not Outcome.RACE_FREE


def test_back_at_setjmp_nobody_knows_how_often() -> None:
    jump = "static jmp_buf j; int n = setjmp(j); x = 1; if (n == 0) {" + WAIT + "longjmp(j, 1); }"
    text = program(f"{jump}", f"{WAIT} x = 2; {WAIT}")
    assert outcome("#include <setjmp.h>\n" + text) is not Outcome.RACE_FREE
