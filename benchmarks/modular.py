"""How long the `modular` engine takes on programs of yours, and which backend answered.

Every `main.c` (or other C file) below a folder is one program; files can be named, too. Each is
checked with `raceproof check --engine modular`, in a process of its own, one after the other. One
line for each program, as tab-separated values: seconds, mebibytes, exit code, verdict, findings,
lines of code, seconds for 1,000 lines, and how the answer came about: by `value`, by `value` in its
coarse way, by `alias`, or by nobody. Ends with exit code 1 if a program takes more than the limits.
"""

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from raceproof.options import DataModel

SECONDS = 115.0
GIBIBYTES = 4.0
GRACE = 5.0
"""Seconds above the limit to start, to compile and to report."""


def programs(paths: list[Path]) -> list[Path]:
    """Files as they are; of a folder `main.c` of each part, or all C files if there is none."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(path.glob("*/main.c")) or sorted(path.rglob("*.[ci]"))
        else:
            found.append(path)
    return found


def answered_by(report: dict[str, object]) -> str:
    """Which backend the verdict stands on, as the notices say."""
    text = json.dumps(report)
    if "so did `alias`" in text:
        return "nobody"
    if "the answer is that of backend `alias`" in text:
        return "alias"
    return "value, coarse" if "told calls and loop rounds apart no more" in text else "value"


def measure(tool: str, path: Path, arguments: argparse.Namespace) -> bool:
    """Prints the line of one program; is it within the limits?"""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "report.json"
        command = [tool, "check", "-q", "--engine", "modular", "--format", "json"]
        command += ["-o", str(output), "--data-model", str(arguments.data_model)]
        command += ["--timeout", str(arguments.timeout), "--memory", str(arguments.memory)]
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        report = json.loads(output.read_text()) if output.exists() else {}
    lines = len(path.read_text(errors="replace").splitlines())
    mebibytes = usage.ru_maxrss / 1024
    row = (
        path.parent.name if path.name == "main.c" else path.stem,
        f"{seconds:.1f}",
        f"{usage.ru_utime:.1f}",
        f"{mebibytes:.0f}",
        process.returncode,
        report.get("verdict", "none"),
        len(report.get("findings", ())),
        lines,
        f"{seconds / max(1, lines) * 1000:.2f}",
        answered_by(report) if report else "nobody",
    )
    print("\t".join(map(str, row)), flush=True)
    return bool(seconds <= arguments.timeout + GRACE and mebibytes <= arguments.memory * 1024)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--data-model", choices=[*DataModel], default=DataModel.LP64)
    parser.add_argument("--timeout", type=float, default=SECONDS, help=f"default: {SECONDS:g}")
    parser.add_argument("--memory", type=float, default=GIBIBYTES, help=f"default: {GIBIBYTES:g}")
    arguments = parser.parse_args()
    tool = str(Path(sysconfig.get_path("scripts")) / "raceproof")
    print("program\twall\tcpu\tMiB\texit\tverdict\tfindings\tlines\ts/1000 lines\tanswered by")
    within = [measure(tool, path, arguments) for path in programs(arguments.paths)]
    print(
        f"{sum(within)} of {len(within)} within {arguments.timeout:g} s, {arguments.memory:g} GiB"
    )
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
