"""Semaphores that order accesses, and the many ways in which they do not."""

from __future__ import annotations

from itertools import product

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Outcome
from tests.lowering import lower

HEAD = """
#include <pthread.h>
#include <semaphore.h>
sem_t full, other, many[4];
int x;
extern int any(void);
"""
PRODUCER = "void *producer(void *p) { x = 1; sem_post(&full); return 0; }\n"
CONSUMER = "void *consumer(void *p) { sem_wait(&full); x = 2; return 0; }\n"
MAIN = """
int main(void) {
    pthread_t s, t;
    sem_init(&full, 0, 0);
    pthread_create(&s, 0, producer, 0);
    pthread_create(&t, 0, consumer, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
"""
HANDSHAKE = HEAD + PRODUCER + CONSUMER + MAIN
TWICE = HEAD + (
    "void *producer(void *p) { sem_post(&full); x = 1; sem_post(&full); return 0; }\n"
    "void *consumer(void *p) { sem_wait(&full); sem_wait(&full); x = 2; return 0; }\n" + MAIN
)


BACKENDS = (BackendChoice.VALUE, BackendChoice.ALIAS)


def outcome(text: str, backend: BackendChoice) -> Outcome:
    return ENGINE.run(lower(text), Question(Options(backend=backend))).outcome


ORDERED = {
    "handshake": HANDSHAKE,
    "two of each": TWICE,
    "starts at one": TWICE.replace("sem_init(&full, 0, 0)", "sem_init(&full, 0, 1)").replace(
        "sem_post(&full); x = 1", "x = 1"
    ),
    "there and back": HEAD
    + "void *producer(void *p) { x = 1; sem_post(&full); sem_wait(&other); x = 3; return 0; }\n"
    "void *consumer(void *p) { sem_wait(&full); x = 2; sem_post(&other); return 0; }\n"
    + MAIN.replace("sem_init", "sem_init(&other, 0, 0); sem_init"),
    "by a helper": HANDSHAKE.replace(
        "void *producer", "void tell(void) { sem_post(&full); }\nvoid *producer"
    ).replace("x = 1; sem_post(&full)", "x = 1; tell()"),
    "a second consumer": HANDSHAKE.replace(
        "pthread_join(s, 0)",
        "pthread_t u; pthread_create(&u, 0, idle, 0); pthread_join(s, 0)",
    ).replace("int main", "void *idle(void *p) { sem_wait(&full); return 0; }\nint main"),
}
RACING = {
    "written after the post": HANDSHAKE.replace("x = 1; sem_post(&full)", "sem_post(&full); x = 1"),
    "written before the wait": HANDSHAKE.replace(
        "sem_wait(&full); x = 2", "x = 2; sem_wait(&full)"
    ),
    "starts open": HANDSHAKE.replace("sem_init(&full, 0, 0)", "sem_init(&full, 0, 1)"),
    "starts at any value": HANDSHAKE.replace("sem_init(&full, 0, 0)", "sem_init(&full, 0, any())"),
    "starts twice": HANDSHAKE.replace(
        "sem_init(&full, 0, 0);", "sem_init(&full, 0, 0); if (any()) sem_init(&full, 0, 1);"
    ),
    "only tries": HANDSHAKE.replace("sem_wait", "sem_trywait"),
    "waits on one way": HANDSHAKE.replace("sem_wait(&full);", "if (any()) sem_wait(&full);"),
    "posts before, on one way": HANDSHAKE.replace(
        "{ x = 1;", "{ if (any()) sem_post(&full); x = 1;"
    ),
    "posts before, in a loop": TWICE.replace(
        "sem_post(&full); x = 1", "while (any()) sem_post(&full); x = 1"
    ),
    "another poster": HANDSHAKE.replace("pthread_join(s", "sem_post(&full); pthread_join(s"),
    "two producers": HANDSHAKE.replace(
        "pthread_create(&t", "pthread_create(&t, 0, producer, 0); pthread_create(&t"
    ),
    "another semaphore": HANDSHAKE.replace("sem_wait(&full)", "sem_wait(&other)").replace(
        "sem_init", "sem_init(&other, 0, 1); sem_init"
    ),
    "posted through a pointer": HANDSHAKE.replace(
        "pthread_join(s", "sem_t *q = any() ? &full : &other; sem_post(q); pthread_join(s"
    ),
    "one of many": HANDSHAKE.replace("&full", "&many[any() & 3]"),
    "one wait too few": TWICE.replace("sem_wait(&full); sem_wait", "sem_wait"),
    "posted by a function called twice": HANDSHAKE.replace(
        "void *producer", "void tell(void) { sem_post(&full); }\nvoid *producer"
    ).replace("{ x = 1; sem_post(&full);", "{ tell(); x = 1; tell();"),
}


@pytest.mark.parametrize(("name", "backend"), [*product(ORDERED, BACKENDS)])
def test_ordered_by_a_semaphore(name: str, backend: BackendChoice) -> None:
    answer = ENGINE.run(lower(ORDERED[name]), Question(Options(backend=backend)))
    assert answer.outcome is Outcome.RACE_FREE
    details = {protection.detail for protection in answer.protections}
    assert any("semaphore orders" in detail for detail in details)


@pytest.mark.parametrize(("name", "backend"), [*product(RACING, BACKENDS)])
def test_not_ordered(name: str, backend: BackendChoice) -> None:
    assert outcome(RACING[name], backend) is not Outcome.RACE_FREE
