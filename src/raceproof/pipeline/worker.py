"""One engine in a process of its own, with limits of time and memory.

The process is forked: it inherits the program, nothing is copied over but the answer. It leads its
own process group, so that what it starts ends with it. Whatever happens to it, the parent learns
one :class:`WorkerReport`.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import resource
import signal
import time
import traceback
from dataclasses import dataclass
from enum import Enum
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from raceproof.engines.question import Question
from raceproof.errors import UserError
from raceproof.ir import Program
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Answer

GRACE = 2.0
"""Seconds past its deadline in which an engine may still hand in its answer."""
_PR_SET_PDEATHSIG = 1
_GIB = 1 << 30


class Fate(Enum):
    """How a worker ended."""

    ANSWERED = "answered"
    TIMEOUT = "timeout"
    MEMORY = "out of memory"
    CRASHED = "crashed"
    KILLED = "killed"
    MISUSED = "misused"
    """The user's mistake, told by the engine."""
    STOPPED = "stopped"
    """By us: its answer was no longer needed."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What became of one worker."""

    engine: str
    fate: Fate
    seconds: float
    answer: Answer | None = None
    detail: str = ""


class Worker:
    """A running engine. `collect` it when its `connection` is ready or its time is over."""

    def __init__(
        self, engine: str, program: Program, question: Question, memory: float | None
    ) -> None:
        self.name = engine
        self.deadline = question.deadline
        self._started = time.monotonic()
        context = multiprocessing.get_context("fork")
        self.connection, sender = context.Pipe(duplex=False)
        self._process: BaseProcess = context.Process(
            target=_work, args=(engine, program, question, memory, sender), daemon=False
        )
        self._process.start()
        sender.close()

    @property
    def is_overdue(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline + GRACE

    def collect(self) -> WorkerReport:
        """The report of a worker that has sent something, or has died."""
        try:
            fate, payload = self.connection.recv()
        except (EOFError, OSError):
            fate, payload = None, None
        self._end()
        seconds = time.monotonic() - self._started
        if fate is Fate.ANSWERED:
            return WorkerReport(self.name, fate, seconds, payload)
        if fate is None:
            code = self._process.exitcode or 0
            how = _signal_name(-code) if code < 0 else f"exit code {code}"
            return WorkerReport(self.name, Fate.KILLED, seconds, detail=how)
        return WorkerReport(self.name, fate, seconds, detail=payload)

    def stop(self, fate: Fate) -> WorkerReport:
        """End it now."""
        self._end()
        return WorkerReport(self.name, fate, time.monotonic() - self._started)

    def _end(self) -> None:
        pid = self._process.pid
        if pid is not None:
            for kill in (os.killpg, os.kill):
                try:
                    kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue
        self._process.join()
        self.connection.close()


def ready(workers: list[Worker], timeout: float | None) -> list[Worker]:
    """The workers that have something to collect; waits for one, at most `timeout` seconds."""
    connections = wait([worker.connection for worker in workers], timeout)
    return [worker for worker in workers if worker.connection in connections]


def _work(
    engine: str,
    program: Program,
    question: Question,
    memory: float | None,
    sender: Connection,
) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    _collect_rarely()
    if memory is not None:
        limit = int(memory * _GIB)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        sender.send((Fate.ANSWERED, ask(engine, program, question)))
    except MemoryError:
        sender.send((Fate.MEMORY, ""))
    except RecursionError:
        sender.send((Fate.CRASHED, "recursion too deep"))
    except UserError as error:
        sender.send((Fate.MISUSED, str(error)))
    except Exception as error:
        sender.send((Fate.CRASHED, _where(error)))
    sender.close()


def _collect_rarely() -> None:
    """Analyses build many objects that stay, few in cycles: looking for those costs a tenth of the
    time by default. What came with the fork is never looked at again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _where(error: Exception) -> str:
    message = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return message
    module = os.sep.join(frames[-1].filename.split(os.sep)[-3:])
    return f"{message} ({module}:{frames[-1].lineno})"


def die_with_parent() -> None:
    """Ask Linux to end us with our parent; elsewhere, nothing."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
