"""A page about several programs: verdict, findings by confidence and by rule of each."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from raceproof.report.html import environment, template
from raceproof.version import __version__

_ORDER = ("race", "unknown", "race-free")


@dataclass(frozen=True, slots=True)
class Program:
    """What one JSON report says, in short."""

    name: str
    files: str
    verdict: str
    confidences: dict[str, int]
    rules: dict[str, int]
    seconds: float
    link: str
    """The HTML report beside it, seen from the page; empty if there is none."""

    @classmethod
    def read(cls, path: Path, folder: Path) -> Program:
        """Raises what a file that is no such report makes it raise."""
        data = json.loads(path.read_text("utf-8"))
        findings = [one for one in data["findings"] if not one.get("suppressed")]
        beside = path.with_suffix(".html")
        return cls(
            path.stem,
            ", ".join(data["program"]["files"]),
            data["verdict"],
            dict(Counter(one["confidence"] for one in findings)),
            dict(Counter(one["rule"] for one in findings).most_common()),
            float(data["seconds"]),
            os.path.relpath(beside, folder) if beside.is_file() else "",
        )


def page(programs: list[Program]) -> str:
    """HTML; programs with races first."""
    ranked = sorted(programs, key=lambda one: (_ORDER.index(one.verdict), one.name))
    totals = Counter(one.verdict for one in programs)
    return (
        environment()
        .get_template("overview.html.j2")
        .render(
            programs=ranked,
            totals=[(verdict, totals[verdict]) for verdict in _ORDER],
            worst=ranked[0].verdict,
            version=__version__,
            style=Markup(template("report.css")),
            script=Markup(template("report.js")),
        )
    )
