"""Pools of an unknown number of threads that look as if all were well.

Each program has a race on `data` (workers write it under the lock, `main` without one), on an
element of `table`, or on a member of an object, and is written to be taken for one that has none.
"""

from pathlib import Path

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options, Strategy
from raceproof.verdict import Outcome

PROGRAM = """
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
extern int outside(void);
extern void fill(int *);
struct job {{ pthread_t id; int in, out; struct job *next; }};
struct pool {{ int many; pthread_t *ids; }};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data, amount, *table, fixed[64];
static atomic_int alive;
static pthread_t *ids;
static struct pool pool;
static struct job **list;
static jmp_buf back;
static void *work(void *argument);
{functions}
static void *work(void *argument)
{{
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    {work}
    return NULL;
}}
int main(void)
{{
    int n = outside(), i = 0, j = 0;
    ids = malloc(n * sizeof *ids);
    table = malloc(n * sizeof *table);
    list = malloc(n * sizeof *list);
    {body}
    return 0;
}}
"""

CREATE = " for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, NULL); "
JOIN = " for (i = 0; i < n; i++) pthread_join(ids[i], NULL); "
WRITE = " data = 0; "

LEFT_RUNNING = {
    "jumps into the loop": CREATE
    + """if (outside()) { i = 1; goto inside; }
        for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); inside:; }""",
    "jumps over the wait": CREATE
    + """for (i = 0; i < n; i++) { if (i == 2) goto next; pthread_join(ids[i], NULL); next:; }""",
    "waits not to the end": CREATE
    + """struct timespec when = {0, 0};
        for (i = 0; i < n; i++) pthread_timedjoin_np(ids[i], NULL, &when);""",
    "tries to wait": CREATE + "for (i = 0; i < n; i++) pthread_tryjoin_np(ids[i], NULL);",
    "another name for the array": CREATE
    + "pthread_t *other = ids; other[n / 2] = other[0];"
    + JOIN,
    "array filled anew": CREATE + "memset(ids, 0, n * sizeof *ids);" + JOIN,
    "counter moved through a pointer": CREATE
    + "int *way = &i; for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); *way += 1; }",
    "counter moved by unknown code": CREATE
    + "for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); fill(&i); }",
    "bound moved through a pointer": "int *way = &n;" + CREATE + "*way -= 1;" + JOIN,
    "bound moved by unknown code": CREATE + "fill(&n);" + JOIN,
    "bound in a struct that is copied over": """struct pool less = {1, NULL};
        pool.many = n; pool.ids = ids;
        for (i = 0; i < pool.many; i++) pthread_create(&ids[i], NULL, work, NULL);
        pool = less;
        for (i = 0; i < pool.many; i++) pthread_join(ids[i], NULL);""",
    "jumps back": CREATE
    + """if (setjmp(back) == 0)
            for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); if (outside()) longjmp(back, 1); }
        """,
    "second half": CREATE
    + "for (i = 0; i < n; i++) pthread_create(&ids[n + i], NULL, work, NULL);"
    + JOIN,
    "the bound is an expression": CREATE
    + "for (i = 0; i < n * 1 / 2; i++) pthread_join(ids[i], NULL);",
    "two conditions": CREATE + "for (i = 0; i < n && outside(); i++) pthread_join(ids[i], NULL);",
    "either condition": CREATE
    + "for (i = 0; i < n || outside(); i++) if (i < 3) pthread_join(ids[i], NULL);",
    "more are created while waiting": CREATE
    + """for (i = 0; i < n; i++) {
            pthread_join(ids[i], NULL); pthread_create(&ids[i], NULL, work, NULL); }""",
    "created again, same place": """for (j = 0; j < 2; j++)
            for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, NULL);"""
    + JOIN,
    "swapped with another array": CREATE
    + """pthread_t *spare = malloc(n * sizeof *spare); pthread_t *old = ids; ids = spare;
        for (i = 0; i < n; i++) pthread_join(ids[i], NULL); ids = old;""",
    "ids of the next pool": CREATE
    + """pool.ids = malloc(n * sizeof *ids);
        for (i = 0; i < n; i++) pthread_create(&pool.ids[i], NULL, work, NULL);
        for (i = 0; i < n; i++) pthread_join(pool.ids[i], NULL);""",
    "one more, in the middle": CREATE
    + "if (n > 3) pthread_create(&ids[2], NULL, work, NULL);"
    + JOIN,
    "signed and unsigned bound": "long long far = outside();"
    + "for (long long k = 0; k < far; k++) pthread_create(&ids[k], NULL, work, NULL);"
    + "for (i = 0; i < (int)far; i++) pthread_join(ids[i], NULL);",
    "list elements moved on": """for (i = 0; i < n; i++) {
            list[i] = malloc(sizeof **list); pthread_create(&list[i]->id, NULL, work, NULL); }
        for (i = 0; i + 1 < n; i++) list[i] = list[i + 1];
        for (i = 0; i < n; i++) pthread_join(list[i]->id, NULL);""",
    "list of one object": """struct job *one = malloc(sizeof *one);
        for (i = 0; i < n; i++) { list[i] = one; pthread_create(&one->id, NULL, work, NULL); }
        for (i = 0; i < n; i++) pthread_join(list[i]->id, NULL);""",
    "id in the list overwritten": """for (i = 0; i < n; i++) {
            list[i] = malloc(sizeof **list); pthread_create(&list[i]->id, NULL, work, NULL);
            if (i > 0) list[i - 1]->id = list[i]->id; }
        for (i = 0; i < n; i++) pthread_join(list[i]->id, NULL);""",
    "another member as id": """for (i = 0; i < n; i++) {
            list[i] = malloc(2 * sizeof **list); pthread_create(&list[i][1].id, NULL, work, NULL); }
        for (i = 0; i < n; i++) pthread_join(list[i]->id, NULL);""",
}

