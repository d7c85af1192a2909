"""All functions of a thread at once: what the coarse way must not lose, and that it ends."""

import pytest

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.verdict import Answer, Outcome
from tests.lowering import lower

START = """
#include <pthread.h>
#include <stdlib.h>
int x, y;
void *worker(void *arg) { x = 1; return 0; }
void start(void) { pthread_t t; pthread_create(&t, 0, worker, 0); }
"""


def settled(text: str) -> Analysis:
    analysis = Analysis(lower(text), Models.load(()), context_depth=0, is_coarse=True)
    analysis.run()
    return analysis


def written(analysis: Analysis, thread: int) -> set[str]:
    return {
        analysis.objects[access.base].name
        for access in analysis.threads[thread].records.accesses.values()
        if access.is_write
    }


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Analysis.run

    def hasty(self: Analysis) -> None:
        if not self.is_coarse:
            raise OutOfBudget
        run(self)

    monkeypatch.setattr(Analysis, "run", hasty)


def answer(text: str) -> Answer:
    return ENGINE.run(lower(text), Question(Options()))


@pytest.mark.parametrize(
    "text",
    [
        """
        int *where;
        void put(int **to, int *what) { *to = what; }
        int main(void) {
            where = &x; put(&where, &y); *where = 2;
            where = &y; put(&where, &x); *where = 2;
            return 0;
        }
        """,
        """
        struct box { int *inside; };
        int *inner(struct box *b, int deep) { return deep ? inner(b, deep - 1) : b->inside; }
        int main(void) {
            struct box first = {&y}, second = {&x};
            *inner(&first, 3) = 1;
            *inner(&second, 3) = 1;
            return 0;
        }
        """,
        """
        int *find(int n);
        int *again(int n) { return find(n - 1); }
        int *find(int n) { if (n > 9) return again(n); return n ? &x : &y; }
        int main(int argc, char **argv) { *find(argc) = 1; return 0; }
        """,
        """
        void set(int **p) { *p = &x; }
        void leave(int **p) { }
        void call(void (*f)(int **), int **p) { f(p); }
        int main(void) {
            int *a = &y, *b = &y;
            call(leave, &a); call(set, &b);
            *b = 1;
            return 0;
        }
        """,
    ],
    ids=["written anew", "through recursion", "found in a circle", "by a later callee"],
)
def test_what_a_call_does_reaches_each_caller(text: str) -> None:
    analysis = settled(START + text.replace("int main(void) {", "int main(void) { start();"))
    assert {"x", "y"} <= written(analysis, 0)


def test_a_new_thread_sees_what_each_caller_of_its_creator_has(coarse: None) -> None:
    text = """
    #include <pthread.h>
    int a, b, *where = &a;
    void *worker(void *arg) { *where = 1; return 0; }
    void start(void) { pthread_t t; pthread_create(&t, 0, worker, 0); }
    int main(void) { start(); where = &b; start(); b = 2; return 0; }
    """
    assert {"a", "b"} <= written(settled(text), 1)
    assert answer(text).outcome is not Outcome.RACE_FREE


def test_functions_that_call_each_other_come_to_an_end() -> None:
    """Each may call each, so that every way through them is a circle."""
    names = [f"f{i}" for i in range(9)]
    text = "int total, next(void); " + "".join(f"int {name}(int n, int *p); " for name in names)
    for name in names:
        calls = "".join(f"if (n == {i}) *p += {other}(next(), p);" for i, other in enumerate(names))
        text += f"int {name}(int n, int *p) {{ {calls} return *p + 1; }}\n"
    text += "int main(int argc, char **argv) { return f0(argc, &total); }"
    analysis = settled(text)
    assert {*names} <= analysis.recursive
    assert analysis.ticks < 20_000


def test_bytes_of_addresses_are_an_assumption(coarse: None) -> None:
    text = """
    #include <pthread.h>
    struct entry { char *name; char text[16]; } table[9];
    void *worker(void *arg) { return 0; }
    int main(int argc, char **argv) {
        pthread_t t;
        pthread_create(&t, 0, worker, 0);
        table[0].name = table[1].text;
        char *bytes = (char *)table;
        return bytes[argc];
    }
    """
    found = answer(text)
    assert any("byte by byte" in assumption for assumption in found.assumptions)


def test_without_threads_nobody_looks_at_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Analysis) -> None:
        raise AssertionError

    monkeypatch.setattr(Analysis, "run", refuse)
    found = answer("int x; int main(void) { for (;;) x++; }")
    assert found.outcome is Outcome.RACE_FREE
    assert len(found.threads) == 1


def test_a_creator_that_is_only_named_may_be_called() -> None:
    text = """
    #include <pthread.h>
    int x;
    void *worker(void *arg) { x = 1; return 0; }
    int (*creator)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;
    int main(void) { pthread_t t; creator(&t, 0, worker, 0); x = 2; return 0; }
    """
    assert answer(text).outcome is not Outcome.RACE_FREE


def test_threads_are_interpreted_again_for_what_they_read() -> None:
    text = """
    #include <pthread.h>
    int count, other, seen;
    void *counter(void *arg) { while (count < 1000) count++; return 0; }
    void *reader(void *arg) { seen = count; return 0; }
    void *loner(void *arg) { other++; return 0; }
    int main(void) {
        pthread_t s, t, u;
        pthread_create(&s, 0, loner, 0);
        pthread_create(&t, 0, reader, 0);
        pthread_create(&u, 0, counter, 0);
        return 0;
    }
    """
    analysis = Analysis(lower(text), Models.load(()))
    analysis.run()
    runs = {info.entry: info.runs for info in analysis.threads.all}
    assert runs["loner"] < runs["reader"]
