"""The layers that run nothing: lock sets and the threading model."""

from __future__ import annotations

import time

import pytest

from raceproof.analysis.facts import ProgramFacts
from raceproof.concurrency import Models
from raceproof.engines.interleave import ENGINE
from raceproof.engines.interleave.layers import Cleared, StaticLayers
from raceproof.engines.interleave.lock_sets import LockSets
from raceproof.engines.interleave.skeleton import Skeleton
from raceproof.engines.interleave.variables import SharedVariables
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import MutexRules, Options
from raceproof.verdict import Outcome
from tests.lowering import lower
from tests.programs_index import TestProgram, programs

MODELS = Models.load()
HEAD = """
#include <pthread.h>
#include <stdatomic.h>
int x, y; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER; pthread_t t, u; atomic_int flag;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
extern int unknown(void);
"""


def cleared(text: str, **options: object) -> Cleared:
    program = lower(HEAD + text)
    return StaticLayers(ProgramFacts(program, MODELS), Options(**options), lambda: 60.0).clear()  # type: ignore[arg-type]


def suspected(text: str, **options: object) -> list[str]:
    """Names of what is left; nothing of it may be missing."""
    found = cleared(text, **options)
    assert found.is_proof
    return sorted(suspect.location.name for suspect in (*found.suspects, *found.bounded))


def lock_sets(text: str, rules: MutexRules = MutexRules.POSIX) -> dict[str, set[str]]:
    skeleton = Skeleton(ProgramFacts(lower(HEAD + text), MODELS))
    variables = SharedVariables(skeleton, LockSets(skeleton, rules)).all()
    return {
        str(variable.thing[1]): {str(place.name) for place in variable.lockset or ()}
        for variable in variables
        if variable.thing[1] in ("x", "y", "flag")
    }


def workers(body: str, main: str = "", more: str = "") -> str:
    return f"""{more}
    static void *work(void *a) {{ {body} return 0; }}
    int main(void) {{ pthread_create(&t, 0, work, 0); pthread_create(&u, 0, work, 0); {main}
      return 0; }}"""


RACY = [p for p in programs() if p.path.suffix == ".c" and p.verdict == "race"]


@pytest.mark.parametrize("program", RACY, ids=str)
def test_static_layers_never_clear_a_racy_program(program: TestProgram) -> None:
    left = StaticLayers(
        ProgramFacts(load_program([program.path], Options()), MODELS), Options(), lambda: 60.0
    )
    found = left.clear()
    assert found.candidates or not found.is_proof


# --- lock sets ------------------------------------------------------------


def test_lock_set_is_what_all_accesses_hold() -> None:
    text = workers(
        "pthread_mutex_lock(&m); pthread_mutex_lock(&n); x = 1; pthread_mutex_unlock(&n);"
        "x = 2; y = 1; pthread_mutex_unlock(&m); y = 2;"
    )
    assert lock_sets(text) == {"x": {"m"}, "y": set()}


def test_lock_set_over_branches_and_loops() -> None:
    text = workers(
        "if (unknown()) pthread_mutex_lock(&m); else pthread_mutex_lock(&m); x = 1;"
        "while (unknown()) { pthread_mutex_unlock(&m); pthread_mutex_lock(&m); x = 2; }"
        "pthread_mutex_unlock(&m); if (unknown()) pthread_mutex_lock(&m); y = 1;"
    )
    assert lock_sets(text) == {"x": {"m"}, "y": set()}


def test_lock_set_through_wrappers() -> None:
    more = """static void take(pthread_mutex_t *l) { pthread_mutex_lock(l); }
    static void give(pthread_mutex_t *l) { pthread_mutex_unlock(l); }
    static void touch(void) { x = 1; }"""
    text = workers("take(&m); touch(); give(&m); y = 1;", more=more)
    assert lock_sets(text) == {"x": {"m"}, "y": set()}


