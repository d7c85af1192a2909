"""Programs as text, asked of the engine."""

from pathlib import Path

from raceproof.concurrency import Models
from raceproof.engines.bounded import ENGINE
from raceproof.engines.bounded.unfold import Unfolder, UnfoldLimits
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import DataModel, Options
from raceproof.verdict import Answer

HEADER = "#include <pthread.h>\n#include <stdlib.h>\nextern int __VERIFIER_nondet_int(void);\n"
TWO_THREADS = """
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"""


def load(folder: Path, text: str, model: DataModel = DataModel.LP64) -> Program:
    path = folder / "program.c"
    path.write_text(HEADER + text, encoding="utf-8")
    return load_program([path], Options(data_model=model))


def ask(program: Program, **options: object) -> Answer:
    """The answer within the first bounds: without a deadline they don't grow."""
    return ENGINE.run(program, Question(Options(**options)))  # type: ignore[arg-type]


def unfold(program: Program, **limits: int) -> Unfolder:
    unfolder = Unfolder(program, Models.load(()), UnfoldLimits(**limits))  # type: ignore[arg-type]
    unfolder.run()
    return unfolder
