"""The engine on all test programs, within its first bounds.

What it decides there it must go on deciding; the exceptions are named below, with the reason. Of
groups that came later only wrong answers count.
"""

import pytest

from raceproof.engines.bounded import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.verdict import Confidence, Outcome
from tests.programs_index import TestProgram, programs

OPEN = {
    "arguments/15-any-number-slot-ahead": "needs more iterations",
    "c11-threads/04-call-once": "once_flag's routine is called through the library",
    "c11-threads/09-thread-exit": "the routine of an exit handler",
    "c11-threads/10-endless-atomic": "unbounded",
    "cancel/01-cancel-and-join": "cancellation",
    "cancel/03-cleanup-unlocks": "cancellation",
    "cancel/04-cleanup-writes-unlocked": "cancellation",
    "cancel/05-cancellation-disabled": "cancellation",
    "channels/01-wake-through-pipe": "pipes",
    "channels/03-event-counter": "pipes",
    "channels/04-answer-over-socketpair": "pipes",
    "condition-variables/05-timeout-gives-up": "a loop that waits, with a flag of its own",
    "control-flow/05-varargs-targets": "variable arguments",
    "control-flow/06-varargs-locked": "variable arguments",
    "control-flow/07-variable-length-array": "an array whose length depends on data",
    "control-flow/15-endless-continue": "needs more iterations",
    "cpp/06-condition-variable": "needs more iterations",
    "function-pointers/09-endless-plugin-loop": "needs more iterations",
    "library-effects/15-bytes-decide": "what the library writes",
    "control-flow/18-destructor-after-join": "the routine of an exit handler",
    "library-effects/24-struct-through-dots": "variable arguments",
    "library-effects/17-no-such-file": "what the library answers",
    "library-effects/18-end-of-the-file": "what the library answers",
    "memory-orders/19-release-sequence": "release sequences that relaxed updates go on with",
    "semaphores/10-endless-ring-oversold": "needs more iterations",
    "spin/15-watched-while-it-waits": "needs a third round",
    "structs/08-array-of-structs": "needs more iterations",
    "thread-locals/06-keys": "a destructor",
    "thread-locals/07-key-destructor": "a destructor",
}


LATER_GROUPS = {"detours", "library-values"}


@pytest.mark.parametrize("program", programs(), ids=str)
def test_decides_rightly(program: TestProgram) -> None:
    answer = ENGINE.run(load_program([program.path], Options()), Question(Options()))
    assert "internal error" not in answer.detail
    if answer.outcome is Outcome.UNKNOWN:
        is_expected = program.unbounded and program.verdict == "race-free"
        assert is_expected or str(program) in OPEN or program.group in LATER_GROUPS
        assert "no race within unwind 2, 2 rounds" in answer.detail
        return
    assert str(answer.outcome) == program.verdict
    assert str(program) not in OPEN, "better than expected: take it off the list"
    for finding in answer.findings:
        assert finding.confidence is Confidence.CONFIRMED
        assert finding.schedule is not None
        lines = {a.position.line for a in finding.accesses if a.position is not None}
        assert lines <= program.race_lines
