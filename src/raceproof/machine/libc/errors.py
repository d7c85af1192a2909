"""Calls that fail for sure, as POSIX demands: by their arguments alone.

read(-1, buffer, 4)                    EBADF, and nothing is read
nanosleep(&(struct timespec){0, -1})   EINVAL
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.unknown import Unknown
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

EBADF, EINVAL = 9, 22

_DESCRIPTOR_FIRST = frozenset(
    {
        *("read", "write", "pread", "pwrite", "pread64", "pwrite64", "readv", "writev", "close"),
        *("dup", "dup2", "dup3", "lseek", "lseek64", "fstat", "fstat64", "fsync", "fdatasync"),
        *("ftruncate", "ftruncate64", "fchmod", "fchown", "fchdir", "flock", "isatty", "ioctl"),
        *("fcntl", "fcntl64", "send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg", "bind"),
        *("listen", "accept", "accept4", "connect", "shutdown", "getsockname", "getpeername"),
        *("setsockopt", "getsockopt", "epoll_wait", "epoll_ctl", "tcgetattr", "tcsetattr"),
    }
)
_SLEEPS = {"nanosleep": 0, "clock_nanosleep": 2}
"""The argument that says how long."""
_SECOND = 1_000_000_000


def certain_error(machine: Machine, name: str, arguments: tuple[Any, ...]) -> int:
    """The error with which a call fails whatever the environment does; 0 if there is none."""
    if name in _DESCRIPTOR_FIRST and arguments:
        descriptor = arguments[0]
        if not isinstance(descriptor, Unknown) and to_signed(descriptor & 0xFFFF_FFFF, 32) < 0:
            return EBADF
    place = _SLEEPS.get(name)
    if place is not None and place < len(arguments):
        return _wrong_time(machine, arguments[place])
    return 0


def _wrong_time(machine: Machine, pointer: Any) -> int:
    word = machine.program.layout.pointer_size
    found = None if isinstance(pointer, Unknown) else machine.memory.object_at(pointer)
    if found is None or pointer + 2 * word > found.base + found.size:
        return 0
    if found.is_unknown(pointer - found.base, 2 * word):
        return 0
    nanoseconds = int.from_bytes(machine.memory.read(pointer + word, word), "little")
    return 0 if 0 <= to_signed(nanoseconds, 8 * word) < _SECOND else EINVAL
