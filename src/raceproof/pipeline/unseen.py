"""Code of the project that no engine has looked at: a proof must not rest on it.

    #include "queue.h"                    // declares push(), which queue.c defines
    void *worker(void *x) { push(x); }    // and queue.c is not among the files

A function without a body and without a model is taken to touch nothing shared. That is a fair
assumption about a function of the system, and none about one of the project: what is declared in a
header of the project, and in none of the system, is part of the program. For a build everything is
that no header of the system declares; for files that a person named, a function that they declare
themselves (`extern void hook(void);`) may be anybody's and stays an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from raceproof.concurrency import Models
from raceproof.ir import Origin, Program

_WORD = re.compile(r"[A-Za-z_]\w*")
_RUNTIME = re.compile(r"_Z(N|NK)?(St|9__gnu_cxx)|__cxa_|_Zn[wa]|_Zd[la]|_Unwind_|__gxx_|llvm\.")
_PART = re.compile(r"(\d+)([A-Za-z_]\w*)")
_PREPROCESSED = (".i", ".ii", ".ll", ".bc")
_MOST_SHOWN = 6


def unseen_code(program: Program, models: Models) -> tuple[str, ...]:
    """What is missing, as phrases; nothing if all of the project was looked at."""
    origin = program.origin
    missing = [
        function.name
        for function in program.functions.values()
        if not function.is_defined
        and not _RUNTIME.match(function.name)
        and models.lookup(function.name) is None
    ]
    names = list(_of_project(missing, origin)) if missing and origin.headers else []
    phrases = list(origin.left_out)
    if names:
        more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
        shown = ", ".join(f"`{name}`" for name in names[:_MOST_SHOWN])
        phrases.append(
            f"functions of the project that no file of the program defines: {shown}{more}"
        )
    return tuple(phrases)


def _of_project(names: Iterable[str], origin: Origin) -> Iterator[str]:
    files = [file for file in origin.headers if not file.endswith(_PREPROCESSED)]
    if not origin.is_build:
        files = [file for file in files if Path(file).suffix.startswith(".h")]
    own = _words(files)
    system = _words(origin.system_headers)
    for name in names:
        word = _identifier(name)
        if word in own and word not in system and word.rstrip("fl") not in system:
            yield word


def _identifier(name: str) -> str:
    """`push` of `_ZN5queue4pushEi`."""
    if not name.startswith("_Z"):
        return name
    rest = name
    found = name
    while part := _PART.search(rest):
        length = int(part[1])
        found = part[2][:length]
        rest = part[2][length:]
        if rest[:1] in ("E", "v", "i") or not rest[:1].isdigit():
            break
    return found


def _words(files: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for file in files:
        try:
            found.update(_WORD.findall(Path(file).read_text("utf-8", "replace")))
        except OSError:
            continue
    return found
