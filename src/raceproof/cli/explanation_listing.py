"""Shared locations and their protection, for people and as JSON."""

import json
import textwrap
from typing import Any, TextIO

from raceproof.engines.modular.explanation import Explained, Pair
from raceproof.ir.names import without_origin
from raceproof.report import words
from raceproof.verdict import Access

_MOST_PAIRS = 400
_WIDTH = 80
_NAME_WIDTH = 44
_LEAST_TEXT = 24


def write_list(found: list[Explained], out: TextIO) -> None:
    """One line a location."""
    if not found:
        out.write("no location is accessed by more than one thread\n")
        return
    rows = list(
        dict.fromkeys(
            (one.location.name, words.count(len(one.accesses), "access"), _summary(one))
            for one in found
            if not _is_lock_only(one)
        )
    )
    if not rows:
        out.write("no location but locks is accessed by more than one thread\n")
        return
    widths = [min(max(len(row[column]) for row in rows), _NAME_WIDTH) for column in (0, 1)]
    for name, count, text in rows:
        head = f"{name:<{widths[0]}}  {count:>{widths[1]}}  "
        if len(head) + len(text) <= _WIDTH:
            out.write(head + text + "\n")
            continue
        indent = " " * (widths[0] + widths[1] + 4)
        if _WIDTH - len(head) < _LEAST_TEXT:
            out.write(head.rstrip() + "\n")
            head = indent = "    "
        out.write(textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=indent) + "\n")


def _is_lock_only(one: Explained) -> bool:
    """A lock is used by all, and that is what it is for."""
    return not one.racing and all(a.is_atomic and not a.is_write for a in one.accesses)


def _summary(one: Explained) -> str:
    if not one.racing:
        return one.protection
    racy = dict.fromkeys(
        without_origin(one.accesses[index].location.name)
        for pair in one.pairs
        if not pair.reason
        for index in (pair.first, pair.second)
    )
    return f"may race: {', '.join(sorted(racy))} ({one.racing} of {len(one.pairs)} pairs)"


def write_full(one: Explained, out: TextIO) -> None:
    out.write(f"{one.location.name}: {_summary(one)}\n\n")
    width = len(str(len(one.accesses)))
    for number, (access, thread) in enumerate(zip(one.accesses, one.threads, strict=True), 1):
        first, *rest = _access(access, thread)
        out.write(f"  {number:>{width}}  {first}\n")
        for line in rest:
            out.write(f"  {'':>{width}}  {line}\n")
    out.write("\npairs of different threads\n")
    if not one.pairs:
        out.write("  none\n")
    for pair in one.pairs[:_MOST_PAIRS]:
        both = f"{pair.first + 1} and {pair.second + 1}"
        if pair.first == pair.second:
            both = f"{pair.first + 1} twice"
        _put(out, f"  {both:<{2 * width + 5}}  ", pair.words)
        if not pair.reason:
            _put(out, f"  {'':<{2 * width + 5}}  ", _what_lacks(pair))
    if len(one.pairs) > _MOST_PAIRS:
        out.write(f"  ... and {len(one.pairs) - _MOST_PAIRS} more\n")
    out.write("\n")


def _put(out: TextIO, head: str, text: str) -> None:
    """The text behind the head, broken between words."""
    for line in textwrap.wrap(text, _WIDTH - len(head), break_long_words=False):
        out.write(f"{head}{line}\n")
        head = " " * len(head)


def _what_lacks(pair: Pair) -> str:
    if not pair.lacking:
        return "nothing is missing for a likely race"
    return f"missing for a likely race: {'; '.join(pair.lacking)}"


def _access(access: Access, thread: int) -> list[str]:
    lines = [
        f"{words.kind(access)} of {words.target(access)} at {words.place(access.position)}",
        f"  thread  {thread} {words.thread(access.thread)}",
        f"  holds   {words.locks(access.locks)}",
    ]
    stack = words.call_stack(access)
    if stack:
        lines.append(f"  calls   {stack}")
    return lines


def write_json(found: list[Explained], out: TextIO) -> None:
    json.dump({"locations": [_json(one) for one in found]}, out, indent=2)
    out.write("\n")


def _json(one: Explained) -> dict[str, Any]:
    return {
        "location": one.location.name,
        "kind": one.location.kind.value,
        "protection": one.protection or None,
        "accesses": [
            _access_json(access, thread)
            for access, thread in zip(one.accesses, one.threads, strict=True)
        ],
        "pairs": [
            {
                "accesses": [pair.first, pair.second],
                "reason": pair.reason or None,
                "text": pair.words,
                "lacking": None if pair.reason else list(pair.lacking),
            }
            for pair in one.pairs
        ],
    }


def _access_json(access: Access, thread: int) -> dict[str, Any]:
    place = access.position
    return {
        "kind": words.kind(access),
        "location": access.location.name,
        "function": access.function,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "thread": thread,
        "thread_name": words.thread(access.thread),
        "locks": [
            {"name": held.name, "mode": held.mode.value, "sure": held.is_sure}
            for held in access.locks
        ],
        "calls": [
            {"function": call.function, "place": str(call.position) if call.position else None}
            for call in access.calls
        ],
    }
