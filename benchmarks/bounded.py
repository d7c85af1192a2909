"""Where the bounded engine spends its time: building formulas in Python, translating them for the
solver, solving them.

Runs over our own test programs (or the files given), each within the engine's first bounds, and
prints a line for each of the slowest programs and the sum of all.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from raceproof.engines.bounded import ENGINE
from raceproof.engines.question import Question
from raceproof.errors import UserError
from raceproof.frontend import load_program
from raceproof.options import DataModel, Options

PROGRAMS = Path(__file__).parent.parent / "tests" / "programs"
KINDS = ("building", "translating", "in the solver")


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    outcome: str
    seconds: float
    parts: tuple[float, ...]
    terms: int
    events: int

    def __str__(self) -> str:
        parts = "".join(f"{part:>14.3f}" for part in self.parts)
        sizes = f"{self.events:>8}{self.terms:>9}"
        return f"{self.name:<46}{self.outcome:<10}{self.seconds:>8.3f}{parts}{sizes}"


def measure(path: Path, options: Options, seconds: float | None) -> Row:
    program = load_program([path], options)
    start = time.monotonic()
    deadline = None if seconds is None else start + seconds
    answer = ENGINE.run(program, Question(options, None, deadline))
    numbers = {name: float(value) for name, value in answer.statistics}
    parts = tuple(
        next(value for name, value in numbers.items() if name.startswith(f"seconds {kind}"))
        for kind in KINDS
    )
    return Row(
        f"{path.parent.name}/{path.stem}",
        str(answer.outcome),
        time.monotonic() - start,
        parts,
        int(numbers["terms"]),
        int(numbers["events"]),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--slowest", type=int, default=15, metavar="N", help="default: 15")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="let the bounds grow")
    parser.add_argument("--data-model", type=DataModel, default=DataModel.LP64)
    arguments = parser.parse_args()
    options = Options(data_model=arguments.data_model)
    rows: list[Row] = []
    for path in arguments.files or sorted(PROGRAMS.glob("*/*.c")):
        try:
            rows.append(measure(path, options, arguments.timeout))
        except UserError as error:
            print(f"{path}: {str(error).splitlines()[0]}", file=sys.stderr)
    head = "".join(f"{kind:>14}" for kind in KINDS)
    print(f"{'program':<46}{'outcome':<10}{'seconds':>8}{head}{'events':>8}{'terms':>9}")
    for row in sorted(rows, key=lambda row: -row.seconds)[: arguments.slowest]:
        print(row)
    total = Row(
        f"all {len(rows)}",
        "",
        sum(row.seconds for row in rows),
        tuple(sum(row.parts[i] for row in rows) for i in range(len(KINDS))),
        sum(row.terms for row in rows),
        sum(row.events for row in rows),
    )
    print(total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
