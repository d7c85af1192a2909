"""`--threads`: how many threads one call creates at most."""

from __future__ import annotations

import pytest

from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.pipeline.registry import load_engine
from raceproof.verdict import Outcome
from tests.lowering import lower

THIRD_WRITES = """
#include <pthread.h>
#include <stdatomic.h>
_Atomic int arrived;
int shared;
static void *work(void *unused) { if (++arrived == 3) shared = 1; return 0; }
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, 0, work, 0);
    return arrived == 3 ? shared : 0;
}
"""


@pytest.mark.parametrize(
    ("threads", "outcome"), [(2, Outcome.UNKNOWN), (3, Outcome.RACE), (None, Outcome.RACE)]
)
def test_a_race_that_needs_three_threads(threads: int | None, outcome: Outcome) -> None:
    answer = load_engine("bounded").run(lower(THIRD_WRITES), Question(Options(threads=threads)))
    assert answer.outcome is outcome
