"""Programs that say which verdicts would be right, against what the pipeline and each engine say.

A program starts with `// want: race unknown` (the verdicts that are right or honest) and perhaps
`// options: ...` (of `raceproof check`). Prints a line for each and ends with exit code 1 if one of
the verdicts is not wanted, or if an engine crashed.

    python benchmarks/wanted.py FOLDER_OR_FILE... [--only NUMBER,...] [--timeout SECONDS]
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

WAYS = ("auto", "modular", "summary", "interleave", "bounded")
_LINE = re.compile(r"// (want|options): (.*)")


def expectations(path: Path) -> tuple[set[str], list[str]]:
    """The wanted verdicts and the options."""
    found = dict(_LINE.findall(path.read_text()))
    return set(found.get("want", "race race-free unknown").split()), found.get(
        "options", ""
    ).split()


def verdict(path: Path, options: list[str], way: str, seconds: int) -> str:
    """`race:confirmed`, `race-free`, `unknown` or `crash`."""
    engine = [] if way == "auto" else ["--engine", way]
    command = [sys.executable, "-m", "raceproof", "check", "-q", "--format", "json", "--no-config"]
    command += ["--timeout", str(seconds), *options, *engine, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        return "crash"
    notices = " ".join(map(str, answer.get("notices", ())))
    if "crash" in notices or "contradict" in notices:
        return "crash"
    found = str(answer["verdict"])
    if found != "race":
        return found
    order = ("confirmed", "likely", "possible")
    surest = min((str(f["confidence"]) for f in answer["findings"]), key=order.index)
    return f"race:{surest}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--only", default="", help="beginnings of file names, with commas")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--timeout", type=int, default=20)
    given = parser.parse_args()
    only = tuple(given.only.split(",")) if given.only else ("",)
    ways = given.ways.split(",")
    files = [f for path in given.paths for f in (sorted(path.glob("*.c")) or [path])]
    wrong = 0
    for path in [f for f in files if f.name.startswith(only)]:
        wanted, options = expectations(path)
        row = []
        for way in ways:
            found = verdict(path, options, way, given.timeout)
            is_wanted = found.partition(":")[0] in wanted
            wrong += not is_wanted
            row.append(f"{way} {found}{'' if is_wanted else ' !!'}")
        print(f"{path.name:34} want {'/'.join(sorted(wanted)):20} {'  '.join(row)}", flush=True)
    print(f"{wrong} verdicts that are not wanted")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
