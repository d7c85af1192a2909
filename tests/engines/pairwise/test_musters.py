"""Proofs by counters of threads that are at work, and programs in which they count wrongly."""

from __future__ import annotations

import pytest

from raceproof.engines.pairwise import Failure, Proof
from tests.engines.pairwise.pair_programs import HEAD, outcome_of

_UP = "pthread_mutex_lock(&m); working++; pthread_mutex_unlock(&m);"
_DOWN = "pthread_mutex_lock(&m); working--; pthread_mutex_unlock(&m);"
_WORK = "pthread_mutex_lock(&k); data[0]++; pthread_mutex_unlock(&k);"
_CREATE = "pthread_create(&t, 0, work, 0);"
_ALL = "for (int i = 0; i < total; i++) { pthread_create(&t, 0, work, 0); }"
_BEGUN = (
    "pthread_mutex_lock(&m); while (working != total) pthread_cond_wait(&c, &m);"
    "pthread_mutex_unlock(&m);"
)
_ENDED = (
    "pthread_mutex_lock(&m); while (working) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"
)


def mustered(
    work: str = _UP + _WORK + _DOWN,
    create: str = _ALL,
    wait: str = _BEGUN + _ENDED,
    before: str = "",
    first: int = 0,
) -> str:
    """`main` waits until all are at work, then until none is."""
    return f"""{HEAD}
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int working = {first};
{before}
static void *work(void *arg) {{ {work} return 0; }}
int main(void) {{
    pthread_t t; int total = __VERIFIER_nondet_int(); require(total >= 0);
    {create} {wait} return data[0]; }}"""


def helped(by: str) -> str:
    """Another thread counts too."""
    return mustered(
        before=f"static void *help(void *arg) {{ {by} return 0; }}",
        create="pthread_create(&t, 0, help, 0);" + _ALL,
    )


PROVED = {
    "all begin, then all end": mustered(),
    "created from the last to the first": mustered(
        create="for (int i = total; i > 0; i--) { pthread_create(&t, 0, work, 0); }"
    ),
    "counted from another number": mustered(
        first=3, wait=(_BEGUN + _ENDED).replace("(working", "(working - 3")
    ),
    "main counts itself": mustered(
        create=_UP + _ALL, wait=(_BEGUN + _ENDED).replace("(working", "(working - 1")
    ),
    "all have passed the gate": mustered(work=_WORK + _UP, wait=_BEGUN),
}
RACY = {
    "nobody need have begun": mustered(wait=_ENDED),
    "nobody need have ended": mustered(wait=_BEGUN),
    "waits for all but one to begin": mustered(
        wait=(_BEGUN + _ENDED).replace("!= total", "< total - 1")
    ),
    "waits for all but one to end": mustered(
        wait=_BEGUN + _ENDED.replace("(working)", "(working > 1)")
    ),
    "looks once": mustered(wait=_BEGUN + _ENDED.replace("while", "if")),
    "one more than the number": mustered(create=_ALL + _CREATE),
    "two in each round": mustered(create=_ALL.replace(_CREATE, _CREATE * 2)),
    "some rounds have two": mustered(
        create=_ALL.replace(_CREATE, _CREATE + f"if (__VERIFIER_nondet_int()) {_CREATE}")
    ),
    "one more when all have begun": mustered(wait=_BEGUN + _CREATE + _ENDED),
    "one more when all have ended": mustered(wait=_BEGUN + _ENDED + _CREATE),
    "works when it has ended": mustered(work=_UP + _DOWN + _WORK),
    "begins again": mustered(work=_UP + _DOWN + _UP + _WORK + _DOWN),
    "works when it has begun": mustered(work=_UP + _WORK, wait=_BEGUN),
    "counts for two": mustered(work=_UP + _UP + _WORK + _DOWN + _DOWN),
    "main counts for one": mustered(wait=_UP + _BEGUN + _DOWN + _ENDED),
    "starts with one too many": mustered(first=1),
    "another thread counts up": helped(_UP),
    "another thread counts down": helped(_DOWN),
    "counts with another lock": mustered(work=_UP.replace("&m", "&k") + _WORK + _DOWN),
    "counts what was there before": mustered(
        work=_UP + _WORK + "pthread_mutex_lock(&m); int w = working; pthread_mutex_unlock(&m);"
        "pthread_mutex_lock(&m); working = w - 1; pthread_mutex_unlock(&m);"
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_proves(name: str) -> None:
    outcome = outcome_of(PROVED[name])
    assert isinstance(outcome, Proof), outcome
    assert "fewer than 2^32 threads are created" in outcome.assumptions


@pytest.mark.parametrize("name", RACY)
def test_no_proof_where_the_rule_breaks(name: str) -> None:
    outcome = outcome_of(RACY[name])
    assert isinstance(outcome, Failure)
    assert "not excluded (sat)" in outcome.reason
