"""A command in a cage: its processes together get so much CPU time, wall time and memory.

Where control groups may be used, BenchExec's ``runexec`` does this better (see `runexec`); here the
processes of the command's session are watched through ``/proc``, a few times a second, and one
process alone is held by the kernel's own limits.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_TICK = 0.25
_MIB = 1 << 20
_CLOCK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Limits:
    cpu: float
    """Seconds of CPU time, all processes together."""
    wall: float
    memory: int
    """MiB, all processes together."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a caged command ended; `broken` is the limit that it broke: cpu, wall, memory."""

    code: int
    output: str
    errors: str
    cpu: float
    wall: float
    memory: int
    """The most that all its processes had resident at once, in MiB, as far as was seen."""
    broken: str = ""


def run_caged(command: Sequence[str], limits: Limits) -> Ended:
    """Run the command to its end, or to that of its limits."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        _limit(process.pid, limits)
        broken, most = _watch(process.pid, started, limits)
        _kill_session(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - started
        return Ended(
            process.returncode,
            _text(output),
            _text(errors),
            usage.ru_utime + usage.ru_stime,
            wall,
            max(most, usage.ru_maxrss // 1024),
            broken,
        )


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def _limit(pid: int, limits: Limits) -> None:
    with contextlib.suppress(ProcessLookupError):
        seconds = int(limits.cpu) + 2
        resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _watch(pid: int, started: float, limits: Limits) -> tuple[str, int]:
    """Wait for the end of `pid`; returns the limit it broke, and the most memory seen."""
    most = 0
    handle = os.pidfd_open(pid)
    try:
        while not select.select([handle], [], [], _TICK)[0]:
            cpu, memory = _usage(pid)
            most = max(most, memory // _MIB)
            if cpu > limits.cpu:
                return "cpu", most
            if memory > limits.memory * _MIB:
                return "memory", most
            if time.monotonic() - started > limits.wall:
                return "wall", most
    finally:
        os.close(handle)
    return "", most


def _members(session: int) -> list[tuple[int, list[str]]]:
    """The processes of a session: their ids, and the fields of their `stat` from the state on."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        try:
            stat = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2 :].split()
        if int(fields[3]) == session:
            found.append((int(entry), fields))
    return found


def _usage(session: int) -> tuple[float, int]:
    """CPU seconds and resident bytes of a session's processes, with the children they waited for.

    Memory that forked processes share counts once for the largest, and of the others what they
    do not share.
    """
    ticks = 0
    resident, shared = [], []
    for pid, fields in _members(session):
        ticks += sum(int(fields[index]) for index in (11, 12, 13, 14))
        with contextlib.suppress(OSError, IndexError, ValueError):
            own = Path("/proc", str(pid), "statm").read_text().split()
            resident.append(int(own[1]) * _PAGE)
            shared.append(int(own[2]) * _PAGE)
    if not resident:
        return ticks / _CLOCK, 0
    largest = max(resident)
    rest = sum(resident) - largest - sum(shared) + shared[resident.index(largest)]
    return ticks / _CLOCK, largest + max(rest, 0)


def _kill_session(session: int) -> None:
    """End all of a session's processes, and those that they start meanwhile."""
    for _ in range(100):
        alive = [pid for pid, fields in _members(session) if fields[0] not in "ZX"]
        if not alive:
            return
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
