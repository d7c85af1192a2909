"""What the reasons may ask about the program."""

from __future__ import annotations

from raceproof.analysis.backend import Analysed
from raceproof.analysis.escape import escaped_bases


class Facts:
    def __init__(self, analysis: Analysed) -> None:
        self.analysis = analysis
        self.objects = analysis.objects
        self.threads = analysis.threads
        self.escaped = escaped_bases(analysis)
