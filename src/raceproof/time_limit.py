"""A limit on the time of work that has no clock of its own, by an alarm of the operating system.

Compiling and linking a program, or the summaries of one program of a scan: the work is ended from
outside, and what it knows so far is not an answer.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_TICK = 0.5


class TimeIsUp(BaseException):
    """Not an `Exception`: only the code that set the alarm may catch it."""


@contextmanager
def time_limit(
    seconds: float | None, tick: Callable[[float], None] | None = None
) -> Iterator[None]:
    """Raises `TimeIsUp` inside after the time; None, or outside of the main thread: no limit.

    `tick` is told the seconds so far, twice a second, for people who wait.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or (seconds is None and tick is None):
        yield
        return
    started = time.monotonic()

    def ring(_number: int, _frame: FrameType | None) -> None:
        passed = time.monotonic() - started
        if seconds is not None and passed >= seconds:
            raise TimeIsUp
        if tick is not None:
            tick(passed)

    first = _TICK if seconds is None else max(seconds, 0.001)
    before = signal.signal(signal.SIGALRM, ring)
    if tick is None:
        signal.setitimer(signal.ITIMER_REAL, first)
    else:
        signal.setitimer(signal.ITIMER_REAL, min(_TICK, first), _TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
