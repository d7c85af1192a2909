"""A bar on the terminal while a project is scanned. Without threads: the scan forks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from raceproof.options import Options

_INTERVAL = 0.1


@contextmanager
def shown_bar(options: Options) -> Iterator[Callable[[str, int, int], None]]:
    """What to tell the progress to; says nothing where there is no terminal."""
    if options.verbosity < 0 or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description:>18}"), BarColumn(), MofNCompleteColumn())
    console = Console(file=sys.stderr)
    bar = Progress(*columns, console=console, auto_refresh=False, transient=True)
    task = bar.add_task("", total=None)
    shown_at = 0.0

    def show(what: str, done: int, total: int) -> None:
        nonlocal shown_at
        bar.update(task, description=what, completed=done, total=total or None)
        if time.monotonic() - shown_at > _INTERVAL:
            bar.refresh()
            shown_at = time.monotonic()

    with bar:
        yield show
