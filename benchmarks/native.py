"""How many races are seen in real programs: by their schedules, by noise, and by luck.

    python benchmarks/native.py tests/programs --every 5

Racy programs (`// verdict: race`): each confirmed finding by its schedule in one run, then with
noise; beside it ten plain runs under ThreadSanitizer. Race-free ones: five runs, in which nothing
may be reported. Programs that cannot be built are counted apart.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from raceproof import pipeline
from raceproof.concurrency import Models
from raceproof.concurrency.loading import load_program
from raceproof.errors import UserError
from raceproof.frontend.selection import select
from raceproof.machine.machine import Machine
from raceproof.native.build import Builder, read_module
from raceproof.native.confirm import Confirmation, Settings
from raceproof.native.execution import Limits, execute
from raceproof.native.sanitizer import is_about
from raceproof.options import Options
from raceproof.verdict import Confidence

_PLAIN_RUNS = 10
_QUIET_RUNS = 5
_LIMITS = Limits(seconds=10)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take each n-th program only")
    chosen = parser.parse_args()
    programs = sorted(chosen.folder.rglob("*.c"))[:: chosen.every]
    findings = scheduled = noise = luck = quiet = loud = 0
    unbuilt: list[str] = []
    for path in programs:
        is_racy = path.read_text().startswith("// verdict: race\n")
        try:
            counts = _racy(path) if is_racy else (_right(path), 0, 0, 0)
        except UserError as error:
            unbuilt.append(f"{path.name}: {str(error).splitlines()[0]}")
            continue
        if is_racy:
            findings, scheduled = findings + counts[0], scheduled + counts[1]
            noise, luck = noise + counts[2], luck + counts[3]
            print(f"{path.name}: {counts[0]} confirmed findings, {counts[1]} by schedule, ", end="")
            print(f"{counts[2]} with noise, {counts[3]} in plain runs", flush=True)
        else:
            quiet, loud = quiet + 1, loud + counts[0]
            if counts[0]:
                print(f"{path.name}: ThreadSanitizer reports {counts[0]} races", flush=True)
    print(
        f"confirmed findings {findings}: by schedule in one run {scheduled}, also with noise ",
        end="",
    )
    print(f"{scheduled + noise}, by luck in {_PLAIN_RUNS} plain runs {luck}")
    print(f"race-free programs {quiet}, {_QUIET_RUNS} runs each: {loud} reports")
    print(f"not built: {len(unbuilt)}", *unbuilt, sep="\n  ")


def _racy(path: Path) -> tuple[int, int, int, int]:
    options = Options(timeout=20)
    program = load_program([path], options)
    verdict = pipeline.check(program, options)
    machine = Machine(program, Models.load(()), mutex_rules=options.mutex_rules)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        builder = Builder(read_module(select([path], options), options), program, options, folder)
        settings = Settings(runs=3, limits=_LIMITS)
        tried = Confirmation(
            builder, lambda: machine, folder, folder, lambda binary: [str(binary)], settings
        ).confirm(verdict)
        sure = [f for f in tried.verdict.findings if f.confidence is Confidence.CONFIRMED]
        plain = [
            execute([str(tried.binary)], None, folder, folder, _LIMITS, f"plain-{number}")
            for number in range(_PLAIN_RUNS)
        ]
        seen = [race for run in plain for race in run.races]
    natives = [f.native for f in sure if f.native is not None and f.native.is_confirmed]
    by_schedule = sum(native.way == "scheduled" for native in natives)
    by_luck = sum(any(is_about(race, f) for race in seen) for f in sure)
    return len(sure), by_schedule, len(natives) - by_schedule, by_luck


def _right(path: Path) -> int:
    options = Options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        module = read_module(select([path], options), options)
        binary = Builder(module, None, options, folder).build({})
        return sum(
            len(execute([str(binary)], None, folder, folder, _LIMITS, f"run-{n}").races)
            for n in range(_QUIET_RUNS)
        )


if __name__ == "__main__":
    main()