def test_release_through_an_alias_is_a_release() -> None:
    more = """static void odd(pthread_mutex_t *l) { pthread_mutex_lock(&m);
      pthread_mutex_unlock(l); x = 1; }"""
    assert lock_sets(workers("odd(&m);", more=more)) == {"x": set()}


def test_trylock_counts_where_it_succeeded() -> None:
    text = workers(
        "if (pthread_mutex_trylock(&m) == 0) { x = 1; pthread_mutex_unlock(&m); } else y = 1;"
    )
    assert lock_sets(text) == {"x": {"m"}, "y": set()}


def test_write_needs_the_lock_for_writing() -> None:
    text = workers("pthread_rwlock_rdlock(&r); x = 1; y == 1; pthread_rwlock_unlock(&r);")
    assert lock_sets(text)["x"] == set()
    text = workers("pthread_rwlock_wrlock(&r); x = 1; pthread_rwlock_unlock(&r);")
    assert lock_sets(text)["x"] == {"r"}


def test_linux_rules_void_a_lock_that_others_release() -> None:
    text = workers(
        "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);", "pthread_mutex_unlock(&m);"
    )
    assert lock_sets(text)["x"] == {"m"}
    assert lock_sets(text, MutexRules.LINUX)["x"] == set()


# --- the threading model ------------------------------------------------------------


def test_join_orders() -> None:
    text = """static void *work(void *a) { x = 1; return 0; }
    int main(void) { pthread_create(&t, 0, work, 0); pthread_join(t, 0);
      pthread_create(&t, 0, work, 0); pthread_join(t, 0); x = 2; return 0; }"""
    assert suspected(text) == []
    assert suspected(text.replace("pthread_join(t, 0); x", "x")) == ["x"]


def test_join_of_a_handle_that_something_else_writes() -> None:
    text = """static void *work(void *a) { x = 1; return 0; }
    static void *other(void *a) { return 0; }
    int main(void) { pthread_t copy; pthread_create(&t, 0, work, 0);
      pthread_create(&copy, 0, other, 0); t = copy; pthread_join(t, 0); x = 2; return 0; }"""
    assert suspected(text) == ["t", "x"] or suspected(text) == ["x"]


def test_handle_given_by_a_helper() -> None:
    text = """static void *work(void *a) { x = 1; return 0; }
    static void *other(void *a) { return 0; }
    static void spawn(pthread_t *h) { pthread_create(h, 0, work, 0); }
    int main(void) { pthread_t h; pthread_create(&h, 0, other, 0); spawn(&h); spawn(&u);
      pthread_join(h, 0); x = 2; return 0; }"""
    assert suspected(text) == ["x"]


def test_any_number_of_threads_with_a_lock() -> None:
    text = """static void *work(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
      return 0; }
    int main(void) { while (unknown()) pthread_create(&t, 0, work, 0);
      pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); return 0; }"""
    assert suspected(text) == []


def test_threads_that_create_themselves_are_refuted_within_the_bound_only() -> None:
    text = """static void *work(void *a) { pthread_mutex_lock(a); x++; pthread_mutex_unlock(a);
      pthread_t own; pthread_create(&own, 0, work, a); return 0; }
    int main(void) { pthread_create(&t, 0, work, &m); return 0; }"""
    found = cleared(text)
    assert [suspect.location.name for suspect in found.bounded] == ["x"]
    assert found.candidates


def test_unlock_before_an_endless_loop_is_not_lost() -> None:
    text = """static void *stuck(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
      for (;;); }
    static void *work(void *a) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);
      return 0; }
    int main(void) { pthread_create(&t, 0, stuck, 0); pthread_create(&u, 0, work, 0);
      x = 2; return 0; }"""
    assert suspected(text) == ["x"]


