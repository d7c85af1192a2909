"""Running the command line as a user does: in a process of its own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Raceproof = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def raceproof(tmp_path: Path) -> Raceproof:
    """Runs ``raceproof WORDS...`` in an empty folder."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "raceproof", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
