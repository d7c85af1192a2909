"""Engine `modular`: thread-modular analysis with under- and over-approximation (RacerF)."""

from raceproof.engines.modular.engine import ENGINE

__all__ = ["ENGINE"]
