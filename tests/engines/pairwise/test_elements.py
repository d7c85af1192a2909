"""Proofs by elements that hand a thread's share of a counter on, and programs in which it is lost
or doubled."""

from __future__ import annotations

import pytest

from raceproof.engines.pairwise import Failure, Proof
from tests.engines.pairwise.pair_programs import HEAD, outcome_of

_WORK = "pthread_mutex_lock(&m); data[0]++; pthread_mutex_unlock(&m);"
_LOCK, _UNLOCK = "pthread_mutex_lock(&locks[i]);", "pthread_mutex_unlock(&locks[i]);"
_SET = f"{_LOCK} flag[i] = 1; {_UNLOCK}"
_UP = "pthread_mutex_lock(&k); alive++; pthread_mutex_unlock(&k);"
_DOWN = "pthread_mutex_lock(&k); alive--; pthread_mutex_unlock(&k);"
_COLLECT = f"{_LOCK} if (flag[i]) {{ pthread_join(ids[i], 0); {_DOWN} flag[i] = 0; }} {_UNLOCK}"
_JUST_COLLECT = f"{_LOCK} if (flag[i]) {{ {_DOWN} flag[i] = 0; }} {_UNLOCK}"
_WAIT = "pthread_mutex_lock(&k); while (alive) pthread_cond_wait(&c, &k); pthread_mutex_unlock(&k);"
_CREATE = "pthread_create(&ids[i], 0, work, (void *)(long)i);"
_COLLECTOR = "pthread_create(&t, 0, collector, 0);"
_HEAP = "static _Bool *flag; static pthread_mutex_t *locks;"
_ALLOCATE = (
    "flag = calloc(total, sizeof *flag); locks = malloc(total * sizeof *locks);"
    "for (int i = 0; i < total; i++) pthread_mutex_init(&locks[i], 0);"
)
_ARRAYS = "static int flag[99]; static pthread_mutex_t locks[99];"


def collected(
    work: str = _WORK + _SET,
    collect: str = _JUST_COLLECT,
    create: str = _CREATE + _UP,
    wait: str = _WAIT,
    end: str = "return data[0];",
    before: str = _HEAP,
    start: str = _ALLOCATE + _COLLECTOR,
) -> str:
    """Workers raise flags, another thread lowers them and counts."""
    return f"""{HEAD}
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int alive = 0, total;
static pthread_t *ids;
{before}
static void *work(void *arg) {{ int i = (int)(long)arg; {work} return 0; }}
static void *collector(void *arg) {{
    while (1) for (int i = 0; i < total; i++) {{ {collect} }}
    return 0; }}
int main(void) {{
    pthread_t t; total = __VERIFIER_nondet_int(); require(total > 0);
    ids = malloc(total * sizeof *ids);
    {start}
    for (int i = 0; i < total; i++) {{ {create} }}
    {wait} {end} }}"""


def helped(by: str) -> str:
    """Another thread meddles with any element."""
    help_ = (
        "static void *help(void *arg) { int i = __VERIFIER_nondet_int();"
        f"require(i >= 0 && i < total); {by} return 0; }}"
    )
    return collected(
        before=_HEAP + help_,
        start=_ALLOCATE + _COLLECTOR + "pthread_create(&t, 0, help, 0);",
    )


_IN_STRUCTS = (
    ("locks[i]", "s[i].lock"),
    ("flag[i]", "s[i].flag"),
)


def _in_structs(text: str) -> str:
    for old, new in _IN_STRUCTS:
        text = text.replace(old, new)
    return text


