"""Code of the project that no engine has looked at: a proof must not rest on it.

    #include "queue.h"                    // declares push(), which queue.c defines
    void *worker(void *x) { push(x); }    // and queue.c is not among the files

A function without a body and without a model is taken to touch nothing shared. That is a fair
assumption about a function of the system, and none about one of the project. Whose it is, its
declarations tell (`frontend/declarations.py`), in each unit that leaves it to others:

- In a build it is the project's if a file of the project declares it, or if it is used without any
  declaration. A header of the system that declares the same name changes nothing: the linker takes
  the project's definition where there is one.
- For files that a person named it is the project's if a header of the project declares it. What
  they declare themselves (`extern void hook(void);`) may be another library's and stays an
  assumption.

A model of the user's settles it. A built-in model, or a body that we have for a function of the C
library, is about the library's function: in a build it does not speak of one that the project alone
declares (a `send` of its own).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.concurrency import Models
from raceproof.ir import Origin, Program

if TYPE_CHECKING:
    from raceproof.frontend.declarations import Found

_RUNTIME = re.compile(r"_Z(N|NK)?(St|9__gnu_cxx)|__cxa_|_Zn[wa]|_Zd[la]|_Unwind_|__gxx_|llvm\.")
_MOST_SHOWN = 6


def unseen_code(program: Program, models: Models) -> tuple[str, ...]:
    """What is missing, as phrases; nothing if all of the project was looked at."""
    origin = program.origin
    names = list(_missing(program, models))
    phrases = list(origin.left_out)
    if names:
        more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
        shown = ", ".join(f"`{name}`" for name in names[:_MOST_SHOWN])
        phrases.append(
            f"functions of the project that no file of the program defines: {shown}{more}"
        )
    return tuple(phrases)


def _missing(program: Program, models: Models) -> Iterator[str]:
    origin = program.origin
    lacking = sorted({name for unit in origin.units for name in unit.lacking})
    lacking = [name for name in lacking if not _RUNTIME.match(name) and not models.is_users(name)]
    modelled = {name for name in lacking if _is_modelled(name, program, models)}
    asked = lacking if origin.is_build else [name for name in lacking if name not in modelled]
    asked = [name for name in asked if name in modelled or _has_no_body(name, program)]
    if not asked:
        return
    from raceproof.frontend.declarations import declarations, scoped

    where = declarations(origin.units, asked, origin.system_folders)
    for name in asked:
        if _is_projects(where[name], origin, name in modelled):
            yield "::".join(scoped(name)) or name


def _has_no_body(name: str, program: Program) -> bool:
    function = program.functions.get(name)
    return function is not None and not function.is_defined


def _is_modelled(name: str, program: Program, models: Models) -> bool:
    """Or a body of ours was put in; a unit lacks the function all the same."""
    return models.lookup(name) is not None or not _has_no_body(name, program)


def _is_projects(where: list[Found], origin: Origin, is_modelled: bool) -> bool:
    if not origin.is_build:
        files = (file for found in where for file in found.project)
        return any(Path(file).suffix.startswith(".h") for file in files)
    if is_modelled:
        return any(found.project and not found.system for found in where)
    return any(found.project or (found.is_used and not found.system) for found in where)
