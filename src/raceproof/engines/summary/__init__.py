"""Engine `summary`: compositional function summaries, for whole code bases.

After DarC (chapter 3), with its weaknesses mended. The way of the data, one module each:

    extract    a function's instructions become an outline of its relevant events
    compose    an outline and the summaries of its callees become a summary
    bottom_up  all summaries, callees first
    contexts   locks and threads of callers come down to what is closed
    memory     where paths lead
    reasons    why two accesses cannot race
    races      findings, ranked
"""

from raceproof.engines.summary.engine import SummaryEngine

__all__ = ["SummaryEngine"]
