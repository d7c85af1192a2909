"""A limit on the time of one program of a scan, by an alarm of the operating system.

The engine of a scan has no clock of its own: its work on one program is ended from outside, and the
others still get their answers. What it knows so far of that program is not a verdict.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeIsUp(BaseException):
    """Not an `Exception`: nobody but who set the alarm may catch it."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raises `TimeIsUp` inside after the time; None, or outside of the main thread: no limit."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
