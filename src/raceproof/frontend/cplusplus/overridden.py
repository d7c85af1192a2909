"""Which functions mean what their models say, whatever their bodies do.

Only names are read here; what the models mean is for those who analyse the program.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from fnmatch import translate
from pathlib import Path

_MODELS = Path(__file__).parents[2] / "concurrency" / "models" / "cxx.toml"


def overridden(users: Sequence[Path]) -> Callable[[str], bool]:
    """A test for the names of functions with a model that insists, ours or the user's."""
    patterns = [name for path in (_MODELS, *users) for name in _names(path, path != _MODELS)]
    any_of_them = re.compile("|".join(map(translate, patterns)))
    return lambda name: any_of_them.match(name) is not None


def _names(path: Path, is_users: bool) -> list[str]:
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("function", [])
    chosen = [table for table in tables if table.get("override", is_users)]
    return [
        name for table in chosen for name in (table.get("names") or [table.get("name", "")]) if name
    ]
