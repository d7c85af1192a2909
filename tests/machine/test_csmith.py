"""Random sequential programs of `csmith` print the same checksum on our machine as natively."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from raceproof.options import DataModel, Options
from tests.machine.native import ON_X86, UNFINISHED, compile_native, run_native, run_on_machine

HEADERS = Path("/usr/include/csmith")
SIZE = {
    "--max-funcs": "3",
    "--max-block-depth": "3",
    "--max-expr-complexity": "5",
    "--max-array-dim": "2",
    "--max-array-len-per-dim": "5",
}
OUT_OF_RANGE = " as an integer of "
"""How the machine ends at a conversion of a number that the type does not have."""
TRAPS = ["-fsanitize=float-cast-overflow", "-fsanitize-trap=float-cast-overflow"]
PROGRAMS = 20
"""In one test; those that run for long are left out."""

pytestmark = [
    ON_X86,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("csmith") is None, reason="csmith is not installed"),
    pytest.mark.skipif(not HEADERS.exists(), reason="the headers of csmith are not installed"),
]


def generate(path: Path, seed: int, *words: str) -> None:
    size = [word for pair in SIZE.items() for word in pair]
    command = ["csmith", "--seed", str(seed), *size, *words, "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True, cwd=path.parent)


@pytest.mark.parametrize("number", range(10))
def test_random_programs(number: int, tmp_path: Path) -> None:
    model = DataModel.ILP32 if number % 3 == 2 else DataModel.LP64
    words = ["--float"] if number % 3 == 1 else []
    path, binary = tmp_path / "random.c", tmp_path / "binary"
    options = Options(data_model=model, include_dirs=(HEADERS,))
    compared = 0
    seed = 1000 * number
    while compared < PROGRAMS:
        seed += 1
        generate(path, seed, *words)
        compile_native(path, binary, model, ["-I", str(HEADERS)])
        try:
            expected = run_native(binary, seconds=0.3)
        except subprocess.TimeoutExpired:
            continue
        found = run_on_machine(path, options, most_steps=300)
        if found.why == UNFINISHED:
            continue
        if OUT_OF_RANGE in found.why:  # Csmith converts without a look at the range.
            compile_native(path, binary, model, ["-I", str(HEADERS), *TRAPS])
            assert run_native(binary, seconds=5).code != 0, f"csmith --seed {seed} is defined"
            continue
        assert found == expected, f"csmith --seed {seed} {' '.join(words)} ({model})"
        compared += 1
