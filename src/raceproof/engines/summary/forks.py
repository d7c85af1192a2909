"""The same work for many items, on several cores.

Processes are forked, so they see everything that is known so far at no cost; only what they work
out comes back, as plain data. The answer is the same for any number of processes.
"""

from __future__ import annotations

import marshal
import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


class ForkError(RuntimeError):
    """What went wrong in one of the processes."""


def forked_map(work: Callable[[Item], Any], items: Sequence[Item], jobs: int) -> list[Any]:
    """`work` of every item, in order; results must be what `marshal` can write."""
    jobs = min(jobs, len(items))
    children = [_start(work, items[number::jobs]) for number in range(jobs)]
    results: list[Any] = [None] * len(items)
    trouble = ""
    for number, (process, pipe) in enumerate(children):
        with os.fdopen(pipe, "rb") as stream:
            data = stream.read()
        os.waitpid(process, 0)
        kind, found = marshal.loads(data) if data else ("error", "a process was ended from outside")
        if kind == "error":
            trouble = trouble or found
        else:
            results[number::jobs] = found
    if trouble:
        raise ForkError(trouble)
    return results


def _start(work: Callable[[Item], Any], items: Sequence[Item]) -> tuple[int, int]:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    status = 1
    try:
        os.close(reading)
        try:
            answer: tuple[str, Any] = ("done", [work(item) for item in items])
        except Exception:
            answer = ("error", traceback.format_exc())
        with os.fdopen(writing, "wb") as stream:
            stream.write(marshal.dumps(answer))
        status = 0
    finally:
        os._exit(status)
