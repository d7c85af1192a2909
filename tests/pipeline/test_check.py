"""The pipeline with made-up engines: who is asked, what is kept, what is said of accidents."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from raceproof.errors import UserError
from raceproof.options import Options
from raceproof.pipeline import check, conduct, plan, registry, worker
from raceproof.pipeline.evidence import EvidenceLog
from raceproof.verdict import NOT_FOLLOWED, NOT_SEEN, Answer, Confidence, Outcome, Verdict
from tests.pipeline import fakes

NAMES = ("PROVER", "NAMER", "GUESSER", "IDLER", "CONFIRMER", "X_CONFIRMER", "X_REFUTER", "SUICIDE",
         "SLEEPER", "EATER", "FAILER", "BLAMER")  # fmt: skip


@pytest.fixture(autouse=True)
def made_up_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {getattr(fakes, name).name: f"tests.pipeline.fakes:{name}" for name in NAMES}
    monkeypatch.setattr(registry, "ENGINES", table)
    monkeypatch.setattr(worker, "GRACE", 0.2)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def asker(*names: str, options: Options | None = None, heuristic: str = "") -> Verdict:
        layers = tuple(plan.Layer(name, 0.5, name == heuristic) for name in names)
        monkeypatch.setattr(conduct, "layers", lambda options, is_large: layers)
        return check(fakes.program(), options or Options(timeout=20))

    return asker


def test_a_proof_ends_the_pipeline(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("prover", "confirmer")
    assert verdict.outcome is Outcome.RACE_FREE
    assert [run.name for run in verdict.engines] == ["prover"]
    assert verdict.protections[0].detail == "lock m"
    assert not verdict.findings


def test_likely_findings_and_open_candidates_go_to_the_next(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", "confirmer", "prover")
    assert verdict.outcome is Outcome.RACE
    assert {f.location.name: f.confidence for f in verdict.findings} == {
        "x": Confidence.CONFIRMED,
        "y": Confidence.CONFIRMED,
        "z": Confidence.CONFIRMED,
    }
    assert all(f.engine == "confirmer" for f in verdict.findings)
    assert [run.name for run in verdict.engines] == ["namer", "confirmer"]


def test_a_heuristic_likely_is_only_possible(ask) -> None:  # type: ignore[no-untyped-def]
    assert ask("namer", "idler").outcome is Outcome.RACE
    verdict = ask("namer", "idler", heuristic="namer")
    assert verdict.outcome is Outcome.UNKNOWN
    assert {f.confidence for f in verdict.findings} == {Confidence.POSSIBLE}


def test_deciders_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [plan.Layer("namer", 0.5)]
    layers += [plan.Layer(name, 0.9, decides=True) for name in ("sleeper", "confirmer")]
    monkeypatch.setattr(conduct, "layers", lambda options, is_large: tuple(layers))
    verdict = check(fakes.program(), Options(timeout=20, jobs=2))
    assert verdict.outcome is Outcome.RACE
    assert [(run.name, run.answer.split()[0]) for run in verdict.engines] == [
        ("namer", "race"),
        ("confirmer", "race"),
        ("sleeper", "stopped"),
    ]


def test_groups_follow_the_number_of_jobs() -> None:
    namer, one, two = (plan.Layer(name, 1.0, decides=name != "a") for name in "abc")
    assert plan.side_by_side((namer, one, two), 1) == [(namer,), (one,), (two,)]
    assert plan.side_by_side((namer, one, two), 2) == [(namer,), (one, two)]


def test_a_proof_about_the_rest_is_no_contradiction(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", "x-confirmer", "prover")
    assert verdict.outcome is Outcome.RACE
    assert [f.location.name for f in verdict.findings] == ["x"]
    assert not verdict.notices


def test_a_proof_against_a_confirmed_race_is_told() -> None:
    evidence = EvidenceLog(is_complete=True)
    evidence.take(
        "one", Answer(Outcome.RACE, (fakes.finding(fakes.X, Confidence.CONFIRMED),)), None
    )
    evidence.take("other", Answer(Outcome.RACE_FREE), (fakes.X,))
    assert evidence.is_contradicted
    assert evidence.outcome() is Outcome.UNKNOWN


def test_nothing_is_proved_past_code_that_nobody_saw() -> None:
    evidence = EvidenceLog()
    unseen = ("not seen: a call of `handler`",)
    evidence.take("modular", Answer(Outcome.UNKNOWN, assumptions=unseen), None)
    evidence.take("bounded", Answer(Outcome.RACE_FREE), None)
    assert evidence.outcome() is Outcome.UNKNOWN


def test_a_proof_of_the_whole_program_needs_nobody_else() -> None:
    evidence = EvidenceLog()
    blind = (f"{NOT_SEEN}: a call at x.c:1", f"{NOT_FOLLOWED}: a read at x.c:2", "no signals come")
    evidence.take("modular", Answer(Outcome.UNKNOWN, open=(fakes.X,), assumptions=blind), None)
    evidence.take("interleave", Answer(Outcome.RACE_FREE, is_complete=True), (fakes.X,))
    assert evidence.outcome() is Outcome.RACE_FREE
    assert list(evidence.assumptions) == ["no signals come"]


def test_what_nobody_decides_is_possible(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", "x-confirmer", "idler")
    assert [(f.location.name, f.confidence) for f in verdict.findings] == [
        ("x", Confidence.CONFIRMED),
        ("y", Confidence.POSSIBLE),
        ("z", Confidence.POSSIBLE),
    ]
    assert verdict.outcome is Outcome.RACE


def test_one_confirmed_race_is_enough_if_so_asked(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", "x-confirmer", "idler", options=Options(timeout=20, stop_at_first=True))
    assert [run.name for run in verdict.engines] == ["namer", "x-confirmer"]


def test_a_refuted_likely_finding_is_withdrawn(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", "x-refuter")
    assert verdict.outcome is Outcome.UNKNOWN
    assert [f.location.name for f in verdict.findings] == ["y", "z"]


def test_refuting_everything_that_a_sound_engine_named_is_a_proof(ask) -> None:  # type: ignore[no-untyped-def]
    assert ask("namer", "prover").outcome is Outcome.RACE_FREE


def test_refuting_what_an_unsound_engine_named_proves_nothing(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("guesser", "prover")
    assert verdict.outcome is Outcome.UNKNOWN
    assert not verdict.findings


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("suicide", "killed: SIGKILL"),
        ("failer", "crashed: ZeroDivisionError: nobody expected this"),
        ("eater", "out of memory"),
    ],
)
def test_an_accident_loses_nothing_and_is_told(ask, name: str, words: str) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", name, "confirmer", options=Options(timeout=20, memory=1.0))
    assert verdict.outcome is Outcome.RACE
    assert len([f for f in verdict.findings if f.confidence is Confidence.CONFIRMED]) == 3
    assert f"engine {name} gave no answer: {words}" in verdict.notices[0]


def test_an_engine_that_does_not_end_is_ended(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("namer", "sleeper", options=Options(timeout=1.0))
    assert verdict.notices == ("engine sleeper gave no answer: timeout",)
    assert verdict.outcome is Outcome.RACE


def test_an_interrupt_gives_the_best_answer_so_far(ask) -> None:  # type: ignore[no-untyped-def]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        verdict = ask("namer", "sleeper", options=Options(timeout=60))
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert verdict.outcome is Outcome.RACE
    assert "interrupted" in verdict.notices[-1]


def test_the_users_mistake_is_told_as_such(ask) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match="nain"):
        ask("blamer")


def test_disagreement_is_shown(ask) -> None:  # type: ignore[no-untyped-def]
    verdict = ask("prover", "confirmer", options=Options(timeout=20, cross_check=True))
    assert verdict.outcome is Outcome.UNKNOWN
    assert "internal error" in verdict.notices[-1]
    assert len(verdict.engines) == 2


def test_an_unknown_engine_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="no engine 'nodular'"):
        check(fakes.program(), Options(engine="nodular"))
