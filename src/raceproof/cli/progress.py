"""One line on the terminal that tells which engine is at work. Without threads: engines fork."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from raceproof.options import Options

_CLEAR = "\r\x1b[K"


@contextmanager
def shown_progress(options: Options) -> Iterator[Callable[[str, float], None] | None]:
    """What to tell the pipeline's progress to; None where nobody looks."""
    if options.verbosity < 0 or not sys.stderr.isatty():
        yield None
        return

    def show(engine: str, seconds: float) -> None:
        sys.stderr.write(f"{_CLEAR}{engine} ... {seconds:.0f} s")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()
