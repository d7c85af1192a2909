"""One line on the terminal that tells what is at work, and for how long: compiling, points-to sets,
the engines.

An alarm of the operating system redraws it, for engines fork and so must not meet threads.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from raceproof.options import Options

_CLEAR = "\r\x1b[K"
_TICK = 1.0


@contextmanager
def shown_progress(options: Options) -> Iterator[Callable[[str, float], None] | None]:
    """What to tell the progress to; None where there is no terminal."""
    if options.verbosity < 0 or not sys.stderr.isatty():
        yield None
        return
    line = _Line()

    def show(what: str, seconds: float) -> None:
        line.show(what, seconds)
        signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)

    before = signal.signal(signal.SIGALRM, line.redraw)
    try:
        yield show
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        line.clear()


class _Line:
    def __init__(self) -> None:
        self._what = ""
        self._since = time.monotonic()

    def show(self, what: str, seconds: float) -> None:
        self._what = what
        self._since = time.monotonic() - seconds
        self.redraw()

    def redraw(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        seconds = time.monotonic() - self._since
        width = shutil.get_terminal_size().columns - 1
        _put(_CLEAR + f"{self._what} ... {seconds:.0f} s"[:width])

    def clear(self) -> None:
        _put(_CLEAR)


def _put(text: str) -> None:
    """Past the buffers of Python: a signal may come while these are in use."""
    try:
        os.write(sys.stderr.fileno(), text.encode())
    except OSError:
        return  # the terminal has gone away
