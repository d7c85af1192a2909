"""Mutexes of the Apache Portable Runtime: a lock function is a few lines of data."""

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.verdict import Outcome
from tests.lowering import lower

PROGRAM = """
#include <pthread.h>
struct apr_thread_mutex_t { long opaque[8]; } m;
extern int apr_thread_mutex_lock(struct apr_thread_mutex_t *);
extern int apr_thread_mutex_trylock(struct apr_thread_mutex_t *);
extern int apr_thread_mutex_unlock(struct apr_thread_mutex_t *);
int x;
void *work(void *p) {
    apr_thread_mutex_lock(&m); x++; apr_thread_mutex_unlock(&m);
    if (apr_thread_mutex_trylock(&m) == 0) { x--; apr_thread_mutex_unlock(&m); }
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    return 0;
}
"""


def outcome(text: str) -> Outcome:
    return ENGINE.run(lower(text), Question(Options())).outcome


def test_a_mutex_of_apr_protects() -> None:
    assert outcome(PROGRAM) is Outcome.RACE_FREE


def test_one_that_may_not_have_been_taken_does_not() -> None:
    ignored = PROGRAM.replace(
        "if (apr_thread_mutex_trylock(&m) == 0)", "apr_thread_mutex_trylock(&m);"
    )
    assert outcome(ignored) is not Outcome.RACE_FREE
