"""Calls of the runtime around the points of a module; ThreadSanitizer's mark on functions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from raceproof.native.points import Point

_ATTRIBUTES = re.compile(r"^(attributes #\d+ = \{ )", re.M)
_HOOKS = """
declare void @raceproof_native_before(i32, ptr)
declare void @raceproof_native_after(i32)
declare void @raceproof_native_atomic_begin()
declare void @raceproof_native_atomic_end()
"""
_REPLACED = re.compile(
    r"@(pthread_create|sleep|usleep|nanosleep|call_once"
    r"|thrd_(?:create|join|detach|exit)"
    r"|mtx_(?:init|lock|trylock|timedlock|unlock|destroy)"
    r"|cnd_(?:init|signal|broadcast|wait|timedwait|destroy))\("
)
"""Creations, to number the threads; waiting for time to pass, which a schedule has no use for; and
the threads of C11, which ThreadSanitizer does not know."""
_ATOMIC_FUNCTION = re.compile(
    r"^(?P<head>define [^\n]*@__VERIFIER_atomic_(?!begin\(|end\()\w+\([^\n]*\{\n)(?P<body>.*?)^\}",
    re.M | re.S,
)
"""A function whose name says that its body is atomic: ThreadSanitizer must be shown a lock."""
_RETURN = re.compile(r"^  ret ", re.M)
_DEFINED = re.compile(r"^define [^\n]*?@([-\w.$]+)\(", re.M)


def instrumented(text: str, points: Mapping[int, Point]) -> str:
    """The module with hooks at the points."""
    lines = text.split("\n")
    for number, point in points.items():
        line = lines[point.line]
        pointer = point.pointer or "null"
        before = f"  call void @raceproof_native_before(i32 {number}, ptr {pointer})"
        after = f"  call void @raceproof_native_after(i32 {number})"
        is_last = line.lstrip().startswith("invoke ") or " = invoke " in line
        if is_last:
            # Nothing can stand behind a terminator: the step counts as done when it starts.
            lines[point.line] = f"{before}\n{after}\n{line}"
        else:
            lines[point.line] = f"{before}\n{line}\n{after}"
    whole = "\n".join(lines)
    whole = _ATOMIC_FUNCTION.sub(_locked, whole)
    own = frozenset(_DEFINED.findall(whole))
    whole = _REPLACED.sub(lambda match: _renamed(match, own), whole)
    return _ATTRIBUTES.sub(r"\1sanitize_thread ", whole) + _HOOKS


def _locked(match: re.Match[str]) -> str:
    body = _RETURN.sub("  call void @raceproof_native_atomic_end()\n  ret ", match["body"])
    return f"{match['head']}  call void @raceproof_native_atomic_begin()\n{body}}}"


def _renamed(match: re.Match[str], own: frozenset[str]) -> str:
    name = match[1]
    if name in own:
        return match[0]
    return f"@raceproof_native_{name.removeprefix('pthread_')}("
