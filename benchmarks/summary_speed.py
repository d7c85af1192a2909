"""How long the `summary` engine takes on a folder of programs, compared with compiling them.

Every `main.c` (or other C file) below the folder is one program. It is compiled with
`zig clang -O0 -g -c` and checked with `raceproof check --engine summary`, in turn, so that a busy
moment of the machine hits both. Ends with exit code 1 if the ratio of the sums is above the limit,
or if one program takes too long or too much memory. Programs that Clang rejects are left out.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from raceproof.frontend.toolchain import Toolchain
from raceproof.options import DataModel, Options

LIMIT = 25.0
SECONDS = 60.0
MEBIBYTES = 2048.0


@dataclass(frozen=True, slots=True)
class Run:
    """One process: wall time, largest memory, how it ended."""

    seconds: float
    mebibytes: float
    code: int


def run(command: list[str]) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(time.perf_counter() - start, usage.ru_maxrss / 1024, process.returncode)


def programs(folder: Path) -> list[Path]:
    """The file `main.c` of each folder, or all C files if there is none."""
    return sorted(folder.glob("*/main.c")) or sorted(folder.rglob("*.[ci]"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-model", choices=[*DataModel], default=DataModel.LP64)
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"default: {LIMIT:g}")
    arguments = parser.parse_args()

    toolchain = Toolchain(Options(data_model=DataModel(arguments.data_model)))
    tool = str(Path(sysconfig.get_path("scripts")) / "raceproof")
    compiling = checking = 0.0
    slow: list[str] = []
    print(f"{'program':<28}{'clang':>9}{'check':>9}{'ratio':>8}{'MiB':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        target = str(Path(scratch) / "program.o")
        for path in programs(arguments.folder):
            name = path.parent.name if path.name == "main.c" else path.stem
            flags = [flag for flag in toolchain.flags(is_cxx=False) if flag != "-S"]
            clang = run([*toolchain.command, *flags, "-c", "-o", target, str(path)])
            if clang.code:
                print(f"{name:<28}  rejected by Clang")
                continue
            check = run([tool, "check", "-q", "--engine", "summary",
                         "--data-model", str(arguments.data_model), str(path)])  # fmt: skip
            compiling += clang.seconds
            checking += check.seconds
            print(
                f"{name:<28}{clang.seconds:>7.2f} s{check.seconds:>7.2f} s"
                f"{check.seconds / clang.seconds:>8.1f}{check.mebibytes:>7.0f}",
                flush=True,
            )
            if check.code not in (0, 1):
                slow.append(f"{name} (exit code {check.code})")
            if check.seconds > SECONDS or check.mebibytes > MEBIBYTES:
                slow.append(name)
    if not compiling:
        print("no program in this folder")
        return 2
    ratio = checking / compiling
    print(f"{'sum':<28}{compiling:>7.2f} s{checking:>7.2f} s{ratio:>8.1f}")
    good = ratio <= arguments.limit and not slow
    print(f"at most {arguments.limit:g} allowed: {'ok' if good else 'too slow'}")
    if slow:
        print(f"over {SECONDS:g} s or {MEBIBYTES:g} MiB, or no answer: {', '.join(slow)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
