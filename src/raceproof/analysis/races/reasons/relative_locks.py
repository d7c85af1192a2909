"""A lock that lies beside the accessed bytes, or is found by the same index.

    lock(&node->lock);  node->count++;              lock 8 bytes before the accessed ones
    lock(&m[i]);        a[i] = 0;                   lock m[i] for the element a[i]

Both accesses of one byte then hold the same lock, whichever it is.
"""

from raceproof.analysis.races.facts import Facts
from raceproof.analysis.records import RawAccess
from raceproof.analysis.state import LockKey


def excludes(a: RawAccess, b: RawAccess, facts: Facts) -> bool:
    for lock in a.relative:
        *key, is_write = lock
        if lock in b.relative and is_write:
            return _same_start(a, b)
        if (*key, not is_write) in b.relative:
            return _same_start(a, b)
    return (_holds_it(a, b) or _holds_it(b, a)) and _same_start(a, b)


def _holds_it(a: RawAccess, b: RawAccess) -> bool:
    """Does `b`, at an exact index, hold the very lock that `a` holds for that index?"""
    start = b.offsets.signed_constant
    if start is None or not b.held:
        return False
    modes = {held.lock: held.is_write for held in b.held}
    for kind, *rest in a.relative:
        if kind != "indexed":
            continue
        base, constant, scale, _, first, stride, is_write = rest
        if stride == 0 or (start - first) % stride:
            continue
        other = modes.get(LockKey(base, constant + (start - first) // stride * scale))
        if other is not None and (other or is_write):
            return True
    return False


def _same_start(a: RawAccess, b: RawAccess) -> bool:
    """The lock's place is told from the start of the access: equal starts, or no overlap at all."""
    if a.size is None or b.size is None:
        return False
    if a.size == b.size and _aligned(a, a.size) and _aligned(b, b.size):
        return True
    low, high = a.offsets.signed_constant, b.offsets.signed_constant
    return low is not None and low == high


def _aligned(access: RawAccess, size: int) -> bool:
    start, _, stride = access.offsets.progression()
    return start % size == 0 and stride % size == 0
