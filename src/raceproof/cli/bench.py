"""``raceproof bench``: run a task set, and say how well it went."""

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raceproof.cli.arguments import DEFAULTS, positive_integer, positive_number
from raceproof.errors import UserError

if TYPE_CHECKING:
    from raceproof.bench.results import Result
    from raceproof.bench.run import Setting
    from raceproof.bench.tasks import Task

EPILOG = """\
TASKS is a tab-separated table with a header: task, file, expected (race or norace), and perhaps
dir and data_model. Points are SV-COMP's: +2 a correct race-free, +1 a correct race, -32 a wrong
race-free, -16 a wrong race.

examples:
  raceproof bench tasks.tsv --programs programs --jobs 2 --timeout 60 -o results.tsv
  raceproof bench tasks.tsv --programs programs -o new.tsv --compare results.tsv --plot new.svg
  raceproof bench tasks.tsv --programs programs --only 'pthread*' --engine bounded -- --unwind 4

A run that was interrupted goes on where it stopped when the same command is given again; after a
change of the tool it starts anew, and the earlier results are kept as FILE.old.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("tasks", type=Path, metavar="TASKS", help="the table of tasks")
    parser.add_argument(
        "arguments", nargs="*", metavar="-- ARGUMENT", help="further arguments for raceproof check"
    )
    parser.add_argument(
        "--programs", type=Path, metavar="DIR", help="where the files are (default: beside TASKS)"
    )
    parser.add_argument(
        "--engine", default=DEFAULTS.engine, metavar="NAME", help="decide with this engine alone"
    )
    parser.add_argument(
        "--timeout",
        type=positive_number,
        default=60.0,
        metavar="SECONDS",
        help="CPU time for each task (default: 60)",
    )
    parser.add_argument(
        "--memory",
        type=positive_number,
        default=4.0,
        metavar="GIB",
        help="memory for each task (default: 4)",
    )
    parser.add_argument(
        "--jobs",
        type=positive_integer,
        default=os.cpu_count() or 1,
        metavar="N",
        help="tasks at a time (default: as many as there are processors)",
    )
    chosen = parser.add_argument_group("a part of the tasks")
    chosen.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="GLOB",
        help="those whose name or directory matches (repeatable)",
    )
    chosen.add_argument("--expected", choices=["race", "norace"], help="those that expect this")
    chosen.add_argument(
        "--sample", type=positive_integer, metavar="N", help="a random choice of N tasks"
    )
    chosen.add_argument("--seed", type=int, default=0, help="which random choice (default: 0)")
    output = parser.add_argument_group("output")
    output.add_argument("-o", dest="output", type=Path, metavar="FILE", help="keep the results")
    output.add_argument(
        "--compare", type=Path, metavar="FILE", help="tell the difference to earlier results"
    )
    output.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw solved tasks over time (SVG)"
    )
    output.add_argument(
        "--summary", action="store_true", help="run nothing, tell about the results in -o FILE"
    )
    output.add_argument("-q", dest="quiet", action="store_true", help="no progress bar")


def run(arguments: Namespace) -> int:
    from rich.console import Console

    from raceproof.bench.results import read_results
    from raceproof.bench.run import Setting
    from raceproof.bench.tasks import read_tasks, select

    tasks = select(
        read_tasks(arguments.tasks),
        only=tuple(arguments.only),
        expected=arguments.expected,
        sample=arguments.sample,
        seed=arguments.seed,
    )
    if not tasks:
        raise UserError("no task is left to run; look at --only and --expected")
    setting = Setting(
        arguments.programs or arguments.tasks.parent,
        arguments.timeout,
        arguments.memory,
        arguments.engine,
        tuple(arguments.arguments),
    )
    earlier = read_results(arguments.compare)[1] if arguments.compare else []
    if arguments.summary:
        if arguments.output is None:
            raise UserError("--summary tells about a file of results: name it with -o")
        names = {(task.directory, task.name) for task in tasks}
        results = [r for r in read_results(arguments.output)[1] if (r.directory, r.task) in names]
    else:
        results = _measure(tasks, setting, arguments)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    _tell(results, earlier, console, arguments)
    return int(any(result.is_wrong for result in results))


def _measure(tasks: "list[Task]", setting: "Setting", arguments: Namespace) -> "list[Result]":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from raceproof.bench.results import ResultsFile
    from raceproof.bench.run import run_tasks

    conditions = setting.conditions()
    kept = _kept(arguments.output, conditions)
    wanted = {(task.directory, task.name) for task in tasks}
    results = [result for result in kept if (result.directory, result.task) in wanted]
    have = {(result.directory, result.task) for result in results}
    missing = [task for task in tasks if (task.directory, task.name) not in have]
    file = ResultsFile(arguments.output, conditions, kept) if arguments.output else None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, disable=arguments.quiet) as progress:
        bar = progress.add_task("", total=len(tasks), completed=len(results))

        def done(result: "Result") -> None:
            results.append(result)
            if file is not None:
                file.add(result)
            points = sum(one.points for one in results)
            wrong = sum(one.is_wrong for one in results)
            progress.update(bar, advance=1, description=f"{points} points, {wrong} wrong")

        try:
            run_tasks(missing, setting, arguments.jobs, done)
        finally:
            if file is not None:
                file.close()
    return results


def _kept(path: Path | None, conditions: dict[str, Any]) -> "list[Result]":
    """The results of an earlier run under the same conditions; others are moved away."""
    from raceproof.bench.results import read_results

    if path is None or not path.exists():
        return []
    before, results = read_results(path)
    if before == conditions:
        return results
    path.replace(path.with_name(path.name + ".old"))
    return []


def _tell(
    results: "list[Result]", earlier: "list[Result]", console: Any, arguments: Namespace
) -> None:
    from raceproof.bench.plot import cactus
    from raceproof.bench.table import print_difference, print_tables

    print_tables(results, console)
    if earlier:
        print_difference(earlier, results, console)
    if arguments.plot is not None:
        runs = {"now": results}
        if earlier:
            runs["before"] = earlier
        arguments.plot.write_text(cactus(runs), encoding="utf-8")
