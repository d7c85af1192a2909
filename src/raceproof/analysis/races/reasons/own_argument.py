"""Every instance of a thread has its own element or object, and touches no other.

    for (i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &results[i]);

`own_arguments` says when arguments are own, and why different ones mean different bytes.
"""

from raceproof.analysis.facets.facet import Reason
from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import OwnAccess, RawAccess
from raceproof.analysis.threads import ThreadInfo


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    if a.own is None or b.own is None or a.own.kind != b.own.kind:
        return False
    if b.own.threads:
        a, b = b, a
    assert a.own is not None
    assert b.own is not None
    if b.own.threads:
        return False
    thread = facts.threads[b.thread]
    if a.own.threads:
        if not a.own.threads >> b.thread & 1 or not _is_own(thread):
            return False
        if thread.own is None or thread.own[0] != a.own.of:
            return False
        if a.own.may_be_same and not _are_apart(a, b):
            return False
    elif not _never_same(facts.threads[a.thread], thread):
        return False
    assert thread.own is not None
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


def _is_own(thread: ThreadInfo) -> bool:
    return thread.own is not None and not (thread.is_shared or thread.is_adopted)


def _never_same(first: ThreadInfo, second: ThreadInfo) -> bool:
    """Have all their instances that run at the same time arguments of their own?"""
    if not (_is_own(first) and _is_own(second) and first.own == second.own):
        return False
    assert first.own is not None
    if first.own[0] == "object":
        return True
    return not (first.mixed & second.bit or second.mixed & first.bit)


def _keeps(own: OwnAccess, bits: int) -> bool:
    """Is the number still there after all casts?"""
    return own.bits >= bits


def _are_apart(a: RawAccess, b: RawAccess) -> bool:
    first, second = _span(a), _span(b)
    return (
        first is not None
        and second is not None
        and (first[1] <= second[0] or second[1] <= first[0])
    )


def _in_one_window(a: RawAccess, b: RawAccess, length: int) -> bool:
    first, second = _span(a), _span(b)
    if first is None or second is None:
        return False
    return max(first[1], second[1]) - min(first[0], second[0]) <= length


def _span(access: RawAccess) -> tuple[int, int] | None:
    assert access.own is not None
    if access.own.offset is None or access.size is None:
        return None
    return access.own.offset, access.own.offset + access.size


REASON = Reason(
    "own-argument",
    excludes,
    of_pair="each thread has its own element or object",
    of_location="each thread has its own element or object",
)
