"""Each must-condition: a program that lacks this one and no earlier one, and what is left of it."""

from itertools import combinations_with_replacement

import pytest

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular import ENGINE
from raceproof.engines.modular.must import CONDITIONS, lacking
from raceproof.engines.modular.must import __doc__ as argument
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.options import Options
from raceproof.verdict import BaseKind, Outcome
from tests.lowering import lower

HEAD = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int x, table[8];
_Atomic int counter;
extern int any(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, locks[4];
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
"""
MAIN = """
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, first, 0);
    pthread_create(&t, 0, second, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
"""
FIRST = "void *first(void *p) { x = 1; return 0; }\n"
SECOND = "void *second(void *p) { x = 2; return 0; }\n"

(
    WRITES,
    DIFFERENT,
    OVERLAP,
    ONE,
    INSIDE,
    ONLY,
    NOT_FREED,
    PARALLEL,
    NOT_KEPT_BACK,
    NO_LOCK,
    INDEPENDENT,
) = (name for name, _ in CONDITIONS)


def obstacles(program: Program, *names: str) -> set[str | None]:
    """What the pairs of accesses to the named locations lack; None: nothing."""
    analysis = Analysis(program, Models.load(()), sees_others=False)
    analysis.run()
    facts = Facts(analysis)
    accesses = [
        access
        for info in analysis.threads.all
        for access in info.records.accesses.values()
        if analysis.objects[access.base].name in names
    ]
    by_thread = {(a.instruction, a.thread, a.is_write): a for a in accesses}.values()
    pairs = combinations_with_replacement(by_thread, 2)
    return {next(lacking(a, b, facts), None) for a, b in pairs}


def outcome(program: Program) -> Outcome:
    return ENGINE.run(program, Question(Options())).outcome


def test_two_plain_writes_lack_nothing() -> None:
    program = lower(HEAD + FIRST + SECOND + MAIN)
    assert None in obstacles(program, "x")
    assert outcome(program) is Outcome.RACE


@pytest.mark.parametrize(
    ("location", "text", "missing"),
    [
        (
            "x",
            "void *first(void *p) { return (void *)(long)x; }\n"
            "void *second(void *p) { return (void *)(long)x; }\n",
            WRITES,
        ),
        (
            "counter",
            "void *first(void *p) { counter++; return 0; }\n"
            "void *second(void *p) { counter++; return 0; }\n",
            WRITES,
        ),
        (
            "table",
            "void *first(void *p) { table[any() & 7] = 1; return 0; }\n"
            "void *second(void *p) { table[any() & 7] = 2; return 0; }\n",
            OVERLAP,
        ),
        (
            "x",
            "void *first(void *p) { if (any()) pthread_mutex_lock(&m); x = 1; return 0; }\n"
            "void *second(void *p) { pthread_mutex_lock(&m); x = 2; return 0; }\n",
            NO_LOCK,
        ),
        (
            "x",
            "void *first(void *p) { pthread_mutex_lock(&locks[any() & 3]); x = 1; return 0; }\n"
            "void *second(void *p) { pthread_mutex_lock(&locks[1]); x = 2; return 0; }\n",
            NO_LOCK,
        ),
        (
            "x",
            "extern pthread_mutex_t *chosen(void);\n"
            "void *first(void *p) { pthread_mutex_lock(chosen()); x = 1; return 0; }\n"
            "void *second(void *p) { pthread_mutex_lock(&m); x = 2; return 0; }\n",
            NO_LOCK,
        ),
        (
            "x",
            "void *first(void *p) { x = 1; while (1) {} }\n"
            "void *second(void *p) {\n"
            "    pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); x = 2; return 0; }\n",
            INDEPENDENT,
        ),
        (
            "x",
            "int flag;\n"
            "void *first(void *p) { flag = 1; x = 1; return 0; }\n"
            "void *second(void *p) { if (!flag) x = 2; return 0; }\n",
            INDEPENDENT,
        ),
    ],
    ids=[
        "two reads",
        "both atomic",
        "unclear elements",
        "lock on some ways",
        "unclear lock of an array",
        "unknown lock",
        "after a wait",
        "on another's word",
    ],
)
def test_a_pair_that_lacks_one_is_not_likely(location: str, text: str, missing: str) -> None:
    program = lower(HEAD + text + MAIN)
    found = obstacles(program, location)
    assert missing in found
    assert None not in found
    others = ENGINE.run(program, Question(Options())).findings
    assert all(str(f.confidence) != "likely" for f in others if f.location.name == location)


def test_one_instance_of_a_thread_has_no_race_with_itself() -> None:
    program = lower(HEAD + FIRST + "void *second(void *p) { return 0; }\n" + MAIN)
    assert obstacles(program, "x") == {DIFFERENT}


def test_two_instances_of_one_thread_have() -> None:
    main = """
        int main(void) {
            pthread_t t;
            for (int i = 0; i < 100; i++) pthread_create(&t, 0, first, 0);
            return 0;
        }"""
    assert None in obstacles(lower(HEAD + FIRST + main), "x")


def test_a_thread_that_may_have_been_joined_is_not_surely_there() -> None:
    main = """
        void *second(void *p) { return 0; }
        int main(void) {
            pthread_t t[2];
            pthread_create(&t[0], 0, first, 0);
            pthread_create(&t[1], 0, second, 0);
            pthread_join(t[any() & 1], 0);
            x = 3;
            return 0;
        }"""
    assert obstacles(lower(HEAD + FIRST + main), "x") == {DIFFERENT, PARALLEL}


def test_an_object_of_each_round_may_be_two() -> None:
    text = """
        int *block;
        void *first(void *p) { *block = 1; return 0; }
        int main(void) {
            pthread_t t;
            int rounds = any();
            for (int i = 0; i < rounds; i++) block = malloc(4);
            pthread_create(&t, 0, first, 0);
            *block = 2;
            return 0;
        }"""
    program = lower(HEAD + text)
    analysis = Analysis(program, Models.load(()), sees_others=False)
    analysis.run()
    bases = (analysis.objects[base] for base in analysis.objects.bases.weak)
    weak = [base for base in bases if base.kind is BaseKind.HEAP]
    assert weak
    assert outcome(program) is not Outcome.RACE


def test_an_access_past_the_end_is_none_to_rely_on() -> None:
    text = """
        int small[2];
        void *first(void *p) { memset(small, 0, 12); return 0; }
        void *second(void *p) { memset(small, 1, 12); return 0; }
    """
    assert obstacles(lower(HEAD + text + MAIN), "small") >= {INSIDE}


def test_one_of_two_objects_is_not_surely_this_one() -> None:
    text = """
        int y;
        void *first(void *p) { *(any() ? &x : &y) = 1; return 0; }
        void *second(void *p) { x = 2; return 0; }
    """
    found = obstacles(lower(HEAD + text + MAIN), "x")
    assert ONLY in found
    assert None not in found


GATE = """
    void *first(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); x = 1; return 0; }
    int main(void) {
        pthread_t t;
        pthread_mutex_lock(&m);
        pthread_create(&t, 0, first, 0);
        %s
        pthread_mutex_unlock(&m);
        %s
        return 0;
    }"""


def test_a_lock_held_since_the_creation_may_be_a_gate() -> None:
    program = lower(HEAD + GATE % ("x = 2;", ""))
    assert obstacles(program, "x") == {DIFFERENT, NOT_KEPT_BACK}
    assert outcome(program) is Outcome.RACE_FREE
    unclear = lower((HEAD + GATE % ("x = 2;", "")).replace("lock(&m); p", "lock(&m + any()); p"))
    assert outcome(unclear) is Outcome.UNKNOWN


def test_past_the_gate_nothing_keeps_them_apart() -> None:
    assert outcome(lower(HEAD + GATE % ("", "x = 2;"))) is Outcome.RACE


def test_what_is_freed_is_not_likely() -> None:
    text = """
        int *block;
        void *first(void *p) { free(block); return 0; }
        void *second(void *p) { *block = 1; return 0; }
    """
    main = MAIN.replace("pthread_t s, t;", "pthread_t s, t; block = malloc(4);")
    assert outcome(lower(HEAD + text + main)) is not Outcome.RACE


def test_a_second_opinion_where_values_look_too_open() -> None:
    """Both writes are on every way, whatever the flag says; only `alias` looks at it like that."""
    text = """
        _Atomic int flag;
        void *first(void *p) { if (flag) x = 3; x = 1; flag = 1; return 0; }
        void *second(void *p) { if (flag) x = 4; x = 2; flag = 1; return 0; }
    """
    program = lower(HEAD + text + MAIN)
    assert None not in obstacles(program, "x")
    assert outcome(program) is Outcome.RACE


def test_the_argument_names_every_condition() -> None:
    assert argument is not None
    assert all(f"\n{number}. " in argument for number in range(1, len(CONDITIONS) + 1))
