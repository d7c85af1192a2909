"""What the engine is doing, for someone who waits at a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from raceproof.options import Options


class Progress:
    """A line on standard error that names the current bounds; nothing if it is no terminal."""

    def __init__(self, options: Options) -> None:
        self._is_shown = options.verbosity >= 0 and sys.stderr.isatty()
        self._status: Any = None

    def __enter__(self) -> Progress:
        if self._is_shown:
            from rich.console import Console

            self._status = Console(stderr=True).status("bounded: starting")
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, what: str) -> None:
        if self._status is not None:
            self._status.update(f"bounded: {what}")
