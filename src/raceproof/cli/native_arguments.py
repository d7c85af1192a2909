"""Options and output of the commands that run the program itself."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raceproof.native.confirm import Settings
    from raceproof.native.sanitizer import SeenRace
    from raceproof.options import Options
    from raceproof.verdict import Finding


def add_native_arguments(parser: ArgumentParser) -> _ArgumentGroup:
    group = parser.add_argument_group("native runs")
    group.add_argument(
        "--runs", type=int, metavar="N", help="runs with noise for each finding (default: 5)"
    )
    group.add_argument(
        "--run-timeout", type=float, metavar="SECONDS", help="for each run (default: 20)"
    )
    group.add_argument("--run-memory", type=float, metavar="GIB", help="for each run (default: 8)")
    group.add_argument(
        "--most", type=int, metavar="N", help="try the first N findings only (default: 20)"
    )
    group.add_argument(
        "--sanitizer-cc",
        metavar="CC",
        help="a C or C++ compiler whose ThreadSanitizer is linked instead of the bundled one",
    )
    group.add_argument(
        "--link-arg",
        dest="link_args",
        action="append",
        metavar="ARG",
        help="for the linker, e.g. --link-arg=-levent",
    )
    return group


def native_settings(arguments: Namespace, options: Options) -> Settings:
    from raceproof.native.confirm import Settings
    from raceproof.native.execution import Limits

    def given(name: str, default: float) -> float:
        value = getattr(arguments, name, None)
        return default if value is None else value

    limits = Limits(seconds=given("run_timeout", 20.0), memory=given("run_memory", 8.0))
    linked = getattr(arguments, "link_args", None) or ()
    return Settings(
        runs=int(given("runs", 5)),
        seed=options.seed,
        most=int(given("most", 20)),
        limits=limits,
        link_args=tuple(linked),
        sanitizer_cc=getattr(arguments, "sanitizer_cc", None),
    )


def say(text: str) -> None:
    sys.stderr.write(f"raceproof: {text}\n")


def show_native(findings: Sequence[Finding], unknown: Sequence[SeenRace]) -> None:
    """A table of what came of the findings, and the races that only ThreadSanitizer saw."""
    tried = [(finding, finding.native) for finding in findings if finding.native]
    if tried:
        print("\nIn the program itself, under ThreadSanitizer:")
    for finding, native in tried:
        word = "confirmed natively" if native.is_confirmed else "not seen"
        runs = f"{native.runs} run{'' if native.runs == 1 else 's'}, {native.seconds:.1f} s"
        why = f": {native.detail}" if native.detail else ""
        print(f"  {finding.location.name}: {word} ({native.way}, {runs}){why}")
    for race in unknown:
        places = " and ".join(race.places) or "(no position)"
        named = f" on {race.variable}" if race.variable else ""
        print(
            f"  ThreadSanitizer also saw a {race.kind}{named} at {places}: not among the findings"
        )
    if not tried and not unknown:
        print("\nThreadSanitizer saw no race in a run of the program.")
