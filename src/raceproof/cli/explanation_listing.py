"""Shared locations and their protection, for people and as JSON."""

import json
from typing import Any, TextIO

from raceproof.engines.modular.explanation import Explained, Pair
from raceproof.report import words
from raceproof.verdict import Access

_MOST_PAIRS = 400


def write_list(found: list[Explained], out: TextIO) -> None:
    """One line a location."""
    if not found:
        out.write("no location is accessed by more than one thread\n")
        return
    rows = [
        (one.location.name, words.count(len(one.accesses), "access"), _summary(one))
        for one in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, count, text in rows:
        out.write(f"{name:<{widths[0]}}  {count:>{widths[1]}}  {text}\n")


def _summary(one: Explained) -> str:
    if not one.racing:
        return one.protection
    racy = dict.fromkeys(
        one.accesses[index].location.name
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
        out.write(f"  {both:<{2 * width + 5}}  {pair.words}\n")
        if not pair.reason:
            out.write(f"  {'':<{2 * width + 5}}  {_what_lacks(pair)}\n")
    if len(one.pairs) > _MOST_PAIRS:
        out.write(f"  ... and {len(one.pairs) - _MOST_PAIRS} more\n")
    out.write("\n")


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
