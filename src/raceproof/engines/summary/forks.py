"""The same work for many items, on several cores.

Processes are forked, so they see everything that is known so far at no cost; only what they work
out comes back, as plain data. Who takes which item is decided as they go, the answers are put in
order: they are the same for any number of processes.
"""

from __future__ import annotations

import marshal
import os
import selectors
import signal
import struct
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")

_TICKET = struct.Struct("<I")
_HEAD = struct.Struct("<IQ")
_FAILED = 0xFFFFFFFF
_MOST_TICKETS = 8192
"""What fits into a pipe at once."""


class ForkError(RuntimeError):
    """What went wrong in one of the processes."""


def forked_map(
    work: Callable[[Item], Any],
    items: Sequence[Item],
    jobs: int,
    arrived: Callable[[int], None] = lambda number: None,
) -> list[Any]:
    """`work` of every item, in order; results must be what `marshal` can write.

    `arrived` is told how many results are there.
    """
    step = len(items) // _MOST_TICKETS + 1
    tickets_out, tickets_in = os.pipe()
    for start in range(0, len(items), step):
        os.write(tickets_in, _TICKET.pack(start))
    os.close(tickets_in)
    results: list[Any] = [None] * len(items)
    children: dict[int, int] = {}
    try:
        for _ in range(min(jobs, len(items))):
            process, pipe = _start(work, items, step, tickets_out, list(children))
            children[pipe] = process
        _gather(list(children), results, arrived)
    finally:
        os.close(tickets_out)
        for pipe, process in children.items():
            os.close(pipe)
            _end(process)
    return results


def _gather(pipes: list[int], results: list[Any], arrived: Callable[[int], None]) -> None:
    buffers = {pipe: bytearray() for pipe in pipes}
    received = 0
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while buffers:
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 20)
                if not data:
                    selector.unregister(key.fd)
                    del buffers[key.fd]
                    continue
                buffers[key.fd] += data
                for index, found in _messages(buffers[key.fd]):
                    if index == _FAILED:
                        raise ForkError(found)
                    results[index] = found
                    received += 1
                    arrived(received)
    if received < len(results):
        raise ForkError("a process was ended from outside")


def _messages(buffer: bytearray) -> list[tuple[int, Any]]:
    """Takes the whole messages out of what has come."""
    found = []
    at = 0
    while len(buffer) - at >= _HEAD.size:
        index, length = _HEAD.unpack_from(buffer, at)
        if len(buffer) - at - _HEAD.size < length:
            break
        start = at + _HEAD.size
        found.append((index, marshal.loads(memoryview(buffer)[start : start + length])))
        at = start + length
    del buffer[:at]
    return found


def _end(process: int) -> None:
    """Ends one of our processes that is not needed any more, or has ended already."""
    try:
        if os.waitpid(process, os.WNOHANG)[0] == 0:
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
    except (ChildProcessError, ProcessLookupError):
        pass


def _start(
    work: Callable[[Item], Any],
    items: Sequence[Item],
    step: int,
    tickets: int,
    others: list[int],
) -> tuple[int, int]:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for pipe in (reading, *others):
            os.close(pipe)
        with os.fdopen(writing, "wb") as stream:
            try:
                while ticket := os.read(tickets, _TICKET.size):
                    (start,) = _TICKET.unpack(ticket)
                    for index in range(start, min(start + step, len(items))):
                        _send(stream, index, work(items[index]))
            except Exception:
                _send(stream, _FAILED, traceback.format_exc())
        status = 0
    except BaseException:
        status = 1
    finally:
        os._exit(status)


def _send(stream: Any, index: int, value: Any) -> None:
    data = marshal.dumps(value)
    stream.write(_HEAD.pack(index, len(data)))
    stream.write(data)
    stream.flush()
