"""Pipes and their kin: what one thread writes to a descriptor lets another one go on.

    write(wake[1], "x", 1);        read(wake[0], &byte, 1);     comes after the write

A channel is kept among the objects of synchronisation: the bytes in it, in their order, and whether
some thread may still write. Only the descriptors that the program opened itself lead to a channel;
all others lead outside, where anything may come at any time. So do all of them in a program where
others may write to a channel: another process, a signal handler, a stream.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from raceproof.concurrency.model import FunctionModel
from raceproof.ir import Program, Type
from raceproof.machine.faults import Unsupported
from raceproof.machine.libc.call import LibraryCall
from raceproof.machine.operation import Operation

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

_FIRST_DESCRIPTOR = 1000
"""Far from those that are open when the program starts."""
_NONBLOCK = 0o4000
_SET_FLAGS = 4
_MOST_BYTES = 4096
_FAILURE = -1


class _Channel(NamedTuple):
    data: tuple[int | None, ...] = ()
    """Its bytes; None: one of unknown value."""
    is_open: bool = True
    """Some thread may still write."""
    waits: bool = True
    """A read of the empty channel waits."""
    total: int | None = None
    """Of a counter (`eventfd`), which is read as a whole: its value."""


class _End(NamedTuple):
    """What a descriptor reads from and writes to; channels have numbers."""

    source: int | None
    target: int | None


def _end(machine: Machine, descriptor: Any) -> _End | None:
    if not isinstance(descriptor, int):
        return None
    found: _End | None = machine.sync.get(("descriptor", descriptor & 0xFFFFFFFF))
    return found


def _channel(machine: Machine, number: int) -> _Channel:
    found: _Channel = machine.sync["channel", number]
    return found


def _open(machine: Machine, channels: list[_Channel], ends: list[_End]) -> list[int]:
    """Enter new channels, and the ends that speak of them by their place; the descriptors."""
    kinds = [key[0] for key in machine.sync if isinstance(key, tuple)]
    first = kinds.count("channel")
    descriptor = _FIRST_DESCRIPTOR + kinds.count("descriptor")
    for place, channel in enumerate(channels):
        machine.sync["channel", first + place] = channel
    for place, (source, target) in enumerate(ends):
        machine.sync["descriptor", descriptor + place] = _End(
            None if source is None else first + source, None if target is None else first + target
        )
    return [descriptor + place for place in range(len(ends))]


class OpenPipe(Operation):
    """`pipe`, `pipe2` and `socketpair`: two descriptors are stored."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        flags = 0
        if self.name == "socketpair":
            channels, ends = [_Channel(), _Channel()], [_End(0, 1), _End(1, 0)]
            flags = machine.known(arguments[1])
        else:
            channels, ends = [_Channel()], [_End(0, None), _End(None, 0)]
            if self.name == "pipe2":
                flags = machine.known(arguments[1])
        if flags & _NONBLOCK:
            channels = [channel._replace(waits=False) for channel in channels]
        place = machine.known(arguments[3 if self.name == "socketpair" else 0])
        machine.memory.write(place, struct.pack("<ii", *_open(machine, channels, ends)))
        return 0


