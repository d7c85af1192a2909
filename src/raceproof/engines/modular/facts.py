"""What the reasons may ask about the program."""

from __future__ import annotations

from raceproof.analysis.escape import escaped_bases
from raceproof.analysis.thread_modular import Analysis


class Facts:
    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.objects = analysis.objects
        self.threads = analysis.threads
        self.escaped = escaped_bases(analysis)
