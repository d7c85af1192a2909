"""Engines on programs with memory orders, against all executions with vector clocks."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, assume, given, settings

from tests.engines.oracle.judging import answer, complaint
from tests.engines.oracle.orders import is_racy, ordered_programs
from tests.lowering import lower

few = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@settings(few, max_examples=45)
@given(ordered_programs())
def test_engines_against_all_executions(text: str) -> None:
    program = lower(text)
    racy = is_racy(program, 2000)
    assume(racy is not None)
    assert racy is not None
    for engine, seconds in (("modular", 20.0), ("pairwise", 20.0), ("bounded", 1.5)):
        assert not complaint(engine, answer(engine, program, seconds), racy), engine
