"""Functions of the C library that the printed program has its own version of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """A function of the runtime, and how many arguments it takes from the call."""

    function: str
    arguments: int


def _named(count: int, function: str, *names: str) -> dict[str, LibraryFunction]:
    return {name: LibraryFunction(f"library_{function}", count) for name in (function, *names)}


LIBRARY: dict[str, LibraryFunction] = {
    **_named(3, "memcpy", "memmove", "__memcpy_chk", "__memmove_chk"),
    **_named(3, "memset", "__memset_chk"),
    **_named(3, "memcmp", "bcmp"),
    **_named(1, "strlen"),
    **_named(2, "strnlen"),
    **_named(2, "strcmp", "strcoll"),
    **_named(3, "strncmp"),
    **_named(2, "strcpy", "__strcpy_chk"),
    **_named(3, "strncpy", "__strncpy_chk"),
    **_named(2, "strcat", "__strcat_chk"),
    **_named(2, "strchr", "index"),
    **_named(2, "strrchr", "rindex"),
    **_named(2, "strstr"),
    **_named(3, "strncat", "__strncat_chk"),
    **_named(2, "stpcpy", "__stpcpy_chk"),
    **_named(3, "memchr"),
    **_named(3, "mempcpy", "__mempcpy", "__mempcpy_chk"),
    **_named(2, "bzero", "explicit_bzero"),
    **_named(1, "atoi", "atol"),
    **_named(1, "abs"),
    **_named(1, "isdigit"),
    **_named(1, "isspace"),
    **_named(1, "toupper"),
    **_named(1, "tolower"),
}

QUIET: dict[str, bool] = {
    **dict.fromkeys(
        (
            *("printf", "__printf_chk", "fprintf", "dprintf", "vprintf", "vfprintf"),
            *("sprintf", "snprintf", "vsnprintf", "puts", "putchar", "putchar_unlocked"),
            *("putc", "fputc", "_IO_putc", "fputs", "fwrite"),
        ),
        False,
    ),
    **dict.fromkeys(
        (
            *("fflush", "sched_yield", "usleep", "sleep", "nanosleep", "setbuf", "setvbuf"),
            *("srand", "fclose", "close"),
        ),
        True,
    ),
}
"""Functions that are not executed; True: they return zero."""
