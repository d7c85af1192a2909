"""What a second `raceproof scan` costs, compared with the first.

    python benchmarks/scan_again.py FOLDER [--only GLOB] [--changed N] [--cpu]

Every folder in FOLDER that holds C files is a project of its own. Each is scanned with an empty
cache and again with nothing changed; the N largest (by lines) once more after the body of one
function in the middle of them was changed. Ends with exit code 1 if nothing changed costs more
than its limit over all, or a changed body more than its limit in the largest. Projects that do not
compile are left out.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path

UNCHANGED = 1 / 10
CHANGED = 1 / 4
_BODY = re.compile(r"^(?:\{|[A-Za-z_].*\)\s*\{)[ \t]*$", re.M)


class Runner:
    """Runs scans as an installed tool would run: with compiled modules."""

    def __init__(self, scratch: Path, jobs: int | None, in_cpu_time: bool) -> None:
        self._words = ["--jobs", str(jobs)] if jobs else []
        self._in_cpu_time = in_cpu_time
        self._environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(scratch / "modules")}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        first = scratch / "first"
        first.mkdir()
        (first / "main.c").write_text("int main(void)\n{\n    return 0;\n}\n")
        self.scan(first)
        change_one(first)
        self.scan(first)

    def scan(self, folder: Path) -> float | None:
        """Seconds of one run, whose cache is in the folder; None if it could not do its work."""
        words = ["scan", str(folder), "-q", "-o", str(folder / "report.txt"), *self._words]
        start = self._now()
        done = subprocess.run(
            [sys.executable, "-m", "raceproof", *words],
            check=False,
            capture_output=True,
            text=True,
            env=self._environment,
        )
        if done.returncode not in (0, 1):
            reason = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            print(f"{folder.name}: {reason[0][:120]}", file=sys.stderr)
            return None
        return self._now() - start

    def _now(self) -> float:
        if not self._in_cpu_time:
            return time.perf_counter()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


def lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.c"))


def change_one(folder: Path) -> None:
    """A new statement in the function that is in the middle of the largest file."""
    path = max(folder.rglob("*.c"), key=lambda file: file.stat().st_size)
    text = path.read_text("utf-8", "surrogateescape")
    bodies = list(_BODY.finditer(text))
    at = bodies[len(bodies) // 2].end()
    text = text[:at] + "\n static int visits; visits++;" + text[at:]
    path.write_text(text, "utf-8", "surrogateescape")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--changed", type=int, default=5, metavar="N")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--cpu", action="store_true", help="CPU time, for a busy machine")
    arguments = parser.parse_args()
    found = sorted({path.parent for path in arguments.folder.rglob("*.c")}, key=lines)
    projects = [path for path in found if fnmatch(path.name, arguments.only)]
    first = second = 0.0
    ratios: list[float] = []
    print("project                      |  first s | second s | changed s | ratio")
    with tempfile.TemporaryDirectory(prefix="raceproof-again-") as scratch:
        runner = Runner(Path(scratch), arguments.jobs, arguments.cpu)
        for number, original in enumerate(projects):
            copy = Path(scratch) / str(number) / original.name
            shutil.copytree(original, copy)
            cold, warm = runner.scan(copy), runner.scan(copy)
            if cold is None or warm is None:
                continue
            first, second = first + cold, second + warm
            shown = f"{original.name:<28} | {cold:>8.2f} | {warm:>8.2f}"
            if number >= len(projects) - arguments.changed:
                change_one(copy)
                changed = runner.scan(copy) or 0.0
                ratios.append(changed / cold)
                shown += f" | {changed:>9.2f} | {ratios[-1]:.3f}"
            print(shown, flush=True)
    if not ratios:
        print("nothing was measured", file=sys.stderr)
        return 2
    print(f"all: {first:.1f} s, again {second:.1f} s: {second / first:.3f} (limit {UNCHANGED})")
    print(f"largest, one body changed: {ratios[-1]:.3f} (limit {CHANGED})")
    return int(second > first * UNCHANGED or ratios[-1] > CHANGED)


if __name__ == "__main__":
    raise SystemExit(main())
