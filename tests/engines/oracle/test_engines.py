"""All engines against the oracle, on random programs."""

from __future__ import annotations

import time

from hypothesis import HealthCheck, Phase, assume, given, reject, settings

from raceproof.analysis.facts import ProgramFacts
from raceproof.concurrency import Models
from raceproof.engines.interleave.explorer import Reduction
from raceproof.engines.interleave.layers import StaticLayers
from raceproof.engines.pairwise import Proof, prove_pairs
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.options import Options
from tests.engines.oracle.generator import Generated, concurrent_programs
from tests.engines.oracle.judging import answer, complaint, concluded, is_racy
from tests.engines.oracle.sharing_generator import sharing_programs
from tests.lowering import lower

few = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@settings(few, max_examples=40)
@given(concurrent_programs())
def test_quick_engines_against_the_oracle(generated: Generated) -> None:
    """And the reduction of the explorer."""
    program = lower(generated.text)
    racy = is_racy(program, 4000)
    assume(racy is not None)
    assert racy is not None
    for reduction in Reduction:
        assert concluded(program, reduction, 4000) is racy, reduction.name
    cleared = StaticLayers(ProgramFacts(program, Models.load()), Options(), lambda: 20.0).clear()
    assert not racy or not cleared.is_proof or cleared.candidates
    for engine in ("modular", "summary"):
        assert not complaint(engine, answer(engine, program, 20.0), racy), engine
    assert not racy or not isinstance(_pairs(program), Proof)


def _pairs(program: Program) -> object:
    return prove_pairs(ProgramFacts(program, Models.load()), Options(), time.monotonic() + 20)


@settings(few, max_examples=40)
@given(sharing_programs())
def test_pairs_against_the_oracle(text: str) -> None:
    try:
        program = lower(text)
    except UserError:
        reject()
    if isinstance(_pairs(program), Proof):
        assert is_racy(program) is not True


@settings(few, max_examples=8)
@given(concurrent_programs())
def test_slow_engines_against_the_oracle(generated: Generated) -> None:
    program = lower(generated.text)
    racy = is_racy(program, 4000)
    assume(racy is not None)
    assert racy is not None
    for engine, seconds in (("interleave", 4.0), ("bounded", 10.0)):
        assert not complaint(engine, answer(engine, program, seconds), racy), engine
