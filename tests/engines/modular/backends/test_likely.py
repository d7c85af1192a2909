"""What keeps a pair from being a likely race, although no lock is common."""

from collections.abc import Callable

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Outcome

Compile = Callable[[str], Program]

HEAD = """
#include <pthread.h>
#include <stdlib.h>
int shared;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
"""

MAIN = """
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0); pthread_join(two, 0);
    return 0;
}
"""


def outcome(program: Program) -> Outcome:
    options = Options(backend=BackendChoice.ALIAS)
    return ENGINE.run(program, Question(options)).outcome


def threads(first: str, second: str, extra: str = "") -> str:
    return (
        f"{HEAD}{extra}"
        f"static void *first(void *p) {{ {first} return 0; }}\n"
        f"static void *second(void *p) {{ {second} return 0; }}\n{MAIN}"
    )


LOCKED = "pthread_mutex_lock(&a); shared++; pthread_mutex_unlock(&a);"


def test_two_plain_writes_are_likely(compiled: Compile) -> None:
    assert outcome(compiled(threads("shared = 1;", LOCKED))) is Outcome.RACE


@pytest.mark.parametrize(
    "first",
    [
        "if (p) shared = 1;",
        "while (p) {} shared = 1;",
        "if (rand()) exit(1); shared = 1;",
        "give_up(rand()); shared = 1;",
    ],
    ids=["branch", "loop", "exit", "exit in a callee"],
)
def test_who_may_not_get_there_is_no_likely_race(compiled: Compile, first: str) -> None:
    extra = "static void give_up(int n) { if (n) exit(n); }\n"
    assert outcome(compiled(threads(first, LOCKED, extra))) is Outcome.UNKNOWN


def test_locks_that_are_handed_over_are_no_likely_race(compiled: Compile) -> None:
    first = """
        pthread_mutex_lock(&a); pthread_mutex_lock(&b);
        pthread_mutex_unlock(&a); shared = 1; pthread_mutex_unlock(&b);"""
    second = """
        pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b);
        shared = 2; pthread_mutex_unlock(&a);"""
    assert outcome(compiled(threads(first, second))) is Outcome.UNKNOWN


def test_the_lock_beside_the_element_protects_it(compiled: Compile) -> None:
    text = (
        HEAD
        + """
        struct node { pthread_mutex_t lock; int count; struct node *next; } *list;
        static void add(struct node *n) { n->count++; }
        static void *first(void *p) {
            for (struct node *n = list; n; n = n->next) {
                pthread_mutex_lock(&n->lock); add(n); pthread_mutex_unlock(&n->lock);
            }
            return 0;
        }
        static void *second(void *p) { return first(p); }
        static void build(void) {
            for (int i = 0; i < 9; i++) {
                struct node *n = calloc(1, sizeof *n);
                pthread_mutex_init(&n->lock, 0); n->next = list; list = n;
            }
        }
    """
        + MAIN.replace("pthread_t one, two;", "pthread_t one, two; build();")
    )
    assert outcome(compiled(text)) is Outcome.RACE_FREE
    unlocked = text.replace("add(n);", "").replace("n = n->next", "add(n), n = n->next")
    assert outcome(compiled(unlocked)) is Outcome.UNKNOWN


def test_trylock_holds_where_it_succeeded(compiled: Compile) -> None:
    tried = "if (pthread_mutex_trylock(&a) == 0) { shared++; pthread_mutex_unlock(&a); }"
    assert outcome(compiled(threads(tried, LOCKED))) is Outcome.RACE_FREE
    wrong = "if (pthread_mutex_trylock(&a) != 0) { shared++; }"
    assert outcome(compiled(threads(wrong, LOCKED))) is Outcome.UNKNOWN
