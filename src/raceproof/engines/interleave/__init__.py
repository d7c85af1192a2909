"""Engine `interleave`: schedules that can be replayed, and all of them where they are few."""

from raceproof.engines.interleave.engine import Interleave

ENGINE = Interleave()

__all__ = ["ENGINE"]
