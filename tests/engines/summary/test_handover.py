"""What this engine leaves open can be decided by the others: same program, same numbers."""

from __future__ import annotations

import pytest

from raceproof.ir import Instruction, Load, Program, Store
from raceproof.options import Options
from raceproof.pipeline import check, conduct
from raceproof.pipeline.plan import Layer
from raceproof.verdict import Confidence, Outcome
from tests.engines.summary.analysing import answer, load

CODE = """
int x, y; pthread_mutex_t m; pthread_t id;
void *run(void *unused) {
    pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
    y = 1;
    return 0;
}
int main(void) {
    pthread_create(&id, 0, run, 0);
    x = 7;
    pthread_join(id, 0);
    return y;
}
"""


def instructions(program: Program) -> dict[int, Instruction]:
    return {i.number: i for function in program.defined for i in function.instructions}


def test_candidates_name_instructions_of_the_program() -> None:
    numbered = instructions(load(CODE))
    found = answer(CODE)
    assert found.open
    for candidate in found.open:
        for access in (candidate.first, candidate.second):
            instruction = numbered[access.instruction]
            assert isinstance(instruction, Store if access.is_write else Load)
            assert access.position is not None
            assert instruction.position is not None
            assert access.position.line == instruction.position.line


def test_every_finding_is_a_candidate() -> None:
    found = answer(CODE)
    pairs = {(c.first.instruction, c.second.instruction) for c in found.open}
    for finding in found.findings:
        first, second = finding.accesses
        assert (first.instruction, second.instruction) in pairs


def test_another_engine_confirms_what_this_one_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = (Layer("summary", 0.5, names_candidates=True), Layer("interleave", 1.0))
    monkeypatch.setattr(conduct, "layers", lambda *_: plan)
    verdict = check(load(CODE), Options(stop_at_first=True, timeout=60))
    assert [run.name for run in verdict.engines][:2] == ["summary", "interleave"]
    assert verdict.outcome is Outcome.RACE
    (finding,) = [f for f in verdict.findings if f.confidence is Confidence.CONFIRMED]
    assert finding.location.name == "x"
    assert finding.schedule is not None
