"""`std::thread` of libstdc++: the object that a thread runs is the thread's own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from raceproof import api
from raceproof.frontend.system_clang import llvm_version
from raceproof.options import Options
from raceproof.verdict import Confidence

PROGRAMS = Path(__file__).parents[1] / "programs" / "cpp"
CLANG = shutil.which(f"clang-{llvm_version()}")


@pytest.mark.skipif(CLANG is None, reason="no system Clang of our version")
@pytest.mark.parametrize("name", ["02-no-guard", "04-lambda-by-reference"])
def test_only_the_programs_own_race_is_found(name: str) -> None:
    verdict = api.check(
        [PROGRAMS / f"{name}.cpp"], Options(clang=Path(str(CLANG)), timeout=60, stop_at_first=False)
    )
    sure = [f for f in verdict.findings if f.confidence is Confidence.CONFIRMED]
    (finding,) = sure
    for access in finding.accesses:
        assert access.position is not None
        assert Path(access.position.file).name == f"{name}.cpp"
