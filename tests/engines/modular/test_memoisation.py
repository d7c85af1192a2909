"""What is remembered of calls changes nothing but the time it takes."""

from pathlib import Path

import pytest

from raceproof.analysis.memoisation import CallMemo
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options
from tests.programs_index import TestProgram, programs

EVERY = 8

CHANGED_IN_BETWEEN = """
#include <pthread.h>
int level, x, y;
static void set(int *p) { if (level) *p = level; }
static void *worker(void *arg) {
    set(&x);
    set(&y);
    return 0;
}
int main(void) {
    pthread_t a;
    set(&x);
    level = 1;
    pthread_create(&a, 0, worker, 0);
    for (int i = 0; i < 2; i++) { set(&y); level = 2; }
    pthread_join(a, 0);
    return 0;
}
"""

ASKS_ITS_CALLER = """
#include <pthread.h>
int ready, x;
static void use(int now) { if (now) x = 1; }
static void *worker(void *arg) { ready = 1; x = 2; return 0; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    for (int i = 0; i < 2; i++) use(i == 0 ? 1 : ready);
    return 0;
}
"""


def noted(program: Program, monkeypatch: pytest.MonkeyPatch, recalls: bool) -> set[object]:
    """Everything that the threads of a program were seen to do."""
    with monkeypatch.context() as patch:
        if not recalls:
            patch.setattr(CallMemo, "find", lambda *_: None)
        analysis = Analysis(program, Models.load(()))
        analysis.run()
    return {
        (
            thread.index,
            repr(access.context),
            access.instruction,
            analysis.objects[access.base].name,
            access.offsets,
            access.size,
            access.is_write,
            access.is_atomic,
            frozenset(
                (analysis.objects[h.lock.base].name, *h[1:])
                for h in access.facets.must_lockset
                if h.lock.base >= 0
            ),
            access.facets.may_parallel,
            access.facets.must_parallel,
            access.facets.depends_on_others,
        )
        for thread in analysis.threads.all
        for access in thread.records.accesses.values()
    }


@pytest.mark.parametrize("program", programs()[::EVERY], ids=str)
def test_same_accesses(program: TestProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_program([program.path], Options())
    assert noted(loaded, monkeypatch, True) == noted(loaded, monkeypatch, False)


@pytest.mark.parametrize("source", [CHANGED_IN_BETWEEN, ASKS_ITS_CALLER])
def test_what_a_call_depends_on(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.c"
    path.write_text(source)
    loaded = load_program([path], Options())
    assert noted(loaded, monkeypatch, True) == noted(loaded, monkeypatch, False)


def test_calls_are_recalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner function does not see what the loop around it changes."""
    path = tmp_path / "program.c"
    path.write_text(
        "int x, y;\nstatic void inner(void) { x = 1; }\nstatic void outer(void) { inner(); }\n"
        "int main(void) { for (int i = 0; i < 9; i++) { y += i; outer(); } return 0; }\n"
    )
    hits = 0
    find = CallMemo.find

    def counted(self: CallMemo, *arguments: object) -> object:
        nonlocal hits
        found = find(self, *arguments)  # type: ignore[arg-type]
        hits += found is not None
        return found

    monkeypatch.setattr(CallMemo, "find", counted)
    Analysis(load_program([path], Options()), Models.load(())).run()
    assert hits
