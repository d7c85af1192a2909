"""Every instance of a thread has its own element or object, and touches no other.

    for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &results[i]);

`own_arguments` says when arguments are own, and why different ones mean different bytes.
"""

from raceproof.analysis.records import OwnAccess, RawAccess
from raceproof.engines.modular.facts import Facts


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    if a.own is None or b.own is None or a.own.kind != b.own.kind:
        return False
    if a.thread == b.thread:
        is_apart = not (a.own.threads or b.own.threads)
    elif a.own.threads:
        is_apart = not b.own.threads and bool(a.own.threads >> b.thread & 1)
    else:
        is_apart = bool(b.own.threads >> a.thread & 1)
    if not is_apart:
        return False
    thread = facts.threads[b.thread if a.own.threads else a.thread]
    if thread.own is None or thread.is_shared or thread.is_adopted:
        return False
    kind, size = thread.own
    if kind == "object":
        return a.own.kind == "argument"
    if kind == "element":
        return a.own.kind == "argument" and _in_one_window(a, b, size)
    return (
        a.own.kind == "index"
        and a.own.scale == b.own.scale
        and _keeps(a.own, size)
        and _keeps(b.own, size)
        and _in_one_window(a, b, abs(a.own.scale))
    )


def _keeps(own: OwnAccess, bits: int) -> bool:
    """Is the number still there after all casts?"""
    return own.bits >= bits


def _in_one_window(a: RawAccess, b: RawAccess, length: int) -> bool:
    assert a.own is not None
    assert b.own is not None
    first, second = a.own.offset, b.own.offset
    if first is None or second is None or a.size is None or b.size is None:
        return False
    return max(first + a.size, second + b.size) - min(first, second) <= length
