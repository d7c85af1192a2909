"""Vector clocks over executions: what orders two accesses, and what does not."""

from __future__ import annotations

import pytest

from raceproof.concurrency import Models
from raceproof.engines.interleave.search import DirectedSearch
from raceproof.ir import Program
from raceproof.machine.findings import Race, replayed_finding
from raceproof.machine.machine import Machine
from raceproof.machine.replay import replay
from tests.lowering import lower

HEAD = """
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static int data, ready;
static atomic_int flag, relaxed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t sem;
#define RELAXED atomic_fetch_add_explicit(&relaxed, 1, memory_order_relaxed)
static void set(void) { data = 1; }
"""
"""`RELAXED` has no effect on the order, but makes clocks necessary."""


def program(worker: str, main: str, end: str = "") -> Program:
    return lower(
        f"""{HEAD}
static void *worker(void *p) {{ RELAXED; {worker} return p; }}
int main(void)
{{
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 2);
    sem_init(&sem, 0, 0);
    pthread_create(&t, 0, worker, 0);
    if (RELAXED) {{ {main} }} else {{ {main} }}
    pthread_join(t, 0);
    {end}
    return 0;
}}"""
    )


def found(loaded: Program, executions: int) -> tuple[Machine, list[Race]]:
    assert loaded.unordered
    machine = Machine(loaded, Models.load())
    races: list[Race] = []

    def take(race: Race) -> bool:
        races.append(race)
        return True

    search = DirectedSearch(machine, None, seed=0)
    search.run(lambda: float(executions - search.executions), take)
    return machine, races


LOCKED = "pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m);"
ACQUIRED = "if (atomic_load_explicit(&flag, memory_order_acquire)) data++;"


@pytest.mark.parametrize(
    ("worker", "main"),
    [
        (LOCKED, LOCKED),
        (
            "pthread_rwlock_wrlock(&rw); data = 1; pthread_rwlock_unlock(&rw);",
            "pthread_rwlock_rdlock(&rw); int k = data; (void)k; pthread_rwlock_unlock(&rw);",
        ),
        ("data = 1; sem_post(&sem);", "sem_wait(&sem); data = 2;"),
        ("data = 1; pthread_barrier_wait(&barrier);", "pthread_barrier_wait(&barrier); data = 2;"),
        (
            "data = 1; pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&changed);"
            "pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&changed, &m);"
            "pthread_mutex_unlock(&m); data = 2;",
        ),
        ("pthread_once(&once, set); int k = data; (void)k;", "pthread_once(&once, set);"),
        ("data = 1; atomic_store_explicit(&flag, 1, memory_order_release);", ACQUIRED),
        ("data = 1; atomic_fetch_add_explicit(&flag, 1, memory_order_release);", ACQUIRED),
        (
            "data = 1; atomic_thread_fence(memory_order_release);"
            "atomic_store_explicit(&flag, 1, memory_order_relaxed);",
            "if (atomic_load_explicit(&flag, memory_order_relaxed)) {"
            "atomic_thread_fence(memory_order_acquire); data++; }",
        ),
        ("data = 1;", "pthread_join(t, 0); data = 2; return 0;"),
        ("if (pthread_mutex_trylock(&m) == 0) { data = 1; pthread_mutex_unlock(&m); }", LOCKED),
    ],
)
def test_what_orders(worker: str, main: str) -> None:
    assert found(program(worker, main, "data = 3;"), 40)[1] == []


@pytest.mark.parametrize(
    ("worker", "main"),
    [
        ("data = 1; atomic_store_explicit(&flag, 1, memory_order_relaxed);", ACQUIRED),
        (
            "data = 1; atomic_store_explicit(&flag, 1, memory_order_release);",
            "if (atomic_load_explicit(&flag, memory_order_relaxed)) data++;",
        ),
        (
            "atomic_thread_fence(memory_order_release); data = 1;"
            "atomic_store_explicit(&flag, 1, memory_order_relaxed);",
            ACQUIRED,
        ),
        (
            "atomic_store_explicit(&flag, 1, memory_order_release); data = 1;"
            "atomic_store_explicit(&flag, 2, memory_order_relaxed);",
            "if (atomic_load_explicit(&flag, memory_order_acquire) == 2) data++;",
        ),
    ],
)
def test_what_does_not_order(worker: str, main: str) -> None:
    machine, races = found(program(worker, main), 400)
    finding = replayed_finding(machine, races[0], None)
    assert finding.location.name == "data"
    assert finding.schedule is not None
    assert finding.schedule.is_past
    assert "happens-before" in finding.message
    outcome = replay(machine, finding.schedule)
    assert outcome.reached
    assert outcome.message == "nothing orders the first access before the second"
