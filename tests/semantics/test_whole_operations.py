"""`select` and `cmpxchg` in whole programs.

No executor has a function for them that could be called: so their code for the instructions is run,
on the machine, in formulas and as printed C."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from raceproof.engines import bounded, interleave
from raceproof.engines.question import Engine, Question
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.semantics.concrete import MEANINGS
from raceproof.verdict import Outcome
from tests.semantics.cases import cases, rows
from tests.sequentialize.native import follow, plan_for

NAMES = ("select", "cmpxchg")
WIDTHS = (8, 32, 64)


def program(is_racy: bool) -> str:
    """Races if all results are as the definition says, or if one is not."""
    generator = random.Random(5)
    memory: list[str] = []
    lines: list[str] = []
    tests: list[str] = []

    def operand(bits: int, value: int) -> str:
        """A variable that holds a number, so that nothing is known before the program runs."""
        place = len(memory)
        memory.append(f"@v{place} = global i{bits} {value}")
        lines.append(f"  %v{place} = load i{bits}, ptr @v{place}")
        return f"%v{place}"

    def expect(bits: int, found: str, value: int) -> None:
        tests.append(f"%t{len(tests)}")
        lines.append(f"  {tests[-1]} = icmp eq i{bits} {found}, {int(value)}")

    chosen = [c for c in cases() if c.operation.name in NAMES and c.target in WIDTHS]
    for case in chosen:
        bits = case.target
        for row in [*rows(case, generator, 4)][:8]:
            a, b, c = (int(number) for number in row)
            meaning = MEANINGS[case.operation.name](case.bits, bits, *row)
            if case.operation.name == "select":
                flag, first, second = operand(8, a), operand(bits, b), operand(bits, c)
                name = f"%s{len(tests)}"
                lines.append(f"  {name}b = trunc i8 {flag} to i1")
                lines.append(f"  {name} = select i1 {name}b, i{bits} {first}, i{bits} {second}")
                expect(bits, name, meaning)
                continue
            if generator.random() < 0.5:
                b, meaning = a, MEANINGS["cmpxchg"](bits, bits, a, a, c)
            place = operand(bits, a).replace("%", "@")
            expected, new = operand(bits, b), operand(bits, c)
            name = f"%x{len(tests)}"
            pair = f"{{i{bits}, i1}}"
            lines.append(
                f"  {name} = cmpxchg ptr {place}, i{bits} {expected}, i{bits} {new} seq_cst seq_cst"
            )
            for part, suffix in enumerate("os"):
                lines.append(f"  {name}{suffix} = extractvalue {pair} {name}, {part}")
            lines.append(f"  {name}m = load i{bits}, ptr {place}")
            stored, succeeded = meaning
            expect(bits, f"{name}o", a)
            expect(1, f"{name}s", bool(succeeded))
            expect(bits, f"{name}m", stored)
    result = tests[0]
    for index, test in enumerate(tests[1:]):
        lines.append(f"  %a{index} = and i1 {result}, {test}")
        result = f"%a{index}"
    wrong, right = ("out", "race") if is_racy else ("race", "out")
    body = "\n".join(lines)
    return f"""target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
@x = global i32 0
@ok = global i1 false
{chr(10).join(memory)}
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
define ptr @work(ptr %arg) {{
  %ok = load i1, ptr @ok
  br i1 %ok, label %{right}, label %{wrong}
race:
  store i32 1, ptr @x
  br label %out
out:
  ret ptr null
}}
define i32 @main() {{
  %t = alloca i64
{body}
  store i1 {result}, ptr @ok
  %c = call i32 @pthread_create(ptr %t, ptr null, ptr @work, ptr null)
  %d = call i32 @pthread_create(ptr %t, ptr null, ptr @work, ptr null)
  ret i32 0
}}
"""


def written(is_racy: bool, folder: Path) -> Path:
    path = folder / "program.ll"
    path.write_text(program(is_racy))
    return path


@pytest.mark.parametrize("is_racy", [False, True], ids=["race-free", "racy"])
@pytest.mark.parametrize(
    "engine", [bounded.ENGINE, interleave.ENGINE], ids=lambda engine: engine.name
)
def test_engines_compute_the_definition(engine: Engine, is_racy: bool, tmp_path: Path) -> None:
    answer = engine.run(load_program([written(is_racy, tmp_path)], Options()), Question(Options()))
    assert answer.outcome is (Outcome.RACE if is_racy else Outcome.RACE_FREE), answer.detail


def test_printed_programs_compute_the_definition(tmp_path: Path) -> None:
    """The schedule of a race that is there if all results are right can be followed."""
    loaded = load_program([written(True, tmp_path)], Options())
    plan = plan_for(loaded, bounded.ENGINE)
    assert plan is not None
    native, values = follow(loaded, plan, tmp_path)
    assert values
    assert native.with_values(values).returncode == 1
