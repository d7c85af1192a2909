"""The table of engines. Only an engine that is asked is imported."""

from __future__ import annotations

import importlib
import importlib.util

from raceproof.engines.question import Engine
from raceproof.errors import UserError, did_you_mean

ENGINES = {
    "modular": "raceproof.engines.modular:ENGINE",
    "summary": "raceproof.engines.summary:SummaryEngine",
    "interleave": "raceproof.engines.interleave:ENGINE",
    "pairwise": "raceproof.engines.pairwise:ENGINE",
    "bounded": "raceproof.engines.bounded:ENGINE",
}
"""Name -> module and attribute: an engine, or a class that makes one."""


def is_installed(name: str) -> bool:
    """Whether the engine's package is there; imports nothing of it."""
    module, _, _ = ENGINES[name].partition(":")
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.origin is not None


def known_engines() -> tuple[str, ...]:
    return tuple(name for name in ENGINES if is_installed(name))


def load_engine(name: str) -> Engine:
    """The engine of this name; a name that no engine has is the user's mistake."""
    if name not in ENGINES or not is_installed(name):
        known = ("auto", *known_engines())
        hint = did_you_mean(name, known)
        raise UserError(f"no engine {name!r}: choose one of {', '.join(known)}{hint}")
    module, _, attribute = ENGINES[name].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    engine: Engine = found() if isinstance(found, type) else found
    return engine
