"""What comes from outside, within the ranges that it really has.

How much was read decides which bytes are new; a clock never goes back; a variable of the
environment stays what it is until it is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.machine.libc.registry import library
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_FAILED = -1
_LONGEST = 24
"""Characters of a variable of the environment, as far as we try them."""


def _word(m: Machine) -> int:
    return 8 * m.program.layout.pointer_size


# --- reading ---


def _read_into(m: Machine, target: int, most: int) -> int | None:
    """Some bytes arrive, or none, or it fails."""
    if m.is_open:
        return None
    largest = min(most, (1 << _word(m) - 1) - 1)
    count = to_signed(m.input(_word(m), (_FAILED, largest)), _word(m))
    if count > 0:
        m.forget(target, count)
    return count


@library(
    "read",
    "__read",
    "recv",
    "__recv",
    "pread",
    "pread64",
    "__read_chk",
    "__recv_chk",
    is_input=True,
)
def _read(m: Machine, _: int, target: int, size: int, *__: int) -> int | None:
    return _read_into(m, target, size)


@library("getrandom", is_input=True)
def _getrandom(m: Machine, target: int, size: int, _: int) -> int | None:
    return _read_into(m, target, size)


@library("readlink", "__readlink_chk", is_input=True)
def _readlink(m: Machine, path: int, target: int, size: int, *_: int) -> int | None:
    m.memory.string(path)
    return _read_into(m, target, size)


@library("fread", "fread_unlocked", is_input=True)
def _fread(m: Machine, target: int, size: int, count: int, _: int) -> int | None:
    if m.is_open:
        return None
    if not size:
        return 0
    read = int(m.input(_word(m), (0, count)))
    if read:
        m.forget(target, read * size)
    return read


@library("fgets", "fgets_unlocked", is_input=True)
def _fgets(m: Machine, target: int, size: int, _: int) -> int | None:
    """A line: its characters and a zero; nothing at the end of the file."""
    if m.is_open:
        return None
    size = to_signed(size, 32)
    if size <= 0 or m.input_fails():
        return 0
    if size > 1:
        length = int(m.input(32, (1, size - 1)))
        m.forget(target, length)
        target_end = target + length
    else:
        target_end = target
    m.memory.write(target_end, b"\0")
    return target


# --- waiting for descriptors ---

_ENTRY = 8
"""Bytes of a `struct pollfd`: descriptor, events, and two for what happened."""


@library("poll", "__poll_chk", is_input=True)
def _poll(m: Machine, entries: int, count: int, *_: int) -> int | None:
    if m.is_open:
        return None
    watched = []
    for place in range(entries, entries + count * _ENTRY, _ENTRY):
        data = m.memory.read(place, 6)
        watched.append(to_signed(int.from_bytes(data[:4], "little"), 32) >= 0)
    ready = to_signed(m.input(32, (_FAILED, sum(watched))), 32)
    if ready < 0:
        return ready
    left = ready
    for number, is_watched in enumerate(watched):
        place = entries + number * _ENTRY + 6
        m.memory.write(place, b"\0\0")
        if is_watched and left:
            left -= 1
            m.forget(place, 1)
    return ready


# --- clocks ---


def _later(m: Machine, clock: str, bits: int) -> int:
    """Seconds that are not before what the clock showed last."""
    last = int(m.sync.get(("clock", clock), 1))
    value = int(m.input(bits, (last, (1 << bits - 1) - 1)))
    m.sync[("clock", clock)] = value
    return value


@library("time", is_input=True)
def _time(m: Machine, place: int) -> int | None:
    if m.is_open:
        return None
    value = _later(m, "real", _word(m))
    if place:
        m.memory.write(place, value.to_bytes(_word(m) // 8, "little"))
    return value


def _stamp(m: Machine, clock: str, place: int, parts: int) -> None:
    """Seconds and a fraction in so many parts."""
    bits = _word(m)
    before = m.sync.get(("clock", clock))
    seconds = _later(m, clock, bits)
    least = int(m.sync.get(("fraction", clock), 0)) if seconds == before else 0
    fraction = int(m.input(32, (min(least, parts - 1), parts - 1)))
    m.sync[("fraction", clock)] = fraction
    size = bits // 8
    m.memory.write(place, seconds.to_bytes(size, "little") + fraction.to_bytes(size, "little"))


@library("gettimeofday", "__gettimeofday", is_input=True)
def _gettimeofday(m: Machine, place: int, zone: int) -> int | None:
    if m.is_open or zone:
        return None
    if place:
        _stamp(m, "day", place, 1_000_000)
    return 0


@library("clock_gettime", "__clock_gettime", is_input=True)
def _clock_gettime(m: Machine, clock: int, place: int) -> int | None:
    if m.is_open:
        return None
    if m.wants_result() and m.input_fails():
        return _FAILED
    _stamp(m, f"clock {clock}", place, 1_000_000_000)
    return 0


@library("nanosleep", is_input=True)
def _nanosleep(m: Machine, asked: int, left: int) -> int | None:
    if m.is_open:
        return None
    m.memory.read(asked, _word(m) // 4)
    if (left or m.wants_result()) and m.input_fails():
        if left:
            m.forget(left, _word(m) // 4)
        return _FAILED
    return 0


# --- the environment ---


def _variable(m: Machine, name: int) -> tuple[str, bytes]:
    return ("environment", m.memory.string(name))


@library("getenv", "secure_getenv", "__secure_getenv", is_rehearsed=False, is_input=True)
def _getenv(m: Machine, name: int) -> int | None:
    if m.is_open:
        return None
    key = _variable(m, name)
    if key not in m.sync:
        cleared = ("environment", b"") in m.sync
        m.sync[key] = 0 if cleared or m.input_fails() else _text_from_outside(m)
    return int(m.sync[key])


def _text_from_outside(m: Machine) -> int:
    length = int(m.input(8, (0, _LONGEST)))
    block = m.memory.allocate(m.current.arena, length + 1, "environment", "library:environment")
    for place in range(length):
        m.memory.write(block.base + place, bytes((int(m.input(8, (1, 255))),)))
    m.memory.write(block.base + length, b"\0")
    return block.base


@library("setenv", is_rehearsed=False, is_input=True)
def _setenv(m: Machine, name: int, value: int, overwrite: int) -> int | None:
    if m.is_open:
        return None
    key = _variable(m, name)
    text = m.memory.string(value) + b"\0"
    if not key[1] or b"=" in key[1]:
        m.set_errno(22)
        return _FAILED
    if not overwrite and _getenv(m, name):
        return 0
    block = m.memory.allocate(m.current.arena, len(text), "environment", "library:environment")
    m.memory.write(block.base, text)
    m.sync[key] = block.base
    return 0


@library("unsetenv", is_rehearsed=False, is_input=True)
def _unsetenv(m: Machine, name: int) -> int | None:
    if m.is_open:
        return None
    m.sync[_variable(m, name)] = 0
    return 0


@library("putenv", is_rehearsed=False, is_input=True)
def _putenv(m: Machine, text: int) -> int | None:
    if m.is_open:
        return None
    name, equals, _ = m.memory.string(text).partition(b"=")
    m.sync[("environment", name)] = text + len(name) + 1 if equals else 0
    return 0


@library("clearenv", is_rehearsed=False, is_input=True)
def _clearenv(m: Machine) -> int | None:
    if m.is_open:
        return None
    for key in [k for k in m.sync if isinstance(k, tuple) and k[0] == "environment"]:
        m.sync[key] = 0
    m.sync[("environment", b"")] = 0
    return 0


# --- numbers by chance that their arguments decide ---


def _next_of_48_bits(m: Machine, place: int) -> int:
    """The generator of `erand48`, as POSIX describes it."""
    state = int.from_bytes(m.memory.read(place, 6), "little")
    state = state * 0x5DEECE66D + 0xB & (1 << 48) - 1
    m.memory.write(place, state.to_bytes(6, "little"))
    return state


def _of_48_bits(result: Callable[[int], Any]) -> Callable[..., Any]:
    """Unless `lcong48` has changed the constants."""

    def compute(m: Machine, place: int) -> Any:
        if "lcong48" in m.program.functions:
            return None
        return result(_next_of_48_bits(m, place))

    return compute


library("erand48")(_of_48_bits(lambda state: state / (1 << 48)))
library("nrand48")(_of_48_bits(lambda state: state >> 17))
library("jrand48")(_of_48_bits(lambda state: to_signed(state >> 16, 32)))


@library("rand_r")
def _rand_r(m: Machine, place: int) -> int:
    """glibc's: three steps of a linear generator."""
    state = int.from_bytes(m.memory.read(place, 4), "little")
    result = 0
    for bits, modulus in ((11, 2048), (10, 1024), (10, 1024)):
        state = state * 1103515245 + 12345 & 0xFFFF_FFFF
        result = result << bits if result else 0
        result ^= (state >> 16) % modulus
    m.memory.write(place, state.to_bytes(4, "little"))
    return result
