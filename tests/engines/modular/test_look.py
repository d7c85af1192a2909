"""The look that `explain` and `threads` take goes down the ladder of the engine."""

import pytest

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.analysis.walk.analysis import Walk
from raceproof.engines.modular.look import look
from raceproof.options import Options
from tests.lowering import lower

TEXT = """
#include <pthread.h>
int x;
void *work(void *p) { x++; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    x++;
    return 0;
}
"""


class Lazy:
    """Makes the value backend run out of its budget as often as said, then work."""

    def __init__(self, failures: list[type[BaseException]]) -> None:
        self.failures = failures
        self.really = Analysis.run
        self.was_coarse: list[bool] = []

    def __call__(self, analysis: Analysis) -> None:
        self.was_coarse.append(analysis.is_coarse)
        if self.failures:
            raise self.failures.pop(0)
        self.really(analysis)


@pytest.mark.parametrize(
    ("failures", "was_coarse", "kind", "notice"),
    [
        ([], [False], Analysis, ""),
        ([OutOfBudget], [False, True], Analysis, "told calls and loop rounds apart no more"),
        ([OutOfBudget, OutOfBudget], [False, True], Walk, "`alias` answers"),
        ([MemoryError], [False], Walk, "`alias` answers"),
    ],
)
def test_a_cheaper_way_is_taken_and_named(
    monkeypatch: pytest.MonkeyPatch,
    failures: list[type[BaseException]],
    was_coarse: list[bool],
    kind: type,
    notice: str,
) -> None:
    lazy = Lazy(list(failures))
    monkeypatch.setattr(Analysis, "run", lambda analysis: lazy(analysis))
    seen = look(lower(TEXT), Options())
    assert lazy.was_coarse == was_coarse
    assert isinstance(seen.analysis, kind)
    assert notice in " ".join(seen.notices)
    assert [report.pairs != [] for report in seen.reports] == [True]
