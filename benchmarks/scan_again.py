"""What a second `raceproof scan` costs, compared with the first.

    python benchmarks/scan_again.py FOLDER [--only GLOB]

Every folder in FOLDER that holds C files is a project of its own. Each is scanned with an empty
cache and again with nothing changed; the largest once more after the body of one function in the
middle of it was changed. Ends with exit code 1 if a ratio is above its limit.
"""

from __future__ import annotations

import argparse
import re
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


def scan(folder: Path, jobs: int | None) -> float:
    """Wall time of one run; its cache is in the folder."""
    words = ["scan", str(folder), "-q", "-o", str(folder / "report.txt")]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "raceproof", *words, *(["--jobs", str(jobs)] if jobs else [])],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        print(f"{folder.name}: {done.stderr.strip()[:200] or done.returncode}", file=sys.stderr)
    return time.perf_counter() - start


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.c"))


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
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    found = sorted({path.parent for path in arguments.folder.rglob("*.c")}, key=size)
    names = [path for path in found if fnmatch(path.name, arguments.only)]
    first = second = 0.0
    ratio = 0.0
    print("project                      |  first s | second s | changed s")
    with tempfile.TemporaryDirectory(prefix="raceproof-again-") as scratch:
        for number, original in enumerate(names):
            copy = Path(scratch) / str(number) / original.name
            shutil.copytree(original, copy)
            times = [scan(copy, arguments.jobs), scan(copy, arguments.jobs)]
            first, second = first + times[0], second + times[1]
            if original is names[-1]:
                change_one(copy)
                times.append(scan(copy, arguments.jobs))
                ratio = times[2] / times[0]
            shown = " | ".join(f"{seconds:>8.2f}" for seconds in times)
            print(f"{original.name:<28} | {shown}", flush=True)
    print(f"all: {first:.1f} s, again {second:.1f} s: {second / first:.3f} (limit {UNCHANGED})")
    print(f"largest, one body changed: {ratio:.3f} (limit {CHANGED})")
    return int(second > first * UNCHANGED or ratio > CHANGED)


if __name__ == "__main__":
    raise SystemExit(main())
