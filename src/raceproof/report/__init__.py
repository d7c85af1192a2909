"""From a verdict to something to read: text, concise, JSON, SARIF, HTML, GitHub, witnesses.

A report knows verdicts and programs, never an engine. Every format is a module with one function
``write(verdict, program, options, stream)``, imported when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, TextIO

from raceproof.options import Options, ReportFormat
from raceproof.verdict import Verdict

if TYPE_CHECKING:
    from raceproof.ir import Program


_WRITERS = {
    ReportFormat.TEXT: "raceproof.report.text",
    ReportFormat.CONCISE: "raceproof.report.concise",
    ReportFormat.JSON: "raceproof.report.json",
    ReportFormat.SARIF: "raceproof.report.sarif",
    ReportFormat.HTML: "raceproof.report.html",
    ReportFormat.GITHUB: "raceproof.report.github",
}


class Writer(Protocol):
    """What the module of a format offers."""

    def write(
        self, verdict: Verdict, program: Program, options: Options, stream: TextIO
    ) -> None: ...


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    """Write the verdict in the format that the options name."""
    writer: Writer = importlib.import_module(_WRITERS[options.format])
    writer.write(verdict, program, options, stream)
