"""Property tests try the same examples every time; with RACEPROOF_EXPLORE=1 they try others."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options

settings.register_profile("same", derandomize=True)
if not os.environ.get("RACEPROOF_EXPLORE"):
    settings.load_profile("same")

Compile = Callable[[str], Program]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """The program of a C text."""

    def compile_(text: str) -> Program:
        file = tmp_path / "program.c"
        file.write_text(text, encoding="utf-8")
        return load_program([file], Options())

    return compile_
