"""The number that a term stands for, given those of its variables."""

from __future__ import annotations

from collections.abc import Callable

from raceproof.smt.arithmetic import COMPARE, FOLD, signed
from raceproof.smt.terms import Term


def evaluate(root: Term, values: dict[int, int], variable: Callable[[Term], int]) -> int:
    """The number a term has when its variables have theirs; `values` remembers by term number."""
    stack = [root]
    while stack:
        term = stack[-1]
        if term.number in values:
            stack.pop()
            continue
        if term.operation == "const":
            values[term.number] = term.constant
        elif term.operation == "var":
            values[term.number] = variable(term)
        else:
            missing = [a for a in term.arguments if a.number not in values]
            if missing:
                stack.extend(missing)
                continue
            values[term.number] = _apply(term, [values[a.number] for a in term.arguments])
        stack.pop()
    return values[root.number]


def _apply(term: Term, v: list[int]) -> int:
    operation = term.operation
    match operation:
        case "not":
            return 1 - v[0]
        case "and":
            return v[0] & v[1]
        case "or":
            return v[0] | v[1]
        case "ite":
            return v[1] if v[0] else v[2]
        case "eq":
            return int(v[0] == v[1])
        case "zext":
            return v[0]
        case "sext":
            return signed(v[0], term.arguments[0].width) & ((1 << term.width) - 1)
        case "concat":
            return v[0] << term.arguments[1].width | v[1]
        case "extract":
            assert isinstance(term.value, tuple)
            return v[0] >> term.value[1] & ((1 << term.width) - 1)
    if operation in COMPARE:
        return int(COMPARE[operation](v[0], v[1], term.arguments[0].width))
    return FOLD[operation](v[0], v[1], term.width) & ((1 << term.width) - 1)
