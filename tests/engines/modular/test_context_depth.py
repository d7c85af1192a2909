"""`--context-depth` changes how much is proved and interpreted, never what is true."""

import pytest

from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import Options, Strategy
from raceproof.verdict import Outcome
from tests.lowering import lower
from tests.programs_index import TestProgram, programs

TWO_WORKERS = """
void *worker(void *p) { work(); return 0; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, worker, 0);
    pthread_create(&t, 0, worker, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
"""


def wrapped(levels: int) -> str:
    """Two counters under two locks, which are taken through so many wrappers."""
    text = "#include <pthread.h>\npthread_mutex_t a, b; int x, y;\n"
    for name in ("lock", "unlock"):
        text += f"void {name}1(pthread_mutex_t *m) {{ pthread_mutex_{name}(m); }}\n"
        for level in range(2, levels + 1):
            text += f"void {name}{level}(pthread_mutex_t *m) {{ {name}{level - 1}(m); }}\n"
    text += f"""
        void work(void) {{
            lock{levels}(&a); x++; unlock{levels}(&a);
            lock{levels}(&b); y++; unlock{levels}(&b);
        }}"""
    return text + TWO_WORKERS


def outcome(text: str, depth: int | None) -> Outcome:
    return ENGINE.run(lower(text), Question(Options(context_depth=depth))).outcome


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_wrappers_need_as_much_depth_as_there_are(levels: int) -> None:
    for depth in range(levels):
        assert outcome(wrapped(levels), depth) is Outcome.UNKNOWN, depth
    for enough in (levels, levels + 1, None):
        assert outcome(wrapped(levels), enough) is Outcome.RACE_FREE, enough


TWO_NODES = """
#include <pthread.h>
#include <stdlib.h>
struct node { pthread_mutex_t lock; int count; } *p, *q;
struct node *make(void) { return calloc(1, sizeof(struct node)); }
void *first(void *arg) { pthread_mutex_lock(&p->lock); q->count++; return 0; }
void *second(void *arg) { pthread_mutex_lock(&q->lock); q->count++; return 0; }
int main(void) {
    pthread_t s, t;
    p = make();
    q = make();
    pthread_create(&s, 0, first, 0);
    pthread_create(&t, 0, second, 0);
    return 0;
}
"""
TWO_STARTS = """
#include <pthread.h>
int x;
void *worker(void *arg) { x++; return 0; }
pthread_t start(void) { pthread_t t; pthread_create(&t, 0, worker, 0); return t; }
int main(void) {
    pthread_t s = start(), t = start();
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
"""
JOINED_ONE = """
#include <pthread.h>
int x;
void *worker(void *arg) { x++; return 0; }
void *other(void *arg) { return 0; }
pthread_t start(void *(*f)(void *)) { pthread_t t; pthread_create(&t, 0, f, 0); return t; }
void finish(pthread_t t) { pthread_join(t, 0); }
int main(void) {
    pthread_t s = start(worker), t = start(other);
    finish(t);
    x++;
    finish(s);
    return 0;
}
"""
OWN_LOCKS = """
#include <pthread.h>
int x;
void *worker(void *lock) { pthread_mutex_lock(lock); x++; pthread_mutex_unlock(lock); return 0; }
void serve(void) {
    pthread_mutex_t own;
    pthread_t t;
    pthread_mutex_init(&own, 0);
    pthread_create(&t, 0, worker, &own);
    pthread_mutex_lock(&own); x++; pthread_mutex_unlock(&own);
    pthread_join(t, 0);
}
void *server(void *arg) { serve(); return 0; }
int main(void) {
    pthread_t s;
    pthread_create(&s, 0, server, 0);
    serve();
    pthread_join(s, 0);
    return 0;
}
"""
VARIADIC = """
#include <pthread.h>
#include <stdarg.h>
int x, y;
void set(int n, ...) { va_list l; va_start(l, n); *va_arg(l, int *) = n; va_end(l); }
void both(int *p) { set(1, p); }
void *worker(void *arg) { both(&y); both(&x); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    x = 3;
    pthread_join(t, 0);
    return 0;
}
"""
RECURSIVE = """
#include <pthread.h>
int x, y, *target = &y;
void walk(int n);
void step(int n) { if (n) walk(n - 1); else target = &x; }
void walk(int n) { step(n); *target = n; }
void *worker(void *arg) { walk(0); walk(3); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    x = 3;
    pthread_join(t, 0);
    return 0;
}
"""


@pytest.mark.parametrize("depth", [0, 1, 2, None])
@pytest.mark.parametrize(
    "text",
    [TWO_NODES, TWO_STARTS, JOINED_ONE, OWN_LOCKS, VARIADIC, RECURSIVE],
    ids=["two nodes", "two starts", "joined one", "own locks", "variadic", "recursive"],
)
def test_what_is_put_together_is_not_taken_for_one(text: str, depth: int | None) -> None:
    """Objects, threads and locks of different calls are different, although one name stands for
    all of them; and no call is left out that brings something new."""
    assert outcome(text, depth) is not Outcome.RACE_FREE


@pytest.mark.parametrize("program", programs()[::7], ids=str)
def test_no_depth_is_wrong(program: TestProgram) -> None:
    from raceproof.frontend import load_program

    loaded = load_program([program.path], Options())
    for depth in (0, 1):
        options = Options(context_depth=depth, strategy=Strategy.COMBINED)
        found = ENGINE.run(loaded, Question(options)).outcome
        assert found in (Outcome.UNKNOWN, Outcome(program.verdict))


def tree(levels: int) -> str:
    text = "#include <pthread.h>\nint x; pthread_mutex_t m;\nvoid f0(void) {}\n"
    for level in range(1, levels):
        text += f"void f{level}(void) {{ f{level - 1}(); f{level - 1}(); }}\n"
    text += f"""
        void work(void) {{
            pthread_mutex_lock(&m); f{levels - 1}(); x++; pthread_mutex_unlock(&m);
        }}"""
    return text + TWO_WORKERS


def test_a_call_that_brings_nothing_new_is_not_interpreted_again() -> None:
    ticks = {}
    for depth in (1, None):
        analysis = Analysis(lower(tree(9)), Models.load(()), context_depth=depth)
        analysis.run()
        ticks[depth] = analysis.ticks
    assert ticks[1] * 10 < ticks[None]
    assert outcome(tree(9), 1) is Outcome.RACE_FREE
