"""The C++ programs of the tests, against what they expect and against ThreadSanitizer.

    python benchmarks/cxx.py [--native] [--clang PATH] [--timeout SECONDS] [--only WORD] [GROUP...]

Prints a line for each program: expected, found, CPU seconds; and at the end how many of the racy
ones were confirmed and of the race-free ones proved, and which answers were wrong. `--native`
compiles the programs with `g++ -fsanitize=thread` instead and runs each several times: a race-free
one must never be reported. `--clang` takes another Clang, with its own C++ library.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.programs_index import TestProgram, cxx_programs

_RUNS = 5


def found(program: TestProgram, seconds: int, extra: list[str]) -> tuple[str, str]:
    """The verdict and what stands against a better one."""
    command = [sys.executable, "-m", "raceproof", "check", "-q", "--format", "json", "--no-config"]
    command += ["--timeout", str(seconds), *extra, str(program.path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        return "crash", (ended.stderr.strip().splitlines() or [""])[0]
    said = [str(one) for one in answer.get("notices", ())]
    confidences = [str(f["confidence"]) for f in answer["findings"]]
    order = ("confirmed", "likely", "possible")
    surest = min(confidences, key=order.index) if confidences else ""
    count = f"{len(confidences)} findings" if confidences else ""
    verdict = str(answer["verdict"])
    lines = {str(a["position"]["line"]) for f in answer["findings"] for a in f["accesses"]}
    return (f"{verdict}:{surest}" if verdict == "race" else verdict), "; ".join(
        [one for one in (count, "lines " + ",".join(sorted(lines)) if lines else "") if one]
        + said[:2]
    )


def native(program: TestProgram) -> str:
    """How many of some runs ThreadSanitizer reports."""
    with tempfile.TemporaryDirectory() as folder:
        binary = str(Path(folder) / "program")
        flags = ["-std=c++20", "-g", "-Wall", "-Werror", "-pthread", "-fsanitize=thread"]
        subprocess.run(["g++", *flags, str(program.path), "-o", binary], check=True)
        reported = 0
        for _ in range(_RUNS):
            ran = subprocess.run([binary], capture_output=True, text=True, check=False, timeout=60)
            reported += "data race" in ran.stderr
        return f"{reported} of {_RUNS}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--clang", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=int, default=30)
    given = parser.parse_args()
    chosen = [
        p
        for p in cxx_programs()
        if (not given.groups or p.group in given.groups) and given.only in str(p)
    ]
    extra = ["--clang", given.clang] if given.clang else []
    seconds: list[float] = []
    right: dict[str, int] = {"race": 0, "race-free": 0}
    wrong: list[str] = []
    for program in chosen:
        if given.native:
            reported = native(program)
            print(f"{program.verdict:10} {reported:8} {program}", flush=True)
            if program.verdict == "race-free" and not reported.startswith("0"):
                wrong.append(str(program))
            continue
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        verdict, why = found(program, given.timeout, extra)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        seconds.append(spent)
        print(f"{program.verdict:10} {verdict:15} {spent:6.1f} {program}  {why[:150]}", flush=True)
        right[program.verdict] += verdict in ("race:confirmed", "race-free") and (
            verdict.split(":")[0] == program.verdict
        )
        if verdict in ("race:confirmed", "race-free") and verdict.split(":")[0] != program.verdict:
            wrong.append(str(program))
    if not given.native:
        for kind, count in right.items():
            print(f"{kind}: {count} of {sum(p.verdict == kind for p in chosen)}")
        print(f"median {statistics.median(seconds):.1f} CPU s")
    print("wrong:", ", ".join(wrong) or "none")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
