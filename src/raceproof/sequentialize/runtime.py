"""The fixed parts of a printed program: C files, of which only the used pieces are printed.

A piece begins with a line `//: name name ...` that says what it defines. It is printed if one of
these names occurs in the program or in another printed piece.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r'/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_FILES = (  # the driver last: it stands after the threads
    "state",
    "arithmetic",
    "synchronisation",
    "library",
    "driver",
)

STATE = {
    "flags": "memset(flags, 0, sizeof flags);",
    "memory": "memcpy(memory, saved_memory, sizeof memory);",
    "thread": "memset(thread, 0, sizeof thread);",
    "threads": "threads = 0;",
    "alive": "alive = 0;",
    "mark": "mark = 0;",
    "raced": "raced = 0;",
    "heap": "heap = HEAP_START;",
    "objects": "memset(objects, 0, sizeof objects); object_count = 0;",
    "specifics": "memset(specifics, 0, sizeof specifics); keys = 0;",
    "destructors": "memset(destructors, 0, sizeof destructors);",
    "exit_handlers": "exit_handler_count = 0;",
    "cleanups": "memset(cleanup_count, 0, sizeof cleanup_count);",
    "silent": "silent = 0;",
    "is_started": "memset(is_started, 0, sizeof is_started);",
}
"""How to bring each variable of the runtime back to its first value."""


@cache
def _pieces() -> tuple[tuple[frozenset[str], str], ...]:
    found = []
    for name in _FILES:
        text = _read(name)
        for piece in text.split("//: ")[1:]:
            names, body = piece.split("\n", 1)
            found.append((frozenset(names.split()), body.strip() + "\n"))
    return tuple(found)


def _read(name: str) -> str:
    folder = files("raceproof.sequentialize") / "runtime"
    return (folder / f"{name}.c").read_text(encoding="utf-8")


def words(text: str) -> set[str]:
    """The identifiers of a piece of C."""
    return set(_WORD.findall(_COMMENT.sub("", text)))


def pieces_for(text: str) -> tuple[list[str], str]:
    """The pieces of the runtime that a program needs: those before its threads, and the driver."""
    pieces = _pieces()
    driver = len(pieces) - 1
    needed = words(text) | words(pieces[driver][1])
    chosen: set[int] = set()
    while True:
        more = [
            index
            for index, (names, _) in enumerate(pieces)
            if index not in chosen and names & needed
        ]
        if not more:
            break
        for index in more:
            chosen.add(index)
            needed |= words(pieces[index][1])
    before = [body for index, (_, body) in enumerate(pieces) if index in chosen - {driver}]
    return before, pieces[driver][1]


def native_part(printed: str) -> str:
    """What makes the program executable, for the variables that it has."""
    used = words(printed)
    reset = [text for name, text in STATE.items() if name in used]
    text = _read("native")
    text = text.replace("    @RESET@", "\n".join(f"    {line}" for line in reset))
    return text.replace("    @SAVE@", "    memcpy(saved_memory, memory, sizeof memory);")
