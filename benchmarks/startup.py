"""How long the command line takes to say its version, compared with an empty Python.

The two are run in turn, so that a busy moment of the machine hits both, and compared by their
medians. Ends with exit code 1 if the ratio is above the limit.
"""

import argparse
import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

LIMIT = 5.0


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, metavar="N", help="default: 40")
    runs = parser.parse_args().runs

    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "raceproof --version": [
            str(Path(sysconfig.get_path("scripts")) / "raceproof"),
            "--version",
        ],
    }
    for command in commands.values():
        seconds(command)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(seconds(command))

    medians = {name: statistics.median(values) for name, values in times.items()}
    empty, version = medians.values()
    print(f"{'command':<22}{'median':>10}{'ratio':>8}")
    for name, median in medians.items():
        print(f"{name:<22}{median * 1000:>7.1f} ms{median / empty:>8.2f}")
    ratio = version / empty
    print(f"at most {LIMIT:g} allowed: {'ok' if ratio <= LIMIT else 'too slow'}")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
