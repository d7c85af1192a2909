"""The layers in their order, and how they share the time."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.options import Options, Strategy
from raceproof.pipeline.registry import is_installed

DEFAULT_TIMEOUT = 300.0
"""Seconds for one program, if the user names no limit."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One engine's turn. It may use `share` of the time that is left when its turn comes."""

    engine: str
    share: float
    is_sound: bool = False
    """What it does not name cannot race."""


_AUTO = (
    Layer("modular", 0.5, is_sound=True),
    Layer("interleave", 0.5),
    Layer("bounded", 1.0),
)


def layers(options: Options) -> tuple[Layer, ...]:
    """Who is asked, in this order."""
    if options.engine != "auto":
        return (Layer(options.engine, 1.0, is_sound=_misses_nothing(options.engine, options)),)
    return tuple(
        Layer(layer.engine, layer.share, layer.is_sound and _misses_nothing(layer.engine, options))
        for layer in _AUTO
        if is_installed(layer.engine)
    )


def _misses_nothing(engine: str, options: Options) -> bool:
    return engine == "modular" and options.strategy is not Strategy.UNDER
