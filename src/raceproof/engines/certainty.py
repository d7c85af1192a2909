"""What takes the word *likely* from a finding that no replayed schedule shows.

Where an access is reached only if a library function of fixed meaning returns something that no
engine has computed (see `analysis.fixed_results`), or where inline assembly that is not understood
may order the threads, a race is possible, not more. So it is if an access is a call of which the
model says how much it touches at most: `snprintf` writes as far as its text goes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof.engines.question import Question
from raceproof.ir import Assembly, Program
from raceproof.verdict import Access, Answer, Confidence, Finding, Outcome

if TYPE_CHECKING:
    from raceproof.analysis.fixed_results import FixedResults


def with_doubts(answer: Answer, program: Program, question: Question) -> Answer:
    """The answer, with likely findings made possible where that is all that is known."""
    likely = [f for f in answer.findings if _is_guess(f)]
    if not likely:
        return answer
    from raceproof.analysis.fixed_results import FixedResults

    fixed = FixedResults(program, question.facts_of(program).models)
    has_locks = _has_unknown_locks(program)
    findings = tuple(
        replace(finding, confidence=Confidence.POSSIBLE)
        if _is_guess(finding) and (has_locks or _depends(finding, fixed))
        else finding
        for finding in answer.findings
    )
    is_race = any(finding.confidence >= Confidence.LIKELY for finding in findings)
    outcome = answer.outcome
    if outcome is Outcome.RACE and not is_race:
        outcome = Outcome.UNKNOWN
    return replace(answer, findings=findings, outcome=outcome)


def _is_guess(finding: Finding) -> bool:
    return finding.confidence is Confidence.LIKELY and finding.schedule is None


def _depends(finding: Finding, fixed: FixedResults) -> bool:
    return any(_is_decided(access, fixed) for access in finding.accesses)


def _is_decided(access: Access, fixed: FixedResults) -> bool:
    return fixed.stops_early(access.instruction) or any(
        fixed.decide(number)
        for number in (access.instruction, *(call.instruction for call in access.calls))
    )


def _has_unknown_locks(program: Program) -> bool:
    from raceproof.concurrency.assembly import may_order_threads

    return any(
        isinstance(instruction, Assembly) and may_order_threads(instruction, program.layout)
        for _, instruction in program.all_instructions()
    )
