"""What the reasons may ask about the program."""

from __future__ import annotations

from functools import cached_property

from raceproof.analysis.backend import Analysed
from raceproof.analysis.escape import escaped_bases
from raceproof.concurrency.events import BarrierWait, ConditionWait, SemaphoreWait
from raceproof.ir import Call

_HANDSHAKES = (BarrierWait, ConditionWait, SemaphoreWait)


class Facts:
    def __init__(self, analysis: Analysed) -> None:
        self.analysis = analysis
        self.objects = analysis.objects
        self.threads = analysis.threads
        self.escaped = escaped_bases(analysis)

    @cached_property
    def has_handshakes(self) -> bool:
        """Do threads wait for each other by more than locks and joins? Then an order that the
        analysis does not see may keep two accesses apart."""
        events = self.analysis.events
        return any(
            isinstance(instruction, Call) and isinstance(events.of(instruction), _HANDSHAKES)
            for _, instruction in self.analysis.program.all_instructions()
        )
