"""Loops that count from an unknown number, with their copies named by the count.

    int j = any(); assume(0 <= j);
    for (; j < 10; j++) { lock(&m[j]); ... }

Unrolled by iterations, the third copy of the body stands for every `j` from 2 on, and each pointer
that depends on `j` is a choice. Unrolled by the count, the copy for `j == 7` is entered from the
one for `j == 6` or from before the loop, and in it 7 is a constant, as are `&m[j]` and whatever is
read through it. So the state that enters such a loop is split by its count, each part goes to the
copy of that count, and what does not enter the loop at all goes to one behind them.
"""

from __future__ import annotations

from raceproof.analysis.loop_counters import Counter
from raceproof.engines.bounded.sharing import constants
from raceproof.engines.bounded.waiting import conjunct_terms
from raceproof.smt.arithmetic import signed
from raceproof.smt.terms import Term

_MOST = 16
"""A loop with more counts than this is unrolled by its iterations."""


def counts(counter: Counter, start: Term, limit: Term, known: Term) -> tuple[list[int], int]:
    """All that a loop may count from where it goes on at all, if this is known to hold, in the
    order of counting, none if there may be too many; and an iteration that comes after these."""
    if start.is_constant or not limit.is_constant:
        return [], 0
    width, is_signed = start.width, counter.predicate[0] == "s"

    def number(value: int) -> int:
        return signed(value, width) if is_signed else value

    end = number(limit.constant)
    if counter.predicate[2] == "e":
        end += counter.step
    leaves = constants(start)
    if leaves is not None:
        found = sorted(number(leaf) for leaf in leaves)
        found = [value for value in found if (end - value) * counter.step > 0]
        found = found if counter.step > 0 else found[::-1]
        if not found or abs(found[-1] - found[0]) >= _MOST:
            return [], 0
        return found, (end - found[0]) * counter.step + 1
    first = _bound(start, known, is_signed, is_low=counter.step > 0)
    if first is None and not is_signed and counter.step > 0:
        first = 0
    if first is None or not 0 < (end - first) * counter.step <= _MOST:
        return [], 0
    return list(range(first, end, counter.step)), (end - first) * counter.step + 1


def _bound(value: Term, known: Term, is_signed: bool, *, is_low: bool) -> int | None:
    """The least (greatest) number that is left to a value by what is known."""
    less = "slt" if is_signed else "ult"
    found: list[int] = []
    for fact in conjunct_terms(known):
        is_negated = fact.operation == "not"
        if is_negated:
            fact = fact.arguments[0]
        if fact.operation != less:
            continue
        a, b = fact.arguments
        if is_negated:  # b <= a
            if is_low and a is value and b.is_constant:
                found.append(_number(b, is_signed))
            if not is_low and b is value and a.is_constant:
                found.append(_number(a, is_signed))
        else:  # a < b
            if is_low and b is value and a.is_constant:
                found.append(_number(a, is_signed) + 1)
            if not is_low and a is value and b.is_constant:
                found.append(_number(b, is_signed) - 1)
    if not found:
        return None
    return max(found) if is_low else min(found)


def _number(term: Term, is_signed: bool) -> int:
    return signed(term.constant, term.width) if is_signed else term.constant