COUNTED_BY_WORKERS = {
    "bound counted down, atomic": """
        alive = n; for (i = 0; i < alive; i++) pthread_create(&ids[i], NULL, work, NULL);
        for (i = 0; i < alive; i++) pthread_join(ids[i], NULL);""",
    "bound read once, then again": """
        alive = n; int now = alive;
        for (i = 0; i < now; i++) pthread_create(&ids[i], NULL, work, NULL);
        now = alive;
        for (i = 0; i < now; i++) pthread_join(ids[i], NULL);""",
}

BOUND_UNDER_LOCK = """
static int many(void)
{
    pthread_mutex_lock(&lock); int found = amount; pthread_mutex_unlock(&lock); return found;
}
"""

SHARED = {
    "neighbours by parity": (
        "*(int *)argument = 1;",
        """for (i = 0; i < n; i++) {
            if (i & 1) pthread_create(&ids[i], NULL, work, &table[i]);
            else pthread_create(&ids[i], NULL, work, &table[i + 1]); }""",
    ),
    "up and down": (
        "*(int *)argument = 1;",
        """for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &table[i]);
        for (i = n - 1; i >= 0; i--) pthread_create(&ids[i], NULL, work, &table[i]);""",
    ),
    "child gets the same": (
        """*(int *)argument = 1; pthread_t child;
        if (outside()) pthread_create(&child, NULL, work, argument);""",
        "for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &table[i]);",
    ),
    "any index": (
        "long mine = (long)argument; for (int k = 0; k < 2; k++) table[mine + k] = 1;",
        "for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, (void *)(long)i);",
    ),
    "index of another": (
        "long mine = (long)argument; table[mine ^ 1] = 1;",
        "for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, (void *)(long)i);",
    ),
    "any byte of the element": (
        "char *mine = argument; for (int k = 0; k < 6; k++) mine[k] = 1;",
        "for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &table[i]);",
    ),
    "next of the object": (
        "struct job *mine = argument; mine->next->out = 1; mine->out = 2;",
        """struct job *last = NULL; for (i = 0; i < n; i++) {
            struct job *job = malloc(sizeof *job); job->next = last ? last : job; last = job;
            pthread_create(&ids[i], NULL, work, job); }""",
    ),
    "object used by main through the list": (
        "struct job *mine = argument; mine->out = 2;",
        """for (i = 0; i < n; i++) {
            list[i] = malloc(sizeof **list); pthread_create(&ids[i], NULL, work, list[i]);
            list[i]->out = 3; }""",
    ),
    "object used by main through an older list": (
        "struct job *mine = argument; mine->out = 2;",
        """for (i = 0; i < n; i++) {
            list[i] = malloc(sizeof **list); pthread_create(&ids[i], NULL, work, list[i]);
            if (i > 0) list[i - 1]->out = 3; }""",
    ),
    "wrong one used after the wait": (
        "*(int *)argument = 1;",
        """for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &table[i + 1]);
        for (i = n - 1; i >= 0; i--) { pthread_join(ids[i], NULL); table[i] = 2; }""",
    ),
    "used after the wait, list swapped": (
        "struct job *mine = argument; mine->out = 2;",
        """for (i = 0; i < n; i++) {
            list[i] = malloc(sizeof **list); pthread_create(&ids[i], NULL, work, list[i]); }
        struct job *first = list[0]; list[0] = list[n - 1]; list[n - 1] = first;
        for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); list[i]->out = 4; }""",
    ),
    "ids shifted against elements": (
        "*(int *)argument = 1;",
        """for (i = 0; i < n; i++) pthread_create(&ids[n - 1 - i], NULL, work, &table[i]);
        for (i = 0; i < n; i++) { pthread_join(ids[i], NULL); table[i] = 2; }""",
    ),
    "unsigned counter that comes round": (
        "*(int *)argument = 1;",
        """unsigned char k; for (k = 0; k != n; k++)
            pthread_create(&ids[0], NULL, work, &fixed[k & 63]);""",
    ),
    "short counter that comes round": (
        "long mine = (long)argument; table[mine] = 1;",
        """for (short k = 0; k < n; k++)
            pthread_create(&ids[0], NULL, work, (void *)(long)(unsigned char)k);""",
    ),
}


