"""Which locks are held for sure, where."""

import pytest

from raceproof.analysis.locks import (
    ANYWHERE,
    UNCLEAR,
    Held,
    LockKey,
    common_locks,
    control_of,
    is_once,
    may_share_lock,
    once_lock,
)
from tests.analysis.probing import accesses, analysed, locks_at

WORKER = """
    void *worker(void *p) {{ {body} return 0; }}
    int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0); return 0; }}
"""


def held(body: str, before: str = "") -> list[list[tuple[str, bool, int]]]:
    return locks_at(analysed(before + WORKER.format(body=body)))


M, N = ("m+0", True, 1), ("n+0", True, 1)
LOCK, UNLOCK = "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{LOCK} x = 1; {UNLOCK}", [[M]]),
        (f"{LOCK} {UNLOCK} x = 1;", [[]]),
        (f"{LOCK} pthread_mutex_lock(&n); x = 1;", [[M, N]]),
        (f"{LOCK} pthread_mutex_lock(&n); {UNLOCK} x = 1;", [[N]]),
        (f"if (any()) {LOCK} else pthread_mutex_lock(&n); x = 1;", [[M], [N]]),
        (f"{LOCK} if (any()) {UNLOCK} x = 1;", [[], [M]]),
        ("if (pthread_mutex_trylock(&m) == 0) x = 1;", [[M]]),
        ("if (pthread_mutex_trylock(&m)) x = 1;", [[]]),
        ("int r = pthread_mutex_trylock(&m); if (any()) r = 0; if (!r) x = 1;", [[], [M]]),
        ("pthread_rwlock_rdlock(&rw); x = 1;", [[("rw+0", False, 1)]]),
        ("pthread_rwlock_wrlock(&rw); x = 1;", [[("rw+0", True, 1)]]),
        (f"{LOCK} {LOCK} x = 1;", [[("m+0", True, 2)]]),
        (f"{LOCK} {LOCK} {UNLOCK} x = 1;", [[M]]),
        (f"{LOCK} pthread_cond_t c; pthread_cond_wait(&c, &m); x = 1;", [[M]]),
        ("p = any() ? &m : &n; pthread_mutex_lock(p); x = 1;", [[]]),
        (f"{LOCK} p = any() ? &m : &n; pthread_mutex_unlock(p); x = 1;", [[]]),
        (f"{LOCK} pthread_mutex_unlock((void *)(long)any()); x = 1;", [[]]),
        ("pthread_mutex_lock(&locks[1]); x = 1;", [[("locks+40", True, 1)]]),
        ("pthread_mutex_lock(&locks[any() & 1]); x = 1;", [[]]),
        (f"{LOCK} while (any()) {{ {UNLOCK} {LOCK} }} x = 1;", [[M]]),
        (f"take(&m); x = 1; {UNLOCK}", [[M]]),
        (f"{LOCK} give(&m); x = 1;", [[]]),
    ],
)
def test_held(body: str, expected: list[list[tuple[str, bool, int]]]) -> None:
    before = """
        void take(pthread_mutex_t *p) { pthread_mutex_lock(p); }
        void give(pthread_mutex_t *p) { pthread_mutex_unlock(p); }
    """
    assert sorted(held(body, before)) == sorted(expected)


def test_a_lock_of_many_objects_has_no_name() -> None:
    body = """
        struct node { pthread_mutex_t lock; struct node *next; } *list = 0;
        while (any()) { struct node *n = calloc(1, sizeof *n); n->next = list; list = n; }
        if (list) { pthread_mutex_lock(&list->lock); x = 1; }"""
    assert all(not locks for locks in held(body))


NODES = """
    struct node { pthread_mutex_t lock; int count; struct node *next; } *list;
    void fill(void) {
        while (any()) { struct node *n = calloc(1, sizeof *n); n->next = list; list = n; }
    }
"""


def relative(body: str) -> set[frozenset[object]]:
    text = NODES + WORKER.format(body=f"fill(); struct node *n = list; {body}")
    analysis = analysed(text)
    heap = [
        access
        for info in analysis.threads.all
        for access in info.records.accesses.values()
        if analysis.objects[access.base].name.startswith("malloc")
        and access.is_write
        and analysis.objects.is_weak(access.base)
        and access.offsets.signed_constant == 40
    ]
    assert heap
    return {frozenset(access.relative) for access in heap}


def test_the_lock_beside_the_member_is_known_by_its_distance() -> None:
    assert relative("pthread_mutex_lock(&n->lock); n->count = 1;") == {
        frozenset({("beside", -40, True)})
    }


@pytest.mark.parametrize(
    "body",
    [
        "pthread_mutex_lock(&n->lock); n = n->next; n->count = 1;",
        "pthread_mutex_lock(&n->lock); pthread_mutex_unlock(&n->next->lock); n->count = 1;",
        "pthread_mutex_lock(&n->next->lock); n->count = 1;",
        "if (any()) pthread_mutex_lock(&n->lock); n->count = 1;",
    ],
    ids=["moved on", "perhaps given back", "another's", "on some ways"],
)
def test_a_lock_that_may_be_another_is_not(body: str) -> None:
    assert frozenset() in relative(body)


def test_may_have_locks_are_all_that_may_be_held() -> None:
    analysis = analysed(WORKER.format(body="pthread_mutex_lock(any() ? &m : &n); x = 1;"))
    (access,) = accesses(analysis, "x")
    assert {analysis.objects[key.base].name for key in access.facets.may_lockset} == {"m", "n"}


A, B = LockKey(5, 0), LockKey(5, 8)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({A}, {A}, True),
        ({A}, {B}, False),
        ({A}, set(), False),
        ({UNCLEAR}, {A}, True),
        ({UNCLEAR}, set(), False),
        ({LockKey(5, ANYWHERE)}, {B}, True),
        ({LockKey(5, ANYWHERE)}, {LockKey(6, 8)}, False),
    ],
)
def test_may_share_lock(one: set[LockKey], other: set[LockKey], expected: bool) -> None:
    assert may_share_lock(frozenset(one), frozenset(other)) is expected
    assert may_share_lock(frozenset(other), frozenset(one)) is expected


def test_common_locks_are_held_as_often_as_by_both() -> None:
    one = frozenset({Held(A, True, 2), Held(B, True)})
    other = frozenset({Held(A, True, 3)})
    assert common_locks(one, other) == frozenset({Held(A, True, 2)})


def test_a_lock_in_two_modes_is_not_common() -> None:
    one, other = frozenset({Held(A, True, 2)}), frozenset({Held(A, False, 3)})
    assert common_locks(one, other) == frozenset()


def test_the_lock_of_once_is_none_of_the_program() -> None:
    lock = once_lock(B)
    assert is_once(lock)
    assert control_of(lock) == 8
    assert not any(map(is_once, (A, B, UNCLEAR, LockKey(5, ANYWHERE))))
