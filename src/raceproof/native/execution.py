"""One run of the built program, within limits, and what it left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from raceproof.native.plan import Plan
from raceproof.native.sanitizer import SeenRace, read_reports
from raceproof.pipeline.worker import die_with_parent

_TICK = 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024
_OPTIONS = "exitcode=66 report_signal_unsafe=0 history_size=4 atexit_sleep_ms=50"


@dataclass(frozen=True, slots=True)
class Limits:
    seconds: float = 20.0
    memory: float = 8.0
    """GiB of all processes together."""
    processes: int = 256


@dataclass(frozen=True, slots=True)
class Run:
    races: tuple[SeenRace, ...]
    said: tuple[str, ...]
    """The lines of our runtime: `reached 12`, `met 0`, `stuck 3`."""
    ending: str
    """Empty: it ended by itself, as it does; else how it was ended, or died."""
    seconds: float


def execute(
    command: Sequence[str], plan: Plan | None, folder: Path, cwd: Path, limits: Limits, name: str
) -> Run:
    """Run the command to its end or to a limit."""
    logs = folder / f"{name}.sanitizer"
    own = folder / f"{name}.runtime"
    environment = dict(os.environ)
    given = environment.get("TSAN_OPTIONS", "")
    environment["TSAN_OPTIONS"] = f"{given} {_OPTIONS} log_path={logs}".strip()
    environment["RACEPROOF_NATIVE_LOG"] = str(own)
    if plan is not None:
        told = folder / f"{name}.plan"
        told.write_text(plan.text, "utf-8")
        environment["RACEPROOF_NATIVE_PLAN"] = str(told)
    start = time.monotonic()
    with (folder / f"{name}.output").open("wb") as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
            start_new_session=True,
            preexec_fn=_prepare,
        )
        ending = _watch(process, limits, start + limits.seconds)
    seconds = time.monotonic() - start
    text = "".join(_read(path) for path in sorted(folder.glob(f"{name}.sanitizer.*")))
    return Run(tuple(read_reports(text)), tuple(_read(own).splitlines()), ending, seconds)


def _prepare() -> None:
    """In the new process: it ends with us, and leaves no core behind."""
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watch(process: subprocess.Popen[bytes], limits: Limits, end: float) -> str:
    ending = ""
    while process.poll() is None:
        if time.monotonic() > end:
            ending = f"killed after {limits.seconds:g} s"
            break
        pages, count = _group_size(process.pid)
        if pages * _PAGE > limits.memory * 1024 * _MIB:
            ending = f"killed for using more than {limits.memory:g} GiB"
            break
        if count > limits.processes:
            ending = f"killed for starting more than {limits.processes} processes"
            break
        time.sleep(_TICK)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if not ending and process.returncode < 0:
        with suppress(ValueError):
            ending = f"died of {signal.Signals(-process.returncode).name}"
    return ending


def _group_size(group: int) -> tuple[int, int]:
    """Resident pages and number of the processes of a session."""
    pages = count = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):
            fields = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == group:
                pages += int(fields[21])
                count += 1
    return pages, count


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
