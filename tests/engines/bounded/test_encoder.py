"""What the formulas say against what the machine does."""

from pathlib import Path

import pytest

from raceproof.concurrency import Models
from raceproof.engines.bounded import engine as bounded
from raceproof.engines.bounded.schedule import NoReplay
from raceproof.machine import Machine
from raceproof.machine.replay import replay
from raceproof.options import DataModel
from raceproof.verdict import Outcome
from tests.engines.bounded.helpers import TWO_THREADS, ask, load, unfold

CONDITIONS = (
    "(unsigned char)(x * 7 + 3) == 24",
    "x / 3 == -7 && x % 3 == -2",
    "(x >> 3) == -5 && (x & 7) == 6",
    "(unsigned)x / 10u == 429496729u && (unsigned)x % 10u == 3u",
    "(short)x == -300 && (x >> 16) == 77",
    "(long long)x * x == 1522756LL && x < 0",
    "((x ^ 0x55aa55aa) | 0xff) == 0x123456ff",
    "x + 100 < 0 && x > 0 - 2147483647 && (unsigned)x > 4294967000u",
)
GUARDED = """
static int shared;
static void *first(void *arg)
{{
    int x = __VERIFIER_nondet_int();
    if ({condition})
        shared = 1;
    return NULL;
}}
static void *second(void *arg) {{ shared = 2; return NULL; }}
"""


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("model", DataModel)
def test_inputs_lead_the_machine_there(condition: str, model: DataModel, tmp_path: Path) -> None:
    program = load(tmp_path, GUARDED.format(condition=condition) + TWO_THREADS, model)
    answer = ask(program)
    assert answer.outcome is Outcome.RACE
    schedule = answer.findings[0].schedule
    assert schedule is not None
    machine = Machine(program, Models.load(()))
    assert replay(machine, schedule).reached


@pytest.mark.parametrize(
    "condition", ["x * x == 3", "(x & 1) && x % 2 == 0", "(unsigned char)x > 255", "x < x - 0"]
)
def test_what_cannot_be_is_race_free(condition: str, tmp_path: Path) -> None:
    program = load(tmp_path, GUARDED.format(condition=condition) + TWO_THREADS)
    assert ask(program).outcome is Outcome.RACE_FREE


LOOP = """
static int shared, limit;
static void *first(void *arg)
{{
    int n = {bound};
    for (int i = 0; i < n; i++)
        if (i == {racing})
            shared = i;
    return NULL;
}}
static void *second(void *arg) {{ shared = 2; limit = 9; return NULL; }}
"""


def test_a_loop_bounded_by_constants_is_unrolled_to_its_end(tmp_path: Path) -> None:
    racy = load(tmp_path, LOOP.format(bound=20, racing=19) + TWO_THREADS)
    assert ask(racy).outcome is Outcome.RACE
    free = load(tmp_path, LOOP.format(bound=20, racing=20) + TWO_THREADS)
    assert ask(free).outcome is Outcome.RACE_FREE


def test_a_loop_bounded_by_data_is_cut_and_proves_nothing(tmp_path: Path) -> None:
    program = load(tmp_path, LOOP.format(bound="__VERIFIER_nondet_int()", racing=3) + TWO_THREADS)
    answer = ask(program, unwind=3)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.detail == "no race within unwind 3, 2 rounds, 10 threads"
    assert ask(program, unwind=5).outcome is Outcome.RACE


def test_cuts_say_why(tmp_path: Path) -> None:
    program = load(tmp_path, LOOP.format(bound="__VERIFIER_nondet_int()", racing=3) + TWO_THREADS)
    unfolder = unfold(program, unwind=2)
    reasons = {cut.reason for thread in unfolder.result.threads for cut in thread.cuts}
    assert reasons == {"a loop unwound as often as allowed"}


RECURSION = """
static int shared;
static void down(int n) {{ if (n > 0) down(n - 1); else shared = 1; }}
static void *first(void *arg) {{ down({depth}); return NULL; }}
static void *second(void *arg) {{ shared = 2; return NULL; }}
"""


def test_recursion_has_a_bound(tmp_path: Path) -> None:
    assert ask(load(tmp_path, RECURSION.format(depth=3) + TWO_THREADS)).outcome is Outcome.RACE
    deep = ask(load(tmp_path, RECURSION.format(depth=30) + TWO_THREADS))
    assert deep.outcome is Outcome.UNKNOWN


MANY_THREADS = """
static int shared;
static void *worker(void *arg) { return NULL; }
static void *last(void *arg) { shared = 1; return NULL; }
int main(void)
{
    pthread_t threads[40], t;
    for (int i = 0; i < 40; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    pthread_create(&t, NULL, last, NULL);
    shared = 2;
    return 0;
}
"""


def test_threads_have_a_bound(tmp_path: Path) -> None:
    assert ask(load(tmp_path, MANY_THREADS)).outcome is Outcome.UNKNOWN


def test_a_schedule_that_does_not_replay_is_an_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise NoReplay("the machine does something else")

    monkeypatch.setattr(bounded, "confirmed_schedule", refuse)
    program = load(tmp_path, GUARDED.format(condition="x == 1") + TWO_THREADS)
    answer = ask(program)
    assert answer.outcome is Outcome.UNKNOWN
    assert not answer.findings
    assert answer.detail.startswith("internal error: no replay of a race at ")


ELEMENT = """
static int table[4], spare;
static void *first(void *arg)
{{
    unsigned n = __VERIFIER_nondet_int();
    if (n < 4)
        table[n] = 1;
    return NULL;
}}
static void *second(void *arg) {{ {other} = 2; return NULL; }}
"""


@pytest.mark.parametrize("model", DataModel)
def test_an_unknown_index_stays_in_its_array(model: DataModel, tmp_path: Path) -> None:
    free = load(tmp_path, ELEMENT.format(other="spare") + TWO_THREADS, model)
    assert ask(free).outcome is Outcome.RACE_FREE
    racy = load(tmp_path, ELEMENT.format(other="table[3]") + TWO_THREADS, model)
    assert ask(racy).outcome is Outcome.RACE
