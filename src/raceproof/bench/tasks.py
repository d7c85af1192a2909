"""A task set: a table of programs with what is expected of them.

Tab-separated, with a header that has at least ``task``, ``file`` and ``expected`` (``race``,
``norace`` or empty), and perhaps ``dir`` and ``data_model``.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from raceproof.errors import UserError

_EXPECTED = {"race": "race", "norace": "race-free", "race-free": "race-free", "": ""}


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    file: str
    directory: str
    expected: str
    """`race`, `race-free`, or empty if that is unknown."""
    data_model: str


def read_tasks(path: Path) -> list[Task]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return [_task(row, path) for row in csv.DictReader(stream, delimiter="\t")]
    except OSError as error:
        raise UserError(f"cannot read the task set {path}: {error.strerror}") from error


def _task(row: dict[str, str], path: Path) -> Task:
    missing = [name for name in ("task", "file", "expected") if row.get(name) is None]
    if missing:
        raise UserError(
            f"{path} is no task set: its first line names no column {missing[0]!r} "
            "(the columns are separated by tabs)"
        )
    expected = _EXPECTED.get(row["expected"])
    if expected is None:
        raise UserError(f"{path}: {row['task']} expects {row['expected']!r}; use race or norace")
    return Task(
        row["task"],
        row["file"],
        row.get("dir") or "",
        expected,
        (row.get("data_model") or "LP64").lower(),
    )


def select(
    tasks: Iterable[Task],
    *,
    only: tuple[str, ...] = (),
    expected: str | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> list[Task]:
    """The tasks whose name or directory matches a glob of `only`, perhaps a random few of them."""
    chosen = [
        task
        for task in tasks
        if (not only or any(fnmatch(task.name, g) or fnmatch(task.directory, g) for g in only))
        and (expected is None or task.expected == _EXPECTED[expected])
    ]
    if sample is not None and sample < len(chosen):
        picked = set(random.Random(seed).sample(range(len(chosen)), sample))
        chosen = [task for index, task in enumerate(chosen) if index in picked]
    return chosen
