"""Programs with their callbacks written in."""

from __future__ import annotations

from raceproof.concurrency import Models
from raceproof.concurrency.callbacks import with_callbacks
from raceproof.ir import Program
from raceproof.options import UnknownCallbacks
from tests.lowering import lower


def lowered(
    text: str,
    callbacks: UnknownCallbacks = UnknownCallbacks.THREAD,
    *,
    is_lowered: bool = True,
) -> Program:
    program = lower(text)
    return with_callbacks(program, Models.load(), callbacks) if is_lowered else program
