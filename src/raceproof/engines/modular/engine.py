"""The engine: over-approximation proves, under-approximation finds."""

from __future__ import annotations

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular.answer import answer_of
from raceproof.engines.modular.detect import detect
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.options import Strategy
from raceproof.verdict import Answer, Outcome


class Modular:
    name = "modular"

    def run(self, program: Program, question: Question) -> Answer:
        options = question.options
        models = Models.load(options.models)
        over = under = None
        try:
            if options.strategy is not Strategy.UNDER:
                over = Analysis(program, models, unroll=options.unroll, deadline=question.deadline)
                over.run()
                reports = detect(over)
                if not any(r.pairs for r in reports) or options.strategy is Strategy.OVER:
                    return answer_of(over, reports, None, options)
            under = Analysis(
                program,
                models,
                unroll=options.unroll,
                sees_others=False,
                deadline=question.deadline,
            )
            under.run()
        except OutOfBudget:
            return Answer(Outcome.UNKNOWN, detail="out of time")
        if over is None:
            return answer_of(under, detect(under), under, options)
        return answer_of(over, detect(over), under, options)


ENGINE = Modular()
