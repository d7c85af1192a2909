"""Mutants of race-free programs and random programs: our verdicts against ThreadSanitizer's runs.

    python -m benchmarks.campaign tests/programs --seconds 3600 --out results.tsv --keep FOLDER

Each program of the folders that says `// verdict: race-free` is mutated (see `mutants`), and random
programs are written (see `random_programs`), in an order drawn from `--seed`. Each runs under
ThreadSanitizer of GCC, with noise (see `tsan`), and is checked by the pipeline; where a run had a
race, also by each engine alone. A line of tab-separated values for each; the contradictions are
printed, and their programs kept:

    wrong proof     a run had a race, but the pipeline or an engine says race-free
    wrong race      a race is confirmed in a random program that has none by construction
    disagreement    one engine confirms a race, another one says race-free
    crash           an engine ended with an internal error
    look            a race is confirmed that no run showed: many runs more did not, either

`look` is no contradiction yet: a person decides. Exit code 1 if there is any of the others.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaign.mutants import mutants
from benchmarks.campaign.random_programs import random_program
from benchmarks.campaign.tsan import Judge

ENGINES = ("modular", "summary", "interleave", "bounded")
_COLUMNS = "case tsan runs auto " + " ".join(ENGINES) + " contradiction"


@dataclass(frozen=True, slots=True)
class Case:
    """One program to be judged."""

    name: str
    text: str
    is_right: bool = False
    """Is it race-free by construction?"""


def verdict(path: Path, engine: str, seconds: float) -> str:
    """`confirmed`, `likely`, `possible` (a race that is), `race-free`, `unknown` or `crash`."""
    command = [sys.executable, "-m", "raceproof", "check", "-q", "--format", "json", "--no-config"]
    command += ["--timeout", str(seconds)]
    if engine != "auto":
        command += ["--engine", engine]
    try:
        ended = subprocess.run(
            [*command, str(path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * seconds + 30,
        )
        answer = json.loads(ended.stdout)
    except subprocess.TimeoutExpired:
        return "crash: did not end"
    except ValueError:
        if ended.returncode == 2:
            return "not compiled"
        return "crash: " + " ".join(ended.stderr.split())[-200:]
    notices = " ".join(map(str, answer.get("notices", ())))
    if "crash" in notices or "contradict" in notices:
        return f"crash: {notices[:200]}"
    if answer["verdict"] != "race":
        return str(answer["verdict"])
    order = ("confirmed", "likely", "possible")
    return min((str(f["confidence"]) for f in answer["findings"]), key=order.index)


def cases(folders: list[Path], seed: int, share: float) -> Iterator[Case]:
    """Mutants in random order, with random programs between them, without an end."""
    rng = random.Random(seed)
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.c")):
        text = path.read_text("utf-8")
        if text.startswith("// verdict: race-free"):
            found += [
                Case(f"{path.parent.name}.{path.stem}.{m.operator}.{m.line}.{k}", m.text)
                for k, m in enumerate(mutants(text))
            ]
    rng.shuffle(found)
    number = seed * 100_000
    while True:
        if found and rng.random() >= share:
            yield found.pop()
        else:
            number += 1
            written = random_program(number)
            yield Case(f"random.{number}", written.text, not written.is_broken)


class Campaign:
    """Judges cases and counts what it sees."""

    def __init__(self, folder: Path, *, timeout: float, runs: int) -> None:
        self._folder = folder
        self._timeout = timeout
        self._runs = runs
        self._judge = Judge(folder / "tsan")
        self.counts: Counter[str] = Counter()

    def row(self, case: Case) -> list[str] | None:
        """The line of a case; None if ThreadSanitizer cannot judge it."""
        path = self._folder / f"{case.name}.c"
        path.write_text(case.text, "utf-8")
        judged = self._judge.judge(path, self._runs)
        if judged is None:
            path.unlink()
            self.counts["not judged"] += 1
            return None
        found = {"auto": verdict(path, "auto", self._timeout)}
        if found["auto"] == "not compiled":
            path.unlink()
            self.counts["not judged"] += 1
            return None
        if judged.is_racy:
            found |= {engine: verdict(path, engine, self._timeout) for engine in ENGINES}
        elif found["auto"] == "confirmed" and not case.is_right:
            judged = self._judge.judge(path, 8 * self._runs) or judged
        contradiction = _contradiction(case, judged.is_racy, found)
        if contradiction and self._judge.is_undefined(path):
            contradiction = ""
            self.counts["undefined behaviour"] += 1
        self._count(case, judged.is_racy, found, contradiction)
        if not contradiction:
            path.unlink()
        return [
            case.name,
            "race" if judged.is_racy else "none",
            str(judged.runs),
            *(found.get(engine, "") for engine in ("auto", *ENGINES)),
            contradiction,
        ]

    def _count(self, case: Case, is_racy: bool, found: dict[str, str], contradiction: str) -> None:
        kind = "random" if case.name.startswith("random") else "mutants"
        self.counts[kind] += 1
        if is_racy:
            self.counts[f"{kind} with a race"] += 1
            for engine, verdict_ in found.items():
                self.counts[f"{engine}: {verdict_.split(':')[0]} where a run had a race"] += 1
        else:
            self.counts[f"auto: {found['auto'].split(':')[0]} where no run had a race"] += 1
        if contradiction:
            self.counts[f"contradiction: {contradiction}"] += 1


def _contradiction(case: Case, is_racy: bool, found: dict[str, str]) -> str:
    verdicts = set(found.values())
    if any(one.startswith("crash") for one in verdicts):
        return "crash"
    if is_racy and case.is_right:
        return "look"  # the generator, or ThreadSanitizer
    if is_racy and "race-free" in verdicts:
        return "wrong proof"
    if case.is_right and "confirmed" in verdicts:
        return "wrong race"
    if {"confirmed", "race-free"} <= verdicts:
        return "disagreement"
    if found["auto"] == "confirmed" and not is_racy:
        return "look"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=6.0, help="of a check")
    parser.add_argument("--runs", type=int, default=6, help="of a program with ThreadSanitizer")
    parser.add_argument("--share", type=float, default=0.3, help="of random programs")
    parser.add_argument("--only", default="", help="a part of the names of the cases to run")
    parser.add_argument("--out", type=Path, default=Path("campaign.tsv"))
    parser.add_argument("--keep", type=Path, default=Path("campaign"), help="for contradictions")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(given.keep, timeout=given.timeout, runs=given.runs)
    end = time.monotonic() + given.seconds
    done = set()
    if given.out.exists():
        done = {line.split("\t")[0] for line in given.out.read_text("utf-8").splitlines()}
    with given.out.open("a", encoding="utf-8") as out:
        if not done:
            print("\t".join(_COLUMNS.split()), file=out, flush=True)
        for case in cases(given.folders, given.seed, given.share):
            if time.monotonic() > end:
                break
            if case.name in done or given.only not in case.name:
                continue
            row = campaign.row(case)
            if row is None:
                continue
            print("\t".join(row), file=out, flush=True)
            if row[-1]:
                print("\t".join(row), flush=True)
    for what, number in sorted(campaign.counts.items()):
        print(f"{number:6} {what}")
    return int(any("contradiction" in key and "look" not in key for key in campaign.counts))


if __name__ == "__main__":
    sys.exit(main())
