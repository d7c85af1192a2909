"""Program models of small texts, for tests."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, TypeVar

from raceproof.frontend import load_program
from raceproof.ir import Function, Instruction, Program
from raceproof.options import Options

Kind = TypeVar("Kind", bound=Instruction)


def lower(text: str, suffix: str = ".c", **options: Any) -> Program:
    """The model of one file; `main` is added if the text has none."""
    if " main(" not in text and "define" not in text:
        text += "\nint main(void) { return 0; }\n"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"text{suffix}"
        source.write_text(text)
        return load_program([source], Options(**options))


def function(program: Program, name: str) -> Function:
    """By the name that the source gives it."""
    return next(f for f in program.defined if f.display == name)


def kinds(text: str, suffix: str = ".c", name: str = "f") -> list[type[Instruction]]:
    """The classes of the instructions of one function, in order."""
    return [type(i) for i in function(lower(text, suffix), name).instructions]


def the(kind: type[Kind], text: str, suffix: str = ".c") -> Kind:
    """The only instruction of this class in function `f`."""
    found = [i for i in function(lower(text, suffix), "f").instructions if isinstance(i, kind)]
    assert len(found) == 1, found
    return found[0]
