"""Small programs given as text, through the engine or only to its summaries."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from raceproof.concurrency.catalogue import Models
from raceproof.engines.question import Question
from raceproof.engines.summary import SummaryEngine
from raceproof.engines.summary.bottom_up import BottomUp
from raceproof.engines.summary.summary import Summary
from raceproof.engines.summary.unit import make_unit
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options
from raceproof.verdict import Answer, Confidence, Finding

HEADERS = "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n"


def load(code: str, suffix: str = ".c", **options: str) -> Program:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program{suffix}"
        path.write_text((HEADERS if suffix == ".c" else "") + code, encoding="utf-8")
        return load_program([path], Options(engine="summary", entry=options.get("entry")))


@cache
def answer(code: str, suffix: str = ".c", entry: str | None = None) -> Answer:
    """What the engine says of a program."""
    program = load(code, suffix, **({"entry": entry} if entry else {}))
    return SummaryEngine().run(program, Question(Options(entry=entry)))


def summaries(code: str, suffix: str = ".c") -> dict[str, Summary]:
    """The summaries of all functions of a program or library."""
    unit = make_unit(load(code, suffix), Models.load(()), "", lambda name: name)
    return BottomUp(unit.outlines, unit.stores).run()


def findings(code: str, suffix: str = ".c", entry: str | None = None) -> dict[str, Finding]:
    """By the name of their location."""
    return {finding.location.name: finding for finding in answer(code, suffix, entry).findings}


def confidences(code: str, suffix: str = ".c", entry: str | None = None) -> dict[str, str]:
    found = findings(code, suffix, entry)
    return {name: str(finding.confidence) for name, finding in found.items()}


def is_likely(code: str, location: str) -> bool:
    found = findings(code).get(location)
    return found is not None and found.confidence >= Confidence.LIKELY
