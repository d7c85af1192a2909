"""The functions by which a library is entered: those that its public headers declare.

Who uses the library sees its headers; functions that only its own files know are called by its own
files only. Headers in a folder `include` are public; where there is none, all of the project are
but those whose name says that they are not (`queue_internal.h`). A library without headers is
entered by every function that is visible to the linker.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".H"})
_PUBLIC_FOLDERS = frozenset({"include", "includes", "public"})
_PRIVATE = re.compile(r"(internal|private|priv|impl|_p|config|local|common)\.\w+$|^config", re.I)
_DECLARED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def public_headers(files: Iterable[str], root: Path) -> list[str]:
    """Those among the files that were read."""
    inside = os.path.join(os.path.abspath(root), "")
    headers = sorted(
        {f for f in files if os.path.splitext(f)[1] in _HEADERS and f.startswith(inside)}
    )
    shown = [f for f in headers if _PUBLIC_FOLDERS & set(Path(f[len(inside) :]).parts[:-1])]
    return shown or [f for f in headers if not _PRIVATE.search(os.path.basename(f))]


def declared_in(headers: Iterable[str]) -> set[str]:
    """What looks like a declared function."""
    found: set[str] = set()
    for header in headers:
        try:
            found.update(_DECLARED.findall(Path(header).read_text("utf-8", "replace")))
        except OSError:
            continue
    return found
