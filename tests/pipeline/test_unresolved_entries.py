"""A thread whose entry is unknown may do anything: no engine has a proof past its creation."""

from __future__ import annotations

import time

import pytest

from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.pipeline import check
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Answer, Outcome
from tests.lowering import lower

HEAD = """
#include <pthread.h>
int x;
typedef void *(*entry)(void *);
extern entry look_up(const char *name);
extern void *elsewhere(void *);
static void *work(void *unused) { return 0; }
static entry kept;
"""
MAIN = """
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, %s, &x);
    x++;
    pthread_join(t, 0);
    return 0;
}
"""
UNRESOLVED = {
    "from unknown code": HEAD + MAIN % 'look_up("work")',
    "a function without a body": HEAD + MAIN % "elsewhere",
    "never set": HEAD + MAIN % "kept",
    "made of a number": HEAD + MAIN % "(entry)0x123456",
}
RESOLVED = {
    "by name": HEAD + MAIN % "work",
    "through a variable": HEAD + MAIN.replace("pthread_t t;", "pthread_t t; kept = work;") % "kept",
}
VIRTUAL = """
#include <pthread.h>
namespace std {
template <class T> struct unique_ptr { T *held; ~unique_ptr() {} };
struct thread {
    struct _State { virtual ~_State(); virtual void _M_run() = 0; };
    unsigned long id;
    void _M_start_thread(unique_ptr<_State>, void (*)());
    void join();
};
thread::_State::~_State() {}
}
int x;
struct Work : std::thread::_State { void _M_run() override { x++; } };
struct Idle : std::thread::_State { void _M_run() override { } };
int main() {
    std::thread t;
    t._M_start_thread(std::unique_ptr<std::thread::_State>{new %s}, nullptr);
    x++;
    t.join();
    return 0;
}
"""


def answer(engine: str, text: str, suffix: str = ".c", **options: object) -> Answer:
    question = Question(Options(**options), deadline=time.monotonic() + 3)  # type: ignore[arg-type]
    return ask(engine, lower(text, suffix), question)


@pytest.mark.parametrize("name", UNRESOLVED)
@pytest.mark.parametrize("engine", ["interleave", "pairwise", "bounded"])
def test_no_engine_proves_it(engine: str, name: str) -> None:
    assert answer(engine, UNRESOLVED[name]).outcome is not Outcome.RACE_FREE


@pytest.mark.parametrize("name", UNRESOLVED)
@pytest.mark.parametrize("backend", [BackendChoice.VALUE, BackendChoice.ALIAS])
def test_the_reason_is_told(name: str, backend: BackendChoice) -> None:
    found = answer("modular", UNRESOLVED[name], backend=backend)
    assert found.outcome is Outcome.UNKNOWN
    assert any("the start of a thread" in assumption for assumption in found.assumptions)


@pytest.mark.parametrize("name", RESOLVED)
@pytest.mark.parametrize("engine", ["modular", "interleave", "bounded"])
def test_known_entries_are_no_obstacle(engine: str, name: str) -> None:
    assert answer(engine, RESOLVED[name]).outcome is Outcome.RACE_FREE


def test_the_verdict_on_an_unknown_entry_is_unknown() -> None:
    verdict = check(lower(UNRESOLVED["from unknown code"]), Options(timeout=4))
    assert verdict.outcome is Outcome.UNKNOWN
    assert any("the start of a thread" in assumption for assumption in verdict.assumptions)


@pytest.mark.parametrize("engine", ["modular", "interleave", "pairwise", "bounded"])
def test_virtual_functions_that_threads_start_with_are_found(engine: str) -> None:
    assert answer(engine, VIRTUAL % "Work", ".cpp").outcome is not Outcome.RACE_FREE


@pytest.mark.parametrize("backend", [BackendChoice.VALUE, BackendChoice.ALIAS])
def test_a_race_with_a_virtual_function_is_seen(backend: BackendChoice) -> None:
    assert answer("modular", VIRTUAL % "Work", ".cpp", backend=backend).findings


def test_a_virtual_function_that_does_nothing_is_proved() -> None:
    assert answer("modular", VIRTUAL % "Idle", ".cpp").outcome is Outcome.RACE_FREE
