"""Sets and attributes: what was put in comes out again.

They are opaque objects: a call accesses all of it, as its model says, and where we keep what was
set is our own business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.machine.faults import Aborted
from raceproof.machine.libc.registry import library
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_SET = 128
_SIGNALS = 64
_INVALID = 22
_FAILED = -1


def _opaque(*names: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    return library(*names, is_rehearsed=False)


# --- sets of signals ---


def _signals(m: Machine, place: int) -> int:
    return int.from_bytes(m.memory.read(place, 8), "little")


def _set_signals(m: Machine, place: int, value: int) -> int:
    m.memory.write(place, value.to_bytes(8, "little") + bytes(_SET - 8))
    return 0


@_opaque("sigemptyset")
def _empty(m: Machine, place: int) -> int:
    return _set_signals(m, place, 0)


@_opaque("sigfillset")
def _full(m: Machine, place: int) -> int:
    """Without the two signals that glibc keeps for itself."""
    return _set_signals(m, place, (1 << 64) - 1 & ~(3 << 31))


def _bit(m: Machine, signal: int) -> int:
    """The signal's bit; 0 and an error if there is no such signal."""
    number = to_signed(signal, 32)
    if 1 <= number <= _SIGNALS:
        return 1 << number - 1
    m.set_errno(_INVALID)
    return 0


@_opaque("sigaddset")
def _add(m: Machine, place: int, signal: int) -> int:
    bit = _bit(m, signal)
    return _set_signals(m, place, _signals(m, place) | bit) if bit else _FAILED


@_opaque("sigdelset")
def _remove(m: Machine, place: int, signal: int) -> int:
    bit = _bit(m, signal)
    return _set_signals(m, place, _signals(m, place) & ~bit) if bit else _FAILED


@_opaque("sigismember")
def _has(m: Machine, place: int, signal: int) -> int:
    bit = _bit(m, signal)
    return int(bool(_signals(m, place) & bit)) if bit else _FAILED


@_opaque("sigisemptyset")
def _is_empty(m: Machine, place: int) -> int:
    return int(_signals(m, place) == 0)


@_opaque("sigandset")
def _both(m: Machine, place: int, first: int, second: int) -> int:
    return _set_signals(m, place, _signals(m, first) & _signals(m, second))


@_opaque("sigorset")
def _either(m: Machine, place: int, first: int, second: int) -> int:
    return _set_signals(m, place, _signals(m, first) | _signals(m, second))


# --- sets of processors and descriptors ---


@library("__sched_cpucount")
def _processors(m: Machine, size: int, place: int) -> int:
    return int.from_bytes(m.memory.read(place, size), "little").bit_count()


@library("__fdelt_chk", "__fdelt_warn")
def _word_of_descriptor(m: Machine, descriptor: int) -> int:
    bits = 8 * m.program.layout.pointer_size
    if not 0 <= to_signed(descriptor, bits) < 1024:
        raise Aborted("a descriptor that is in no set")
    return descriptor // bits


# --- attributes of threads ---

_THREAD_FIELDS = ("detachstate", "inheritsched", "schedpolicy", "scope")
_SIZES = ("guardsize", "stacksize", "stackaddr")
_PAGE = 4096


def _field(m: Machine, name: str) -> tuple[int, int]:
    """Where we keep it, and in how many bytes."""
    if name in _THREAD_FIELDS:
        return 4 * _THREAD_FIELDS.index(name), 4
    size = m.program.layout.pointer_size
    start = 16 if size == 4 else 24
    return start + size * _SIZES.index(name), size


@_opaque("pthread_attr_init")
def _new_attributes(m: Machine, place: int) -> int:
    size = m.program.layout.pointer_size
    m.memory.write(place, bytes(36 if size == 4 else 56))
    start, width = _field(m, "guardsize")
    m.memory.write(place + start, _PAGE.to_bytes(width, "little"))
    return 0


@_opaque("pthread_attr_destroy", "pthread_condattr_destroy", "pthread_rwlockattr_destroy")
def _old_attributes(m: Machine, place: int) -> int:
    return 0


def _setter(name: str, most: int | None) -> Callable[..., int]:
    def put(m: Machine, place: int, value: int) -> int:
        start, width = _field(m, name)
        if most is not None and not 0 <= to_signed(value, 8 * width) <= most:
            return _INVALID
        if name == "stacksize" and value < 16384:
            return _INVALID
        m.memory.write(place + start, value.to_bytes(width, "little"))
        return 0

    return put


def _getter(name: str) -> Callable[..., int | None]:
    def get(m: Machine, place: int, target: int) -> int | None:
        start, width = _field(m, name)
        data = m.memory.read(place + start, width)
        if name in ("stacksize", "stackaddr") and not any(data):
            m.forget(target, width)  # the system's own
        else:
            m.memory.write(target, data)
        return 0

    return get


for _name in (*_THREAD_FIELDS, *_SIZES):
    _limit = {"detachstate": 1, "inheritsched": 1, "scope": 0, "schedpolicy": 2}.get(_name)
    library(f"pthread_attr_set{_name}", is_rehearsed=False)(_setter(_name, _limit))
    library(f"pthread_attr_get{_name}", is_rehearsed=False)(_getter(_name))


# --- attributes of locks: numbers side by side in one word ---

_BITS = {"type": 0, "protocol": 8, "pshared": 12, "robust": 14, "prioceiling": 16, "clock": 4}
_WIDTHS = {"type": 8, "protocol": 4, "pshared": 2, "robust": 2, "prioceiling": 8, "clock": 4}
_LOCKS = {
    "mutexattr": ("type", "protocol", "pshared", "robust", "prioceiling"),
    "condattr": ("pshared", "clock"),
    "rwlockattr": ("pshared",),
    "barrierattr": ("pshared",),
}
_GREATEST = {"type": 3, "protocol": 2, "pshared": 1, "robust": 1, "prioceiling": 99, "clock": 1}


def put_attribute(m: Machine, place: int, name: str, value: int) -> int:
    """Keep a number; EINVAL if it is none of its values."""
    if not 0 <= to_signed(value, 32) <= _GREATEST[name]:
        return _INVALID
    mask = (1 << _WIDTHS[name]) - 1
    word = int.from_bytes(m.memory.read(place, 4), "little")
    word = word & ~(mask << _BITS[name]) | value << _BITS[name]
    m.memory.write(place, word.to_bytes(4, "little"))
    return 0


def _put(name: str) -> Callable[..., int]:
    return lambda m, place, value: put_attribute(m, place, name, value)


def _get(name: str) -> Callable[..., int]:
    def get(m: Machine, place: int, target: int) -> int:
        word = int.from_bytes(m.memory.read(place, 4), "little")
        value = word >> _BITS[name] & (1 << _WIDTHS[name]) - 1
        m.memory.write(target, value.to_bytes(4, "little"))
        return 0

    return get


def _new_word(m: Machine, place: int) -> int:
    m.memory.write(place, bytes(4))
    return 0


for _kind, _names in _LOCKS.items():
    library(f"pthread_{_kind}_init", is_rehearsed=False)(_new_word)
    for _name in _names:
        for _suffix in ("", "_np"):
            library(f"pthread_{_kind}_set{_name}{_suffix}", is_rehearsed=False)(_put(_name))
            library(f"pthread_{_kind}_get{_name}{_suffix}", is_rehearsed=False)(_get(_name))
library("pthread_mutexattr_getkind_np", is_rehearsed=False)(_get("type"))
library("pthread_mutexattr_destroy", "pthread_barrierattr_destroy", is_rehearsed=False)(
    _old_attributes
)
