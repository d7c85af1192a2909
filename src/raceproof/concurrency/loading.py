"""A program as the engines take it: compiled, linked, and with the calls that libraries make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.options import Options

if TYPE_CHECKING:
    from raceproof.ir import Program


def load_program(files: Sequence[Path], options: Options) -> Program:
    """The program that these files, or the build database, make, with its callbacks."""
    from raceproof import frontend
    from raceproof.concurrency.callbacks import with_callbacks
    from raceproof.concurrency.catalogue import Models

    program = frontend.load_program(files, options)
    return with_callbacks(program, Models.load(options.models), options.callbacks)
