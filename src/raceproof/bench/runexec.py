"""The better cage: BenchExec's `runexec`, where it is installed and may use control groups.

The kernel counts there, for all processes of a command together and without missing those that end
between two looks. `cage_here` finds out once, by caging `true`, whether that works on this machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from math import ceil
from pathlib import Path

from raceproof.bench.cage import Ended, Limits, run_caged

Cage = Callable[[Sequence[str], Limits], Ended]

_REASONS = {"cputime": "cpu", "cputime-soft": "cpu", "walltime": "wall", "memory": "memory"}
_MIB = 1 << 20


@cache
def cage_here() -> Cage:
    """The best cage that this machine offers."""
    tool = find_runexec()
    if tool is None:
        return run_caged
    try:
        tried = run_in_groups(["true"], Limits(5, 5, 100), tool)
    except (OSError, ValueError, subprocess.SubprocessError):
        return run_caged
    return _in_groups_or_watched if tried.code == 0 and not tried.broken else run_caged


def _in_groups_or_watched(command: Sequence[str], limits: Limits) -> Ended:
    try:
        return run_in_groups(command, limits)
    except ValueError:
        return run_caged(command, limits)


def find_runexec() -> str | None:
    """Beside this Python, or on the path."""
    beside = os.path.dirname(sys.executable)
    return shutil.which("runexec", path=beside) or shutil.which("runexec")


def run_in_groups(command: Sequence[str], limits: Limits, tool: str | None = None) -> Ended:
    """Run the command to its end, or to that of its limits (in whole seconds).

    Raises `ValueError` if runexec fails.
    """
    tool = tool or find_runexec()
    if tool is None:
        raise ValueError("runexec is not installed")
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        done = subprocess.run(
            [
                tool, "--quiet", "--no-container", "--output", str(Path(folder, "log")),
                "--timelimit", str(ceil(limits.cpu)), "--walltimelimit", str(ceil(limits.wall)),
                "--memlimit", str(limits.memory * _MIB), "--",
                "/bin/sh", "-c", 'exec >"$0" 2>"$1"; shift; exec "$@"', str(output), str(errors),
                *command,
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        if "cputime" not in said:
            raise ValueError(f"runexec: {done.stderr.strip() or 'no result'}")
        return Ended(
            _exit_code(said),
            _text(output),
            _text(errors),
            _number(said["cputime"]),
            _number(said["walltime"]),
            int(_number(said.get("memory", "0")) // _MIB),
            _REASONS.get(said.get("terminationreason", ""), ""),
        )


def _exit_code(said: dict[str, str]) -> int:
    if "exitsignal" in said:
        return -int(said["exitsignal"])
    return int(said.get("returnvalue", "0"))


def _number(text: str) -> float:
    return float(text.rstrip("sB"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