def outcome(tmp_path: Path, body: str, work: str = "", functions: str = "") -> Outcome:
    path = tmp_path / "program.c"
    text = PROGRAM.format(body=body, work=work, functions=functions)
    path.write_text("#define _GNU_SOURCE\n" + text, encoding="utf-8")
    program = load_program([path], Options())
    return ENGINE.run(program, Question(Options(strategy=Strategy.OVER))).outcome


@pytest.mark.parametrize("name", LEFT_RUNNING)
def test_somebody_is_left_running(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, LEFT_RUNNING[name] + WRITE) is Outcome.UNKNOWN


@pytest.mark.parametrize("name", COUNTED_BY_WORKERS)
def test_workers_count_without_a_race(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, COUNTED_BY_WORKERS[name] + WRITE, "alive--;") is Outcome.UNKNOWN


def test_bound_is_changed_under_a_lock(tmp_path: Path) -> None:
    body = """amount = n; for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, NULL);
        for (i = 0; i < many(); i++) pthread_join(ids[i], NULL);"""
    work = "pthread_mutex_lock(&lock); amount--; pthread_mutex_unlock(&lock);"
    assert outcome(tmp_path, body + WRITE, work, BOUND_UNDER_LOCK) is Outcome.UNKNOWN


@pytest.mark.parametrize("name", SHARED)
def test_arguments_are_not_their_own(name: str, tmp_path: Path) -> None:
    work, body = SHARED[name]
    assert outcome(tmp_path, body, work) is Outcome.UNKNOWN
