"""How a report names a file: relative to the working directory if it lies below it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def shown(file: str) -> str:
    path = Path(file)
    if not path.is_absolute():
        return path.as_posix()
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def is_relative(file: str) -> bool:
    return not Path(shown(file)).is_absolute()


def uri(file: str) -> str:
    """The file as a URI, or a relative reference to one."""
    name = shown(file)
    return quote(name) if is_relative(file) else Path(name).as_uri()
