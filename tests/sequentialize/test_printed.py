"""The printed text: compilable everywhere, bounded, deterministic, clear about its limits."""

import subprocess
from pathlib import Path

import pytest

from raceproof.errors import UserError
from raceproof.ir.cfg import ControlFlow
from raceproof.options import DataModel
from raceproof.sequentialize import Bounds, sequentialize
from raceproof.sequentialize.loops import trip_count
from tests.programs_index import programs
from tests.sequentialize.native import (
    WARNINGS,
    build,
    compiler,
    load,
    models,
    zig_compiler,
)


def write(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return source


def printed(source: Path, *, unwind: int = 2, threads: int = 2) -> str:
    return sequentialize(load(source), models(), Bounds(unwind=unwind, threads=threads))


WORKER = """
#include <pthread.h>
#include <stdlib.h>
int x;
"""


def test_every_compiler_takes_it_without_a_warning(tmp_path: Path) -> None:
    program = next(p for p in programs() if p.group == "condition-variables")
    source = tmp_path / "sequential.c"
    source.write_text(printed(program.path))
    for command in {compiler(), zig_compiler()}:
        for macros in ([], ["-DRACEPROOF_RUN"]):
            words = [*command, *WARNINGS, *macros, "-c", str(source), "-o", str(tmp_path / "o")]
            subprocess.run(words, check=True)


def test_nondeterminism_comes_only_from_the_verifier_functions(tmp_path: Path) -> None:
    text = printed(write(tmp_path, WORKER + "int main(void) { int y; return y + x; }"))
    verified = text.split("#ifdef RACEPROOF_RUN")[0]
    assert "__VERIFIER_nondet_uint()" in text
    assert "extern void __VERIFIER_assume(int condition);" in text
    assert "rand(" not in verified
    assert text.count("__VERIFIER_assert(!raced)") == 1


def test_source_lines_lead_back(tmp_path: Path) -> None:
    source = write(tmp_path, WORKER + "int main(void) {\n  x = 1;\n  return 0;\n}\n")
    assert f"/* {source}:6 */" in printed(source)


def test_same_input_same_text() -> None:
    path = programs()[0].path
    assert printed(path) == printed(path)


def test_pointers_have_the_size_of_the_data_model() -> None:
    path = programs()[0].path
    text = sequentialize(load(path, DataModel.ILP32), models(), Bounds())
    assert "typedef uint32_t address;" in text
    assert "typedef uint64_t address;" in printed(path)


THREE_ROUNDS = (
    WORKER
    + """
static void *worker(void *p) { x = 1; return p; }
int main(void) {
    pthread_t t;
    for (int i = 0; i < *(volatile int *)&x + 3; i++) x = 0;
    pthread_create(&t, 0, worker, 0);
    x = 2;
    return 0;
}
"""
)


@pytest.mark.parametrize(("unwind", "found"), [(2, 0), (3, 1)])
def test_a_race_behind_a_loop_needs_that_many_rounds(
    tmp_path: Path, unwind: int, found: int
) -> None:
    text = printed(write(tmp_path, THREE_ROUNDS), unwind=unwind, threads=1)
    assert build(text, tmp_path).run("seed", "1", "300").returncode == found


def test_a_race_of_the_second_thread_needs_two_threads(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        WORKER
        + """
static void *quiet(void *p) { return p; }
static void *worker(void *p) { x = 1; return p; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, quiet, 0);
    pthread_create(&b, 0, worker, 0);
    x = 2;
    return 0;
}
""",
    )
    text = printed(source, threads=2)
    assert build(text, tmp_path).run("seed", "1", "300").returncode == 1
    assert build(text, tmp_path, "THREADS=2u").run("seed", "1", "300").returncode == 0


def test_the_first_thread_races_though_the_second_is_beyond_the_bound(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        WORKER
        + """
int y;
static void *worker(void *p) { x = 1; y = 1; return p; }
static void *starter(void *p) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    y = 3;
    pthread_create(&b, 0, worker, 0);
    return p;
}
int main(void) { pthread_t t; pthread_create(&t, 0, starter, 0); x = 2; return 0; }
""",
    )
    text = printed(source, threads=1)
    assert build(text, tmp_path).run("seed", "1", "300").returncode == 0
    answer = build(text, tmp_path, "THREADS=3u", "ROUNDS=4u").run("seed", "1", "3000")
    assert f"{source}:7" in answer.stderr


def test_an_access_right_before_an_assumption_that_fails_still_races(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        WORKER
        + """
void __VERIFIER_assume(int);
static void *worker(void *p) { x = 1; __VERIFIER_assume(0); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); x = 2; __VERIFIER_assume(0); }
""",
    )
    assert build(printed(source), tmp_path).run("seed", "1", "300").returncode == 1


def test_the_others_go_on_when_an_assumption_of_one_thread_fails(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        WORKER
        + """
void __VERIFIER_assume(int);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int ready;
static void *worker(void *p) { x = 1; return p; }
static void *opener(void *p) {
    pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);
    __VERIFIER_assume(0);
    return p;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, opener, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_mutex_lock(&m); int seen = ready; pthread_mutex_unlock(&m);
    if (seen) x = 2;
    return 0;
}
""",
    )
    native = build(printed(source), tmp_path, "ROUNDS=4u")
    assert native.run("seed", "1", "3000").returncode == 1


def test_counting_loops_are_known() -> None:
    program = next(p for p in programs() if p.path.stem == "01-counter-locked")
    worker = load(program.path).functions["worker"]
    (loop,) = ControlFlow(worker).loops
    assert trip_count(worker, loop) == 2


def test_what_has_no_model_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, WORKER + "int elsewhere(void); int main(void) { return elsewhere(); }")
    assert "/* elsewhere is not modelled: taken to touch nothing */" in printed(source)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("long double d; int main(void) { d = d + 1; return 0; }", "f80"),
        ("__int128 w; int main(void) { w = w * w; return 0; }", "i128"),
    ],
)
def test_what_cannot_be_translated_is_said(tmp_path: Path, code: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        printed(write(tmp_path, WORKER + code))


def test_a_program_that_is_too_long_is_not_printed(tmp_path: Path) -> None:
    code = "void f(int n) { x++; f(n); f(n + 1); } int main(void) { f(0); }"
    bounds = Bounds(unwind=18, lines=1000)
    with pytest.raises(UserError, match="lower --unwind"):
        sequentialize(load(write(tmp_path, WORKER + code)), models(), bounds)


def test_a_program_without_main(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="main"):
        printed(write(tmp_path, "int f(void) { return 1; }"))
