"""The explorer: its reduction loses nothing, its proofs and schedules hold."""

from __future__ import annotations

import pytest

from raceproof.engines.interleave.concrete import explore
from raceproof.engines.interleave.explorer import Conclusion, Explorer, NoInputs, Reduction
from raceproof.frontend import load_program
from raceproof.machine.machine import Machine
from raceproof.options import MutexRules, Options
from tests.lowering import lower
from tests.programs_index import TestProgram, programs

HEAD = """
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
int x, y; sem_t s; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER; atomic_int flag; int *p;
extern int __VERIFIER_nondet_int(void); extern _Bool __VERIFIER_nondet_bool(void);
"""


def conclusion(text: str, reduction: Reduction, *, is_open: bool = False) -> Conclusion:
    machine = Machine(lower(HEAD + text), is_open=is_open)
    inputs = None if is_open else NoInputs()
    return Explorer(machine, reduction=reduction, inputs=inputs).run(lambda: 1.0).conclusion


def agreed(text: str, *, is_open: bool = False) -> Conclusion:
    """What all searches say."""
    found = {level.name: conclusion(text, level, is_open=is_open) for level in Reduction}
    assert len(set(found.values())) == 1, found
    return found[Reduction.NONE.name]


def two(worker: str, main: str, join: str = "pthread_join(t, 0);") -> str:
    return f"""
    static void *worker(void *a) {{ {worker} return 0; }}
    int main(void) {{
      pthread_t t; sem_init(&s, 0, 0); p = malloc(4); *p = 0;
      pthread_create(&t, 0, worker, 0); {main} {join} return 0; }}"""


BOUNDED = [p for p in programs() if p.path.suffix == ".c" and not p.unbounded]


@pytest.mark.parametrize("program", BOUNDED, ids=str)
def test_our_programs(program: TestProgram) -> None:
    """The verdict is right, and without reduction it is the same."""
    model = load_program([program.path], Options())
    left = iter(range(4000, 0, -1))
    found = explore(Machine(model), None, MutexRules.POSIX, lambda: next(left, 0))
    if program.verdict == "race":
        assert not found.is_proved
    else:
        assert found.race is None
    full = Explorer(Machine(model, is_open=True), reduction=Reduction.NONE).run(lambda: 1.0, 2000)
    if full.conclusion is not Conclusion.INCOMPLETE:
        for level in Reduction:
            reduced = Explorer(Machine(model, is_open=True), reduction=level).run(lambda: 1.0, 3000)
            assert reduced.conclusion is full.conclusion, level.name


def test_reduction_reduces() -> None:
    """Each level leaves out states, or (sleep sets) transitions."""
    work = "pthread_mutex_lock(&m); x++; x++; x++; pthread_mutex_unlock(&m); y == 1; y == 2;"
    apart = "pthread_mutex_lock(&n); pthread_mutex_unlock(&n);"
    program = lower(HEAD + two(work + work, apart + work))
    full, blocks, sleep, persistent = (
        Explorer(Machine(program), reduction=level).run(lambda: 1.0) for level in Reduction
    )
    assert {one.conclusion for one in (full, blocks, sleep, persistent)} == {Conclusion.RACE_FREE}
    assert blocks.states < full.states / 2
    assert sleep.transitions < blocks.transitions
    assert persistent.states < sleep.states * 0.8


def test_race_after_the_thread_has_ended() -> None:
    """The last access of a thread that ends in the same block is not forgotten."""
    text = two("sem_post(&s); x = 1;", "sem_wait(&s); x = 2;")
    assert agreed(text) is Conclusion.RACE


def test_join_forgets_what_a_thread_did_last() -> None:
    text = two("sem_post(&s); x = 1;", "sem_wait(&s); pthread_join(t, 0); x = 2;", "")
    assert agreed(text) is Conclusion.RACE_FREE


def test_race_with_a_block_that_frees() -> None:
    text = two("sem_post(&s); free(p);", "sem_wait(&s); *p = 2;")
    assert agreed(text) is Conclusion.RACE


def test_race_with_a_slot_that_is_gone() -> None:
    text = two("int own = 0; p = &own; sem_post(&s); own = 1;", "sem_wait(&s); *p = 2;")
    assert agreed(text) is Conclusion.RACE


