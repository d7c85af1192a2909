"""Proofs by pointers that types keep apart, and programs in which they don't."""

from __future__ import annotations

import pytest

from raceproof.engines.pairwise import Failure, Proof
from raceproof.engines.pairwise.aliases import ASSUMPTION
from tests.engines.pairwise.pair_programs import HEAD, outcome_of

_LIST = """
#define OF(at, type, member) ((type *)((char *)(at) - (size_t)&((type *)0)->member))
struct link { struct link *next, *prev; };
struct node { long count; struct link link; };
static struct link heads[4];
static struct node *fresh(void) {
    struct node *new = malloc(sizeof(struct node)); new->count = 0; return new; }
static void add(struct link *new, struct link *at) {
    struct link *next = at->next;
    next->prev = new; new->next = next; new->prev = at; at->next = new; }
"""


def walked(body: str, before: str = "", main: str = "") -> str:
    """Threads that follow lists which nobody changes, and do this with each node."""
    return f"""{HEAD}{_LIST}{before}
static void *work(void *arg) {{
    int i = __VERIFIER_nondet_int(); require(i >= 0 && i < 4);
    for (struct link *at = heads[i].next; at != &heads[i]; at = at->next) {{
        struct node *node = OF(at, struct node, link);
        {body} }}
    return 0; }}
int main(void) {{ pthread_t t;
    for (int i = 0; i < 4; i++) {{
        heads[i].next = heads[i].prev = &heads[i];
        for (int j = 0; j < 9; j++) add(&fresh()->link, &heads[i]); }}
    {main} while (1) pthread_create(&t, 0, work, 0); }}"""


def locked(body: str) -> str:
    return f"pthread_mutex_lock(&m); {body} pthread_mutex_unlock(&m);"


_COUNT = locked("node->count++;")
PROVED = {
    "counted in a list": walked(_COUNT),
    "counted up and looked at": walked(_COUNT + locked("if (node->count > 5) node->count = 0;")),
    "lists that share their ends": walked(_COUNT, main="heads[1].next->next = heads[2].next;"),
}
RACY = {
    "counted without the lock": walked("node->count++;"),
    "the link is written": walked(_COUNT + locked("node->link.next = node->link.next;")),
    "any word is written": walked(
        "int j = __VERIFIER_nondet_int(); require(j >= 0 && j < 3);"
        + locked("((long *)node)[j] = ((long *)node)[j];")
    ),
    "more than the count is written": walked(locked("*(__int128 *)node = *(__int128 *)node;")),
    "the count by another way": walked(
        _COUNT + "long x = *where; (void)x;",
        "static long *where;",
        "where = &OF(heads[0].next, struct node, link)->count;",
    ),
    "the count through a number": walked(
        _COUNT + "unsigned long u = (unsigned long)at; long x = *(long *)(u - 8); (void)x;"
    ),
    "the node as a whole": walked(locked("struct node copy = *node; *node = copy;")),
}


_TWO = "static int x, y; static int *p = &x, *q = &y;"


def pieces(body: str, before: str = _TWO) -> str:
    """One thread gets at `x` in a way that the points-to analysis does not follow."""
    return f"""{HEAD}{before}
static void *one(void *arg) {{ {body} return 0; }}
static void *two(void *arg) {{ x = 2; return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, one, 0); pthread_create(&t, 0, two, 0);
    while (1); }}"""


RACY |= {
    "an address is copied by bytes": pieces(
        "for (int i = 0; i < 8; i++) ((char *)&q)[i] = ((char *)&p)[i]; *q = 1;"
    ),
    "an address is copied in halves": pieces(
        "unsigned low = (unsigned long)p, high = (unsigned long)p >> 32;"
        "int *r = y ? &y : (int *)((unsigned long)high << 32 | low); *r = 1;"
    ),
    "an address is copied as a number": pieces(
        "v.d = u.d; *v.p = 1;",
        "static int x, y; static union { int *p; double d; } u = {&x}, v = {&y};",
    ),
    "an address before its object": pieces("int *r = &x - 1; r[1] = 1;"),
}


@pytest.mark.parametrize("name", PROVED)
def test_proves(name: str) -> None:
    outcome = outcome_of(PROVED[name])
    assert isinstance(outcome, Proof), outcome
    assert ASSUMPTION in outcome.assumptions


@pytest.mark.parametrize("name", RACY)
def test_no_proof_where_the_rule_breaks(name: str) -> None:
    outcome = outcome_of(RACY[name])
    assert isinstance(outcome, Failure)
    assert "not excluded (sat)" in outcome.reason