PROVED = {
    "collected": collected(),
    "joined and collected": collected(collect=_COLLECT, end="free(ids); return data[0];"),
    "collected from global arrays": collected(before=_ARRAYS, start=_COLLECTOR),
    "collected from structs": _in_structs(
        collected(
            before="static struct { int flag; pthread_mutex_t lock; } s[99];", start=_COLLECTOR
        )
    ),
    "collected by two": collected(start=_ALLOCATE + _COLLECTOR + _COLLECTOR),
    "counted before the creation": collected(create=_UP + _CREATE),
    "the flags are read in the end": collected(
        collect=f"{_LOCK} if (flag[i]) {{ flag[i] = 0; {_DOWN} }} {_UNLOCK}",
        end="return flag[0];",
    ),
}
RACY = {
    "no thread waits": collected(wait=""),
    "waits for all but one": collected(wait=_WAIT.replace("(alive)", "(alive > 1)")),
    "works after the flag is up": collected(work=_SET + _WORK),
    "raises the flag twice": collected(work=_SET + _WORK + _SET),
    "leaves the flag up": collected(collect=f"{_LOCK} if (flag[i]) {{ {_DOWN} }} {_UNLOCK}"),
    "does not look at the flag": collected(collect=f"{_LOCK} {_DOWN} flag[i] = 0; {_UNLOCK}"),
    "counts down twice": collected(
        collect=f"{_LOCK} if (flag[i]) {{ {_DOWN}{_DOWN} flag[i] = 0; }} {_UNLOCK}"
    ),
    "looks at the flag before": collected(
        collect=f"{_LOCK} int f = flag[i]; {_UNLOCK}"
        f"{_LOCK} if (f) {{ {_DOWN} flag[i] = 0; }} {_UNLOCK}",
        start=_ALLOCATE + _COLLECTOR + _COLLECTOR,
    ),
    "one lock for another element": collected(work=_WORK + _SET.replace("locks[i]", "locks[0]")),
    "not all are counted": collected(create=_CREATE + f"if (__VERIFIER_nondet_int()) {{ {_UP} }}"),
    "two are created": collected(create=_CREATE + _CREATE + _UP),
    "some flags are up from the start": collected(
        before=_ARRAYS.replace("flag[99]", "flag[99] = {1}"),
        start=_COLLECTOR,
    ),
    "it is unknown which flags are up": collected(
        start=_ALLOCATE.replace("calloc(total, sizeof *flag)", "malloc(total)") + _COLLECTOR,
    ),
    "main raises a flag first": collected(start=_ALLOCATE + "flag[total - 1] = 1;" + _COLLECTOR),
    "another thread raises flags": helped(_SET),
    "another thread raises flags by another way": helped(
        "_Bool *p = flag; if (__VERIFIER_nondet_int()) p = (_Bool *)data; p[i] = 1;"
    ),
    "another thread lowers the counter": helped(_DOWN),
    "the number of the thread comes late": collected(
        create="pthread_create(&t, 0, work, (void *)(long)i); ids[i] = t;" + _UP,
        collect=_COLLECT,
    ),
    "joins another thread": collected(
        collect=_COLLECT.replace("ids[i]", "ids[(i + 1) % total]"), end="return 0;"
    ),
    "one more in the end": collected(wait=_WAIT + "int i = 0;" + _CREATE),
}


def cases(programs: dict[str, str]) -> list[object]:
    """The thread-modular analysis keeps rounds of loops that join apart, and takes its time."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if _COLLECT in text else name
        for name, text in programs.items()
    ]


@pytest.mark.parametrize("name", cases(PROVED))
def test_proves(name: str) -> None:
    outcome = outcome_of(PROVED[name])
    assert isinstance(outcome, Proof), outcome


@pytest.mark.parametrize("name", cases(RACY))
def test_no_proof_where_the_rule_breaks(name: str) -> None:
    outcome = outcome_of(RACY[name])
    assert isinstance(outcome, Failure)
    assert "not excluded (sat)" in outcome.reason


def test_a_lock_that_is_taken_twice_is_no_lock_of_an_element() -> None:
    """Or what its holder finds would count twice."""
    text = collected(
        collect=f"{_LOCK}{_LOCK} if (flag[i]) {{ {_DOWN}{_DOWN} flag[i] = 0; }} {_UNLOCK}{_UNLOCK}"
    )
    assert isinstance(outcome_of(text), Failure)
