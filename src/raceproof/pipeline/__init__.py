"""Which engine next, with what budget: from a program to one verdict.

Cheap layers first; a layer sees only the candidates that the layers before it left open. Engines
run in worker processes, so that a crash, a blow-up or an endless loop of one never loses what the
others found out.
"""

from raceproof.pipeline.conduct import Progress, check, has_failed, refine, was_interrupted
from raceproof.pipeline.registry import ENGINES, known_engines

__all__ = [
    "ENGINES",
    "Progress",
    "check",
    "has_failed",
    "known_engines",
    "refine",
    "was_interrupted",
]
