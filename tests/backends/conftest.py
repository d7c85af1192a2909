"""Small programs, compiled from a string."""

from collections.abc import Callable
from pathlib import Path

import pytest

from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options

Compile = Callable[[str], Program]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """The program of a C text."""

    def compile_(text: str) -> Program:
        file = tmp_path / "program.c"
        file.write_text(text, encoding="utf-8")
        return load_program([file], Options())

    return compile_
