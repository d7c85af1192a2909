"""The numbers: per directory, quantiles of the time, and what changed since an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from raceproof.bench.results import Result

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
SLOWER = 1.5
"""By this factor, and by a second, a task counts as slower or faster."""


@dataclass(frozen=True, slots=True)
class Line:
    """The sums over some results."""

    name: str
    tasks: int
    races: int
    proofs: int
    wrong: int
    unknown: int
    points: int
    most: int
    cpu: float


def line(name: str, results: Sequence[Result]) -> Line:
    return Line(
        name,
        tasks=len(results),
        races=sum(r.is_correct and r.verdict == "race" for r in results),
        proofs=sum(r.is_correct and r.verdict == "race-free" for r in results),
        wrong=sum(r.is_wrong for r in results),
        unknown=sum(not r.is_decided for r in results),
        points=sum(r.points for r in results),
        most=sum({"race": 1, "race-free": 2}.get(r.expected, 0) for r in results),
        cpu=sum(r.cpu for r in results),
    )


def per_directory(results: Iterable[Result]) -> list[Line]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.directory, []).append(result)
    return [line(name, groups[name]) for name in sorted(groups)]


def quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def print_tables(results: Sequence[Result], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("directory")
    for name in ("tasks", "race", "race-free", "wrong", "none", "points", "of", "CPU s"):
        table.add_column(name, justify="right")
    lines = per_directory(results)
    for one in lines:
        table.add_row(*_cells(one))
    table.add_section()
    table.add_row(*_cells(line("all", results)), style="bold")
    console.print(table)
    for who, chosen in (("all", list(results)), ("decided", [r for r in results if r.is_decided])):
        cpu = [result.cpu for result in chosen]
        listed = "  ".join(f"{int(part * 100)}% {quantile(cpu, part):.2f}" for part in QUANTILES)
        console.print(f"CPU seconds, {who} ({len(chosen)}):  {listed}", soft_wrap=True)
    _print_deciders(results, console)
    _print_failures(results, console)


def _cells(one: Line) -> tuple[str, ...]:
    numbers = (one.tasks, one.races, one.proofs, one.wrong, one.unknown, one.points, one.most)
    return (one.name, *(str(number) for number in numbers), f"{one.cpu:.1f}")


def _print_deciders(results: Iterable[Result], console: Console) -> None:
    counts: dict[tuple[str, str, str], int] = {}
    for result in results:
        if result.is_decided:
            key = (result.engine, result.verdict, result.confidence)
            counts[key] = counts.get(key, 0) + 1
    for (engine, verdict, confidence), number in sorted(counts.items()):
        console.print(f"{number:5} {verdict} by {engine} {confidence}".rstrip())
    for kind in ("unknown", "timeout", "memory", "error", "crash"):
        number = sum(result.verdict == kind for result in results)
        if number:
            console.print(f"{number:5} {kind}")


def _print_failures(results: Iterable[Result], console: Console) -> None:
    for result in results:
        if result.is_wrong:
            console.print(
                f"WRONG {result.directory}/{result.task}: {result.verdict} {result.confidence} "
                f"by {result.engine}, expected {result.expected}",
                style="bold red",
                soft_wrap=True,
            )
    for result in results:
        if result.verdict in ("error", "crash"):
            console.print(
                f"{result.verdict} {result.directory}/{result.task}: {result.note}", soft_wrap=True
            )


def print_difference(earlier: Sequence[Result], now: Sequence[Result], console: Console) -> None:
    """What got solved, lost, wrong, slower or faster, over the tasks that both runs have."""
    before = {(result.directory, result.task): result for result in earlier}
    pairs = [
        (before[key], result)
        for result in now
        if (key := (result.directory, result.task)) in before
    ]
    console.print(f"Compared with the earlier run ({len(pairs)} tasks in both):")
    groups: dict[str, list[str]] = {
        "solved": [], "lost": [], "newly wrong": [], "no longer wrong": [],
        "slower": [], "faster": [],
    }  # fmt: skip
    for old, new in pairs:
        name = f"{new.directory}/{new.task}"
        if new.is_wrong and not old.is_wrong:
            groups["newly wrong"].append(f"{name} ({old.verdict} -> {new.verdict})")
        elif old.is_wrong and not new.is_wrong:
            groups["no longer wrong"].append(f"{name} ({old.verdict} -> {new.verdict})")
        elif new.is_correct and not old.is_correct:
            groups["solved"].append(f"{name} ({new.verdict} by {new.engine})")
        elif old.is_correct and not new.is_correct:
            groups["lost"].append(f"{name} ({old.verdict} by {old.engine} -> {new.verdict})")
        elif new.cpu > old.cpu * SLOWER and new.cpu > old.cpu + 1:
            groups["slower"].append(f"{name} ({old.cpu:.1f} s -> {new.cpu:.1f} s)")
        elif old.cpu > new.cpu * SLOWER and old.cpu > new.cpu + 1:
            groups["faster"].append(f"{name} ({old.cpu:.1f} s -> {new.cpu:.1f} s)")
    gained = sum(new.points for _, new in pairs) - sum(old.points for old, _ in pairs)
    for name, members in groups.items():
        console.print(f"  {name}: {len(members)}")
        for member in members:
            console.print(f"    {member}", soft_wrap=True)
    console.print(f"  points: {gained:+}")
