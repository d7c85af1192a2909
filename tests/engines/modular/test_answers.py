"""What an answer of the engine looks like, and what its options change."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.verdict import Access, Answer, Confidence, Outcome
from tests.lowering import lower
from tests.programs_index import PROGRAMS

Run = Callable[..., Answer]

RACY = """
#include <pthread.h>
int x, y;
static void bump(int *p) { (*p)++; }
static void twice(int *p) { bump(p); bump(p); }
static void *worker(void *arg) {
    int seen = x;
    y = seen;
    twice(&x);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""

COUNTED = """
#include <pthread.h>
int slots[8];
static void *worker(void *arg) {
    int *mine = arg;
    for (int i = 0; i < 4; i++) mine[i] = i;
    return 0;
}
int main(void) {
    pthread_t a, b;
    int *second = slots;
    for (int i = 0; i < 4; i++) second++;
    pthread_create(&a, 0, worker, slots);
    pthread_create(&b, 0, worker, second);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


@pytest.fixture
def answer(tmp_path: Path) -> Run:
    def run(source: str, options: Options | None = None) -> Answer:
        path = tmp_path / "program.c"
        path.write_text(source)
        chosen = options or Options()
        return ENGINE.run(load_program([path], chosen), Question(chosen))

    return run


def line_of(access: Access) -> int:
    assert access.position is not None
    return access.position.line


def test_one_finding_for_each_location_two_writes_first(answer: Run) -> None:
    found = answer(RACY)
    assert found.outcome is Outcome.RACE
    assert [finding.location.name for finding in found.findings] == ["x", "y"]
    for finding in found.findings:
        assert finding.confidence is Confidence.LIKELY
        assert all(access.is_write for access in finding.accesses)
        assert finding.others == ()


def test_all_pairs_lists_every_pair_of_instructions(answer: Run) -> None:
    (x, y) = answer(RACY, Options(all_pairs=True)).findings
    pairs = {
        frozenset((line_of(access), access.is_write) for access in pair)
        for pair in (x.accesses, *x.others)
    }
    assert pairs == {
        frozenset({(4, True)}),
        frozenset({(4, True), (4, False)}),
        frozenset({(4, True), (7, False)}),
    }
    assert len(y.others) < len(x.others)


def test_candidates_name_every_racing_instruction(answer: Run) -> None:
    """Who refutes all candidates has refuted all races: none may be left out as being alike."""
    found = answer(RACY)
    lines = {
        line_of(access)
        for candidate in found.open
        for access in (candidate.first, candidate.second)
    }
    assert lines == {4, 7, 8}


def test_context_depth_is_how_much_of_the_call_stack_is_told(answer: Run) -> None:
    for depth in (0, 1, 2):
        finding = answer(RACY, Options(context_depth=depth)).findings[0]
        assert all(len(access.calls) == depth for access in finding.accesses)


def test_unrolling_keeps_rounds_apart(answer: Run) -> None:
    assert answer(COUNTED).outcome is not Outcome.RACE
    assert answer(COUNTED, Options(unroll=5)).outcome is Outcome.RACE_FREE


SCRIPT = """
import sys
from pathlib import Path
from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options
for name in sys.argv[1:]:
    print(ENGINE.run(load_program([Path(name)], Options()), Question(Options(all_pairs=True))))
"""


def test_same_input_same_answer() -> None:
    """In every process, whatever the order of its hash tables."""
    names = (
        "heap/06-lock-of-the-wrong-node",
        "recursion/06-parallel-sum",
        "locks/12-server-loop-peek",
    )
    files = [str(PROGRAMS / f"{name}.c") for name in names]
    texts = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *files],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


HANDS_OVER = """
extern void run_later(void (**table)(void));
static int count;
static void step(void) { count++; }
static void (*table[1])(void) = {step};
int main(void) { run_later(table); return count; }
"""


def test_functions_given_to_unknown_code_are_an_assumption(answer: Run) -> None:
    assert "`run_later` does not call the functions it is given" in answer(HANDS_OVER).assumptions


@pytest.mark.parametrize(("accesses", "is_complete"), [(3, True), (30, False)])
def test_an_answer_says_whether_candidates_were_left_out(accesses: int, is_complete: bool) -> None:
    program = lower(
        f"""
        #include <pthread.h>
        int x;
        void *work(void *unused) {{ {"x = 1; " * accesses} return 0; }}
        int main(void) {{
            pthread_t a, b;
            pthread_create(&a, 0, work, 0);
            pthread_create(&b, 0, work, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
            return 0;
        }}
        """
    )
    answer = ENGINE.run(program, Question(Options()))
    assert answer.is_complete is is_complete
    assert (len(answer.open) == accesses * (accesses + 1) // 2) is is_complete
