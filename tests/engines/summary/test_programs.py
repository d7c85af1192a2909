"""The engine on all test programs.

It never proves anything, so nothing can be unsound here; what is asked is that it finds races and
that what it calls `likely` is one. The two lists of exceptions may shrink, not grow.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from raceproof.engines.question import Question
from raceproof.engines.summary import SummaryEngine
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.verdict import Answer, Confidence, Outcome
from tests.programs_index import TestProgram, programs

NOT_FOUND = {
    "control-flow/17-thread-of-an-init-array",  # a thread that a constructor starts
    "library-effects/23-tree-hands-out-keys",  # pointers that a tree keeps
    "library-effects/24-struct-through-dots",
    "control-flow/05-varargs-targets",
    "cpp/08-member-functions",
    "cpp/14-endless-virtual-calls",
    "detours/03-orphans-of-earlier-rounds",
    "detours/06-pointer-survives-realloc",
    "detours/10-farewell-function",
    "detours/12-back-at-setjmp",
    "detours/13-argument-list-handed-on",
    "detours/15-address-in-two-halves",
    "detours/16-thrown-past-the-unlock",
    "detours/21-asked-the-compiler-to-forget",
    "library-effects/16-cut-in-place",
    "memory-orders/14-count-to-zero-relaxed",
    "memory-orders/15-count-to-zero-released",
    "recursive-mutex/05-errorcheck-does-not-nest",
    "recursive-mutex/06-unlock-all-helper",
    "recursive-mutex/09-endless-unbalanced",
    "thread-locals/04-address-handed-out",
    "thread-locals/07-key-destructor",
    "thread-locals/08-lock-per-thread",
    "wrappers/14-allocator-remembers",
}
"""Racy programs without a finding on a racing line."""

FALSE_ALARMS = {
    "arguments/06-copy-per-thread",
    "arguments/07-role-by-number",
    "arguments/12-endless-private-blocks",
    "arguments/14-any-number-own-slot",
    "arrays/08-rows-of-a-matrix",
    "atomics/11-published-pointer",
    "atomics/15-two-thread-protocol",
    "atomics/20-strong-exchange-never-fails",
    "barriers/06-alternating-buffers",
    "barriers/10-ended-after-the-barrier",
    "c11-threads/09-thread-exit",
    "channels/01-wake-through-pipe",
    "channels/03-event-counter",
    "channels/04-answer-over-socketpair",
    "channels/06-endless-echo",
    "condition-variables/08-two-slots-outside-lock",
    "control-flow/04-switch-with-breaks",
    "control-flow/07-variable-length-array",
    "cpp/09-magic-static",
    "data-dependent/03-parity-owns",
    "data-dependent/05-impossible-square",
    "data-dependent/10-third-visitor-never-comes",
    "exit/07-thread-exits-halfway",
    "data-dependent/17-quotient-of-nan",
    "data-dependent/18-rounded-once",
    "function-pointers/01-table-of-entries",
    "function-pointers/06-handler-never-installed",
    "join-order/07-brother-joins",
    "join-order/12-any-number-joined",
    "locks/09-gate",
    "semaphores/11-never-past-the-joins",
    "structs/08-array-of-structs",
    "trylock/03-stored-result",
    "trylock/08-at-most-one-loser",
    "verifier/06-special-input-excluded",
    "verifier/09-lock-from-atomic-functions",
    "verifier/11-value-never-taken",
    "verifier/14-flag-in-atomic-sections",
    "wrappers/07-locking-switched-on",
    "wrappers/13-allocator-of-its-own",
}
"""Race-free programs with a `likely` finding."""


def run(program: TestProgram) -> Answer:
    loaded = load_program([program.path], Options())
    return SummaryEngine().run(loaded, Question(Options()))


@pytest.mark.parametrize("program", [p for p in programs() if p.verdict == "race"], ids=str)
def test_finds_the_race(program: TestProgram) -> None:
    answer = run(program)
    assert answer.outcome is not Outcome.RACE_FREE
    lines = {
        access.position.line
        for finding in answer.findings
        for access in finding.accesses
        if access.position is not None and Path(access.position.file).name == program.path.name
    }
    assert lines & program.race_lines or str(program) in NOT_FOUND


@pytest.mark.parametrize("program", [p for p in programs() if p.verdict == "race-free"], ids=str)
def test_calls_no_race_likely_in_a_race_free_program(program: TestProgram) -> None:
    answer = run(program)
    assert answer.outcome is not Outcome.RACE_FREE
    likely = [f for f in answer.findings if f.confidence >= Confidence.LIKELY]
    assert not likely or str(program) in FALSE_ALARMS
    assert all(f.confidence is not Confidence.CONFIRMED for f in answer.findings)
