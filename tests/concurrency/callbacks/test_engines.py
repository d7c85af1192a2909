"""Every engine treats a handler as a function that the thread calls which runs the loop."""

from __future__ import annotations

import pytest

from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options, UnknownCallbacks
from raceproof.pipeline import check
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Answer, Confidence, Outcome
from tests.concurrency.callbacks.lowering import lowered
from tests.concurrency.callbacks.programs import UNKNOWN, UNKNOWN_WITHOUT_LOCK, libevent

ENGINES = [
    ("modular", BackendChoice.VALUE),
    ("modular", BackendChoice.ALIAS),
    ("interleave", BackendChoice.VALUE),
    ("bounded", BackendChoice.VALUE),
    ("pairwise", BackendChoice.VALUE),
    ("summary", BackendChoice.VALUE),
]
PROVING = ENGINES[:2]
RACY = {
    "the connection": libevent(lock=False),
    "the total": libevent(total_lock=False),
}


def answer(engine: str, backend: BackendChoice, text: str) -> Answer:
    options = Options(backend=backend, timeout=10)
    return ask(engine, lowered(text), Question(options))


@pytest.mark.parametrize(("engine", "backend"), ENGINES)
@pytest.mark.parametrize("text", RACY.values(), ids=RACY)
def test_no_engine_proves_racing_handlers_nor_confirms_them(
    engine: str, backend: BackendChoice, text: str
) -> None:
    found = answer(engine, backend, text)
    assert found.outcome is not Outcome.RACE_FREE
    assert all(finding.confidence < Confidence.CONFIRMED for finding in found.findings)
    if engine not in ("pairwise",):
        assert any(
            access.function == "on_read"
            for finding in found.findings
            for access in finding.accesses
        )


@pytest.mark.parametrize(("engine", "backend"), PROVING)
def test_handlers_that_lock_are_proved(engine: str, backend: BackendChoice) -> None:
    found = answer(engine, backend, libevent())
    assert found.outcome is Outcome.RACE_FREE
    assert any("models of the libraries" in text for text in found.assumptions)


def test_the_pipeline_finds_the_race_of_a_handler() -> None:
    verdict = check(lowered(libevent(lock=False)), Options(timeout=20))
    assert verdict.outcome is Outcome.RACE
    best = max(finding.confidence for finding in verdict.findings)
    assert best is Confidence.LIKELY


@pytest.mark.parametrize(("engine", "backend"), ENGINES)
def test_functions_given_to_unknown_code_run(engine: str, backend: BackendChoice) -> None:
    found = answer(engine, backend, UNKNOWN_WITHOUT_LOCK)
    assert found.outcome is not Outcome.RACE_FREE
    if engine not in ("pairwise",):
        assert {"background", "read_request"} & {
            access.function for finding in found.findings for access in finding.accesses
        }


@pytest.mark.parametrize("choice", [UnknownCallbacks.THREAD, UnknownCallbacks.ANY_THREAD])
def test_the_verdict_says_once_what_was_assumed(choice: UnknownCallbacks) -> None:
    options = Options(timeout=10, engine="modular", callbacks=choice)
    verdict = check(lowered(UNKNOWN, callbacks=choice), options)
    assert verdict.outcome is Outcome.RACE_FREE
    assert sum("functions given to `run_server`" in text for text in verdict.assumptions) == 1


def test_callbacks_that_are_ignored_are_not_called() -> None:
    options = Options(timeout=10, engine="modular", callbacks=UnknownCallbacks.IGNORE)
    program = lowered(UNKNOWN_WITHOUT_LOCK, callbacks=UnknownCallbacks.IGNORE)
    verdict = check(program, options)
    assert verdict.outcome is Outcome.RACE_FREE
    assert any("does not call the functions it is given" in text for text in verdict.assumptions)


def test_handlers_that_were_not_lowered_block_proofs() -> None:
    program = lowered(libevent(), is_lowered=False)
    for backend in (BackendChoice.VALUE, BackendChoice.ALIAS):
        found = ask("modular", program, Question(Options(backend=backend, timeout=10)))
        assert found.outcome is not Outcome.RACE_FREE
        assert any("event_set" in text for text in found.assumptions)
