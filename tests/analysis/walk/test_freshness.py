"""Objects that only their maker knows: accesses to them are left out until others may know them."""

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Answer, BaseKind, Outcome
from tests.lowering import lower

FRAME = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct node { int n; struct node *next; char text[8]; };
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node *head;
int chosen;
static void push(struct node *p) {
    pthread_mutex_lock(&m);
    p->next = head;
    head = p;
    pthread_mutex_unlock(&m);
}
static void fill(struct node *p) { p->n = 1; }
static struct node *make(void) {
    struct node *p = malloc(sizeof *p);
    if (!p) return 0;
    p->n = 1;
    fill(p);
    return p;
}
%s
static void look(void) {
    pthread_mutex_lock(&m);
    for (struct node *p = head; p; p = p->next) { p->n++; p->text[0] = 1; }
    pthread_mutex_unlock(&m);
}
void *work(void *a) { body(); look(); return 0; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, 0);
    return 0;
}
"""


def answer(body: str) -> Answer:
    question = Question(Options(backend=BackendChoice.ALIAS))
    return ENGINE.run(lower(FRAME % body), question)


SAFE = {
    "filled in, then pushed": "void body(void) { struct node *p = make(); if (p) push(p); }",
    "filled in by a calm function": """
        void body(void) { struct node *p = malloc(sizeof *p); fill(p); p->n = 2; push(p); }""",
    "null on one way": """
        static struct node *maybe(void) {
            struct node *p;
            if (chosen) return 0;
            p = malloc(sizeof *p);
            p->n = 3;
            return p;
        }
        void body(void) { struct node *p = maybe(); if (p) { p->n = 4; push(p); } }""",
    "made in a loop": """
        void body(void) {
            for (int i = 0; i < 3; i++) { struct node *p = make(); p->n = i; push(p); }
        }""",
    "copied into": """
        void body(void) { struct node *p = make(); strcpy(p->text, "x"); push(p); }""",
    "compared as a number": """
        static struct node *checked(void) {
            struct node *p = malloc(sizeof *p);
            if ((unsigned long)p == (unsigned long)((void *)0)) abort();
            p->n = 5;
            return p;
        }
        void body(void) { struct node *p = checked(); p->n = 6; push(p); }""",
    "a local variable that is handed down": """
        static void down(struct node *p) { fill(p); p->next = 0; }
        void body(void) { struct node here; down(&here); here.n++; push(make()); }""",
}
RACY = {
    "written after it was pushed": """
        void body(void) { struct node *p = make(); push(p); p->n = 2; }""",
    "pushed by the function that fills it in": """
        static void both(struct node *p) { push(p); p->n = 2; }
        void body(void) { struct node *p = make(); both(p); }""",
    "written by a function after it was pushed": """
        void body(void) { struct node *p = make(); push(p); fill(p); }""",
    "pushed on one way": """
        void body(void) { struct node *p = make(); if (chosen) push(p); p->n = 2; }""",
    "a constructor that pushes": """
        static struct node *pushed(void) { struct node *p = make(); push(p); return p; }
        void body(void) { struct node *p = pushed(); p->n = 2; }""",
    "pushed under another name": """
        void body(void) {
            struct node *p = make(), *q = 0;
            if (chosen) q = p;
            if (q) push(q);
            p->n = 2;
        }""",
    "pushed, and null under another name": """
        void body(void) {
            struct node *p = make(), *q = p;
            if (chosen) { push(p); q = 0; }
            p->n = 2;
            if (q) q->n = 3;
        }""",
    "the one of the round before": """
        void body(void) {
            struct node *last = 0;
            for (int i = 0; i < 3; i++) {
                struct node *p = malloc(sizeof *p);
                if (last) last->n = i;
                push(p);
                last = p;
            }
        }""",
    "chosen from two": """
        void body(void) {
            struct node *p = make(), *q = make(), *r = chosen ? p : q;
            push(r);
            p->n = 2;
        }""",
    "given twice": """
        static void two(struct node *a, struct node *b) { push(a); b->n = 2; }
        void body(void) { struct node *p = make(); two(p, p); }""",
    "the result of a copy": """
        void body(void) {
            struct node *p = make();
            push((struct node *)strcpy((char *)p, "x"));
            p->n = 2;
        }""",
    "pushed by a function behind a pointer": """
        void (*act)(struct node *) = push;
        void body(void) { struct node *p = make(); act(p); p->n = 2; }""",
    "its address as a number": """
        unsigned long number;
        void body(void) {
            struct node *p = make();
            pthread_mutex_lock(&m);
            number = (unsigned long)p;
            head = (struct node *)number;
            pthread_mutex_unlock(&m);
            p->n = 2;
        }""",
    "its address as a number, and compared": """
        void body(void) {
            struct node *p = make();
            unsigned long number = (unsigned long)p;
            if (number == 0) return;
            pthread_mutex_lock(&m);
            head = (struct node *)number;
            pthread_mutex_unlock(&m);
            p->n = 2;
        }""",
    "a local variable that is pushed": """
        void body(void) { struct node here; here.n = 0; push(&here); here.n = 2; }""",
    "a member is published": """
        void body(void) {
            struct node *p = make();
            int *n = &p->n;
            push((struct node *)n);
            p->n = 2;
        }""",
    "found by a recursive constructor": """
        static struct node *found(int n) {
            if (n) return found(n - 1);
            pthread_mutex_lock(&m);
            struct node *p = head;
            pthread_mutex_unlock(&m);
            return p;
        }
        void body(void) { struct node *p = make(); push(p); p = found(2); p->n = 2; }""",
    "stored in another fresh object": """
        void body(void) {
            struct node *p = make(), *q = make();
            q->next = p;
            push(q);
            p->n = 2;
        }""",
    "published, then back at setjmp": """
        #include <setjmp.h>
        static jmp_buf before;
        void body(void) {
            struct node *p = make();
            if (!setjmp(before)) { push(p); longjmp(before, 1); }
            p->n = 2;
        }""",
}


@pytest.mark.parametrize("name", SAFE)
def test_private_until_published(name: str) -> None:
    assert answer(SAFE[name]).outcome is Outcome.RACE_FREE


@pytest.mark.parametrize("name", RACY)
def test_shared_from_then_on(name: str) -> None:
    found = answer(RACY[name])
    assert found.outcome is not Outcome.RACE_FREE
    assert {BaseKind.HEAP, BaseKind.STACK} & {f.location.kind for f in found.findings}


GATHERED = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
int shared;
struct iovec around;
void *work(void *a) { shared++; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    %s
    pthread_join(t, 0);
    return 0;
}
"""
CALLS = {
    "heap": "struct iovec *v = malloc(sizeof *v); v->iov_base = &shared; %s(1, v, 1);",
    "global": "around.iov_base = &shared; %s(1, &around, 1);",
    "stack": "struct iovec v; v.iov_base = &shared; %s(1, &v, 1);",
}


@pytest.mark.parametrize("backend", [BackendChoice.ALIAS, BackendChoice.VALUE])
@pytest.mark.parametrize("function", ["readv", "writev"])
@pytest.mark.parametrize("where", CALLS)
def test_what_a_call_finds_behind_a_fresh_object(
    where: str, function: str, backend: BackendChoice
) -> None:
    program = lower(GATHERED % (CALLS[where] % function))
    found = ENGINE.run(program, Question(Options(backend=backend)))
    assert [f.location.name for f in found.findings] == ["shared"]
