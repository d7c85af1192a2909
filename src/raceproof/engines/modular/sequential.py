"""Programs that start no threads: there is no need to look at what they do.

A race needs two threads. If nothing in the program could create one (no function that a model knows
to do so is called, or as much as named), there is only the one that runs `main`. What it computes,
and through which pointers, does not matter; only code outside of the program could start others,
and what is taken for granted about that is said.
"""

from __future__ import annotations

from raceproof.analysis.facts import ProgramFacts
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.model import CallbackTime, Role
from raceproof.engines.modular.describe import Describer
from raceproof.engines.question import Question, without_unknown_callbacks
from raceproof.ir import Assembly
from raceproof.verdict import Answer, Covered, Outcome


def answer_if_sequential(facts: ProgramFacts, question: Question) -> Answer | None:
    """None if the program may create threads. No proof if unknown code may call functions of the
    program; who follows what is handed over may know better. Which code is reached, does not matter
    to it."""
    program, models = facts.program, facts.models
    known = {name: models.applicable(name, program) for name in sorted(program.functions)}
    if any(model is not None and model.role is Role.CREATE for model in known.values()):
        return None
    analysis = Analysis(program, models, events=facts.events)
    records = analysis.threads.main.records
    analysis.records = records
    for name, model in known.items():
        if model is None:
            if not program.functions[name].is_defined:
                analysis.note_unknown(name)
            continue
        if model.caveat:
            records.assume(model.caveat)
        if any(callback.time is CallbackTime.SIGNAL for callback in model.callbacks):
            records.assume("signal handlers do not race with the rest")
    for _, instruction in program.all_instructions():
        if isinstance(instruction, Assembly) and instruction.text.strip():
            records.assume("inline assembly starts no threads")
            break
    main = Describer(analysis, question.options.latest_calls).thread(0)
    assumptions = tuple(sorted(records.assumptions))
    answer = Answer(
        Outcome.RACE_FREE,
        assumptions=assumptions,
        threads=(main,),
        covered=(Covered.PATHS, Covered.LAYOUTS),
    )
    return without_unknown_callbacks(answer, program, question)
