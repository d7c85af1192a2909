"""Locks that are only known from where their address was loaded: no proof, but evidence."""

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Answer, Habit, Outcome
from tests.lowering import lower

FRAME = """
#include <pthread.h>
#include <stdlib.h>
typedef struct { pthread_mutex_t mutex; } lock;
lock *have;
int again, jobs;
static lock *new_lock(void) {
    lock *l = malloc(sizeof *l);
    pthread_mutex_init(&l->mutex, 0);
    return l;
}
static void possess(lock *l) { pthread_mutex_lock(&l->mutex); }
static void release(lock *l) { pthread_mutex_unlock(&l->mutex); }
static void add(void) { possess(have); jobs++; release(have); }
static void take(void) { possess(have); jobs--; release(have); }
void *work(void *a) { add(); take(); return 0; }
int main(void) {
    pthread_t t;
    have = new_lock();
    while (again) {
        pthread_create(&t, 0, work, 0);
        %s
    }
    return 0;
}
"""


def jobs(body: str) -> Answer:
    return ENGINE.run(lower(FRAME % body), Question(Options(backend=BackendChoice.ALIAS)))


def habit(answer: Answer) -> Habit | None:
    found = next(f for f in answer.findings if f.location.name == "jobs")
    assert found.evidence is not None
    return found.evidence.habit


def test_a_lock_that_may_be_another_one_is_named_and_proves_nothing() -> None:
    found = jobs("have = new_lock(); add();")
    assert found.outcome is Outcome.UNKNOWN
    assert habit(found) is Habit.UNCLEAR


def test_the_access_without_it_is_odd() -> None:
    found = jobs("have = new_lock(); jobs = 0;")
    assert habit(found) is Habit.GUARDED
    odd = next(f for f in found.findings if f.location.name == "jobs")
    assert odd.evidence is not None
    assert (odd.evidence.guard, odd.evidence.lacking) == ("*have", "main")