class OpenCounter(Operation):
    """`eventfd`."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if machine.known(arguments[1]) & 1:
            raise Unsupported("an eventfd that is a semaphore")
        counter = _Channel(
            waits=not arguments[1] & _NONBLOCK, total=machine.known(arguments[0]) & 0xFFFFFFFF
        )
        return _open(machine, [counter], [_End(0, 0)])[0]


class ChannelCall(LibraryCall):
    """A function of a descriptor: its own work if a channel is behind it, else a library call."""

    def __init__(self, name: str, model: FunctionModel | None, type_: Type | None) -> None:
        super().__init__(name, model, type_)
        self.is_sync = True


class ReadChannel(ChannelCall):
    """`read` and `recv`."""

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        end = _end(machine, arguments[0])
        if end is None or end.source is None or thread.must_end:
            return True
        channel = _channel(machine, end.source)
        return bool(channel.data or channel.total) or not (channel.is_open and channel.waits)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        end = _end(machine, arguments[0])
        if end is None or end.source is None:
            return super().execute(machine, thread, arguments)
        channel = _channel(machine, end.source)
        target, most = machine.known(arguments[1]), machine.known(arguments[2])
        if channel.total is not None:
            if not channel.total or most < 8:
                return self.cut(_FAILURE)
            machine.memory.write(target, struct.pack("<Q", channel.total))
            machine.sync["channel", end.source] = channel._replace(total=0)
            return 8
        if not channel.data:
            return self.cut(_FAILURE if channel.is_open and most else 0)
        taken, left = channel.data[:most], channel.data[most:]
        machine.sync["channel", end.source] = channel._replace(data=left)
        machine.memory.write(target, bytes(byte or 0 for byte in taken))
        for place, byte in enumerate(taken):
            if byte is None:
                machine.forget(target + place, 1)
        return len(taken)


class WriteChannel(ChannelCall):
    """`write` and `send`. No channel is ever full."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        end = _end(machine, arguments[0])
        if end is None or end.target is None:
            return super().execute(machine, thread, arguments)
        channel = _channel(machine, end.target)
        source, size = machine.known(arguments[1]), machine.known(arguments[2])
        found = machine.memory.find(source, size) if size else None
        written: tuple[int | None, ...] = ()
        if found is not None:
            start = source - found.base
            written = tuple(
                None if found.is_unknown(at, 1) else found.data[at]
                for at in range(start, start + size)
            )
        if channel.total is not None:
            if size != 8 or None in written:
                raise Unsupported("an unknown number for an eventfd")
            number = int.from_bytes(bytes(byte or 0 for byte in written), "little")
            machine.sync["channel", end.target] = channel._replace(total=channel.total + number)
            return 8
        if len(channel.data) + size > _MOST_BYTES:
            raise Unsupported("a channel with much in it")
        machine.sync["channel", end.target] = channel._replace(data=channel.data + written)
        return size


class CloseChannel(ChannelCall):
    """`close`."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        end = _end(machine, arguments[0])
        if end is None:
            return super().execute(machine, thread, arguments)
        if end.target is not None and end.target != end.source:
            channel = _channel(machine, end.target)
            machine.sync["channel", end.target] = channel._replace(is_open=False)
        machine.sync["descriptor", arguments[0] & 0xFFFFFFFF] = _End(None, None)
        return 0


class ControlChannel(ChannelCall):
    """`fcntl`, as far as it sets whether a read waits, and what else is not followed."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        end = _end(machine, arguments[0])
        if end is None:
            return super().execute(machine, thread, arguments)
        if self.name not in ("fcntl", "fcntl64"):
            raise Unsupported(f"{self.name} of a channel")
        if machine.known(arguments[1]) == _SET_FLAGS and end.source is not None:
            channel = _channel(machine, end.source)
            waits = not machine.known(arguments[2]) & _NONBLOCK
            machine.sync["channel", end.source] = channel._replace(waits=waits)
        return 0


OPENING: dict[str, type[Operation]] = {
    **dict.fromkeys(("pipe", "pipe2", "socketpair"), OpenPipe),
    "eventfd": OpenCounter,
}
USING: dict[str, type[ChannelCall]] = {
    **dict.fromkeys(("read", "recv"), ReadChannel),
    **dict.fromkeys(("write", "send"), WriteChannel),
    "close": CloseChannel,
    **dict.fromkeys(("fcntl", "fcntl64", "dup", "dup2", "dup3"), ControlChannel),
    **dict.fromkeys(
        ("readv", "writev", "recvmsg", "sendmsg", "recvfrom", "sendto"), ControlChannel
    ),
}
_OTHER_WRITERS = (
    *("fork", "vfork", "__fork", "clone", "posix_spawn", "posix_spawnp", "syscall", "daemon"),
    *("signal", "sigaction", "__sigaction", "bsd_signal", "sysv_signal", "sigset", "sigvec"),
    *("fdopen", "dprintf", "vdprintf", "__dprintf_chk", "__vdprintf_chk"),
    *("sendfile", "sendfile64", "splice", "vmsplice", "tee", "aio_write", "aio_write64"),
    *("__write", "pwrite", "pwrite64", "__send", "sendmmsg", "eventfd_write", "io_submit"),
)


def has_channels(program: Program) -> bool:
    """Whether only the program's own calls can write to what it opens."""
    return not any(name in program.functions for name in _OTHER_WRITERS)
