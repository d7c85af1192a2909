"""Accesses through pointers that may point anywhere, by the type of the variable that points."""

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Answer, Habit, Outcome
from tests.lowering import lower

FRAME = """
#include <pthread.h>
struct conn { int fd; pthread_mutex_t lock; int count; int idle; };
long where;
static struct conn *found(long n) { return (struct conn *)(where * n); }
static void one(struct conn *c) {
    pthread_mutex_lock(&c->lock); c->count++; pthread_mutex_unlock(&c->lock); c->idle = 1;
}
static void two(struct conn *c) {
    pthread_mutex_lock(&c->lock); c->count = 0; pthread_mutex_unlock(&c->lock); c->idle = 2;
}
static int three(struct conn *c) { %s }
void *work(void *a) { one(found(1)); two(found(2)); three(found(3)); return 0; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, 0);
    return 0;
}
"""


def answer(body: str) -> Answer:
    return ENGINE.run(lower(FRAME % body), Question(Options(backend=BackendChoice.ALIAS)))


def test_a_member_without_its_lock_is_found() -> None:
    found = answer("return c->count;")
    assert found.outcome is Outcome.UNKNOWN
    (finding,) = found.findings
    assert finding.location.name == "conn.count"
    assert finding.evidence is not None
    assert finding.evidence.habit is Habit.GUARDED
    assert "three" in {access.function for access in finding.accesses}


def test_what_is_protected_or_never_protected_is_no_finding() -> None:
    kept = "int n; pthread_mutex_lock(&c->lock); n = c->count; pthread_mutex_unlock(&c->lock);"
    found = answer(kept + "return n;")
    assert found.outcome is Outcome.UNKNOWN, "nobody knows where the pointers lead"
    assert not found.findings
    assert any("not followed" in text for text in found.assumptions)


def test_the_lock_of_another_object_is_none() -> None:
    found = answer(
        "struct conn *d = found(9); int n; pthread_mutex_lock(&d->lock); n = c->count;"
        "pthread_mutex_unlock(&d->lock); return n;"
    )
    assert [f.location.name for f in found.findings] == ["conn.count"]
