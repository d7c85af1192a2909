"""What a run of a task set found out, as a tab-separated file that grows task by task.

Its first line says under which conditions: a run is only continued under the same ones.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from raceproof.errors import UserError

POINTS = {
    ("race-free", "race-free"): 2,
    ("race", "race"): 1,
    ("race", "race-free"): -32,
    ("race-free", "race"): -16,
}
"""SV-COMP's, by expected verdict and ours."""


@dataclass(frozen=True, slots=True)
class Result:
    task: str
    directory: str
    expected: str
    verdict: str
    """`race`, `race-free`, `unknown`, `timeout`, `memory`, `error`, `crash`."""
    cpu: float
    wall: float
    memory: int
    confidence: str = ""
    """Of the surest finding."""
    engine: str = ""
    """Who decided."""
    note: str = ""

    @property
    def points(self) -> int:
        return POINTS.get((self.expected, self.verdict), 0)

    @property
    def is_decided(self) -> bool:
        return self.verdict in ("race", "race-free")

    @property
    def is_correct(self) -> bool:
        return self.is_decided and self.verdict == self.expected

    @property
    def is_wrong(self) -> bool:
        return self.is_decided and self.expected != "" and self.verdict != self.expected


_COLUMNS = tuple(field.name for field in fields(Result))
_MARK = "# raceproof bench "


def read_results(path: Path) -> tuple[dict[str, Any], list[Result]]:
    """The conditions of a run, and its results so far."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            head = stream.readline()
            if not head.startswith(_MARK):
                raise UserError(f"{path} holds no results of raceproof bench")
            conditions = json.loads(head.removeprefix(_MARK))
            rows = list(csv.DictReader(stream, delimiter="\t"))
    except OSError as error:
        raise UserError(f"cannot read the results {path}: {error.strerror}") from error
    return conditions, [_result(row) for row in rows if row.get("note") is not None]


def _result(row: dict[str, str]) -> Result:
    return Result(
        row["task"],
        row["directory"],
        row["expected"],
        row["verdict"],
        float(row["cpu"]),
        float(row["wall"]),
        int(row["memory"]),
        row["confidence"],
        row["engine"],
        row["note"],
    )


class ResultsFile:
    """Appends results; each line is whole on the disk before the next task starts."""

    def __init__(self, path: Path, conditions: dict[str, Any], earlier: Iterable[Result]) -> None:
        try:
            self._stream = path.open("w", encoding="utf-8", newline="")
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from error
        self._stream.write(_MARK + json.dumps(conditions) + "\n")
        self._writer = csv.DictWriter(self._stream, _COLUMNS, delimiter="\t", lineterminator="\n")
        self._writer.writeheader()
        for result in earlier:
            self.add(result)

    def add(self, result: Result) -> None:
        row = asdict(result)
        row["cpu"], row["wall"] = f"{result.cpu:.2f}", f"{result.wall:.2f}"
        self._writer.writerow(row)
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()
