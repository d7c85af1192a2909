"""How long the front end takes for real programs, compared with Clang alone.

    python benchmarks/lowering.py FILE... [--data-model ilp32]

For each file: `zig clang -O0 -g -emit-llvm` to a file, then our whole way from the source to the
program model (a new process each, nothing printed), in turn. Ends with exit code 1 if the ratio of
the totals is above the limit. Files that Clang rejects are named and left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from raceproof.frontend.toolchain import Toolchain
from raceproof.options import DataModel, Options

LIMIT = 6.0
LOWER = """
import sys
from pathlib import Path
from raceproof.frontend import compile_all
from raceproof.frontend.compiler import Source
from raceproof.frontend.link import link_modules
from raceproof.frontend.lower_module import lower_module
from raceproof.options import DataModel, Options
names = sys.argv[1:2]
texts = compile_all([Source(Path(names[0]))], Options(data_model=DataModel(sys.argv[2])))
lower_module(link_modules(texts, names), names, "main")
"""
"""Libraries without `main` count, too."""


def seconds(command: list[str]) -> float | None:
    """Wall time of one run; None if it failed."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True)
    return time.perf_counter() - start if done.returncode == 0 else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--data-model", type=DataModel, default=DataModel.LP64)
    arguments = parser.parse_args()
    toolchain = Toolchain(Options(data_model=arguments.data_model))

    ours = theirs = 0.0
    count = 0
    print(f"{'file':<40}{'clang':>10}{'raceproof':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for file in arguments.files:
            target = str(Path(folder) / "out.bc")
            clang = seconds(
                [*toolchain.command, *toolchain.flags(False), "-c", "-emit-llvm", str(file), "-o",
                 target]
            )  # fmt: skip
            lowered = seconds([sys.executable, "-c", LOWER, str(file), arguments.data_model.value])
            name = str(Path(*file.parts[-2:]))
            if clang is None or lowered is None:
                print(f"{name:<40}{'rejected by ' + ('clang' if clang is None else 'us'):>30}")
                continue
            ours, theirs, count = ours + lowered, theirs + clang, count + 1
            print(f"{name:<40}{clang:>8.2f} s{lowered:>10.2f} s{lowered / clang:>8.2f}")
    if not count:
        return 1
    ratio = ours / theirs
    print(f"{f'all {count}':<40}{theirs:>8.2f} s{ours:>10.2f} s{ratio:>8.2f}")
    print(f"at most {LIMIT:g} allowed: {'ok' if ratio <= LIMIT else 'too slow'}")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
