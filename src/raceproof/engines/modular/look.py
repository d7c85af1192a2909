"""A look at a program without a verdict: its threads, locks and accesses, for people who ask."""

from __future__ import annotations

import time
from dataclasses import dataclass

from raceproof.analysis.backend import Analysed
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.concurrency.catalogue import Models
from raceproof.engines.modular.cheap import walked
from raceproof.engines.modular.detect import BaseReport, detect
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.options import BackendChoice, Options

_DEFAULT_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Look:
    analysis: Analysed
    reports: list[BaseReport]
    """Every object that more than one thread accesses."""
    notices: tuple[str, ...] = ()


def look(program: Program, options: Options) -> Look:
    """By the user's backend; by `alias` if `value` is out of time or memory."""
    models = Models.load(options.models)
    seconds = options.timeout or _DEFAULT_TIMEOUT
    end = time.monotonic() + seconds
    notices: tuple[str, ...] = ()
    choice = options.backend
    try:
        if choice is BackendChoice.VALUE:
            try:
                half = end - seconds / 2
                analysis = Analysis(
                    program,
                    models,
                    unroll=options.unroll,
                    context_depth=options.context_depth,
                    deadline=half,
                )
                analysis.run()
                return Look(analysis, detect(analysis, half))
            except (OutOfBudget, MemoryError):
                choice = BackendChoice.ALIAS
                notices = ("backend `value` ran out of time or memory, `alias` answers",)
        walk = walked(program, models, choice, options.latest_calls, end)
        return Look(walk, detect(walk, end), notices)
    except (OutOfBudget, MemoryError):
        raise UserError(
            f"not done within {seconds:.0f} s: give more time (--timeout) or a cheaper backend "
            "(--backend alias, or syntactic)"
        ) from None
