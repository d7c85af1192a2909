"""Prints programs as sequential C, compiles and runs them."""

import importlib.util
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from raceproof.concurrency import Models
from raceproof.engines.question import Engine, Question
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import DataModel, Options
from raceproof.sequentialize import Bounds, sequentialize
from raceproof.sequentialize.follow import Directions, directions

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror")


@cache
def models() -> Models:
    return Models.load()


def load(path: Path, data_model: DataModel = DataModel.LP64) -> Program:
    return load_program([path], Options(data_model=data_model))


def zig_compiler() -> tuple[str, ...]:
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "zig"), "cc"


def compiler() -> tuple[str, ...]:
    """The compiler of this machine, or the one of the wheel."""
    for name in ("gcc", "clang", "cc"):
        found = shutil.which(name)
        if found is not None:
            return (found,)
    return zig_compiler()


@dataclass(frozen=True)
class Native:
    """A compiled sequential program."""

    binary: Path

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([self.binary, *words], capture_output=True, text=True, check=False)

    def values_of(self, plan: Directions) -> list[int]:
        """The nondeterministic values that describe a schedule; empty if it cannot be followed."""
        file = self.binary.with_suffix(".follow")
        file.write_text(plan.text)
        answer = self.run("follow", str(file))
        return [int(word) for word in answer.stdout.split()] if answer.returncode == 1 else []

    def with_values(self, values: list[int]) -> "subprocess.CompletedProcess[str]":
        file = self.binary.with_suffix(".values")
        file.write_text("\n".join(map(str, values)))
        return self.run("values", str(file))


def build(text: str, folder: Path, *macros: str) -> Native:
    source, binary = folder / "sequential.c", folder / "sequential"
    source.write_text(text)
    flags = ["-DRACEPROOF_RUN", *(f"-D{macro}" for macro in macros)]
    command = [*compiler(), *WARNINGS, *flags, str(source), "-o", str(binary)]
    subprocess.run(command, check=True)
    return Native(binary)


def plan_for(program: Program, engine: Engine) -> Directions | None:
    """How the printed program gets to a race that the engine found."""
    options = Options(stop_at_first=True)
    answer = engine.run(program, Question(options, deadline=time.monotonic() + 10))
    for finding in answer.findings:
        if finding.schedule is not None:
            return directions(program, models(), finding.schedule)
    return None


def follow(program: Program, plan: Directions, folder: Path) -> tuple[Native, list[int]]:
    """The program with bounds that are large enough, and the values that describe the schedule."""
    for unwind in (2, 6, 20):
        bounds = Bounds(unwind=unwind, rounds=plan.rounds, threads=plan.threads - 1)
        native = build(sequentialize(program, models(), bounds), folder)
        values = native.values_of(plan)
        if values:
            break
    return native, values