def test_race_before_a_fault() -> None:
    """A thread that is going to fail has not failed yet."""
    text = two("sem_post(&s); int z = 0; x = 1 / z;", "sem_wait(&s); y = 1;")
    assert agreed(text) is Conclusion.RACE_FREE
    text = two("x = 1; sem_post(&s); y = 1; *(int *)0 = 1;", "sem_wait(&s); y = 2;")
    assert agreed(text) is Conclusion.RACE
    others = """
    static void *fails(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
      int z = 0; return (void *)(long)(1 / z); }
    static void *writes(void *a) { sem_wait(&s); x = 1; return 0; }
    int main(void) { pthread_t t, u, v; sem_init(&s, 0, 0); pthread_mutex_lock(&m);
      pthread_create(&t, 0, fails, 0); pthread_create(&u, 0, writes, 0);
      pthread_create(&v, 0, writes, 0); pthread_mutex_unlock(&m);
      sem_post(&s); sem_post(&s); pthread_join(t, 0); return 0; }"""
    assert agreed(others) is Conclusion.RACE


def test_failed_trylock_orders_nothing() -> None:
    text = two(
        "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);",
        "if (pthread_mutex_trylock(&m)) x = 2; else pthread_mutex_unlock(&m);",
    )
    assert agreed(text) is Conclusion.RACE


def test_atomic_flag_hands_over() -> None:
    text = two("x = 1; atomic_store(&flag, 1);", "while (!atomic_load(&flag)); x = 2;")
    assert agreed(text) is Conclusion.RACE_FREE


def test_blocked_join_is_not_about_to_write() -> None:
    text = """
    void *result;
    static void *worker(void *a) { result = a; return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0);
      pthread_join(t, &result); return 0; }"""
    assert agreed(text) is Conclusion.RACE_FREE


def test_unknown_inputs_go_both_ways() -> None:
    text = two("x = 1;", "if (__VERIFIER_nondet_int() == 12345) x = 2;")
    assert agreed(text, is_open=True) is Conclusion.RACE
    text = two("x = 1;", "int i = __VERIFIER_nondet_int(); if (i > 3) y = i;")
    assert agreed(text, is_open=True) is Conclusion.RACE_FREE


def test_exact_values_do_not_prove_what_depends_on_inputs() -> None:
    text = two("x = 1;", "if (__VERIFIER_nondet_int() == 12345) y = 2;")
    assert conclusion(text, Reduction.PERSISTENT) is Conclusion.INCOMPLETE


def test_arguments_of_main_are_inputs() -> None:
    text = """
    static void *worker(void *a) { x = 1; return 0; }
    int main(int argc, char **argv) { pthread_t t; pthread_create(&t, 0, worker, 0);
      if (argc == 1) pthread_join(t, 0); x = 2; return 0; }"""
    machine = Machine(lower(HEAD + text))
    assert not explore(machine, None, MutexRules.POSIX, lambda: 1.0).is_proved


def test_cleanup_handlers_spoil_a_proof() -> None:
    text = """
    static void clean(void *a) { x = 1; }
    static void *worker(void *a) { pthread_cleanup_push(clean, 0); pthread_testcancel();
      pthread_cleanup_pop(0); return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); pthread_cancel(t);
      x = 2; pthread_join(t, 0); return 0; }"""
    assert conclusion(text, Reduction.PERSISTENT) is not Conclusion.RACE_FREE


@pytest.mark.parametrize("call", ['fopen("a", "r")', 'getenv("A")', "fgets(line, 9, stdin)"])
def test_library_functions_may_return_null(call: str) -> None:
    text = f"""
    #include <stdio.h>
    char line[9];
    static void *worker(void *a) {{ x = 1; return 0; }}
    int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0);
      if ({call}) pthread_join(t, 0);
      x = 2; return 0; }}"""
    machine = Machine(lower(HEAD + text))
    assert not explore(machine, None, MutexRules.POSIX, lambda: 1.0).is_proved
    assert agreed(text, is_open=True) is Conclusion.RACE


