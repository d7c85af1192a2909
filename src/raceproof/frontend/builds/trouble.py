"""What went wrong with many files, in few lines: a missing header once, with its package."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_MISSING = re.compile(r"'([^'\n]+)' file not found")
_FILE = re.compile(r"^(.*?): does not compile\n")
_MOST_SHOWN = 8
_PACKAGES = Path(__file__).parent / "packages.toml"


def grouped_troubles(troubles: Sequence[str]) -> list[str]:
    """One line for each missing header, and one for each other file."""
    headers: dict[str, list[str]] = {}
    lines = []
    for trouble in troubles:
        missing = _MISSING.search(trouble)
        file = _FILE.match(trouble)
        if missing and file:
            headers.setdefault(missing[1], []).append(file[1])
        else:
            lines.append(one_line(trouble))
    named = [
        f"the header {header} is missing ({_files(files)}): {remedy(header)}"
        for header, files in headers.items()
    ]
    if len(lines) > _MOST_SHOWN:
        lines = [*lines[:_MOST_SHOWN], f"and {len(lines) - _MOST_SHOWN} more files that failed"]
    return [*named, *lines]


def _files(files: list[str]) -> str:
    return files[0] if len(files) == 1 else f"{len(files)} files, the first is {files[0]}"


def one_line(trouble: str) -> str:
    """The compiler's first complaint, behind what it is about."""
    head, _, rest = trouble.partition("\n")
    error = next((line for line in rest.splitlines() if "error:" in line), "")
    return f"{head}: {error.strip()}" if error else head


def remedy(header: str) -> str:
    """Which package has a header, or what to do if that is unknown."""
    known = _packages()
    package = known.get(header) or known.get(header.partition("/")[0] + "/")
    if package:
        return f"install {package} (Debian's name), or name its folder with -I"
    return (
        "install the package that has it, or name its folder with -I; "
        "if the build makes it, build first"
    )


def told_of(files: Sequence[str], notice: str) -> str:
    """`a.cc: ...`, `a.cc and 3 other files: ...`."""
    more = len(files) - 1
    others = f" and {more} other file{'s' if more > 1 else ''}" if more else ""
    return f"{files[0]}{others}: {notice}"


@cache
def _packages() -> dict[str, str]:
    content = tomllib.loads(_PACKAGES.read_text("utf-8"))
    return {str(h): str(package) for package, headers in content.items() for h in headers}