def test_call_in_a_loop_without_points() -> None:
    """A function that may do nothing is called again and again before the access."""
    text = """static void maybe(void) { if (unknown()) { pthread_mutex_lock(&n);
      pthread_mutex_unlock(&n); } }
    static void *work(void *a) { while (unknown()) maybe(); x = 1; return 0; }
    int main(void) { pthread_create(&t, 0, work, 0); while (unknown()) maybe(); x = 2;
      return 0; }"""
    assert suspected(text) == ["x"]


def test_mutex_rules_in_the_model() -> None:
    """A lock handed over through a parameter: the lock set does not see it, the model does."""
    text = """static void *work(void *a) { pthread_mutex_t *l = a; pthread_mutex_lock(l); x = 1;
      pthread_mutex_unlock(l); return 0; }
    int main(void) { pthread_create(&t, 0, work, &m); pthread_mutex_unlock(&m);
      pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); return 0; }"""
    assert suspected(text) == []
    assert suspected(text, mutex_rules=MutexRules.LINUX) == ["x"]


def test_waiting_gives_the_lock_back() -> None:
    text = """static void *work(void *a) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);
      return 0; }
    int main(void) { pthread_mutex_lock(&m); pthread_create(&t, 0, work, 0);
      y = 1; pthread_cond_wait(&c, &m); x = 2; pthread_mutex_unlock(&m); return 0; }"""
    assert suspected(text) == []
    assert suspected(
        text.replace("x = 1; pthread_mutex_unlock(&m);", "pthread_mutex_unlock(&m); x = 1;")
    ) == ["x"]


def test_atomic_sections_exclude_each_other_only() -> None:
    head = "extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);"
    section = "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();"
    assert suspected(workers(section, more=head)) == []
    assert suspected(workers(section, "x = 2;", more=head)) == ["x"]


def test_cancelled_thread_may_still_run() -> None:
    text = """static void *work(void *a) { x = 1; return 0; }
    int main(void) { pthread_create(&t, 0, work, 0); pthread_cancel(t); x = 2;
      pthread_join(t, 0); x = 3; return 0; }"""
    assert suspected(text) == ["x"]


def test_what_is_not_followed_is_no_proof() -> None:
    text = """#include <stdlib.h>
    static void late(void) { x = 1; }
    static void *work(void *a) { x = 2; return 0; }
    int main(void) { atexit(late); pthread_create(&t, 0, work, 0); return 0; }"""
    assert not cleared(text).is_proof


# --- the table ------------------------------------------------------------


def test_layers_of_an_answer() -> None:
    text = """static void *work(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
      y = 1; atomic_store(&flag, 1); return 0; }
    int main(void) { pthread_create(&t, 0, work, 0);
      pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
      while (!atomic_load(&flag)) ; y = 2; return 0; }"""
    question = Question(Options(layers=True), deadline=time.monotonic() + 30)
    answer = ENGINE.run(lower(HEAD + text), question)
    assert answer.outcome is Outcome.RACE_FREE
    rows = [(row.name, row.candidates, row.left) for row in answer.layers]
    assert rows[1:] == [("threading model", 1, 1), ("schedules", 1, 0)]
    assert rows[0][0] == "lock set"
    assert rows[0][2] == 1


def test_candidates_are_refuted_one_by_one() -> None:
    text = """static void *work(void *a) { x = 1; return 0; }
    int main(void) { pthread_create(&t, 0, work, 0); x = 2; pthread_join(t, 0); x = 3;
      return 0; }"""
    program = lower(HEAD + text)
    layers = StaticLayers(ProgramFacts(program, MODELS), Options(), lambda: 60.0)
    candidates = layers.clear().candidates
    assert len(candidates) > 1
    kept = layers.refute(candidates)
    assert 0 < len(kept.candidates) < len(candidates)


def test_nothing_is_known_when_the_time_is_over() -> None:
    skeleton = Skeleton(
        ProgramFacts(lower(HEAD + "int main(void) { return 0; }"), MODELS), seconds=-1.0
    )
    assert skeleton.not_followed