@pytest.mark.parametrize("test", ["strlen(line) > 3", 'memcmp(line, "abc", 3) == 0'])
def test_library_functions_on_unknown_bytes(test: str) -> None:
    text = f"""
    #include <stdio.h>
    #include <string.h>
    char line[9];
    static void *worker(void *a) {{ x = 1; return 0; }}
    int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0); fgets(line, 9, stdin);
      if ({test}) x = 2; pthread_join(t, 0); return 0; }}"""
    machine = Machine(lower(HEAD + text))
    assert not explore(machine, None, MutexRules.POSIX, lambda: 1.0).is_proved


def test_registers_live_again_after_a_jump_back() -> None:
    """`z` is dead until the jump; states that differ in it alone are not the same."""
    text = """
    #include <setjmp.h>
    static jmp_buf buffer;
    static void *worker(void *a) { x = 1; return 0; }
    int main(void) {
      pthread_t t; int z = __VERIFIER_nondet_bool();
      if (setjmp(buffer)) { if (z) x = 2; return 0; }
      pthread_create(&t, 0, worker, 0);
      pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
      longjmp(buffer, 1); }"""
    assert agreed(text, is_open=True) is Conclusion.RACE


def test_endless_loop_of_plain_accesses_ends() -> None:
    text = two("for (;;) x = 1;", "pthread_mutex_lock(&m); y = 1; pthread_mutex_unlock(&m);", "")
    assert agreed(text) is Conclusion.RACE_FREE


def test_mutex_rules() -> None:
    """Under Linux's rules anyone may release a mutex; then it protects nothing here."""
    text = """
    static void *worker(void *a) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);
      return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); pthread_mutex_unlock(&m);
      pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }"""
    program = lower(HEAD + text)
    verdicts = [
        Explorer(Machine(program, mutex_rules=rules)).run(lambda: 1.0).conclusion
        for rules in (MutexRules.POSIX, MutexRules.LINUX)
    ]
    assert verdicts == [Conclusion.RACE_FREE, Conclusion.RACE]


def test_endless_choices_keep_nobody_waiting() -> None:
    """Values are chosen first, but not for ever."""
    text = two(
        "sem_wait(&s); x = 2;", "sem_post(&s); for (;;) if (__VERIFIER_nondet_bool()) x = 1;"
    )
    assert agreed(text, is_open=True) is Conclusion.RACE


def test_endless_pauses_keep_nobody_waiting() -> None:
    text = two("sem_wait(&s); x = 2;", "x = 1; sem_post(&s); for (;;) ;")
    assert agreed(text) is Conclusion.RACE_FREE
    text = two("sem_wait(&s); x = 2;", "sem_post(&s); x = 1; for (;;);")
    assert agreed(text) is Conclusion.RACE


def test_whether_a_thread_is_over_already() -> None:
    """Blocks run to their end, so they cannot tell what a join that does not wait says."""
    text = """
    static pthread_t t; int pthread_tryjoin_np(pthread_t, void **);
    static void *worker(void *a) { sem_post(&s); x = 1; return 0; }
    static void *other(void *a) { y = 1; return 0; }
    int main(void) { pthread_t u; sem_init(&s, 0, 0); pthread_create(&u, 0, other, 0);
      pthread_create(&t, 0, worker, 0); sem_wait(&s);
      if (pthread_tryjoin_np(t, 0)) y = 2; return 0; }"""
    assert conclusion(text, Reduction.NONE) is Conclusion.RACE
    assert conclusion(text, Reduction.BLOCKS) is not Conclusion.RACE_FREE
    assert conclusion(text, Reduction.PERSISTENT) is not Conclusion.RACE_FREE


def test_a_lock_may_be_taken_away_from_its_holder() -> None:
    """Nobody waits for a mutex that another thread initialises anew."""
    text = """
    static void *worker(void *a) { pthread_mutex_lock(&m); atomic_store(&flag, 1);
      atomic_store(&flag, 2); x = 1; pthread_mutex_unlock(&m); return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0);
      pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m);
      return 0; }"""
    assert agreed(text) is Conclusion.RACE


MANY_LOCKS = """
pthread_mutex_t locks[8]; int values[8];
static void *worker(void *a) { int i = __VERIFIER_nondet_int(); if (i < 0 || i >= 8) return 0;
  pthread_mutex_lock(&locks[i]); values[%s]++; pthread_mutex_unlock(&locks[i]); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, worker, 0);
  pthread_create(&u, 0, worker, 0); return 0; }"""


