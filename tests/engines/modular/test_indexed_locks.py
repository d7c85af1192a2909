"""`locks[i]` protects `table[i]`, for an unknown index, and arrays of unknown size."""

from pathlib import Path

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options, Strategy
from raceproof.verdict import Outcome

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
extern int outside(void);
struct bucket {{ pthread_mutex_t lock; int count, sum; }};
static pthread_mutex_t *locks;
static int *table;
static struct bucket *buckets;
static void enter(int i) {{ pthread_mutex_lock(&locks[i]); }}
static void leave(int i) {{ pthread_mutex_unlock(&locks[i]); }}
static void take(pthread_mutex_t *lock) {{ pthread_mutex_lock(lock); }}
static void give(pthread_mutex_t *lock) {{ pthread_mutex_unlock(lock); }}
static void *work(void *argument)
{{
    int i = outside(), j = outside();
    {work}
    return NULL;
}}
int main(void)
{{
    int n = outside();
    locks = malloc(n * sizeof *locks);
    table = malloc(n * sizeof *table);
    buckets = malloc(n * sizeof *buckets);
    for (int i = 0; i < n; i++) pthread_mutex_init(&locks[i], NULL);
    for (int i = 0; i < n; i++) pthread_mutex_init(&buckets[i].lock, NULL);
    for (int i = 0; i < n; i++) {{
        pthread_t id;
        pthread_create(&id, NULL, work, NULL);
    }}
    pthread_exit(NULL);
}}
"""

RIGHT = {
    "in the same function": """
        pthread_mutex_lock(&locks[i]); table[i]++; pthread_mutex_unlock(&locks[i]);""",
    "by functions with the address": """
        take(&locks[i]); table[i]++; give(&locks[i]);""",
    "member of a bucket": """
        pthread_mutex_lock(&buckets[i].lock); buckets[i].count++; buckets[i].sum += j;
        pthread_mutex_unlock(&buckets[i].lock);""",
    "in a loop": """
        for (int k = 0; k < j; k++) {
            pthread_mutex_lock(&locks[k]); table[k]++; pthread_mutex_unlock(&locks[k]); }""",
}

WRONG = {
    "another index": """
        pthread_mutex_lock(&locks[i]); table[j]++; pthread_mutex_unlock(&locks[i]);""",
    "the next element": """
        pthread_mutex_lock(&locks[i]); table[i + 1]++; table[i]++;
        pthread_mutex_unlock(&locks[i]);""",
    "index changed": """
        pthread_mutex_lock(&locks[i]); i++; table[i]++; i--; pthread_mutex_unlock(&locks[i]);
        pthread_mutex_lock(&locks[i]); table[i]++; pthread_mutex_unlock(&locks[i]);""",
    "given back too early": """
        pthread_mutex_lock(&locks[i]); pthread_mutex_unlock(&locks[i]); table[i]++;""",
    "one lock for two": """
        pthread_mutex_lock(&locks[i / 2]); table[i]++; pthread_mutex_unlock(&locks[i / 2]);
        pthread_mutex_lock(&locks[i]); table[i]++; pthread_mutex_unlock(&locks[i]);""",
    "lock of another bucket": """
        pthread_mutex_lock(&buckets[i].lock); buckets[j].count++;
        pthread_mutex_unlock(&buckets[i].lock);""",
}


def outcome(tmp_path: Path, work: str) -> Outcome:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM.format(work=work), encoding="utf-8")
    program = load_program([path], Options())
    return ENGINE.run(program, Question(Options(strategy=Strategy.OVER))).outcome


@pytest.mark.parametrize("name", RIGHT)
def test_sees_the_lock_of_the_element(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, RIGHT[name]) is Outcome.RACE_FREE


@pytest.mark.parametrize("name", WRONG)
def test_does_not_take_it_for_the_lock_of_another(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, WRONG[name]) is Outcome.UNKNOWN
