"""Engine `bounded`: lazy sequentialization with a race monitor, by bounded model checking.

    pairs       one pair of accesses at a time, without any bounds (proves, where that is enough)
    unfold      loops unrolled, calls inlined, threads cloned: a list of guarded events per thread
    waiting     loop iterations that need no unrolling, such as those of a spin lock
    rounds      the schedules with a few rounds of context switches, as one formula (finds races)
    order       all schedules, as one formula (proves that there are none)
    influence   which values such a formula needs at all
    monitor     two threads before accesses to the same byte
    schedule    a satisfying assignment becomes a schedule, and is replayed on the machine

After Fischer, Garbi, La Torre, Parlato and Schrammel, *Static Data Race Detection via Lazy
Sequentialization*.
"""

from raceproof.engines.bounded.engine import ENGINE, BoundedEngine

__all__ = ["ENGINE", "BoundedEngine"]
