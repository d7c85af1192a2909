"""The printed program, executed, does what the machine does."""

import re
from pathlib import Path

import pytest

from raceproof.engines import bounded, interleave
from raceproof.engines.question import Engine
from raceproof.sequentialize import Bounds, sequentialize
from tests.programs_index import TestProgram, programs
from tests.sequentialize.native import build, follow, load, models, plan_for

RACY = [p for p in programs() if p.verdict == "race" and p.group != "memory-orders"]
"""The printed program looks for accesses at once, whatever their memory orders."""
RACE_FREE = [program for program in programs() if program.verdict == "race-free"]

FEW = (
    "atomics/",
    "barriers/",
    "c11-threads/06-trylock-busy",  # error numbers of their own
    "condition-variables/",
    "detours/19-index-moved-on",  # every thread has inputs of its own
    "detours/21-asked-the-compiler-to-forget",  # empty inline assembly hands its operand on
    "function-pointers/",
    "once/",
    "rwlocks/",
    "semaphores/",
    "trylock/",
    "verifier/",
)
"""One program of each of these groups is tried in every run of the tests."""

LEFT_OUT = {
    "recursive-mutex/10-copied-attribute",  # the kind of a copied attribute is lost
    "library-effects/16-cut-in-place",  # strspn and strcspn return anything
    "library-effects/19-errno-tells-failure",  # close returns anything, but not its error
    "library-effects/21-cut-by-commas",
    "cancel/04-cleanup-writes-unlocked",  # the handler is reached by a jump back
    "channels/01-wake-through-pipe",  # no thread waits at a pipe, and what comes out is any
    "channels/02-woken-too-early",
    "channels/03-event-counter",
    "channels/04-answer-over-socketpair",
    "channels/05-written-by-a-handler",
    "channels/06-endless-echo",
    "detours/08-pointers-sorted",  # qsort is not executed
    "detours/12-back-at-setjmp",  # longjmp ends the execution
    "library-effects/17-no-such-file",  # every file opens
    "library-values/02-byte-order",  # what only computes returns anything
    "library-values/06-full-disk",  # output never fails
    "library-values/08-never-negative",  # numbers are not in their range
    "library-values/09-no-zero-needed",  # memchr is not executed
}


def first_of_each_group(found: list[TestProgram]) -> list[TestProgram]:
    chosen = (next((p for p in found if str(p).startswith(group)), None) for group in FEW)
    return [program for program in chosen if program is not None]


def check_racy(program: TestProgram, engine: Engine, folder: Path) -> None:
    """The assertion fails with the values of a found schedule, and only where there is a race."""
    loaded = load(program.path)
    plan = plan_for(loaded, engine)
    if plan is None:
        pytest.skip(f"the engine {engine.name} finds no schedule")
    native, values = follow(loaded, plan, folder)
    assert values, "the printed program cannot follow the schedule"
    answer = native.with_values(values)
    assert answer.returncode == 1
    assert lines_of(answer.stderr)
    assert lines_of(answer.stderr) <= program.race_lines
    assert native.with_values([]).returncode == 0, "zeros describe no schedule with two threads"
    assert lines_of(native.run("seed", "1", "500").stderr) <= program.race_lines


def lines_of(messages: str) -> set[int]:
    """The source lines in messages such as `data race: a.c:5 and a.c:9`."""
    return {int(line) for line in re.findall(r"\.(?:c|cpp):(\d+)", messages)}


def check_race_free(program: TestProgram, folder: Path) -> None:
    """Random schedules and inputs never make the assertion fail."""
    text = sequentialize(load(program.path), models(), Bounds(unwind=2, rounds=5, threads=3))
    answer = build(text, folder).run("seed", "1", "2000")
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("program", first_of_each_group(RACY), ids=str)
def test_assertion_fails_with_the_values_of_a_schedule(
    program: TestProgram, tmp_path: Path
) -> None:
    check_racy(program, interleave.ENGINE, tmp_path)


@pytest.mark.parametrize("program", first_of_each_group(RACE_FREE), ids=str)
def test_random_values_find_no_race_where_there_is_none(
    program: TestProgram, tmp_path: Path
) -> None:
    check_race_free(program, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in RACY[::2] if str(p) not in LEFT_OUT], ids=str)
def test_behaves_as_the_encoder_says(program: TestProgram, tmp_path: Path) -> None:
    check_racy(program, bounded.ENGINE, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in RACY[1::4] if str(p) not in LEFT_OUT], ids=str)
def test_behaves_as_the_machine_does(program: TestProgram, tmp_path: Path) -> None:
    check_racy(program, interleave.ENGINE, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in RACE_FREE[::3] if str(p) not in LEFT_OUT], ids=str)
def test_every_third_race_free_program(program: TestProgram, tmp_path: Path) -> None:
    check_race_free(program, tmp_path)


def test_random_values_find_a_race(tmp_path: Path) -> None:
    program = next(p for p in RACY if p.path.stem == "02-counter-unlocked")
    text = sequentialize(load(program.path), models(), Bounds(unwind=2, rounds=4, threads=2))
    answer = build(text, tmp_path).run("seed", "1", "2000")
    assert answer.returncode == 1
    assert "data race: " in answer.stderr
