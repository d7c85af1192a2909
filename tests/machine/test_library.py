"""Computed library functions do what the native ones do: results, bytes written, `errno`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raceproof.options import DataModel, Options
from tests.machine.calls import TEMPLATES, program
from tests.machine.native import ON_X86, compile_native, run_native, run_on_machine

pytestmark = ON_X86

EXPLORES = "RACEPROOF_EXPLORE" in os.environ


def differences(source: str, folder: Path) -> list[tuple[str, str]]:
    """Lines that the native program prints, with what ours prints instead."""
    path, binary = folder / "calls.c", folder / "calls"
    path.write_text(source)
    compile_native(path, binary, DataModel.LP64)
    native = run_native(binary)
    ours = run_on_machine(path, Options(), most_steps=10_000_000)
    assert ours.code == native.code == 0, ours.why
    lines = [output.decode("latin-1").splitlines() for output in (native.output, ours.output)]
    assert len(lines[0]) == len(lines[1])
    return [(a, b) for a, b in zip(*lines, strict=True) if a != b]


def test_all_functions_with_a_few_arguments(tmp_path: Path) -> None:
    assert differences(program(seed=1, count=4), tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(not EXPLORES, reason="only with RACEPROOF_EXPLORE=1")
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("group", TEMPLATES)
def test_many_arguments(group: str, seed: int, tmp_path: Path) -> None:
    assert differences(program(seed=seed, count=40, group=group), tmp_path) == []