@pytest.mark.parametrize(("index", "is_proved"), [("i", True), ("i / 2", False)])
def test_inputs_are_split_where_they_are_needed(index: str, is_proved: bool) -> None:
    machine = Machine(lower(HEAD + MANY_LOCKS % index))
    assert explore(machine, None, MutexRules.POSIX, lambda: 1.0).is_proved is is_proved


def test_branches_on_the_same_input_agree() -> None:
    text = two(
        "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);",
        """
      int i = __VERIFIER_nondet_int(); if (i == 3) pthread_mutex_lock(&m);
      atomic_load(&flag); if (i == 3) { x = 2; pthread_mutex_unlock(&m); }""",
    )
    found = explore(Machine(lower(HEAD + text)), None, MutexRules.POSIX, lambda: 1.0)
    assert found.is_proved


def test_what_main_returns_makes_no_state() -> None:
    text = two(
        "x = 1;",
        "int i = 0; for (int k = 0; k < 5; k++) i += __VERIFIER_nondet_bool();",
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return i;",
    )
    few = two(
        "x = 1;",
        "int i = 0; for (int k = 0; k < 5; k++) i += __VERIFIER_nondet_bool();",
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0;",
    )
    states = [
        Explorer(Machine(lower(HEAD + one), is_open=True)).run(lambda: 1.0).states
        for one in (text, few)
    ]
    assert states[0] == states[1]


def test_a_thread_that_is_only_ever_held_up_may_disturb() -> None:
    """Waiting for a condition takes and gives back the lock in a circle, without the other one."""
    worker = "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); y = 1;"
    main = "pthread_mutex_lock(&m); (*p)++; while (!x) pthread_cond_wait(&c, &m);"
    main += "pthread_mutex_unlock(&m);"
    condition = "static pthread_cond_t c = PTHREAD_COND_INITIALIZER;"
    assert agreed(condition + two(worker, main + " y = 2;")) is Conclusion.RACE
    joined = main + " pthread_join(t, 0); y = 2;"
    assert agreed(condition + two(worker, joined, "")) is Conclusion.RACE_FREE


def test_a_thread_that_atomic_sections_hold_up_may_disturb() -> None:
    """A section in which values are chosen, again and again, keeps nobody out for ever."""
    text = two(
        "atomic_store(&flag, 2); x = 1;",
        """for (;;) { int z = 0; __VERIFIER_atomic_begin();
          if (__VERIFIER_nondet_bool()) z = 1; int seen = atomic_load(&flag);
          __VERIFIER_atomic_end(); if (seen == 2) x = 2; }""",
        "",
    )
    extern = "extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);"
    assert agreed(extern + text, is_open=True) is Conclusion.RACE


def test_a_thread_that_waits_may_be_cancelled() -> None:
    """Then it goes on before the thread that it joins, here as if that one had done nothing yet.

    First all of that without a race, so that the explorer knows by the second time.
    """
    text = """
    static pthread_t u, t; static pthread_key_t key; static int late; static sem_t never;
    static void end(void *a) { if (!atomic_load(&flag) && late) x = 1; }
    static void *joined(void *a) { atomic_store(&flag, 1); return 0; }
    static void *joins(void *a) { pthread_setspecific(key, &late); pthread_join(u, 0); return 0; }
    static void *cancels(void *a) { pthread_cancel(t); if (late) x = 2; return 0; }
    static void *waits(void *a) { sem_wait(&never); return 0; }
    int main(void) { pthread_t w; pthread_key_create(&key, end); sem_init(&never, 0, 0);
      pthread_create(&w, 0, waits, 0); late = __VERIFIER_nondet_bool();
      for (int i = 0; late && i < 20; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
      pthread_create(&u, 0, joined, 0); pthread_create(&t, 0, joins, 0);
      pthread_create(&w, 0, cancels, 0); pthread_exit(0); }"""
    assert agreed(text, is_open=True) is Conclusion.RACE


def test_race_before_an_operation_that_fails() -> None:
    """What is freed twice was freed once before, in the same block."""
    text = """
    static void *worker(void *a) { *p = 2; return 0; }
    int main(void) { pthread_t t; p = malloc(4); *p = 0; pthread_create(&t, 0, worker, 0);
      free(p); free(p); pthread_join(t, 0); return 0; }"""
    assert agreed(text) is Conclusion.RACE
