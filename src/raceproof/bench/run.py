"""Runs the tasks, some at a time, each as ``raceproof check`` in a cage of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from raceproof import version
from raceproof.bench.cage import Ended, Limits
from raceproof.bench.results import Result
from raceproof.bench.runexec import cage_here
from raceproof.bench.tasks import Task

_ORDER = ("confirmed", "likely", "possible")


@dataclass(frozen=True, slots=True)
class Setting:
    """Under which conditions the tasks run."""

    programs: Path
    timeout: float = 60.0
    memory: float = 4.0
    """GiB."""
    engine: str = "auto"
    arguments: tuple[str, ...] = ()
    """Further ones for ``raceproof check``."""

    def conditions(self) -> dict[str, Any]:
        """What must be the same for a run to be continued."""
        return {
            "version": version.__version__,
            "code": code_fingerprint(),
            "engine": self.engine,
            "timeout": self.timeout,
            "memory": self.memory,
            "arguments": list(self.arguments),
        }

    def command(self, task: Task) -> list[str]:
        return [
            sys.executable,
            "-m",
            "raceproof",
            "check",
            str(self.programs / task.file),
            "--data-model",
            task.data_model,
            "--format",
            "json",
            "--first",
            "--no-config",
            "--memory-model",
            "sc",
            "--engine",
            self.engine,
            "--timeout",
            f"{self.timeout * 0.95:g}",
            *self.arguments,
        ]

    @property
    def limits(self) -> Limits:
        return Limits(cpu=self.timeout, wall=2 * self.timeout + 5, memory=int(self.memory * 1024))


def code_fingerprint() -> str:
    """Changes with the tool's own code, so that results of two versions never mix."""
    digest = sha256()
    root = Path(version.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".toml"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def run_tasks(
    tasks: Sequence[Task], setting: Setting, jobs: int, done: Callable[[Result], None]
) -> None:
    """Run the tasks, `jobs` at a time; `done` hears of each as it ends."""
    waiting = list(reversed(tasks))
    running: set[Future[Result]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.add(pool.submit(run_task, waiting.pop(), setting))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    done(future.result())
        except KeyboardInterrupt:
            waiting.clear()
            raise


def run_task(task: Task, setting: Setting) -> Result:
    return read_result(task, cage_here()(setting.command(task), setting.limits))


def read_result(task: Task, ended: Ended) -> Result:
    """What `raceproof check` said, or what became of it."""
    confidence = engine = note = ""
    if ended.broken:
        verdict = "memory" if ended.broken == "memory" else "timeout"
    else:
        try:
            said = json.loads(ended.output)
            verdict = said["verdict"]
        except (ValueError, KeyError, TypeError):
            verdict = "error" if ended.code == 2 else "crash"
            note = _first_line(ended.errors) or f"exit code {ended.code}"
        else:
            confidence, engine, note = _evidence(said)
    return Result(
        task.name,
        task.directory,
        task.expected,
        verdict,
        ended.cpu,
        ended.wall,
        ended.memory,
        confidence,
        engine,
        note.replace("\t", " ").replace("\n", " ")[:300],
    )


def _evidence(said: dict[str, Any]) -> tuple[str, str, str]:
    found = {finding["confidence"] for finding in said["findings"]}
    surest = next((c for c in _ORDER if c in found), "")
    engines = said["engines"]
    decided = [run["name"] for run in engines if run["answer"].startswith(said["verdict"])]
    engine = decided[-1] if decided else (engines[-1]["name"] if engines else "")
    if said["verdict"] == "race":
        engine = next((f["engine"] for f in said["findings"] if f["confidence"] == surest), engine)
    return surest, engine, "; ".join(said["notices"])


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
