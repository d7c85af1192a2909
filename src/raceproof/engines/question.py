"""What every engine is asked, and how it answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from raceproof.ir import Program
from raceproof.options import Options
from raceproof.verdict import Answer, Candidate


@dataclass(frozen=True, slots=True)
class Question:
    """`candidates` are what earlier engines left open; None asks about the whole program."""

    options: Options
    candidates: tuple[Candidate, ...] | None = None
    deadline: float | None = None
    """On the clock of `time.monotonic`."""

    def seconds_left(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()


class Engine(Protocol):
    name: str

    def run(self, program: Program, question: Question) -> Answer: ...
