"""Calendar time: <time.h> in the C locale.

Local time is some whole number of hours away from UTC, the same for the whole execution.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from raceproof.machine.libc.registry import library
from raceproof.semantics.integers import to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_OVERFLOW = 75
_DAY = 86400
_FAILED = -1


class Broken(NamedTuple):
    """`struct tm`, with the distance from UTC in seconds and the name of the zone."""

    sec: int
    min: int
    hour: int
    mday: int
    mon: int
    year: int
    wday: int
    yday: int
    isdst: int = 0
    gmtoff: int = 0
    zone: str = "GMT"


def days_before(year: int, month: int) -> int:
    """Days from 1970-01-01 to the first of a month (from 0) in the Gregorian calendar."""
    year, month = year + month // 12, month % 12
    shifted = year - (month < 2)
    era, rest = divmod(shifted, 400)
    day = (153 * ((month + 10) % 12) + 2) // 5
    return era * 146097 + rest * 365 + rest // 4 - rest // 100 + day - 719468


def broken_down(seconds: int) -> Broken:
    """Seconds since 1970 in UTC."""
    days, second = divmod(seconds, _DAY)
    era, rest = divmod(days + 719468, 146097)
    year = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    day = rest - (365 * year + year // 4 - year // 100)
    month = (5 * day + 2) // 153
    mday = day - (153 * month + 2) // 5 + 1
    mon = (month + 2) % 12
    full = year + era * 400 + (mon < 2)
    yday = days - days_before(full, 0)
    return Broken(
        second % 60, second // 60 % 60, second // 3600, mday, mon, full - 1900, (days + 4) % 7, yday
    )


def seconds_of(given: Broken) -> int:
    """The other way; fields may be out of their ranges."""
    days = days_before(given.year + 1900, given.mon) + given.mday - 1
    return days * _DAY + given.hour * 3600 + given.min * 60 + given.sec


def _read(m: Machine, place: int) -> Broken:
    numbers = struct.unpack("<9i", m.memory.read(place, 36))
    return Broken(*numbers)


def _write(m: Machine, place: int, value: Broken) -> None:
    size = m.program.layout.pointer_size
    m.memory.write(place, struct.pack("<9i", *value[:9]))
    after = place + 36 + (-36) % size
    m.memory.write(after, (value.gmtoff & (1 << 8 * size) - 1).to_bytes(size, "little"))
    m.write_pointer(after + size, m.static_text(value.zone))


def _fits(value: Broken) -> bool:
    return -(1 << 31) <= value.year < 1 << 31


def _seconds_at(m: Machine, place: int) -> int:
    size = m.program.layout.pointer_size
    return to_signed(int.from_bytes(m.memory.read(place, size), "little"), 8 * size)


def _zone(m: Machine) -> int | None:
    """Seconds from UTC to local time: an input, once; None if it may be any."""
    if m.is_open:
        return None
    key = "time zone"
    if key not in m.sync:
        m.sync[key] = to_signed(m.input(32, (-12, 14)), 32)
    return int(m.sync[key]) * 3600


def _filled(m: Machine, seconds: int, offset: int, target: int) -> int:
    value = broken_down(seconds + offset)
    if not _fits(value):
        m.set_errno(_OVERFLOW)
        return 0
    zone = "GMT" if not offset else f"{'+' if offset > 0 else '-'}{abs(offset) // 3600:02}"
    _write(m, target, value._replace(gmtoff=offset, zone=zone))
    return target


@library("gmtime_r", "__gmtime_r")
def _gmtime_r(m: Machine, place: int, target: int) -> int:
    return _filled(m, _seconds_at(m, place), 0, target)


@library("localtime_r", "__localtime_r")
def _localtime_r(m: Machine, place: int, target: int) -> int | None:
    offset = _zone(m)
    return None if offset is None else _filled(m, _seconds_at(m, place), offset, target)


def _normalised(m: Machine, place: int, offset: int) -> int:
    given = _read(m, place)
    seconds = seconds_of(given) - offset
    bits = 8 * m.program.layout.pointer_size
    value = broken_down(seconds + offset)
    if not _fits(value) or not -(1 << bits - 1) <= seconds < 1 << bits - 1:
        m.set_errno(_OVERFLOW)
        return _FAILED
    zone = "GMT" if not offset else f"{'+' if offset > 0 else '-'}{abs(offset) // 3600:02}"
    _write(m, place, value._replace(gmtoff=offset, zone=zone))
    return seconds


@library("timegm")
def _timegm(m: Machine, place: int) -> int:
    return _normalised(m, place, 0)


@library("mktime", "timelocal")
def _mktime(m: Machine, place: int) -> int | None:
    offset = _zone(m)
    return None if offset is None else _normalised(m, place, offset)


def _classic(value: Broken) -> str | None:
    if not (0 <= value.wday < 7 and 0 <= value.mon < 12):
        return None
    clock = f"{value.hour:02d}:{value.min:02d}:{value.sec:02d}"
    day = f"{_DAYS[value.wday][:3]} {_MONTHS[value.mon][:3]}{value.mday:3d}"
    text = f"{day} {clock} {value.year + 1900}\n"
    return text if len(text) < 26 else None


@library("asctime_r")
def _asctime_r(m: Machine, place: int, target: int) -> int | None:
    text = _classic(_read(m, place))
    if text is None:
        return None
    m.memory.write(target, text.encode() + b"\0")
    return target


@library("ctime_r")
def _ctime_r(m: Machine, place: int, target: int) -> int | None:
    offset = _zone(m)
    if offset is None:
        return None
    text = _classic(broken_down(_seconds_at(m, place) + offset))
    if text is None:
        return None
    m.memory.write(target, text.encode() + b"\0")
    return target


# --- strftime ---


def _week(value: Broken, first: int) -> int:
    """The number of the week if weeks begin with this day."""
    return (value.yday + 7 - (value.wday - first) % 7) // 7


def _iso(value: Broken) -> tuple[int, int]:
    """Year and week of ISO 8601."""
    year = value.year + 1900
    weekday = (value.wday - 1) % 7
    week = (value.yday - weekday + 10) // 7
    if week < 1:
        return year - 1, _weeks(year - 1)
    return (year + 1, 1) if week > _weeks(year) else (year, week)


def _weeks(year: int) -> int:
    """Weeks of an ISO year: 53 if it starts on a Thursday, or on a Wednesday in a leap year."""
    start = (days_before(year, 0) + 4) % 7
    is_leap = days_before(year + 1, 0) - days_before(year, 0) == 366
    return 53 if start == 4 or (start == 3 and is_leap) else 52


_SHORT = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
    "h": "%b",
}


def format_time(template: str, value: Broken) -> str | None:
    """None for what we do not know."""
    out = []
    place = 0
    while place < len(template):
        character = template[place]
        place += 1
        if character != "%":
            out.append(character)
            continue
        if template[place : place + 1] in ("E", "O"):
            place += 1
        letter = template[place : place + 1]
        place += 1
        text = _field(letter, value)
        if text is None:
            return None
        out.append(text)
    return "".join(out)


def _field(letter: str, value: Broken) -> str | None:
    if letter in _SHORT and letter:
        return format_time(_SHORT[letter], value)
    year = value.year + 1900
    twelve = value.hour % 12 or 12
    match letter:
        case "a" | "A":
            text = _DAYS[value.wday] if 0 <= value.wday < 7 else "?"
            return text[:3] if letter == "a" else text
        case "b" | "B":
            text = _MONTHS[value.mon] if 0 <= value.mon < 12 else "?"
            return text[:3] if letter == "b" else text
        case "C":
            return f"{year // 100:02d}"
        case "g" | "G" | "V":
            iso, week = _iso(value)
            return {"g": f"{iso % 100:02d}", "G": str(iso), "V": f"{week:02d}"}[letter]
        case "n" | "t" | "%":
            return {"n": "\n", "t": "\t", "%": "%"}[letter]
        case "p" | "P":
            text = "PM" if value.hour > 11 else "AM"
            return text if letter == "p" else text.lower()
        case "u":
            return str((value.wday - 1) % 7 + 1)
        case "U" | "W":
            return f"{_week(value, 0 if letter == 'U' else 1):02d}"
        case "Y":
            return str(year)
    numbers = {
        "d": f"{value.mday:02d}",
        "e": f"{value.mday:2d}",
        "H": f"{value.hour:02d}",
        "I": f"{twelve:02d}",
        "j": f"{value.yday + 1:03d}",
        "k": f"{value.hour:2d}",
        "l": f"{twelve:2d}",
        "m": f"{value.mon + 1:02d}",
        "M": f"{value.min:02d}",
        "S": f"{value.sec:02d}",
        "w": str(value.wday),
        "y": f"{year % 100:02d}",
    }
    return numbers.get(letter)


@library("strftime", "strftime_l")
def _strftime(m: Machine, target: int, size: int, template: int, place: int, *_: int) -> int | None:
    """Without `%z`, `%Z`, `%s`, which depend on the zone."""
    text = format_time(m.memory.string(template).decode("latin-1"), _read(m, place))
    if text is None:
        return None
    data = text.encode("latin-1") + b"\0"
    if len(data) > size:
        return None if size else 0
    m.memory.write(target, data)
    return len(data) - 1
